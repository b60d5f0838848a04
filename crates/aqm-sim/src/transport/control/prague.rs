//! TCP Prague's window (draft-briscoe-iccrg-prague-congestion-control, "the draft" below; the requirements are those
//! of RFC 9331 section 4.3): DCTCP's reduction, growth by every unmarked byte, less dependence of the rate on the
//! round-trip time, and pacing.
//!
//! Written from the draft; not validated against an implementation. Deviations: the reduced RTT dependence starts at
//! the end of slow start (the draft: after 500 round trips); a queue with classic ECN is not recognised, so the share
//! of marks counts there too (RFC 9331 section 4.3 item 3); the window is at least two segments (item 5). Losses are
//! found by time (item 6) with `recovery.rack`.

use super::controller::{Controller, Info};
use super::newreno::Newreno;
use crate::transport::feedback::{Echo, ReceiverReport};
use crate::transport::window::{Acked, Window};
use aqm_core::units::{Span, Time};

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "prague",
    summary: "TCP Prague (L4S), from the draft, not validated against an implementation",
    reference: "draft-briscoe-iccrg-prague-congestion-control, RFC 9331",
    sets: &[("ecn", "l4s"), ("recovery.rack", "on")],
    only: &[],
    // Section 4.2 of RFC 9331: AccECN (RFC 9768).
    feedback: (Echo::Counted, ReceiverReport::CeBytes),
    build: |_, _, _| Box::new(Prague::default()),
    ..Info::USUAL
};

/// Weight of a round in the average: the draft, "Moving Average of ECN Feedback".
const G: f64 = 1.0 / 16.0;
/// The draft, "Reduced RTT-Dependence": shorter round trips count as this long (RFC 9331 appendix A.1.6).
const RTT_REF_MIN: Span = Span::from_millis(25);

/// State beyond the window.
#[derive(Clone, Debug)]
struct Prague {
    reno: Newreno,
    /// Average share of marked bytes.
    alpha: f64,
    acked: u64,
    marked: u64,
    /// The round in which `acked` and `marked` are counted.
    averaged: Round,
    /// No further reduction in this round.
    reduced: Round,
    /// The round that would start with the last acknowledgment.
    latest: Round,
    /// Fraction of a byte by which the window is still to grow.
    rest: f64,
    flight: u64,
    rtt: Span,
}

/// A reference round trip: at least RTT_ref, and until everything sent before it is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    sent: u64,
    ends: Time,
}

impl Round {
    fn starting_with(acked: &Acked) -> Round {
        Round { sent: acked.next, ends: acked.now + acked.rtt.max(RTT_REF_MIN) }
    }

    fn is_over(self, acked: &Acked) -> bool {
        acked.una > self.sent && acked.now >= self.ends
    }
}

impl Default for Prague {
    fn default() -> Prague {
        Prague {
            reno: Newreno::default(),
            // RFC 8257 section 4.2: the first mark halves the window.
            alpha: 1.0,
            acked: 0,
            marked: 0,
            averaged: Round::default(),
            reduced: Round::default(),
            latest: Round::default(),
            rest: 0.0,
            flight: 0,
            rtt: Span::ZERO,
        }
    }
}

impl Controller for Prague {
    /// Updates the average once a round. The first mark reduces the window and ends slow start; there is no further
    /// reduction for a round.
    fn observe(&mut self, window: &mut Window, acked: &Acked) {
        (self.flight, self.rtt) = (acked.flight, acked.rtt);
        self.latest = Round::starting_with(acked);
        self.acked += acked.bytes;
        self.marked += acked.marked;
        if self.averaged.is_over(acked) {
            let share = if self.acked > 0 { self.marked as f64 / self.acked as f64 } else { 0.0 };
            self.alpha += G * (share.min(1.0) - self.alpha);
            (self.acked, self.marked, self.averaged) = (0, 0, self.latest);
        }
        if acked.marked > 0 && self.reduced.is_over(acked) {
            let reduced = window.cwnd as f64 * (1.0 - self.alpha / 2.0);
            window.ssthresh = (reduced as u64).max(2 * window.mss);
            // After a timeout it has less already.
            window.cwnd = window.cwnd.min(window.ssthresh);
            self.reduced = self.latest;
        }
    }

    /// The draft, "Additive Increase and ECN Feedback". A reduction does not suspend growth; marked bytes do not
    /// count.
    fn avoid_congestion(&mut self, window: &mut Window, acked: &Acked) {
        let unmarked = acked.bytes.saturating_sub(acked.marked) as f64;
        // 1 / M: a window of the reference round trip is M times as large and takes M times as long.
        let share = acked.rtt.as_secs_f64() / acked.rtt.max(RTT_REF_MIN).as_secs_f64();
        let increase = share * share * window.mss as f64 * unmarked / window.cwnd as f64 + self.rest;
        window.cwnd += increase as u64;
        self.rest = increase - libm::floor(increase);
    }

    /// A loss has Reno's response (RFC 9331 section 4.3 item 2), which also answers the marks of the same round.
    fn on_congestion(&mut self, window: &mut Window, flight: u64) {
        self.reno.on_congestion(window, flight);
        self.reduced = self.latest;
    }

    /// The draft, "Packet Pacing": bytes per second, twice the window's rate in slow start; zero before the first
    /// sample.
    fn rate(&self, window: &Window) -> Option<f64> {
        let rtt = self.rtt.as_secs_f64();
        let margin = if window.in_slow_start() { 2.0 } else { 1.0 };
        Some(if rtt > 0.0 { margin * window.cwnd.max(self.flight) as f64 / rtt } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(50);

    fn window(cwnd: u64) -> Window {
        Window { cwnd, ssthresh: 1, ..Window::new(1000, 10) }
    }

    /// `marked` of `bytes`, at a time; everything before `una` has arrived, everything before `next` was sent.
    fn acked(bytes: u64, marked: u64, ms: u64, una: u64, next: u64, rtt: Span) -> Acked {
        let now = Time::ZERO + Span::from_millis(ms);
        Acked { marked, una, next, ..Acked::new(bytes, now, rtt) }
    }

    #[test]
    fn the_first_mark_ends_slow_start_and_nearly_halves_the_window() {
        let mut window = Window { ssthresh: u64::MAX, ..window(100_000) };
        let mut prague = Prague::default();
        prague.observe(&mut window, &acked(1000, 1000, 50, 1000, 100_000, RTT));
        // The empty first round ends with a share of 1 and leaves alpha at 1.
        assert_eq!((window.cwnd, window.in_slow_start()), (50_000, false));
    }

    #[test]
    fn a_mark_does_not_raise_the_window_that_a_timeout_left() {
        let mut window = Window { ssthresh: 50_000, ..window(1000) };
        Prague::default().observe(&mut window, &acked(1000, 1000, 50, 1000, 2000, RTT));
        assert_eq!((window.cwnd, window.ssthresh), (1000, 2000));
    }

    #[test]
    fn alpha_moves_by_a_sixteenth_towards_the_share_of_marks_once_a_round() {
        let mut window = window(100_000);
        let mut prague = Prague::default();
        prague.observe(&mut window, &acked(1000, 0, 50, 1000, 100_000, RTT));
        assert_eq!(prague.alpha, 0.9375);
        prague.observe(&mut window, &acked(49_000, 0, 80, 50_000, 150_000, RTT));
        // Everything sent before is acknowledged at 100 000, but the round needs a byte more.
        prague.observe(&mut window, &acked(50_000, 25_000, 100, 100_000, 199_000, RTT));
        assert_eq!(prague.alpha, 0.9375);
        prague.observe(&mut window, &acked(1000, 0, 101, 101_000, 200_000, RTT));
        // A quarter of 100 000 bytes: 0.9375 + (0.25 - 0.9375) / 16.
        assert!((prague.alpha - 0.894_531_25).abs() < 1e-12, "{}", prague.alpha);
    }

    #[test]
    fn a_short_round_trip_counts_as_25_ms_for_the_average_and_for_the_next_reduction() {
        let (mut window, rtt) = (window(10_000), Span::from_millis(5));
        let mut prague = Prague { alpha: 0.5, ..Prague::default() };
        prague.averaged = Round { sent: 0, ends: Time::ZERO + Span::from_secs(9) };
        prague.observe(&mut window, &acked(1000, 1000, 100, 1000, 10_000, rtt));
        assert_eq!(window.cwnd, 7_500); // 1 - 0.5 / 2
        // 24 ms later five windows have been acknowledged, but it is the same reference round trip.
        prague.observe(&mut window, &acked(1000, 1000, 124, 50_000, 57_000, rtt));
        assert_eq!(window.cwnd, 7_500);
        prague.observe(&mut window, &acked(1000, 1000, 125, 51_000, 58_000, rtt));
        assert_eq!(window.cwnd, 5_625);
    }

    #[test]
    fn growth_is_a_segment_a_round_trip_less_what_was_marked() {
        let mut prague = Prague::default();
        let mut window = window(10_000);
        prague.avoid_congestion(&mut window, &acked(10_000, 0, 50, 0, 0, RTT));
        assert_eq!(window.cwnd, 11_000);
        // 5500 of 11 000 bytes were marked: half a segment.
        prague.avoid_congestion(&mut window, &acked(11_000, 5500, 100, 0, 0, RTT));
        assert_eq!(window.cwnd, 11_500);
        prague.avoid_congestion(&mut window, &acked(1000, 1000, 100, 0, 0, RTT));
        assert_eq!(window.cwnd, 11_500);
    }

    #[test]
    fn at_a_fifth_of_the_reference_a_round_trip_adds_a_twenty_fifth_of_a_segment() {
        let mut prague = Prague::default();
        let mut window = window(10_000);
        // 40 bytes each time: 4 bytes for each of ten acknowledgments, a little less as the window grows.
        for _ in 0..100 {
            prague.avoid_congestion(&mut window, &acked(1000, 0, 5, 0, 0, Span::from_millis(5)));
        }
        // d(cwnd) / d(bytes) = 40 / cwnd: sqrt(10 000^2 + 2 * 40 * 100 000) = 10 392.
        assert!(window.cwnd.abs_diff(10_392) <= 1, "{}", window.cwnd);
    }

    #[test]
    fn a_loss_halves_the_window_and_answers_the_marks_of_its_round() {
        let mut prague = Prague::default();
        let mut window = window(100_000);
        prague.observe(&mut window, &acked(1000, 0, 50, 1000, 100_000, RTT));
        prague.on_congestion(&mut window, 100_000);
        prague.observe(&mut window, &acked(1000, 1000, 60, 2000, 100_000, RTT));
        assert_eq!((window.cwnd, window.ssthresh), (50_000, 50_000));
        prague.observe(&mut window, &acked(1000, 1000, 101, 101_000, 150_000, RTT));
        assert!(window.cwnd < 50_000);
    }

    #[test]
    fn pacing_spreads_the_window_over_the_round_trip_and_is_twice_as_fast_in_slow_start() {
        let mut prague = Prague::default();
        let mut window = Window { ssthresh: u64::MAX, ..window(100_000) };
        assert_eq!(prague.rate(&window), Some(0.0));
        prague.observe(&mut window, &acked(1000, 0, 50, 1000, 100_000, RTT));
        assert_eq!(prague.rate(&window), Some(4_000_000.0));
        window.ssthresh = 100_000;
        assert_eq!(prague.rate(&window), Some(2_000_000.0));
        // Data still in flight after a reduction counts as part of the window.
        prague.flight = 120_000;
        (window.cwnd, window.ssthresh) = (50_000, 50_000);
        assert_eq!(prague.rate(&window), Some(2_400_000.0));
    }
}
