//! HyStart as first published: slow start ends when acknowledgments come in a train as long as half a round trip, or when
//! the round-trip time rises.
//!
//! Ha, Rhee, "Hybrid Slow Start for High-Bandwidth and Long-Distance Networks", PFLDnet 2008, algorithm 1, with the
//! constants that Linux documents as parameters of its tcp_cubic. A timeout forgets what was learnt.

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
    /// The smallest round-trip time, and that of this round with its samples.
    smallest: Span,
    this_round: Span,
    samples: u32,
    /// When the round began and the train was last joined, and where the round ends.
    began: Time,
    joined: Time,
    round_end: u64,
}

impl Default for Classic {
    fn default() -> Classic {
        Classic {
            smallest: Span::MAX,
            this_round: Span::MAX,
            samples: 0,
            began: Time::ZERO,
            joined: Time::ZERO,
            round_end: 0,
        }
    }
}

impl Classic {
    /// New data was acknowledged in slow start. Ends it by setting ssthresh.
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        self.smallest = self.smallest.min(acked.sample);
        if acked.una > self.round_end {
            (self.round_end, self.began, self.joined) = (acked.next, acked.now, acked.now);
            (self.this_round, self.samples) = (Span::MAX, 0);
        }
        if window.cwnd >= LOW_WINDOW * window.mss
            && (self.train_is_long(acked.now) || self.delay_rises(acked))
        {
            window.ssthresh = window.cwnd;
        }
        window.slow_start(acked.bytes);
    }

    fn train_is_long(&mut self, now: Time) -> bool {
        if now.since(self.joined) > APART {
            return false;
        }
        self.joined = now;
        now.since(self.began) > (self.smallest + BURSTS) / 2
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
            hystart.on_ack(window, &acked);
        }
    }

    #[test]
    fn a_train_of_half_the_smallest_round_trip_ends_slow_start() {
        let (mut hystart, mut window) = (Classic::default(), Window::new(1000, 20));
        // Twenty acknowledgments, 2 ms apart: 38 ms are less than half of 100 and 1.
        round(&mut hystart, &mut window, 100, 20, Span::from_millis(2), 100);
        assert!(window.in_slow_start());
        round(&mut hystart, &mut window, 200, 40, Span::from_millis(2), 100);
        // The 27th is the first after more than 50.5 ms: 26 were added before, and no more.
        assert_eq!((window.cwnd, window.ssthresh), (66_000, 66_000));
    }

    #[test]
    fn a_train_with_a_gap_is_no_longer_joined() {
        let (mut hystart, mut window) = (Classic::default(), Window::new(1000, 20));
        round(&mut hystart, &mut window, 100, 40, Span::from_micros(2001), 100);
        assert!(window.in_slow_start());
    }

    #[test]
    fn a_rise_by_an_eighth_of_the_smallest_ends_slow_start_after_eight_samples() {
        for (rtt, ends) in [(112, false), (113, true)] {
            let (mut hystart, mut window) = (Classic::default(), Window::new(1000, 20));
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
        let (mut hystart, mut window) = (Classic::default(), Window::new(1000, 2));
        round(&mut hystart, &mut window, 100, 2, Span::from_millis(3), 10);
        round(&mut hystart, &mut window, 200, 11, Span::from_millis(1), 100);
        assert_eq!((window.cwnd, window.in_slow_start()), (15_000, true));
    }
}
