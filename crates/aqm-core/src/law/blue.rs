//! BLUE (W. Feng, K. Shin, D. Kandlur and D. Saha 2002, "The BLUE Active Queue Management Algorithms"): a probability
//! that rises when the queue overflows and falls when the link is idle. No random numbers.

use crate::units::{Span, Time};

/// The settings.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// By how much the probability rises (`d1`).
    pub increment: f64,
    /// By how much it falls (`d2`).
    pub decrement: f64,
    /// Time between two updates (`freeze_time`).
    pub freeze_time: Span,
}

/// The state.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    probability: f64,
    last_update: Time,
}

impl State {
    /// The probability (`p_m`).
    pub const fn probability(&self) -> f64 {
        self.probability
    }
}

impl Params {
    /// A packet was lost, or the queue is longer than it should be.
    #[inline]
    pub fn overload(&self, state: &mut State, now: Time) {
        if now.since(state.last_update) > self.freeze_time {
            *state = State { probability: self.raised(state.probability), last_update: now };
        }
    }

    /// The link is idle. At a probability of zero there is nothing to lower, and the freeze time does not start.
    #[inline]
    pub fn idle(&self, state: &mut State, now: Time) {
        if state.probability > 0.0 && now.since(state.last_update) > self.freeze_time {
            *state = State { probability: self.lowered(state.probability), last_update: now };
        }
    }

    /// `probability` one step up, at most 1.
    #[inline]
    pub fn raised(&self, probability: f64) -> f64 {
        let raised = probability + self.increment;
        if raised < 1.0 { raised } else { 1.0 }
    }

    /// `probability` one step down, at least 0.
    #[inline]
    pub fn lowered(&self, probability: f64) -> f64 {
        let lowered = probability - self.decrement;
        if lowered > 0.0 { lowered } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params { increment: 0.5, decrement: 0.25, freeze_time: Span::from_millis(10) };

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn the_probability_moves_at_most_once_per_freeze_time() {
        let mut state = State::default();
        for (millis, probability) in [(10, 0.0), (11, 0.5), (12, 0.5), (21, 0.5), (22, 1.0), (40, 1.0)] {
            PARAMS.overload(&mut state, at(millis));
            assert_eq!(state.probability(), probability, "{millis} ms");
        }
        for (millis, probability) in [(50, 1.0), (51, 0.75), (61, 0.75), (62, 0.5), (73, 0.25), (84, 0.0)] {
            PARAMS.idle(&mut state, at(millis));
            assert_eq!(state.probability(), probability, "{millis} ms");
        }
    }

    #[test]
    fn an_idle_link_without_a_probability_freezes_nothing() {
        let mut state = State::default();
        PARAMS.idle(&mut state, at(100));
        PARAMS.overload(&mut state, at(101));
        assert_eq!(state.probability(), 0.5);
        assert_eq!((PARAMS.raised(0.75), PARAMS.lowered(0.125)), (1.0, 0.0));
    }
}
