//! The TCP conversations of a capture: how much each side sent, and how long it thought before each turn.
//!
//! Every TCP connection becomes a sequence of turns, as in Weigle, Adurthi, Hernandez-Campos, Jeffay, Smith, "Tmix: a
//! tool for generating realistic TCP application workloads in ns-2", CCR 36(3), 2006 (its sequential connections): a
//! turn ends when the other side sends data, or after half a second of silence. Where both sides talk at once, their
//! data are taken as turns in the order in which they were recorded.

use crate::transport::flags;
use aqm_core::packet::TcpView;
use aqm_core::units::Span;
use aqm_io::capture::Capture;
use std::collections::BTreeMap;

/// Silence that ends a turn (Tmix).
const SILENCE: Span = Span::from_millis(500);
/// A larger jump of the sequence number is not taken for data that the recording missed.
const LARGEST_GAP: u32 = 1 << 24;

/// One TCP connection as a dialogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// Start, since the first packet of the capture.
    pub(crate) start: Span,
    pub(crate) turns: Vec<Turn>,
}

/// What one side sends without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Whether the side that opened the connection sends it.
    pub(crate) by_client: bool,
    /// Think time: from the arrival of the previous turn.
    pub(crate) wait: Span,
    /// Payload, each byte once.
    pub(crate) bytes: u64,
}

/// The conversations of a capture that have data, in the order in which they began.
pub(crate) fn of_capture(capture: &Capture) -> Vec<Conversation> {
    let packets = capture.packets().iter().filter_map(|packet| {
        let back = capture.flow_of(packet).reply_to;
        Some(Segment {
            time: packet.time,
            connection: back.unwrap_or(packet.flow),
            reply: back.is_some(),
            tcp: packet.tcp?,
        })
    });
    conversations(packets)
}

/// A recorded segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    time: Span,
    /// Number of the 5-tuple, whichever direction.
    connection: u32,
    /// Whether it goes against the first packet of the 5-tuple.
    reply: bool,
    tcp: TcpView,
}

fn conversations(packets: impl Iterator<Item = Segment>) -> Vec<Conversation> {
    let mut open: BTreeMap<u32, Recorder> = BTreeMap::new();
    let mut done = Vec::new();
    for packet in packets {
        let recorder = open.entry(packet.connection).or_insert_with(|| Recorder::new(packet.time));
        if recorder.is_over(&packet) {
            done.extend(std::mem::replace(recorder, Recorder::new(packet.time)).conversation());
        }
        recorder.add(&packet);
    }
    done.extend(open.into_values().filter_map(Recorder::conversation));
    done.sort_by_key(|conversation| conversation.start);
    done
}

/// A connection while its packets are read.
struct Recorder {
    start: Span,
    /// Whether the client sends in the direction of the first packet. Without a recorded SYN, the first data decide.
    client: Option<bool>,
    /// The direction of the first packet, then the other.
    sides: [Side; 2],
    /// Direction, time since the previous data (or the start), and bytes of each turn.
    turns: Vec<(bool, Span, u64)>,
    last: Span,
}

#[derive(Default)]
struct Side {
    /// Sequence number of the next new byte.
    next: Option<u32>,
    /// Data of this side that are not acknowledged yet: end and time.
    timed: Option<(u32, Span)>,
    /// Shortest time from recording data of this side to recording their acknowledgment: the round trip between the
    /// recording point and the other side.
    rtt: Option<Span>,
}

impl Recorder {
    fn new(start: Span) -> Recorder {
        Recorder { start, client: None, sides: Default::default(), turns: Vec::new(), last: start }
    }

    /// Whether the packet opens another connection with the same addresses and ports.
    fn is_over(&self, packet: &Segment) -> bool {
        let opens = packet.tcp.flags & (flags::SYN | flags::ACK) == flags::SYN;
        opens && !self.turns.is_empty()
    }

    fn add(&mut self, packet: &Segment) {
        let (tcp, from, time) = (packet.tcp, usize::from(packet.reply), packet.time);
        if tcp.flags & flags::ACK != 0 {
            let other = &mut self.sides[1 - from];
            if let Some((end, sent)) = other.timed
                && !is_before(tcp.ack, end)
            {
                let rtt = time.saturating_sub(sent);
                other.rtt = Some(other.rtt.map_or(rtt, |shortest| shortest.min(rtt)));
                other.timed = None;
            }
        }
        if tcp.flags & flags::SYN != 0 {
            let answers = tcp.flags & flags::ACK != 0;
            self.client.get_or_insert(packet.reply != answers);
            self.sides[from].next = Some(tcp.seq.wrapping_add(1));
            self.sides[from].timed = Some((tcp.seq.wrapping_add(1), time));
            return;
        }
        if tcp.payload == 0 {
            return;
        }
        let payload = u32::from(tcp.payload);
        let end = tcp.seq.wrapping_add(payload);
        let side = &mut self.sides[from];
        let next = side.next.unwrap_or(tcp.seq);
        if !is_before(next, end) {
            // A retransmission: its acknowledgment measures nothing (Karn).
            side.timed = None;
            return;
        }
        let new = match end.wrapping_sub(next) {
            leap if leap > LARGEST_GAP => payload,
            leap => leap,
        };
        side.next = Some(end);
        side.timed.get_or_insert((end, time));
        self.client.get_or_insert(packet.reply);
        let gap = time.saturating_sub(self.last);
        self.last = time;
        match self.turns.last_mut() {
            Some((by, _, bytes)) if *by == packet.reply && gap <= SILENCE => *bytes += u64::from(new),
            _ => self.turns.push((packet.reply, gap, u64::from(new))),
        }
    }

    /// Takes network delay out of the pauses: what is left is think time.
    fn conversation(self) -> Option<Conversation> {
        let client = self.client?;
        let rtt_to = |reply: bool| self.sides[1 - usize::from(reply)].rtt.unwrap_or(Span::ZERO);
        let mut before = None;
        let turns = self.turns.iter().map(|&(by, gap, bytes)| {
            let network = match before.replace(by) {
                // The opening handshake.
                None => rtt_to(false) + rtt_to(true),
                // The other side's data travelled there, and this turn came back.
                Some(last) if last != by => rtt_to(by),
                // The replay waits until the previous turn has arrived.
                Some(_) => rtt_to(!by),
            };
            Turn { by_client: by == client, wait: gap.saturating_sub(network), bytes }
        });
        let turns: Vec<_> = turns.collect();
        (!turns.is_empty()).then_some(Conversation { start: self.start, turns })
    }
}

/// Whether `a` is before `b`, modulo 2^32.
fn is_before(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: u8 = flags::SYN;
    const ACK: u8 = flags::ACK;

    fn seen(ms: u64, reply: bool, seq: u32, ack: u32, payload: u16, flags: u8) -> Segment {
        let tcp = TcpView { seq, ack, payload, flags, has_sack: false };
        Segment { time: Span::from_millis(ms), connection: 0, reply, tcp }
    }

    fn turn(by_client: bool, ms: u64, bytes: u64) -> Turn {
        Turn { by_client, wait: Span::from_millis(ms), bytes }
    }

    /// Recorded 5 ms (round trip) from the server and 20 ms from the client. The client thinks for 10 ms, the server
    /// for 7 ms.
    fn page() -> Vec<Segment> {
        vec![
            seen(100, false, 1000, 0, 0, SYN),
            seen(105, true, 9000, 1001, 0, SYN | ACK),
            seen(125, false, 1001, 9001, 0, ACK),
            seen(135, false, 1001, 9001, 300, ACK),
            seen(140, true, 9001, 1301, 0, ACK),
            seen(147, true, 9001, 1301, 1000, ACK),
            seen(148, true, 10001, 1301, 1000, ACK),
            seen(168, false, 1301, 11001, 0, ACK),
        ]
    }

    #[test]
    fn think_times_exclude_network_delay() {
        let found = conversations(page().into_iter());
        let start = Span::from_millis(100);
        assert_eq!(found, [Conversation { start, turns: vec![turn(true, 10, 300), turn(false, 7, 2000)] }]);
    }

    #[test]
    fn silence_splits_what_one_side_sends() {
        let mut packets = page();
        packets.push(seen(1148, true, 11001, 1301, 500, ACK));
        let found = conversations(packets.into_iter());
        // A second later, less the 20 ms until the acknowledgment of the previous turn was recorded.
        assert_eq!(found[0].turns[2], turn(false, 980, 500));
    }

    #[test]
    fn bytes_count_once_when_retransmitted_or_missed_by_the_recording() {
        let mut packets = page();
        packets.insert(7, seen(150, true, 9001, 1301, 1000, ACK));
        packets.push(seen(170, true, 12001, 1301, 1000, ACK));
        let found = conversations(packets.into_iter());
        assert_eq!(found[0].turns[1].bytes, 4000);
    }

    #[test]
    fn sequence_numbers_may_wrap_and_the_handshake_may_be_missing() {
        let packets = [
            seen(0, false, u32::MAX - 99, 50, 200, ACK),
            seen(30, true, 50, 100, 1000, ACK),
            seen(31, false, 100, 1050, 10, ACK),
        ];
        let found = conversations(packets.into_iter());
        // The answer came with the acknowledgment: all of the 30 ms may be network delay.
        assert_eq!(found[0].turns, [turn(true, 0, 200), turn(false, 0, 1000), turn(true, 0, 10)]);
    }

    #[test]
    fn reused_ports_start_another_conversation_and_connections_without_data_none() {
        let again =
            page().into_iter().map(|packet| Segment { time: packet.time + Span::from_secs(9), ..packet });
        let silent = Segment { connection: 7, ..seen(1, false, 1, 1, 0, SYN) };
        let found = conversations(page().into_iter().chain(again).chain([silent]));
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].start, Span::from_millis(9100));
        assert_eq!(found[1].turns, found[0].turns);
    }
}
