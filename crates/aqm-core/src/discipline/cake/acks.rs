//! The ACK filter: a queued acknowledgment is useless once a later one of its flow acknowledges at least as much.

use crate::choices;
use crate::packet::{Packet, TcpView};

const SYN: u8 = 2;
const ACK: u8 = 16;
/// ECE and CWR: ECN feedback for the other side (RFC 3168 section 6.1), which must not be lost.
const ECN: u8 = 64 | 128;

choices! {
    /// Which acknowledgments are dropped, by tc-cake(8)'s keywords.
    pub(super) enum AckFilter {
        /// None.
        Off = "no-ack-filter",
        /// All but two of a flow.
        On = "ack-filter",
        /// All but the last.
        Aggressive = "ack-filter-aggressive",
    }
}

impl AckFilter {
    /// The index in `queue`, from the oldest, of the acknowledgment that `newest` makes redundant.
    ///
    /// Two must be found, so that one remains between the dropped one and `newest`; the aggressive filter needs only
    /// one if it is the last of the queue. A change of ECE or CWR restarts the search: acknowledgments before and
    /// after it have different information.
    pub(super) fn redundant<'a>(
        self,
        queue: impl Iterator<Item = &'a Packet>,
        newest: &Packet,
    ) -> Option<usize> {
        if self == AckFilter::Off {
            return None;
        }
        let new = newest.tcp.filter(|tcp| tcp.flags & (ACK | SYN) == ACK)?;
        let (mut found, mut length): (Option<(usize, u8)>, usize) = (None, 0);
        for (place, packet) in queue.enumerate() {
            length += 1;
            let Some(old) = packet.tcp.filter(|_| packet.flow == newest.flow) else { continue };
            found = found.filter(|(_, ecn)| *ecn == old.flags & ECN);
            if !is_covered(&old, &new) {
                continue;
            }
            match found {
                Some((first, _)) => return Some(first),
                None => found = Some((place, old.flags & ECN)),
            }
        }
        let (place, ecn) = found?;
        let last = place + 1 == length && ecn == new.flags & ECN;
        (self == AckFilter::Aggressive && last).then_some(place)
    }
}

/// Whether `new` makes `old` redundant: `old` is a pure acknowledgment without SACK blocks, and not a duplicate that
/// a sender would count.
fn is_covered(old: &TcpView, new: &TcpView) -> bool {
    let pure = old.flags & !ECN == ACK && old.payload == 0 && !old.has_sack;
    let ahead = new.ack.wrapping_sub(old.ack) as i32;
    pure && (ahead > 0 || (ahead == 0 && new.has_sack))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const FIN: u8 = 1;
    const ECE: u8 = 64;

    fn ack(flow: u64, number: u32, flags: u8) -> Packet {
        let mut packet = Packet::new(0, flow, 66);
        packet.tcp = Some(TcpView { seq: 0, ack: number, payload: 0, flags, has_sack: false });
        packet
    }

    fn with(mut packet: Packet, change: fn(&mut TcpView)) -> Packet {
        packet.tcp.iter_mut().for_each(change);
        packet
    }

    /// The acknowledgments that each filter drops when `newest` arrives.
    fn dropped(queue: &[Packet], newest: &Packet) -> [Option<usize>; 2] {
        [AckFilter::On, AckFilter::Aggressive].map(|filter| filter.redundant(queue.iter(), newest))
    }

    #[test]
    fn one_acknowledgment_stays_between_unless_the_filter_is_aggressive() {
        let queue = [ack(1, 100, ACK), ack(1, 200, ACK)];
        assert_eq!(dropped(&queue, &ack(1, 300, ACK)), [Some(0), Some(0)]);
        assert_eq!(dropped(&queue[..1], &ack(1, 300, ACK)), [None, Some(0)]);
        assert_eq!(dropped(&[], &ack(1, 300, ACK)), [None, None]);
        assert_eq!(AckFilter::Off.redundant(queue.iter(), &ack(1, 300, ACK)), None);
        // With another packet between, even the aggressive filter lets one pass.
        let queue = [ack(1, 100, ACK), Packet::new(0, 2, 1000)];
        assert_eq!(dropped(&queue, &ack(1, 300, ACK)), [None, None]);
    }

    #[test]
    fn only_pure_acknowledgments_of_the_flow_go() {
        let newest = ack(1, 300, ACK);
        let others: Vec<Packet> = alloc::vec![
            ack(2, 100, ACK),                                  // another flow
            ack(1, 100, ACK | FIN),                            // says more than an acknowledgment
            ack(1, 100, 0),                                    // acknowledges nothing
            with(ack(1, 100, ACK), |tcp| tcp.payload = 1),     // carries data
            with(ack(1, 100, ACK), |tcp| tcp.has_sack = true), // names gaps
            ack(1, 301, ACK),                                  // ahead of the newest
            ack(1, 300, ACK),                                  // a duplicate, which counts
            Packet::new(0, 1, 100),                            // no TCP
        ];
        for packet in others {
            assert_eq!(dropped(&[packet], &newest), [None, None]);
        }
    }

    #[test]
    fn what_triggers_may_carry_data_but_no_syn() {
        let queue = [ack(1, 100, ACK), ack(1, 200, ACK)];
        let data = with(ack(1, 300, ACK), |tcp| tcp.payload = 1000);
        assert_eq!(dropped(&queue, &data), [Some(0), Some(0)]);
        assert_eq!(dropped(&queue, &ack(1, 300, ACK | SYN)), [None, None]);
        assert_eq!(dropped(&queue, &ack(1, 300, 0)), [None, None]);
        // SACK blocks have more information than a plain acknowledgment of the same number, which is redundant.
        let sack = with(ack(1, 200, ACK), |tcp| tcp.has_sack = true);
        assert_eq!(dropped(&queue[1..], &sack), [None, Some(0)]);
    }

    #[test]
    fn numbers_wrap_around() {
        let queue = [ack(1, u32::MAX - 50, ACK), ack(1, 10, ACK)];
        assert_eq!(dropped(&queue, &ack(1, 100, ACK)), [Some(0), Some(0)]);
        assert_eq!(dropped(&queue[1..], &ack(1, u32::MAX - 50, ACK)), [None, None]);
    }

    #[test]
    fn a_change_of_ecn_feedback_is_kept() {
        // 0 is plain, 1 and 2 carry ECE: nothing is dropped across the change.
        let queue = [ack(1, 100, ACK), ack(1, 200, ACK | ECE), ack(1, 300, ACK | ECE)];
        assert_eq!(dropped(&queue[..2], &ack(1, 400, ACK | ECE)), [None, Some(1)]);
        assert_eq!(dropped(&queue, &ack(1, 400, ACK)), [Some(1), Some(1)]);
        assert_eq!(dropped(&queue[..2], &ack(1, 400, ACK)), [None, None]);
    }
}
