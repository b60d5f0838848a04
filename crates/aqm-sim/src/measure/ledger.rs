//! Double entry: both ends of a flow count what they send and receive, the network counts what it loses, each for itself.
//! What was sent was received, was lost, or is in flight.

use crate::network::packet::{Packet, Role};
use crate::transport::flags;

/// What a packet is to the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// TCP data and datagrams.
    Data,
    /// Acknowledgments, and the SYNs of both sides.
    Control,
    /// What disciplines, programs and receivers tell senders.
    Feedback,
    /// PAUSE frames: they belong to no flow.
    Pause,
}

const LINES: [&str; 4] =
    ["data packets", "bytes of datagrams", "acknowledgments and SYNs", "packets of feedback"];

/// Packets by [`Item`], except PAUSE frames, and the payload of datagrams; the whole run's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) data: u64,
    pub(crate) payload: u64,
    pub(crate) control: u64,
    pub(crate) feedback: u64,
}

/// Packets that one end of a TCP connection has sent and received, except the SYNs and SYN-ACKs that it sends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketCounts {
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// What the ends of one flow have sent and received. TCP's data and acknowledgments are counted with the connection
/// ([`PacketCounts`]), whose memory is in the cache then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) sent: Tally,
    pub(crate) received: Tally,
    /// What was received, and payload delivered, when measuring began.
    pub(crate) received_before: Tally,
    pub(crate) payload_before: u64,
}

impl Item {
    /// What `packet` is.
    pub(crate) fn of(packet: &Packet) -> Item {
        match packet.role {
            Role::Data if packet.flags & flags::SYN != 0 => Item::Control,
            Role::Data | Role::Datagram => Item::Data,
            Role::Ack => Item::Control,
            Role::Feedback => Item::Feedback,
            Role::Pause => Item::Pause,
        }
    }
}

impl Tally {
    /// A datagram with this payload.
    #[inline]
    pub(crate) fn add_datagram(&mut self, payload: u32) {
        self.data += 1;
        self.payload += u64::from(payload);
    }

    /// A packet of any kind.
    pub(crate) fn add(&mut self, packet: &Packet) {
        match Item::of(packet) {
            Item::Data if packet.role == Role::Datagram => self.add_datagram(packet.payload),
            Item::Data => self.data += 1,
            Item::Control => self.control += 1,
            Item::Feedback => self.feedback += 1,
            Item::Pause => {}
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Tally) -> Tally {
        Tally {
            data: self.data + other.data,
            payload: self.payload + other.payload,
            control: self.control + other.control,
            feedback: self.feedback + other.feedback,
        }
    }

    fn lines(self) -> [u64; LINES.len()] {
        [self.data, self.payload, self.control, self.feedback]
    }

    /// What, if anything, was sent and is not among `received`, `lost` and `waiting`, or vice versa.
    pub(crate) fn imbalance(sent: Tally, received: Tally, lost: Tally, waiting: Tally) -> Option<String> {
        let [sent, received, lost, waiting] = [sent, received, lost, waiting].map(Tally::lines);
        (0..sent.len()).find(|&line| sent[line] != received[line] + lost[line] + waiting[line]).map(|line| {
            format!(
                "{} {} were sent, but {} received, {} lost, and {} are in flight",
                sent[line], LINES[line], received[line], lost[line], waiting[line]
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_received_lost_or_on_its_way() {
        let tally = |data, payload| Tally { data, payload, ..Tally::default() };
        let (sent, received, lost) = (tally(10, 1000), tally(7, 700), tally(2, 200));
        assert_eq!(Tally::imbalance(sent, received, lost, tally(1, 100)), None);
        let problem = Tally::imbalance(sent, received, lost, tally(0, 0)).unwrap();
        assert_eq!(problem, "10 data packets were sent, but 7 received, 2 lost, and 0 are in flight");
        let problem = Tally::imbalance(sent, received, lost, tally(1, 99)).unwrap();
        assert!(problem.starts_with("1000 bytes of datagrams were sent"), "{problem}");
    }
}
