//! HyStart as first published: slow start ends when acknowledgments come in a train as long as half a round trip, a whole
//! one if the sender paces, or when the round-trip time rises.
//!
//! Ha, Rhee, "Hybrid Slow Start for High-Bandwidth and Long-Distance Networks", PFLDnet 2008, algorithm 1, with the
//! constants that Linux documents as parameters of its tcp_cubic. The window need not be used (cubictcp_acked sees every
//! acknowledgment). Rounds begin with the connection, or with the low window: so in Linux 5.16 to 6.13, until "tcp_cubic: fix
//! incorrect HyStart round start detection". A timeout forgets what was learnt.

use crate::transport::window::{Acked, Window};
use aqm_core::units::{Span, Time};

/// Acknowledgments no further apart belong to one train (hystart_ack_delta_us).
const APART: Span = Span::from_millis(2);
/// Smaller windows go on (hystart_low_window), in segments.
const LOW_WINDOW: u64 = 16;
/// The section "Delay increase": samples of a round before it is judged, and the rise, an eighth of the smallest.
const SAMPLES: u32 = 8;
const LEAST_RISE: Span = Span::from_millis(4);
const MOST_RISE: Span = Span::from_millis(16);
/// What a sender's own bursts may add to a train: a pause between them (hystart_ack_delay).
const BURSTS: Span = Span::from_millis(1);

/// State of a slow start.
#[derive(Clone, Debug)]
pub(crate) struct Classic {
    paced: bool,
    /// Whether rounds begin with the low window, rather than with the connection.
    late_rounds: bool,
    /// Whether it has ended a slow start: it ends no other until a timeout.
    found: bool,
    /// The smallest round-trip time, and that of this round with its samples.
    smallest: Span,
    this_round: Span,
    samples: u32,
    /// When the round began and the train was last joined, and where the round ends.
    began: Time,
    joined: Time,
    round_end: u64,
}

impl Classic {
    /// `paced` if the sender spaces its segments, by up to half a round trip in slow start; with `late_rounds` these begin with
    /// the low window.
    pub(crate) fn new(paced: bool, late_rounds: bool) -> Classic {
        Classic {
            paced,
            late_rounds,
            found: false,
            smallest: Span::MAX,
            this_round: Span::MAX,
            samples: 0,
            began: Time::ZERO,
            joined: Time::ZERO,
            round_end: 0,
        }
    }

    /// The retransmission timer expired.
    pub(crate) fn forget(&mut self) {
        *self = Classic::new(self.paced, self.late_rounds);
    }

    /// New data was acknowledged in slow start. Ends it by setting ssthresh.
    pub(crate) fn observe(&mut self, window: &mut Window, acked: &Acked) {
        if acked.sample == Span::ZERO {
            return;
        }
        self.smallest = self.smallest.min(acked.sample);
        let low = window.cwnd < LOW_WINDOW * window.mss;
        if self.found || (low && self.late_rounds) {
            return;
        }
        if acked.una > self.round_end {
            (self.round_end, self.began, self.joined) = (acked.next, acked.now, acked.now);
            (self.this_round, self.samples) = (Span::MAX, 0);
        }
        if !low && (self.train_is_long(acked.now) || self.delay_rises(acked)) {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    fn train_is_long(&mut self, now: Time) -> bool {
        if now.since(self.joined) > APART {
            return false;
        }
        self.joined = now;
        let longest = self.smallest + BURSTS;
        now.since(self.began) > if self.paced { longest } else { longest / 2 }
    }

    fn delay_rises(&mut self, acked: &Acked) -> bool {
        self.this_round = self.this_round.min(acked.sample);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.this_round > self.smallest + (self.smallest / 8).max(LEAST_RISE).min(MOST_RISE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of `count` acknowledgments of a segment each, `gap` apart, that begins at `at`, with this round-trip time.
    fn round(hystart: &mut Classic, window: &mut Window, at: u64, count: u64, gap: Span, rtt: u64) {
        let first = hystart.round_end;
        for ack in 0..count {
            let now = Time::ZERO + Span::from_millis(at) + gap * ack;
            let (una, next) = (first + (ack + 1) * 1000, first + count * 1000 + (ack + 1) * 2000);
            let acked = Acked { una, next, ..Acked::new(1000, now, Span::from_millis(rtt)) };
            hystart.observe(window, &acked);
            window.slow_start(acked.bytes);
        }
    }

    #[test]
    fn a_train_of_half_the_smallest_round_trip_ends_slow_start() {
        let (mut hystart, mut window) = (Classic::new(false, false), Window::new(1000, 20));
        // Twenty acknowledgments, 2 ms apart: 38 ms are less than half of 100 and 1.
        round(&mut hystart, &mut window, 100, 20, Span::from_millis(2), 100);
        assert!(window.in_slow_start());
        round(&mut hystart, &mut window, 200, 40, Span::from_millis(2), 100);
        // The 27th is the first after more than 50.5 ms: 26 were added before, and no more.
        assert_eq!((window.cwnd, window.ssthresh), (66_000, 66_000));
    }

    #[test]
    fn a_paced_sender_s_train_may_be_as_long_as_a_round_trip() {
        let (mut hystart, mut window) = (Classic::new(true, false), Window::new(1000, 20));
        // 49 segments 2 ms apart are 96 ms long, of 101.
        round(&mut hystart, &mut window, 100, 49, Span::from_millis(2), 100);
        assert!(window.in_slow_start());
        // 69 of 51 ms and more: the 52nd is the first after more than 101 ms.
        round(&mut hystart, &mut window, 300, 60, Span::from_millis(2), 100);
        assert_eq!((window.cwnd, window.ssthresh), (20_000 + 49_000 + 51_000, 120_000));
    }

    #[test]
    fn rounds_begin_with_the_connection_or_with_the_sixteenth_segment_of_the_window() {
        // Linux 5.16 to 6.13: hystart_update is not called before, so the round goes on from there to what is sent by then.
        for (late_rounds, ends) in [(true, 17_000), (false, 11_000)] {
            let (mut hystart, mut window) = (Classic::new(false, late_rounds), Window::new(1000, 10));
            for ack in 1..=7 {
                let now = Time::ZERO + Span::from_millis(100 * ack);
                let acked = Acked {
                    una: ack * 1000,
                    next: 10_000 + ack * 1000,
                    ..Acked::new(1000, now, Span::from_millis(100))
                };
                hystart.observe(&mut window, &acked);
                window.slow_start(1000);
            }
            assert_eq!((hystart.round_end, window.cwnd), (ends, 17_000));
        }
    }

    #[test]
    fn an_unused_window_is_judged_too_and_one_slow_start_is_ended() {
        let (mut hystart, mut window) = (Classic::new(false, false), Window::new(1000, 20));
        let acked = |ack: u64, rtt| {
            let now = Time::ZERO + Span::from_millis(3 * ack);
            let next = if ack > 40 { 80_000 } else { 40_000 };
            Acked { una: ack * 1000, next, ..Acked::new(1000, now, Span::from_millis(rtt)) }
        };
        // It does not grow, and the ninth sample of a round decides.
        hystart.observe(&mut window, &acked(0, 10));
        (1..=8).for_each(|ack| hystart.observe(&mut window, &acked(ack, 100)));
        assert!(window.in_slow_start());
        hystart.observe(&mut window, &acked(9, 100));
        assert_eq!(window.ssthresh, 20_000);
        window.ssthresh = 30_000; // of a window that idle time has shrunk
        (10..=30).for_each(|ack| hystart.observe(&mut window, &acked(ack, 100)));
        assert_eq!(window.ssthresh, 30_000);
        hystart.forget();
        hystart.observe(&mut window, &acked(31, 10));
        (41..=49).for_each(|ack| hystart.observe(&mut window, &acked(ack, 100)));
        assert_eq!(window.ssthresh, 20_000);
    }

    #[test]
    fn a_train_with_a_gap_is_no_longer_joined() {
        let (mut hystart, mut window) = (Classic::new(false, false), Window::new(1000, 20));
        round(&mut hystart, &mut window, 100, 40, Span::from_micros(2001), 100);
        assert!(window.in_slow_start());
    }

    #[test]
    fn a_rise_by_an_eighth_of_the_smallest_ends_slow_start_after_eight_samples() {
        for (rtt, ends) in [(112, false), (113, true)] {
            let (mut hystart, mut window) = (Classic::new(false, false), Window::new(1000, 20));
            let gap = Span::from_millis(3);
            round(&mut hystart, &mut window, 100, 20, gap, 100);
            round(&mut hystart, &mut window, 200, 20, gap, rtt);
            assert_eq!(!window.in_slow_start(), ends, "{rtt} ms");
            if ends {
                assert_eq!(window.cwnd, 48_000); // 20 of the first round, and the eight samples
            }
        }
    }

    #[test]
    fn a_window_below_sixteen_segments_goes_on() {
        let (mut hystart, mut window) = (Classic::new(false, false), Window::new(1000, 2));
        round(&mut hystart, &mut window, 100, 2, Span::from_millis(3), 10);
        round(&mut hystart, &mut window, 200, 11, Span::from_millis(1), 100);
        assert_eq!((window.cwnd, window.in_slow_start()), (15_000, true));
    }
}
