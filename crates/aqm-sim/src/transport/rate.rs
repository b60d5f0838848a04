//! Delivery-rate samples (draft-ietf-ccwg-bbr-06 section 4.1, earlier draft-cheng-iccrg-delivery-rate-estimation): how
//! fast the path delivered what was sent. Names are the draft's.

use super::scoreboard::Segment;
use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// State kept for an outstanding segment: P in section 4.1.2.1.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    length: u32,
    is_app_limited: bool,
    /// At any time: then its round-trip time is ambiguous.
    retransmitted: bool,
    /// Marked lost and not sent again.
    lost_out: bool,
    send_time: Time,
    first_send_time: Time,
    delivered_time: Time,
    delivered: u64,
    lost: u64,
    tx_in_flight: u64,
}

/// The sample of one acknowledgment: RS in sections 2.3 and 4.1.2.1. Bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// Bytes per second; zero where there is no reliable sample.
    pub delivery_rate: f64,
    /// Whether the application limited what was sent.
    pub is_app_limited: bool,
    /// Delivered while it was taken.
    pub delivered: u64,
    /// Delivered over the connection's life when its segment was sent.
    pub prior_delivered: u64,
    /// Delivered by this acknowledgment.
    pub newly_acked: u64,
    /// Marked lost with this acknowledgment.
    pub newly_lost: u64,
    /// In flight when its segment was sent.
    pub tx_in_flight: u64,
    /// Marked lost while it was taken.
    pub lost: u64,
    /// Of the segment sent last, unless it was a retransmission.
    pub rtt: Option<Span>,
}

/// A segment that was marked lost. Bytes.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// Where it begins.
    pub start: u64,
    /// Its length.
    pub length: u64,
    /// Whether the application limited what was sent when it was.
    pub is_app_limited: bool,
    /// In flight when it was sent.
    pub tx_in_flight: u64,
    /// Lost since it was sent, itself included.
    pub lost: u64,
    /// Delivered over the connection's life.
    pub delivered: u64,
    /// When it was marked.
    pub now: Time,
}

/// The sampler of one connection: C in section 4.1.2.1.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    outstanding: VecDeque<Sent>,
    /// Bytes delivered over the connection's life.
    pub(crate) delivered: u64,
    delivered_time: Time,
    first_send_time: Time,
    lost: u64,
    /// Bytes marked lost and not sent again: C.lost_out - C.retrans_out.
    unrepaired: u64,
    /// Zero, or the value of `delivered` when the last application-limited segment arrives.
    app_limited: u64,
    /// The value of `delivered` when the last segment that filled the window arrives.
    cwnd_limited: u64,
    min_rtt: Span,
    /// The sample under construction, and its segment.
    sample: RateSample,
    newest: Option<Newest>,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    end: u64,
    prior_lost: u64,
    send_elapsed: Span,
    ack_elapsed: Span,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler {
            outstanding: VecDeque::new(),
            delivered: 0,
            delivered_time: Time::ZERO,
            first_send_time: Time::ZERO,
            lost: 0,
            unrepaired: 0,
            app_limited: 0,
            cwnd_limited: 0,
            min_rtt: Span::MAX,
            sample: RateSample::default(),
            newest: None,
        }
    }
}

impl Sampler {
    /// OnPacketSent of section 4.1.2.2: `length` bytes from `start` leave, for the first time or again. `inflight`
    /// includes them.
    pub(crate) fn on_sent(&mut self, start: u64, length: u32, inflight: u64, now: Time) {
        if inflight == u64::from(length) {
            (self.first_send_time, self.delivered_time) = (now, now);
        }
        let mut sent = Sent {
            start,
            length,
            is_app_limited: self.app_limited != 0,
            retransmitted: false,
            lost_out: false,
            send_time: now,
            first_send_time: self.first_send_time,
            delivered_time: self.delivered_time,
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: inflight,
        };
        match self.position(start) {
            Some(index) => {
                self.settle(index);
                sent.retransmitted = true;
                self.outstanding[index] = sent;
            }
            None => self.outstanding.push_back(sent),
        }
    }

    /// UpdateRateSample of section 4.1.2.3: a segment has arrived.
    #[inline(never)]
    pub(crate) fn on_arrived(&mut self, segment: &Segment, now: Time) {
        let Some(index) = self.position(segment.start) else { return };
        self.settle(index);
        let sent = self.outstanding[index];
        self.delivered += u64::from(sent.length);
        self.sample.newly_acked += u64::from(sent.length);
        self.delivered_time = now;
        if !sent.retransmitted {
            let rtt = now.since(sent.send_time);
            self.min_rtt = self.min_rtt.min(rtt);
            self.sample.rtt = Some(self.sample.rtt.map_or(rtt, |earlier| earlier.min(rtt)));
        }
        let end = segment.end();
        // IsNewestPacket
        if self.newest.is_none_or(|newest| (sent.send_time, end) > (self.first_send_time, newest.end)) {
            self.newest = Some(Newest {
                end,
                prior_lost: sent.lost,
                send_elapsed: sent.send_time.since(sent.first_send_time),
                ack_elapsed: now.since(sent.delivered_time),
            });
            self.sample.prior_delivered = sent.delivered;
            self.sample.is_app_limited = sent.is_app_limited;
            self.sample.tx_in_flight = sent.tx_in_flight;
            self.first_send_time = sent.send_time;
        }
    }

    /// A segment was marked lost.
    #[inline(never)]
    pub(crate) fn on_lost(&mut self, segment: &Segment, now: Time) -> Option<LostSegment> {
        let index = self.position(segment.start)?;
        let sent = &mut self.outstanding[index];
        let length = u64::from(sent.length);
        if !std::mem::replace(&mut sent.lost_out, true) {
            self.unrepaired += length;
        }
        self.lost += length;
        self.sample.newly_lost += length;
        Some(LostSegment {
            start: sent.start,
            length,
            is_app_limited: sent.is_app_limited,
            tx_in_flight: sent.tx_in_flight,
            lost: self.lost - sent.lost,
            delivered: self.delivered,
            now,
        })
    }

    /// Nothing was lost: the recovery was spurious.
    pub(crate) fn mark_none_lost(&mut self) {
        (0..self.outstanding.len()).for_each(|index| self.settle(index));
    }

    /// GenerateRateSample of section 4.1.2.3, once everything below `una` was acknowledged; `None` if nothing
    /// arrived.
    pub(crate) fn generate(&mut self, una: u64) -> Option<RateSample> {
        while self.outstanding.front().is_some_and(|sent| sent.start + u64::from(sent.length) <= una) {
            self.outstanding.pop_front();
        }
        if self.delivered > self.app_limited {
            self.app_limited = 0; // the bubble is gone
        }
        let newest = self.newest.take()?;
        let mut sample = std::mem::take(&mut self.sample);
        sample.delivered = self.delivered - sample.prior_delivered;
        sample.lost = self.lost - newest.prior_lost;
        let interval = newest.send_elapsed.max(newest.ack_elapsed);
        if interval >= self.min_rtt && interval > Span::ZERO {
            sample.delivery_rate = sample.delivered as f64 / interval.as_secs_f64();
        }
        Some(sample)
    }

    /// CheckIfApplicationLimited of section 4.1.2.4, where there is no new data to send.
    #[inline(never)]
    pub(crate) fn check_if_application_limited(&mut self, inflight: u64, cwnd: u64) {
        if inflight < cwnd && self.unrepaired == 0 {
            self.mark_application_limited(inflight);
        }
    }

    /// MarkConnectionAppLimited of section 4.1.2.4.
    pub(crate) fn mark_application_limited(&mut self, inflight: u64) {
        self.app_limited = (self.delivered + inflight).max(1);
    }

    /// Whether recently the application limited the connection, not the network.
    pub(crate) fn is_application_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// The window has no room for another segment; `inflight` bytes are outstanding.
    pub(crate) fn mark_window_limited(&mut self, inflight: u64) {
        self.cwnd_limited = self.delivered + inflight;
    }

    /// C.is_cwnd_limited of section 2.2: whether the window was full in the last round trip.
    pub(crate) fn is_window_limited(&self) -> bool {
        self.delivered <= self.cwnd_limited
    }

    /// A segment no longer waits for its retransmission.
    fn settle(&mut self, index: usize) {
        let sent = &mut self.outstanding[index];
        if std::mem::take(&mut sent.lost_out) {
            self.unrepaired -= u64::from(sent.length);
        }
    }

    fn position(&self, start: u64) -> Option<usize> {
        let index = self.outstanding.partition_point(|sent| sent.start < start);
        self.outstanding.get(index).is_some_and(|sent| sent.start == start).then_some(index)
    }
}

/// Packet-timed round trips (section 5.5.1): each ends when data arrives that was sent after it started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    next_delivered: u64,
    pub(crate) count: u64,
    /// Whether this sample starts a round.
    pub(crate) started: bool,
}

impl Rounds {
    /// UpdateRound.
    pub(crate) fn update(&mut self, sample: &RateSample, delivered: u64) {
        self.started = sample.prior_delivered >= self.next_delivered;
        if self.started {
            self.start(delivered);
            self.count += 1;
        }
    }

    /// StartRound: the round ends when data sent from now on arrives.
    pub(crate) fn start(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

/// The largest value of the last rounds (or cycles).
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowedMax {
    /// Falling values, rising times: each becomes the largest when those before it are too old.
    candidates: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// Adds `value` at `time`; returns the largest of the last `length` times, this one included.
    pub(crate) fn update(&mut self, value: f64, time: u64, length: u64) -> f64 {
        while self.candidates.back().is_some_and(|last| last.1 <= value) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((time, value));
        while self.candidates.front().is_some_and(|first| first.0 + length <= time) {
            self.candidates.pop_front();
        }
        self.candidates.front().map_or(value, |first| first.1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::Scoreboard;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A sampler beside a scoreboard, with segments of 1000 bytes.
    #[derive(Default)]
    struct Pair {
        sampler: Sampler,
        board: Scoreboard,
        next: u64,
    }

    impl Pair {
        fn send(&mut self, ms: u64) {
            self.board.on_sent(self.next, 1000, at(ms));
            self.sampler.on_sent(self.next, 1000, self.board.pipe(), at(ms));
            self.next += 1000;
        }

        fn ack(&mut self, ms: u64, segments: u64) -> RateSample {
            let una = segments * 1000;
            self.board.on_cumulative_ack(una, |segment| self.sampler.on_arrived(segment, at(ms)));
            self.sampler.generate(una).expect("something arrived")
        }
    }

    #[test]
    fn the_rate_is_delivered_data_over_the_longer_of_send_and_ack_time() {
        let mut pair = Pair::default();
        // Ten segments at once, acknowledged over 45 ms: 5 ms each.
        (0..10).for_each(|_| pair.send(0));
        let first = pair.ack(100, 1);
        assert_eq!((first.delivered, first.delivery_rate), (1000, 10_000.0)); // 1000 bytes in 100 ms
        pair.send(100); // sent when 1000 bytes had been delivered, the last of them at 100 ms
        for (ms, segments) in (1..9).map(|i| (100 + 5 * i, 1 + i)) {
            pair.ack(ms, segments);
        }
        assert_eq!(pair.ack(145, 10).delivery_rate, 10_000.0 / 0.145); // the first flight over 145 ms
        let eleventh = pair.ack(200, 11);
        assert_eq!((eleventh.prior_delivered, eleventh.delivered), (1000, 10_000));
        // 100 ms from sending, 100 ms of acknowledgments.
        assert_eq!(eleventh.delivery_rate, 100_000.0);
        assert_eq!(eleventh.rtt, Some(Span::from_millis(100)));
    }

    #[test]
    fn compressed_acknowledgments_do_not_exceed_the_send_rate() {
        let mut pair = Pair::default();
        (0..10).for_each(|i| pair.send(10 * i));
        pair.ack(100, 1);
        (0..10).for_each(|i| pair.send(100 + 10 * i));
        // All the rest of the first ten at once, then the second ten at once too.
        pair.ack(190, 10);
        let sample = pair.ack(250, 20);
        // The last one was sent at 190 ms, when one segment had been delivered, sent at 0: nineteen more in 190 ms of
        // sending, though they were acknowledged within 150 ms.
        assert_eq!((sample.delivered, sample.tx_in_flight), (19_000, 19_000));
        assert_eq!(sample.delivery_rate, 100_000.0);
    }

    #[test]
    fn a_pause_of_the_application_marks_the_samples_of_the_next_round_trip() {
        let mut pair = Pair::default();
        pair.send(0);
        assert!(!pair.ack(50, 1).is_app_limited);
        pair.send(50);
        pair.sampler.check_if_application_limited(pair.board.pipe(), 10_000);
        pair.send(60); // after the pause
        assert!(!pair.ack(100, 2).is_app_limited); // sent before it
        pair.send(100); // the bubble is still on its way
        assert!(pair.ack(110, 3).is_app_limited);
        pair.send(110); // the bubble has left
        assert!(pair.ack(150, 4).is_app_limited);
        assert!(!pair.ack(160, 5).is_app_limited);
    }

    #[test]
    fn a_full_window_or_a_pending_retransmission_is_not_application_limited() {
        let mut pair = Pair::default();
        (0..10).for_each(|_| pair.send(0));
        pair.sampler.check_if_application_limited(10_000, 10_000);
        assert!(!pair.sampler.is_application_limited());
        pair.board.mark_all_lost(|segment| {
            pair.sampler.on_lost(segment, at(1));
        });
        pair.sampler.check_if_application_limited(0, 10_000);
        assert!(!pair.sampler.is_application_limited());
    }

    #[test]
    fn a_sample_counts_the_losses_since_its_segment_was_sent() {
        let mut pair = Pair::default();
        (0..10).for_each(|_| pair.send(0));
        pair.board.on_sack(3000, 6000, |segment| pair.sampler.on_arrived(segment, at(50)));
        let mut lost = Vec::new();
        let sampler = &mut pair.sampler;
        pair.board.detect_losses(|segment| lost.extend(sampler.on_lost(segment, at(50))));
        assert_eq!(
            lost.iter().map(|p| (p.start, p.lost)).collect::<Vec<_>>(),
            [(0, 1000), (1000, 2000), (2000, 3000)]
        );
        let sample = sampler.generate(0).expect("three arrived");
        assert_eq!((sample.newly_acked, sample.newly_lost, sample.lost), (3000, 3000, 3000));
        assert_eq!(sample.tx_in_flight, 6000);
    }

    #[test]
    fn the_largest_value_expires_after_the_length_of_the_window() {
        let mut filter = WindowedMax::default();
        let values = [(0, 5.0), (1, 9.0), (2, 3.0), (2, 4.0), (3, 1.0), (4, 2.0), (5, 1.0)];
        let largest: Vec<f64> = values.iter().map(|&(time, value)| filter.update(value, time, 3)).collect();
        assert_eq!(largest, [5.0, 9.0, 9.0, 9.0, 9.0, 4.0, 2.0]);
    }
}
