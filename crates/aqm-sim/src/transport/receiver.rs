//! The receiving side: reassembly, delayed ACKs, SACK blocks, ECN echo.

use super::ack_delay::AckDelay;
use super::feedback::{Echo, ReceiverReport};
use super::rcvbuf_autotune::RcvbufAutotune;
use super::reassembly::Reassembly;
use super::rtt::RttEstimator;
use super::tcp::Tcp;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};

/// Most SACK blocks beside a timestamp option (RFC 2018 section 3).
pub(crate) const MAX_SACK_BLOCKS: usize = 3;

/// Segments that Linux acknowledges at once after a pause or a duplicate (TCP_MAX_QUICKACKS) and after CE.
const QUICK_AFTER_STALL: u32 = 16;
const QUICK_AFTER_CE: u32 = 2;

/// Which of so many segments of bulk data a Linux sender says to push: the last one that its application writes into
/// a third of the send buffer (tcp_wmem), and the one that fills half of a receive window of 80 kB. Measured with small
/// windows (the segments 23, 112, 140, 151, 179, 190 and so on); with larger ones there are fewer.
const WRITTEN: u64 = 39;
const PUSHED: [u64; 2] = [23, 34];

/// An acknowledgment to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acknowledgment {
    pub(crate) ack: u64,
    /// Timestamp echoed (RFC 7323 section 4.3). The time of arrival, if there is none and no segment was sent only once.
    pub(crate) echo: Time,
    /// Blocks as offsets from `ack`, the most recent first (RFC 2018 section 4).
    pub(crate) sack: [(u32, u32); MAX_SACK_BLOCKS],
    pub(crate) sack_count: u8,
    /// ECN-Echo (RFC 3168 section 6.1.3; RFC 8257 section 3.2).
    pub(crate) ece: bool,
    /// See [`ReceiverReport`].
    pub(crate) report: u32,
}

/// A segment as it arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) seq: u64,
    pub(crate) payload: u32,
    pub(crate) sent_at: Time,
    pub(crate) ecn: Ecn,
    pub(crate) cwr: bool,
    pub(crate) fin: bool,
}

/// One receiver.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    next: u64,
    beyond: Reassembly,
    /// The ranges that it held when measuring began and still holds, the first one last, and the bytes of them that have been
    /// delivered since.
    early: Vec<(u64, u64)>,
    early_delivered: u64,
    /// Whether there ever was a gap.
    gapped: bool,
    sack: bool,
    /// Whether the next segment, without a gap, a mark or a flag, changes nothing but what is acknowledged: neither pauses nor
    /// the number of segments, nor how long they took, decide when.
    pub(crate) is_plain: bool,
    delack_segments: u32,
    delay: AckDelay,
    unacknowledged: u32,
    /// Segments still to be acknowledged at once.
    quick: u32,
    /// The receive window, if it grows: while it does, too.
    enlarging: Option<RcvbufAutotune>,
    /// The size of full segments, if those that are pushed are acknowledged at once.
    push: Option<u64>,
    /// Its own timeout, by the first round trip: what sends no data has no sample after the handshake's.
    rtt: RttEstimator,
    wants_round_trip: bool,
    /// Whether longer pauses, duplicates and CE make it acknowledge at once.
    quickens: bool,
    /// When a segment came in order last.
    last_in_order: Time,
    /// Last.ACK.sent of RFC 7323.
    last_ack: u64,
    echo: Time,
    ece: bool,
    echo_mode: Echo,
    report_mode: ReceiverReport,
    report: u32,
    deadline: Option<Time>,
}

impl Receiver {
    pub(crate) fn new(tcp: &Tcp) -> Receiver {
        let feedback = tcp.feedback();
        let delack = tcp.span("delack");
        let rules = tcp.acks();
        let delay = AckDelay::new(delack, rules.delack_max);
        let counts = rules.quickack > 0 || rules.quickack_mode || rules.psh || rules.rcvbuf.is_some();
        let reports = feedback.echo == Echo::Counted || feedback.report != ReceiverReport::Nothing;
        Receiver {
            next: 0,
            beyond: Reassembly::default(),
            early: Vec::new(),
            early_delivered: 0,
            gapped: false,
            sack: tcp.flag("sack"),
            // RFC 1122 section 4.2.3.2: at least every second full segment.
            delack_segments: if delack > Span::ZERO { 2 } else { 1 },
            is_plain: !counts && !reports && !delay.adapts(),
            delay,
            unacknowledged: 0,
            quick: rules.quickack,
            enlarging: rules.rcvbuf.map(|buffer| RcvbufAutotune::new(buffer, tcp.mss())),
            push: rules.psh.then(|| u64::from(tcp.mss())),
            rtt: RttEstimator::new(tcp.span("minrto"))
                .bounding_variation(tcp.recovery().minrto_bounds_rttvar),
            wants_round_trip: true,
            quickens: rules.quickack_mode,
            last_in_order: Time::ZERO,
            last_ack: 0,
            echo: Time::ZERO,
            ece: false,
            echo_mode: feedback.echo,
            report_mode: feedback.report,
            report: 0,
            deadline: None,
        }
    }

    /// Bytes delivered in order so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.next
    }

    /// Bytes that arrived beyond gaps.
    pub(crate) fn beyond(&self) -> u64 {
        self.beyond.iter().map(|(start, end)| end - start).sum()
    }

    /// Measuring begins: what is held beyond gaps came before.
    pub(crate) fn forget(&mut self) {
        (self.early, self.early_delivered) = (self.beyond.iter().rev().collect(), 0);
    }

    /// Bytes delivered since measuring began that had come before.
    pub(crate) fn early(&self) -> u64 {
        self.early_delivered
    }

    /// Whether an acknowledgment is owed without the timer that would send it.
    pub(crate) fn waits_in_vain(&self) -> bool {
        self.unacknowledged > 0 && self.deadline.is_none()
    }

    /// Whether data ever came before what was sent earlier.
    pub(crate) fn was_gapped(&self) -> bool {
        self.gapped
    }

    /// When the delayed acknowledgment is due.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Call before a segment with `ecn`. If the echo is exact, a change of CE is acknowledged first, so that marked
    /// and unmarked data are not mixed (RFC 8257 section 3.2, figure 1).
    #[inline]
    pub(crate) fn before_segment(&mut self, ecn: Ecn) -> Option<Acknowledgment> {
        if self.echo_mode != Echo::Exact || (ecn == Ecn::Ce) == self.ece {
            return None;
        }
        let earlier = (self.unacknowledged > 0).then(|| self.acknowledge());
        self.ece = !self.ece;
        // The same section allows two acknowledgments: of what came earlier, and of this segment.
        self.quicken(1);
        earlier
    }

    /// Whether [`time_round_trip`](Self::time_round_trip) would change anything.
    #[inline]
    pub(crate) fn wants_round_trip(&self) -> bool {
        self.wants_round_trip
    }

    /// Call before a segment, with the round-trip time as far as it is known.
    pub(crate) fn time_round_trip(&mut self, smoothed: Span) {
        if let Some(enlarging) = &mut self.enlarging {
            enlarging.time(smoothed);
        }
        if smoothed > Span::ZERO && self.rtt.smoothed() == Span::ZERO {
            self.rtt.sample(smoothed);
            self.delay.bound(smoothed);
            self.wants_round_trip = self.enlarging.is_some();
        }
    }

    /// A segment arrives. Returns an acknowledgment if one is due at once.
    #[inline(always)]
    pub(crate) fn on_segment(&mut self, segment: &Segment, now: Time) -> Option<Acknowledgment> {
        let end = segment.seq + u64::from(segment.payload);
        let at_once = if self.is_undisturbed(segment, end) {
            self.echo_of(segment);
            self.next = end;
            self.unacknowledged += 1;
            self.unacknowledged >= self.delack_segments
        } else {
            // A copy: what a call refers to is kept in memory, here for all segments.
            let segment = *segment;
            self.on_any(&segment, end, now)
        };
        if at_once {
            return Some(self.acknowledge());
        }
        self.deadline.get_or_insert(now + self.delay.span());
        None
    }

    /// Whether a segment, as most, is the next one, nothing waits behind it, and no flag or mark asks for anything.
    #[inline]
    fn is_undisturbed(&self, segment: &Segment, end: u64) -> bool {
        self.is_plain
            && segment.seq == self.next
            && end > self.next
            && self.beyond.is_empty()
            && segment.ecn != Ecn::Ce
            && !segment.cwr
            && !segment.fin
    }

    /// RFC 7323 section 4.3: echo the timestamp of the earliest segment that the next ACK covers.
    #[inline]
    fn echo_of(&mut self, segment: &Segment) {
        if segment.seq <= self.last_ack && segment.sent_at >= self.echo {
            self.echo = segment.sent_at;
        }
    }

    /// Any segment arrives, which reaches up to `end`. Returns whether an acknowledgment is due at once.
    #[inline(never)]
    fn on_any(&mut self, segment: &Segment, end: u64, now: Time) -> bool {
        let Segment { seq, payload, sent_at, ecn, cwr, fin } = *segment;
        // RFC 3168 section 6.1.3: echo until CWR arrives; CE on the CWR segment itself starts a new echo.
        if cwr && matches!(self.echo_mode, Echo::Classic | Echo::Exact) {
            // The sender's window may have become very small.
            self.quicken(1);
        }
        if self.echo_mode == Echo::Classic {
            if cwr {
                self.ece = false;
            }
            if ecn == Ecn::Ce {
                if !self.ece {
                    self.quicken(QUICK_AFTER_CE);
                }
                self.ece = true;
            }
        }
        // RFC 9768 section 3.2.2.5.1: the first mark after unmarked data is acknowledged at once.
        let marks_begin = self.echo_mode == Echo::Counted && ecn == Ecn::Ce && !self.ece;
        if self.echo_mode == Echo::Counted {
            self.ece = ecn == Ecn::Ce;
        }
        match self.report_mode {
            ReceiverReport::Nothing => {}
            ReceiverReport::CeBytes if ecn == Ecn::Ce => self.report = self.report.wrapping_add(payload),
            ReceiverReport::CeBytes => {}
            ReceiverReport::OneWayDelay => self.report = (now.since(sent_at).as_nanos() / 1000) as u32,
        }
        self.echo_of(segment);
        if seq <= self.next && end > self.next {
            let apart = now.since(self.last_in_order);
            if self.quickens && apart > self.rtt.rto() {
                self.quicken(QUICK_AFTER_STALL);
            }
            self.delay.on_segment(apart);
            self.last_in_order = now;
            self.next = end;
            let filled = !self.beyond.is_empty();
            if filled {
                self.absorb();
            }
            self.unacknowledged += 1;
            // RFC 5681 section 4.2: at once when a gap is filled, wholly or in part.
            let next = self.next;
            let grows = self.enlarging.as_mut().is_some_and(|window| window.on_segment(payload, next, now));
            let quick = self.quick > 0 || grows;
            if quick {
                self.delay.restart();
            }
            if !grows {
                self.quick = self.quick.saturating_sub(1);
            }
            filled
                || quick
                || fin
                || self.is_pushed(end)
                || marks_begin
                || self.unacknowledged >= self.delack_segments
        } else {
            if seq > self.next {
                self.gapped = true;
                self.beyond.store(seq, end);
            } else {
                // The sender had no acknowledgment in time.
                self.quicken(QUICK_AFTER_STALL);
            }
            // RFC 5681 section 4.2: out of order or old: acknowledge at once.
            true
        }
    }

    /// Whether the sender says to push data up to `end`.
    fn is_pushed(&self, end: u64) -> bool {
        self.push.is_some_and(|mss| PUSHED.contains(&(end.div_ceil(mss) % WRITTEN)))
    }

    /// The sender may have a small window: the next segments are acknowledged at once.
    fn quicken(&mut self, segments: u32) {
        if self.quickens {
            self.quick = self.quick.max(segments);
        }
    }

    /// The delayed-ACK timer fired.
    pub(crate) fn on_timer(&mut self, now: Time) -> Option<Acknowledgment> {
        if self.deadline? > now {
            return None;
        }
        self.delay.on_timer();
        Some(self.acknowledge())
    }

    fn acknowledge(&mut self) -> Acknowledgment {
        self.unacknowledged = 0;
        self.last_ack = self.next;
        self.deadline = None;
        let (mut sack, mut sack_count) = ([(0, 0); MAX_SACK_BLOCKS], 0);
        if self.sack && !self.beyond.is_empty() {
            sack_count = self.report_blocks(&mut sack);
        }
        Acknowledgment {
            ack: self.next,
            echo: self.echo,
            sack,
            sack_count,
            ece: self.ece,
            report: self.report,
        }
    }

    /// Writes the blocks of an acknowledgment, and answers how many there are.
    #[inline(never)]
    fn report_blocks(&self, sack: &mut [(u32, u32); MAX_SACK_BLOCKS]) -> u8 {
        let mut count = 0;
        for (block, (start, end)) in sack.iter_mut().zip(self.beyond.recent()) {
            *block = ((start - self.next) as u32, (end - self.next) as u32);
            count += 1;
        }
        count
    }

    /// Moves `next` past the ranges that it has reached.
    fn absorb(&mut self) {
        self.next = self.beyond.absorb(self.next);
        // What is held beyond a gap is passed as a whole, and each range once.
        while let Some((start, end)) = self.early.pop_if(|(_, end)| *end <= self.next) {
            self.early_delivered += end - start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::testing::settings;

    fn receiver() -> Receiver {
        Receiver::new(&settings("newreno delack 40ms"))
    }

    fn segment(r: &mut Receiver, index: u64, ms: u64) -> Option<Acknowledgment> {
        let now = Time::ZERO + Span::from_millis(ms);
        r.on_segment(
            &Segment {
                seq: index * 100,
                payload: 100,
                sent_at: now,
                ecn: Ecn::NotEct,
                cwr: false,
                fin: false,
            },
            now,
        )
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_single_one_after_the_delay() {
        let mut r = receiver();
        assert_eq!(segment(&mut r, 0, 0), None);
        assert_eq!(r.deadline(), Some(Time::ZERO + Span::from_millis(40)));
        assert_eq!(segment(&mut r, 1, 1).unwrap().ack, 200);
        assert_eq!(segment(&mut r, 2, 2), None);
        assert_eq!(r.on_timer(Time::ZERO + Span::from_millis(41)), None);
        let ack = r.on_timer(Time::ZERO + Span::from_millis(42)).unwrap();
        assert_eq!((ack.ack, ack.echo), (300, Time::ZERO + Span::from_millis(2)));
    }

    #[test]
    fn a_gap_is_acknowledged_at_once_with_blocks_most_recent_first() {
        let mut r = receiver();
        segment(&mut r, 0, 0);
        let ack = segment(&mut r, 2, 1).unwrap();
        assert_eq!((ack.ack, ack.sack_count, ack.sack[0]), (100, 1, (100, 200)));
        let ack = segment(&mut r, 5, 2).unwrap();
        assert_eq!((ack.sack_count, ack.sack[0], ack.sack[1]), (2, (400, 500), (100, 200)));
        let ack = segment(&mut r, 3, 3).unwrap();
        assert_eq!(ack.sack[0], (100, 300));
        let ack = segment(&mut r, 1, 4).unwrap();
        assert_eq!((ack.ack, ack.sack_count, ack.sack[0]), (400, 1, (100, 200)));
        let ack = segment(&mut r, 4, 5).unwrap();
        assert_eq!((ack.ack, ack.sack_count), (600, 0));
    }

    #[test]
    fn what_was_held_when_measuring_began_is_known_as_it_is_delivered() {
        let mut r = receiver();
        for index in [0, 2, 5] {
            segment(&mut r, index, index);
        }
        r.forget();
        // Above the first gap one more comes, and what comes again was held all the same.
        for index in [3, 2] {
            segment(&mut r, index, 6);
        }
        assert_eq!((r.delivered(), r.early()), (100, 0));
        segment(&mut r, 1, 7);
        assert_eq!((r.delivered(), r.early()), (400, 100));
        segment(&mut r, 4, 8);
        assert_eq!((r.delivered(), r.early()), (600, 200));
        segment(&mut r, 6, 9);
        assert_eq!((r.delivered(), r.early()), (700, 200));
        assert!(r.early.is_empty(), "ranges that were delivered are kept for nothing");
    }

    #[test]
    fn congestion_is_echoed_until_cwr() {
        let mut r = Receiver::new(&settings("newreno"));
        let mut send = |seq, ecn, cwr| {
            r.on_segment(
                &Segment { seq, payload: 100, sent_at: Time::ZERO, ecn, cwr, fin: false },
                Time::ZERO,
            )
            .unwrap()
            .ece
        };
        assert!(!send(0, Ecn::Ect0, false));
        assert!(send(100, Ecn::Ce, false));
        assert!(send(200, Ecn::Ect0, false));
        assert!(!send(300, Ecn::Ect0, true));
        assert!(send(400, Ecn::Ce, true));
    }

    #[test]
    fn a_change_of_ce_is_acknowledged_before_the_segment_that_changed_it() {
        let mut r = receiver();
        (r.echo_mode, r.report_mode, r.is_plain) = (Echo::Exact, ReceiverReport::CeBytes, false);
        let mut send = |index: u64, ecn| {
            let before = r.before_segment(ecn);
            let after = r.on_segment(
                &Segment { seq: index * 100, payload: 100, sent_at: Time::ZERO, ecn, cwr: false, fin: false },
                Time::ZERO,
            );
            [before, after].map(|ack| ack.map(|ack| (ack.ack, ack.ece, ack.report)))
        };
        assert_eq!(send(0, Ecn::Ect0), [None, None]);
        // One segment waits: it is acknowledged unmarked before the marked one is counted.
        assert_eq!(send(1, Ecn::Ce), [Some((100, false, 0)), None]);
        assert_eq!(send(2, Ecn::Ce), [None, Some((300, true, 200))]);
        assert_eq!(send(3, Ecn::Ce), [None, None]);
        assert_eq!(send(4, Ecn::Ect0), [Some((400, true, 300)), None]);
        assert_eq!(send(5, Ecn::Ect0), [None, Some((600, false, 300))]);
    }

    #[test]
    fn the_first_mark_is_acknowledged_at_once_and_further_marks_with_delay() {
        let mut r = receiver();
        (r.echo_mode, r.report_mode, r.is_plain) = (Echo::Counted, ReceiverReport::CeBytes, false);
        let mut send = |index: u64, ecn| {
            assert_eq!(r.before_segment(ecn), None);
            let segment =
                Segment { seq: index * 100, payload: 100, sent_at: Time::ZERO, ecn, cwr: false, fin: false };
            r.on_segment(&segment, Time::ZERO).map(|ack| (ack.ack, ack.report))
        };
        assert_eq!(send(0, Ecn::Ce), Some((100, 100)));
        assert_eq!(send(1, Ecn::Ce), None);
        assert_eq!(send(2, Ecn::Ce), Some((300, 300)));
        assert_eq!(send(3, Ecn::Ect1), None);
        assert_eq!(send(4, Ecn::Ce), Some((500, 400)));
    }

    #[test]
    fn the_delay_of_the_segment_is_noted_in_microseconds() {
        let mut r = Receiver::new(&settings("newreno"));
        (r.report_mode, r.is_plain) = (ReceiverReport::OneWayDelay, false);
        let (sent, now) = (Time::from_nanos(1_000_000), Time::from_nanos(21_500_000));
        assert_eq!(
            r.on_segment(
                &Segment { seq: 0, payload: 100, sent_at: sent, ecn: Ecn::NotEct, cwr: false, fin: false },
                now
            )
            .unwrap()
            .report,
            20_500
        );
    }

    #[test]
    fn while_the_window_grows_every_segment_is_acknowledged_at_once_and_then_the_first_ones_of_quickack() {
        let mut r = Receiver::new(&settings("newreno mss 100b acks.rcvbuf 6kb acks.quickack 3 delack 40ms"));
        let acknowledged: Vec<bool> = (0..9).map(|index| segment(&mut r, index, index).is_some()).collect();
        // The window grows with five segments: from 2912 to 3750 bytes.
        assert_eq!(acknowledged, [true, true, true, true, true, true, true, true, false]);
    }

    #[test]
    fn with_push_two_of_39_segments_are_acknowledged_at_once() {
        let mut r = Receiver::new(&settings("newreno mss 100b acks.psh on delack 40ms"));
        let alone = |r: &mut Receiver, index| {
            r.unacknowledged = 0;
            segment(r, index, index).is_some()
        };
        let at_once: Vec<u64> = (1..=100).filter(|number| alone(&mut r, number - 1)).collect();
        assert_eq!(at_once, [23, 34, 62, 73]);
    }

    #[test]
    fn with_quicken_a_change_of_ce_and_cwr_are_acknowledged_at_once_where_the_echo_is_exact() {
        let mut r = Receiver::new(&settings("dctcp acks.quickack_mode on delack 40ms"));
        let mut send = |index: u64, ecn, cwr| {
            let before = r.before_segment(ecn);
            let segment =
                Segment { seq: index * 100, payload: 100, sent_at: Time::ZERO, ecn, cwr, fin: false };
            [before, r.on_segment(&segment, Time::ZERO)].map(|ack| ack.map(|ack| (ack.ack, ack.ece)))
        };
        assert_eq!(send(0, Ecn::Ect0, false), [None, None]);
        assert_eq!(send(1, Ecn::Ce, false), [Some((100, false)), Some((200, true))]);
        assert_eq!(send(2, Ecn::Ce, false), [None, None]);
        assert_eq!(send(3, Ecn::Ce, true), [None, Some((400, true))]);
        assert_eq!(send(4, Ecn::Ce, true), [None, Some((500, true))]);
        assert_eq!(send(5, Ecn::Ect0, false), [None, Some((600, false))]);
    }

    #[test]
    fn with_quicken_duplicates_and_pauses_are_followed_by_sixteen_acknowledgments_at_once() {
        let mut r = Receiver::new(&settings(
            "newreno acks.quickack_mode on delack 40ms minrto 200ms recovery.minrto_bounds rttvar",
        ));
        r.time_round_trip(Span::from_millis(50)); // a timeout of 250 ms
        assert!(segment(&mut r, 0, 0).is_none());
        assert!(segment(&mut r, 0, 1).is_some()); // a duplicate
        let at_once = (1..40).take_while(|&index| segment(&mut r, index, index + 1).is_some()).count();
        assert_eq!(at_once, 16);
        // The seventeenth waits; after a pause it is the eighteenth's turn anyway, and then fifteen more.
        assert!((18..34).all(|index| segment(&mut r, index, index + 300).is_some()));
        assert!(segment(&mut r, 34, 335).is_none());
    }

    #[test]
    fn with_quicken_a_gap_that_stays_for_longer_than_a_timeout_is_a_pause() {
        for (filled, at_once) in [(250, 1), (251, 16)] {
            let mut r = Receiver::new(&settings(
                "newreno acks.quickack_mode on delack 40ms minrto 200ms recovery.minrto_bounds rttvar",
            ));
            r.time_round_trip(Span::from_millis(50));
            segment(&mut r, 0, 0);
            (2..12).for_each(|index| _ = segment(&mut r, index, 20 * index));
            let first = segment(&mut r, 1, filled).iter().count();
            let others = (12..40).take_while(|&index| segment(&mut r, index, 300).is_some()).count();
            assert_eq!(first + others, at_once, "{filled}");
        }
    }

    #[test]
    fn with_delackmax_a_wait_in_vain_is_followed_by_a_longer_one() {
        let mut r = Receiver::new(&settings("newreno delack 40ms acks.delack_max 200ms"));
        let due = |r: &Receiver| r.deadline().unwrap().since(Time::ZERO).as_nanos() / 1_000_000;
        segment(&mut r, 0, 0);
        assert_eq!(due(&r), 40);
        r.on_timer(Time::ZERO + Span::from_millis(40)).unwrap();
        segment(&mut r, 1, 48);
        // Of 80 ms, and towards twice the 48 ms: 88 ms.
        assert_eq!(due(&r), 48 + 88);
        assert_eq!(segment(&mut r, 2, 96).unwrap().ack, 300);
    }

    #[test]
    fn with_quicken_the_first_mark_is_followed_by_two_acknowledgments_at_once() {
        let mut r = Receiver::new(&settings("newreno acks.quickack_mode on delack 40ms"));
        let mut send = |index: u64, ecn| {
            let seq = index * 100;
            let segment = Segment { seq, payload: 100, sent_at: Time::ZERO, ecn, cwr: false, fin: false };
            r.on_segment(&segment, Time::ZERO).is_some()
        };
        assert!(!send(0, Ecn::Ect0));
        let at_once: Vec<bool> = (1..6).map(|index| send(index, Ecn::Ce)).collect();
        assert_eq!(at_once, [true, true, false, true, false]);
    }

    #[test]
    fn with_quicken_the_answer_to_an_echo_is_acknowledged_at_once() {
        for (flag, at_once) in [("off", false), ("on", true)] {
            let mut r = Receiver::new(&settings(&format!("newreno acks.quickack_mode {flag} delack 40ms")));
            let cwr =
                Segment { seq: 0, payload: 100, sent_at: Time::ZERO, ecn: Ecn::Ect0, cwr: true, fin: false };
            assert_eq!(r.on_segment(&cwr, Time::ZERO).is_some(), at_once);
        }
    }

    #[test]
    fn with_quickack_the_first_segments_and_the_last_are_acknowledged_at_once() {
        let mut r = Receiver::new(&settings("newreno acks.quickack 2 delack 40ms"));
        assert!(segment(&mut r, 0, 0).is_some());
        assert!(segment(&mut r, 1, 1).is_some());
        assert!(segment(&mut r, 2, 2).is_none());
        assert!(segment(&mut r, 3, 3).is_some());
        let now = Time::ZERO + Span::from_millis(4);
        assert!(
            r.on_segment(
                &Segment { seq: 400, payload: 100, sent_at: now, ecn: Ecn::NotEct, cwr: false, fin: true },
                now
            )
            .is_some()
        );
    }
}
