//! What TCP's headers say about the path of recorded packets: round trips, deliveries and losses, as seen where the
//! capture was taken.
//!
//! A round trip here begins and ends at the capture: a packet of a flow passes it, and what answers comes back. At the
//! sender of data that is the whole round trip of the data; in the middle it is the part beyond, and the other part is
//! that of the acknowledgments, which the sender's data answer.

use super::decode::Options;
use super::flow::CapturedFlow;
use aqm_core::packet::TcpView;
use aqm_core::units::Span;
use std::collections::{BTreeMap, VecDeque};

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
/// Of each kind, what a flow remembers at most, so that a capture without answers fills no memory: over a second at
/// 100 Gbit/s with segments of an offload.
const MOST: usize = 1 << 16;
/// Unwrapped numbers begin here, so that those before the first one are positive.
const FIRST: u64 = 1 << 40;
/// The largest window of TCP (RFC 7323 section 2.3). What lies farther apart is no stream.
const LARGEST_WINDOW: u64 = 1 << 30;

/// How a round trip was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The timestamps option echoes the packet's time (RFC 7323).
    Echo,
    /// A segment that was sent once is acknowledged, by number or as a SACK block (RFC 6298 section 3, Karn).
    Acknowledgment,
}

/// The time from a packet of a flow to what answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundTrip {
    /// Flow of the packet.
    pub flow: u32,
    /// The answer: its index in the capture.
    pub answered_by: u32,
    /// When it passed.
    pub at: Span,
    /// Time to the answer.
    pub time: Span,
    /// Time between the answer and the packet of its flow before it, if that was later than the packet: an answer that
    /// comes after a pause may have waited for something else than the path.
    pub pause: Span,
    /// How it was found.
    pub answer: Answer,
    /// Whether the packet carries payload.
    pub is_data: bool,
    /// Whether it, or its answer, opens a connection.
    pub is_opening: bool,
}

/// Payload that is reported as arrived, by number or as a SACK block (RFC 2018).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// Flow of the acknowledgment.
    pub flow: u32,
    /// Its index in the capture.
    pub packet: u32,
    /// When the acknowledgment passed.
    pub at: Span,
    /// Bytes that no acknowledgment reported before.
    pub bytes: u64,
}

/// Payload that was sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Flow of the payload.
    pub flow: u32,
    /// When it passed before, or when the packet behind it passed without it.
    pub at: Span,
    /// Time until it passed again.
    pub mended: Span,
    /// Its bytes.
    pub bytes: u64,
    /// Whether it passed the capture before it was lost: then it was lost beyond.
    pub is_beyond: bool,
}

/// Everything that TCP's headers say about the path.
#[derive(Clone, Debug, Default)]
pub struct PathTrace {
    /// Of each packet of the capture: its timestamps option, that of its sender and that which it echoes.
    pub stamps: Vec<Option<(u32, u32)>>,
    /// Round trips, by the time of the answer.
    pub round_trips: Vec<RoundTrip>,
    /// Deliveries, by time.
    pub deliveries: Vec<Delivery>,
    /// Losses, by the time of the second transmission.
    pub losses: Vec<Loss>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
}

/// A segment whose acknowledgment is awaited.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    start: u64,
    at: Span,
    is_data: bool,
    is_opening: bool,
    /// It was sent twice, or has filled a hole.
    is_repeated: bool,
    /// The first acknowledgment of a part of it has been seen.
    is_timed: bool,
    /// It has arrived, as a SACK block says.
    has_arrived: bool,
}

/// A packet whose timestamp may be echoed.
#[derive(Clone, Copy, Debug)]
struct Stamped {
    stamp: u32,
    at: Span,
    is_data: bool,
    is_opening: bool,
}

/// What a flow has sent.
#[derive(Clone, Debug, Default)]
struct Sender {
    /// The flow in the opposite direction.
    peer: Option<u32>,
    /// When its latest packet passed.
    last: Span,
    /// Behind the last byte that was sent, unwrapped.
    next: Option<u64>,
    /// By their ends.
    segments: BTreeMap<u64, Segment>,
    /// What has not passed, by starts: the end, and when the packet behind it passed.
    holes: BTreeMap<u64, (u64, Span)>,
    stamped: VecDeque<Stamped>,
    latest_stamp: Option<u32>,
}

/// What a flow has acknowledged: everything before a number, unwrapped, and blocks by their starts.
#[derive(Clone, Debug, Default)]
struct Receiver {
    before: Option<u64>,
    blocks: BTreeMap<u64, u64>,
}

/// A packet of a flow.
#[derive(Clone, Copy)]
struct FlowPacket {
    flow: u32,
    /// Its index in the capture.
    packet: u32,
    at: Span,
    tcp: TcpView,
    options: Options,
}

impl FlowPacket {
    fn has(&self, flag: u8) -> bool {
        self.tcp.flags & flag != 0
    }

    /// Numbers that it takes: a SYN and a FIN take one each.
    fn length(&self) -> u64 {
        u64::from(self.tcp.payload) + u64::from(self.has(SYN)) + u64::from(self.has(FIN))
    }
}

impl PathTrace {
    /// Adds the next packet of the capture, of `flow`, which is one of `flows`.
    pub(super) fn add(
        &mut self,
        flow: u32,
        at: Span,
        tcp: Option<TcpView>,
        options: Options,
        flows: &[CapturedFlow],
    ) {
        self.stamps.push(tcp.and(options.stamps));
        self.senders.resize_with(flows.len(), Sender::default);
        self.receivers.resize_with(flows.len(), Receiver::default);
        let Some(tcp) = tcp else { return };
        if let Some(peer) = flows[flow as usize].reply_to.filter(|peer| *peer != flow) {
            self.senders[flow as usize].peer = Some(peer);
            self.senders[peer as usize].peer = Some(flow);
        }
        let packet = self.stamps.len() as u32 - 1;
        let seen = FlowPacket { flow, packet, at, tcp, options };
        if !seen.has(RST) {
            self.answer(&seen);
            self.send(&seen);
        }
        self.senders[flow as usize].last = at;
    }

    /// A packet is sent.
    fn send(&mut self, seen: &FlowPacket) {
        let sender = &mut self.senders[seen.flow as usize];
        let (is_data, is_opening) = (seen.tcp.payload > 0, seen.has(SYN));
        if let Some((stamp, _)) = seen.options.stamps
            && sender.latest_stamp.is_none_or(|latest| is_after(stamp, latest))
        {
            sender.latest_stamp = Some(stamp);
            if sender.stamped.len() == MOST {
                sender.stamped.pop_front();
            }
            sender.stamped.push_back(Stamped { stamp, at: seen.at, is_data, is_opening });
        }
        let length = seen.length();
        if length == 0 {
            return;
        }
        let start = sender.next.map_or(FIRST + u64::from(seen.tcp.seq), |next| unwrapped(next, seen.tcp.seq));
        let next = sender.next.filter(|next| start.abs_diff(*next) <= LARGEST_WINDOW);
        if next.is_none() || (is_opening && next.is_some_and(|next| start >= next)) {
            // It begins, or another connection takes its ports.
            (sender.segments, sender.holes) = Default::default();
        }
        let (next, end) = (next.unwrap_or(start), start + length);
        if start > next && sender.holes.len() < MOST {
            sender.holes.insert(next, (start, seen.at));
        }
        let is_probe = start < next && length == 1;
        if start < next && !is_probe {
            let (start, end) = (start, end.min(next));
            self.send_again(seen, start, end);
        }
        let sender = &mut self.senders[seen.flow as usize];
        sender.next = Some(next.max(end));
        if end > next {
            let start = start.max(next);
            let segment = Segment { start, at: seen.at, is_data, is_opening, ..Segment::default() };
            sender.segments.insert(end, segment);
            if sender.segments.len() > MOST {
                sender.segments.pop_first();
            }
        }
    }

    /// Numbers below the highest are sent: they fill holes, or were lost beyond.
    fn send_again(&mut self, seen: &FlowPacket, start: u64, end: u64) {
        let sender = &mut self.senders[seen.flow as usize];
        let mut add = |at: Span, bytes: u64, is_beyond: bool| {
            let mended = seen.at.saturating_sub(at);
            self.losses.push(Loss { flow: seen.flow, at, mended, bytes, is_beyond });
        };
        let filled: Vec<_> = overlapping(&sender.holes, start, end, |(end, _)| *end);
        for from in filled {
            let Some((to, at)) = sender.holes.remove(&from) else { continue };
            add(at, to.min(end) - from.max(start), false);
            if from < start {
                sender.holes.insert(from, (start, at));
            }
            if to > end {
                sender.holes.insert(end, (to, at));
            }
            // Its acknowledgment covers what has waited for it.
            let segment = Segment {
                start: from.max(start),
                at: seen.at,
                is_data: true,
                is_repeated: true,
                ..Segment::default()
            };
            sender.segments.entry(to.min(end)).or_insert(segment);
        }
        for (to, segment) in sender.segments.range_mut(start + 1..) {
            if segment.start >= end {
                break;
            }
            // What has arrived as a SACK block, or was sent again before, says nothing of the queue.
            if !segment.is_repeated && !segment.has_arrived {
                add(segment.at, (*to).min(end) - segment.start.max(start), true);
            }
            (segment.is_repeated, segment.at) = (true, seen.at);
        }
    }

    /// A packet answers those of the opposite direction.
    fn answer(&mut self, seen: &FlowPacket) {
        let Some(peer) = self.senders[seen.flow as usize].peer.filter(|_| seen.has(ACK)) else {
            // Without them it still says what has arrived.
            if seen.has(ACK) {
                self.deliver(seen, None);
            }
            return;
        };
        let last = self.senders[seen.flow as usize].last;
        let sender = &mut self.senders[peer as usize];
        let round_trip = |at: Span, is_data: bool, is_opening: bool, answer: Answer| RoundTrip {
            flow: peer,
            answered_by: seen.packet,
            at,
            time: seen.at.saturating_sub(at),
            pause: seen.at.saturating_sub(at.max(last)),
            answer,
            is_data,
            is_opening: is_opening || seen.has(SYN),
        };
        if let Some((_, echo)) = seen.options.stamps {
            while let Some(front) =
                sender.stamped.front().copied().filter(|front| !is_after(front.stamp, echo))
            {
                sender.stamped.pop_front();
                if front.stamp == echo {
                    self.round_trips.push(round_trip(
                        front.at,
                        front.is_data,
                        front.is_opening,
                        Answer::Echo,
                    ));
                }
            }
        }
        let next = sender.next;
        for end in self.deliver(seen, next) {
            let sender = &mut self.senders[peer as usize];
            let Some((last, segment)) = sender.segments.range_mut(end..).next() else { continue };
            if segment.start < end && !segment.is_repeated && !segment.is_timed {
                (segment.is_timed, segment.has_arrived) = (true, *last == end);
                let one = round_trip(segment.at, segment.is_data, segment.is_opening, Answer::Acknowledgment);
                self.round_trips.push(one);
            }
        }
        self.forget(seen.flow, peer);
    }

    /// Adds what a packet reports as arrived, of a sender whose `next` number is known or not. Answers with the ends of
    /// what arrived just now.
    fn deliver(&mut self, seen: &FlowPacket, next: Option<u64>) -> Vec<u64> {
        let receiver = &mut self.receivers[seen.flow as usize];
        let reference = next.or(receiver.before);
        let number =
            reference.map_or(FIRST + u64::from(seen.tcp.ack), |known| unwrapped(known, seen.tcp.ack));
        let before = receiver.before.filter(|before| number.abs_diff(*before) <= LARGEST_WINDOW);
        let Some(before) = before else {
            *receiver = Receiver { before: Some(number), blocks: BTreeMap::new() };
            return vec![number];
        };
        let (mut ends, mut bytes) = (Vec::new(), 0);
        if number > before {
            let known: u64 = overlapping(&receiver.blocks, before, number, |end| *end)
                .into_iter()
                .filter_map(|start| {
                    let end = receiver.blocks.remove(&start)?;
                    if end > number {
                        receiver.blocks.insert(number, end);
                    }
                    Some(end.min(number) - start.max(before))
                })
                .sum();
            bytes += number - before - known;
            receiver.before = Some(number);
            let has_waited = self
                .senders
                .get(seen.flow as usize)
                .and_then(|own| own.peer)
                .is_some_and(|peer| has_waited(&self.senders[peer as usize].segments, number));
            if !has_waited {
                ends.push(number);
            }
        }
        let before = before.max(number);
        for (place, (start, end)) in seen.options.sack.into_iter().flatten().enumerate() {
            let (start, end) = (unwrapped(before, start), unwrapped(before, end));
            let is_block = before < start && start < end && end - before <= LARGEST_WINDOW;
            if !is_block || receiver.blocks.len() >= MOST {
                continue;
            }
            let added = cover(&mut receiver.blocks, start, end);
            bytes += added;
            // RFC 2018 section 4: the first block has the segment that triggered the acknowledgment.
            if added > 0 && place == 0 {
                ends.push(end);
            }
        }
        if bytes > 0 {
            self.deliveries.push(Delivery { flow: seen.flow, packet: seen.packet, at: seen.at, bytes });
        }
        ends
    }

    /// Removes segments of `peer` that `flow` has acknowledged.
    fn forget(&mut self, flow: u32, peer: u32) {
        let (receiver, sender) = (&self.receivers[flow as usize], &mut self.senders[peer as usize]);
        let before = receiver.before.unwrap_or(0);
        while let Some(first) = sender.segments.first_entry().filter(|first| *first.key() <= before) {
            first.remove();
        }
    }
}

/// Whether one of the segments until a number was sent twice, filled a hole, or has arrived before: then the
/// acknowledgment of all of them has waited for one.
fn has_waited(segments: &BTreeMap<u64, Segment>, until: u64) -> bool {
    segments.range(..=until).any(|(_, segment)| segment.is_repeated || segment.has_arrived)
}

/// The keys of ranges, from their starts to the ends that `end` gives, that overlap one.
fn overlapping<T>(ranges: &BTreeMap<u64, T>, start: u64, end: u64, to: impl Fn(&T) -> u64) -> Vec<u64> {
    let before = ranges.range(..start).next_back().filter(|(_, range)| to(range) > start);
    before.into_iter().chain(ranges.range(start..end.max(start))).map(|(from, _)| *from).collect()
}

/// Adds a range; answers how much of it was not there.
fn cover(blocks: &mut BTreeMap<u64, u64>, start: u64, end: u64) -> u64 {
    let (mut from, mut to, mut known) = (start, end, 0);
    for key in overlapping(blocks, start, end + 1, |end| *end) {
        let Some(until) = blocks.remove(&key) else { continue };
        known += until.min(end).saturating_sub(key.max(start));
        (from, to) = (from.min(key), to.max(until));
    }
    blocks.insert(from, to);
    end - start - known
}

/// The number on the wire as that of a stream without end, nearest to one that is known.
fn unwrapped(known: u64, number: u32) -> u64 {
    let ahead = number.wrapping_sub(known as u32).cast_signed();
    known.saturating_add_signed(ahead.into())
}

/// Whether a timestamp is later than another (RFC 7323 section 5.2).
fn is_after(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}

#[cfg(test)]
mod tests {
    use super::super::packets::Capture;
    use super::super::{Frame, Headers, LinkType, PcapngWriter, Transport};
    use super::*;
    use aqm_core::packet::Ecn;
    use aqm_core::units::Time;

    const MS: u64 = 1_000_000;

    /// A segment of 100 bytes of the first host, or an acknowledgment of the second, with its SACK block.
    enum Sent {
        Data(u32),
        Ack(u32, Option<(u32, u32)>),
    }
    use Sent::{Ack as Acknowledges, Data};

    /// Follows segments with the milliseconds in which they pass; a packet's timestamp is its time.
    fn followed(segments: &[(u64, Sent)]) -> PathTrace {
        let mut writer = PcapngWriter::new(LinkType::RAW_IP);
        let mut latest = [Time::ZERO; 2];
        for (millis, sent) in segments {
            let now = Time::from_nanos(millis * MS);
            let (own, payload, sequence, acknowledgment, sack) = match sent {
                Data(sequence) => (0, 100, *sequence, 1, None),
                Acknowledges(number, block) => (1, 0, 1, *number, *block),
            };
            latest[own] = now;
            let ends = [([10, 0, 0, 1], 1000), ([10, 0, 0, 2], 80)];
            let headers = Headers {
                source: ends[own],
                destination: ends[1 - own],
                dscp: 0,
                ecn: Ecn::NotEct,
                payload,
                transport: Transport::Tcp {
                    sequence,
                    acknowledgment,
                    flags: ACK,
                    stamps: (now, latest[1 - own]),
                    sack: [sack, None, None],
                },
            };
            let data = headers.bytes();
            let wire_length = headers.wire_length(&data);
            writer.add(&Frame { time: now, data: &data, wire_length }, None);
        }
        Capture::parse_with_path("followed", &writer.take()).unwrap().1
    }

    fn matched(path: &PathTrace) -> Vec<(u64, u64)> {
        let matched = path.round_trips.iter().filter(|one| one.answer == Answer::Acknowledgment);
        matched.map(|one| (one.at.as_nanos() / MS, one.time.as_nanos() / MS)).collect()
    }

    #[test]
    fn a_round_trip_ends_at_the_acknowledgment_and_at_the_echo() {
        let path =
            followed(&[(10, Data(1)), (11, Data(101)), (40, Acknowledges(201, None)), (45, Data(201))]);
        assert_eq!(matched(&path), [(1, 29)]);
        let echoed: Vec<_> = path.round_trips.iter().filter(|one| one.answer == Answer::Echo).collect();
        // The acknowledgment echoes the second segment, and data the acknowledgment: the part to the sender and back.
        assert_eq!(echoed.len(), 2);
        assert_eq!((echoed[0].flow, echoed[0].time), (0, Span::from_millis(29)));
        assert_eq!((echoed[1].flow, echoed[1].time, echoed[1].is_data), (1, Span::from_millis(5), false));
        assert_eq!(path.deliveries.len(), 0, "the first acknowledgment says where it begins");
    }

    #[test]
    fn what_is_sent_again_was_lost_beyond_and_its_acknowledgment_tells_no_time() {
        let path = followed(&[
            (0, Data(1)),
            (1, Data(101)),
            (2, Data(201)),
            (20, Acknowledges(101, None)),
            (22, Acknowledges(101, Some((201, 301)))),
            (30, Data(101)),
            (50, Acknowledges(301, None)),
        ]);
        let [loss] = path.losses[..] else { panic!("{:?}", path.losses) };
        assert_eq!((loss.at, loss.mended), (Span::from_millis(1), Span::from_millis(29)));
        assert_eq!((loss.bytes, loss.is_beyond), (100, true));
        assert_eq!(matched(&path), [(0, 20), (2, 20)]);
        assert_eq!(path.deliveries.iter().map(|one| one.bytes).collect::<Vec<_>>(), [100, 100]);
    }

    #[test]
    fn what_fills_a_hole_was_lost_before_the_capture() {
        let path = followed(&[(0, Data(1)), (2, Data(201)), (30, Data(101)), (31, Data(301))]);
        let [loss] = path.losses[..] else { panic!("{:?}", path.losses) };
        assert_eq!((loss.at, loss.mended), (Span::from_millis(2), Span::from_millis(28)));
        assert_eq!((loss.bytes, loss.is_beyond), (100, false));
    }

    #[test]
    fn a_probe_of_a_byte_is_no_loss() {
        let mut path = PathTrace::default();
        let probe = TcpView { seq: 100, ack: 1, payload: 1, flags: ACK, has_sack: false };
        let flow = CapturedFlow {
            five_tuple: super::super::FiveTuple {
                source: [10, 0, 0, 1].into(),
                destination: [10, 0, 0, 2].into(),
                protocol: 6,
                ports: (1, 2),
            },
            reply_to: None,
            hash: 0,
            source_hash: 0,
            destination_hash: 0,
            packets: 0,
            bytes: 0,
        };
        let data = TcpView { seq: 1, payload: 100, ..probe };
        for (tcp, millis) in [(data, 0), (probe, 1), (probe, 2)] {
            path.add(0, Span::from_millis(millis), Some(tcp), Options::default(), &[flow]);
        }
        assert_eq!(path.losses, []);
    }

    #[test]
    fn numbers_go_on_where_those_of_the_wire_begin_again() {
        assert_eq!(unwrapped(FIRST + 0xffff_fff0, 0x10), FIRST + (1 << 32) + 0x10);
        assert_eq!(unwrapped(FIRST + (1 << 32) + 0x10, 0xffff_fff0), FIRST + 0xffff_fff0);
    }

    #[test]
    fn a_block_is_counted_once() {
        let mut blocks = BTreeMap::new();
        assert_eq!(
            [(10, 20), (30, 40), (15, 35), (0, 50)].map(|(start, end)| cover(&mut blocks, start, end)),
            [10, 10, 10, 20]
        );
        assert_eq!(blocks, BTreeMap::from([(0, 50)]));
    }
}
