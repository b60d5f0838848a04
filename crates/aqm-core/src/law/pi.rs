//! The proportional integral controller that PIE and its relatives share.

use super::Periodic;
use crate::units::{Span, Time};

/// Gains and reference of the controller, in the unit of its input: delays in seconds, queues in packets.
#[derive(Clone, Copy, Debug)]
pub struct Pi {
    /// Reference.
    pub target: f64,
    /// Weight of the distance to the reference.
    pub alpha: f64,
    /// Weight of the trend.
    pub beta: f64,
}

impl Pi {
    /// The change of the probability in one period (RFC 8033 section 4.2, before auto-tuning).
    #[inline]
    pub fn change(&self, delay: f64, old_delay: f64) -> f64 {
        self.alpha * (delay - self.target) + self.beta * (delay - old_delay)
    }

    /// Whether a delay is below half of the reference.
    #[inline]
    pub fn low(&self, delay: f64) -> bool {
        delay < 0.5 * self.target
    }

    /// The safeguard of RFC 8033 section 4.1 (in RFC 8034 too): nothing is dropped at a low delay and a modest
    /// probability.
    #[inline]
    pub fn spares(&self, delay: f64, probability: f64) -> bool {
        self.low(delay) && probability < 0.2
    }
}

/// A probability that the controller updates once per period, without further rules: Hollot's PI, and PI2.
#[derive(Clone, Copy, Debug)]
pub struct Controlled {
    probability: f64,
    highest: f64,
    old: f64,
    timer: Periodic,
}

impl Controlled {
    /// At zero, with the first update after one `period`.
    pub fn new(period: Span) -> Controlled {
        Controlled { probability: 0.0, highest: 1.0, old: 0.0, timer: Periodic::new(period) }
    }

    /// From the next update on the probability is at most `highest`.
    pub const fn bound(&mut self, highest: f64) {
        self.highest = highest;
    }

    /// The probability.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// The delay or queue at the last update.
    pub const fn last(&self) -> f64 {
        self.old
    }

    /// When it is to be updated next.
    pub const fn due(&self) -> Time {
        self.timer.due()
    }

    /// Does the updates that are due by `now`, at which the delay or queue is `value`.
    pub fn catch_up(&mut self, pi: &Pi, period: Span, value: f64, now: Time) {
        let Controlled { probability, highest, old, timer } = self;
        timer.catch_up(period, now, || {
            *probability = (*probability + pi.change(value, *old)).clamp(0.0, *highest);
            *old = value;
        });
    }

    /// The period has changed to `period`.
    pub fn adopt(&mut self, period: Span, now: Time) {
        self.timer.adopt(period, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_follows_distance_and_trend() {
        let pi = Pi { target: 10.0, alpha: 0.01, beta: 0.02 };
        let period = Span::from_millis(10);
        let mut state = Controlled::new(period);
        let mut at = 0;
        for (value, probability) in [
            (10.0, 0.2), // 0 + 0.02 * 10
            (20.0, 0.5), // + 0.01 * 10 + 0.02 * 10
            (20.0, 0.6), // + 0.01 * 10
            (5.0, 0.25), // - 0.01 * 5 - 0.02 * 15
            (0.0, 0.05), // - 0.01 * 10 - 0.02 * 5
            (0.0, 0.0),  // - 0.01 * 10, but not below zero
            (90.0, 1.0), // + 0.8 + 1.8, but not above one
        ] {
            at += 10_000_000;
            state.catch_up(&pi, period, value, Time::from_nanos(at));
            assert!((state.probability() - probability).abs() < 1e-12, "{}", state.probability());
            assert_eq!(state.last(), value);
        }
    }
}
