//! LEDBAT's window (RFC 6817): uses capacity that others leave, and yields when the one-way delay rises.

use super::controller::{Controller, Info};
use crate::transport::feedback::{Echo, ReceiverReport};
use crate::transport::values::Values;
use crate::transport::window::{Acked, Window};
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "ledbat",
    summary: "LEDBAT (RFC 6817): yields to others when the one-way delay rises",
    reference: "RFC 6817",
    params: &[TARGET, GAIN],
    feedback: (Echo::Classic, ReceiverReport::OneWayDelay),
    build: |values, window, _| Box::new(Ledbat::new(values, window)),
    ..Info::USUAL
};

const TARGET: ParamSpec = ParamSpec::new(
    "target",
    Kind::Span,
    Value::Span(Span::from_millis(100)),
    (1e3, 1e10),
    "queueing delay that it aims at",
    "RFC 6817 section 2.5: at most 100 ms; RFC 7928 section 5.4 tests with 5 ms",
);
const GAIN: ParamSpec = ParamSpec::new(
    "gain",
    Kind::Count,
    Value::Count(1),
    (1.0, 100.0),
    "segments by which the window grows in a round trip without queueing delay",
    "RFC 6817 section 2.5: at most 1; RFC 7928 section 5.4 tests with 10",
);
/// Section 2.5: segments by which the window may exceed the data outstanding.
const ALLOWED_INCREASE: u64 = 1;
/// Smallest window in segments, and the first one.
const MIN_CWND: u64 = 2;
/// Samples of the filter of current delays (section 2.5, a minimum).
const CURRENT_FILTER: usize = 4;
/// Minutes for which the smallest delay is kept (section 2.5: BASE_HISTORY).
const BASE_HISTORY: usize = 10;
const MINUTE: Span = Span::from_secs(60);

/// State beyond the window. Delays are in microseconds.
#[derive(Clone, Debug)]
struct Ledbat {
    target: f64,
    gain: f64,
    current: VecDeque<u32>,
    /// The smallest delay of each minute, the newest last.
    base: VecDeque<u32>,
    minute_ends: Time,
    /// Fraction of a byte by which the window is still to change.
    rest: f64,
}

impl Ledbat {
    /// Section 2.4.2 starts from INIT_CWND without slow start.
    fn new(values: &Values, window: &mut Window) -> Ledbat {
        window.initial = MIN_CWND * window.mss;
        window.cwnd = window.initial;
        window.ssthresh = 0;
        Ledbat {
            target: values.span("target").as_nanos() as f64 / 1e3,
            gain: f64::from(values.count("gain")),
            current: VecDeque::new(),
            base: VecDeque::new(),
            minute_ends: Time::ZERO,
            rest: 0.0,
        }
    }
}

impl Controller for Ledbat {
    /// Reads the delay from the receiver's report.
    fn observe(&mut self, _: &mut Window, acked: &Acked) {
        if acked.sample == Span::ZERO {
            return;
        }
        // update_base_delay of section 2.4.2
        if self.base.is_empty() || acked.now >= self.minute_ends {
            self.minute_ends = acked.now + MINUTE;
            self.base.push_back(acked.report);
            if self.base.len() > BASE_HISTORY {
                self.base.pop_front();
            }
        } else {
            let newest = self.base.back_mut().expect("it is not empty");
            *newest = (*newest).min(acked.report);
        }
        self.current.push_back(acked.report);
        if self.current.len() > CURRENT_FILTER {
            self.current.pop_front();
        }
    }

    /// Section 2.4.2.
    fn avoid_congestion(&mut self, window: &mut Window, acked: &Acked) {
        let Some(base) = self.base.iter().min() else { return };
        let Some(current) = self.current.iter().min() else { return };
        let queueing = f64::from(current - base.min(current));
        let off_target = (self.target - queueing) / self.target;
        let mss = window.mss as f64;
        let move_by = self.gain * off_target * acked.bytes as f64 * mss / window.cwnd as f64 + self.rest;
        let whole = libm::floor(move_by);
        self.rest = move_by - whole;
        let wanted = window.cwnd.saturating_add_signed(whole as i64);
        let allowed = acked.flight + ALLOWED_INCREASE * window.mss;
        window.cwnd = wanted.min(allowed).max(MIN_CWND * window.mss);
    }

    /// Section 2.4.2: a loss halves the window.
    fn on_congestion(&mut self, window: &mut Window, _: u64) {
        window.cwnd = window.cwnd.min((window.cwnd / 2).max(MIN_CWND * window.mss));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(bytes: u64, delay_ms: u32, at: u64) -> Acked {
        let now = Time::ZERO + Span::from_millis(at);
        Acked { report: delay_ms * 1000, flight: 20_000, ..Acked::new(bytes, now, Span::from_millis(50)) }
    }

    fn settled(cwnd: u64) -> (Ledbat, Window) {
        let mut window = Window::new(1000, 10);
        let mut ledbat = Ledbat::new(&Values::new([INFO.params]), &mut window);
        window.cwnd = cwnd;
        ledbat.observe(&mut window, &acked(1000, 20, 0)); // base delay: 20 ms
        (ledbat, window)
    }

    #[test]
    fn an_empty_queue_lets_it_grow_by_a_segment_a_round_trip() {
        let (mut ledbat, mut window) = settled(10_000);
        ledbat.avoid_congestion(&mut window, &acked(10_000, 20, 1));
        assert_eq!(window.cwnd, 11_000);
    }

    #[test]
    fn at_twice_the_target_it_shrinks_as_fast_as_it_grows_without_delay() {
        let (mut ledbat, mut window) = settled(10_000);
        (1..=4).for_each(|at| ledbat.observe(&mut window, &acked(1000, 220, at))); // 200 ms of queue: twice the target
        ledbat.avoid_congestion(&mut window, &acked(10_000, 220, 5));
        assert_eq!(window.cwnd, 9_000);
    }

    #[test]
    fn a_gain_of_ten_and_a_target_of_5_ms_react_as_much_more() {
        let (ledbat, mut window) = settled(10_000);
        let mut ledbat = Ledbat { target: 5_000.0, gain: 10.0, ..ledbat };
        ledbat.avoid_congestion(&mut window, &acked(1000, 20, 1));
        assert_eq!(window.cwnd, 11_000); // an acknowledgment of 1000 bytes: 10 x 1000 x 1000 / 10 000
        (2..=5).for_each(|at| ledbat.observe(&mut window, &acked(1000, 25, at))); // 5 ms of queue: at the target
        ledbat.avoid_congestion(&mut window, &acked(1000, 25, 6));
        assert_eq!(window.cwnd, 11_000);
    }

    #[test]
    fn at_half_the_target_it_grows_half_as_fast_and_one_small_sample_counts() {
        let (mut ledbat, mut window) = settled(10_000);
        for delay in [220, 70, 220, 220] {
            ledbat.observe(&mut window, &acked(1000, delay, 1));
        }
        ledbat.avoid_congestion(&mut window, &acked(10_000, 220, 5)); // the filter's minimum: 50 ms of queue
        assert_eq!(window.cwnd, 10_500);
    }

    #[test]
    fn the_window_stays_within_a_segment_of_the_flight_and_above_two() {
        let (mut ledbat, mut window) = settled(30_000);
        ledbat.avoid_congestion(&mut window, &acked(1000, 20, 1));
        assert_eq!(window.cwnd, 21_000); // 20 000 outstanding
        window.cwnd = 3000;
        ledbat.on_congestion(&mut window, 3000);
        assert_eq!(window.cwnd, 2000);
    }

    #[test]
    fn a_base_delay_is_forgotten_after_ten_minutes() {
        let (mut ledbat, mut window) = settled(10_000);
        for minute in 1..=10 {
            ledbat.observe(&mut window, &acked(1000, 60, minute * 60_000));
        }
        assert_eq!(ledbat.base.iter().min(), Some(&60_000));
    }
}
