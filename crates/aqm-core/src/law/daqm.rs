//! dAQM (S. Saleh, S. Shu and B. Koldehofe 2024, algorithm 1): when a feature of the queue is above its threshold, packets
//! are dropped with that feature's rate for that feature's duration.
//!
//! This is the detection phase and the dropping phase; [`super::features`] is the extraction. Indices are those of
//! [`features::NAMES`]: one less than in the paper's arrays.
//!
//! Random numbers: none here; one per arriving packet while packets are dropped. What decides is computed with the four
//! operations on `f64`, the same to the last bit on every machine.

use super::features::{self, Features};
use crate::units::{Span, Time};

/// What to look for, and what to do about it.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// T: what each feature must exceed; infinite for one that is not looked at.
    pub thresholds: Features,
    /// `T_S`, milliseconds: how long the packet must have waited for a feature of sojourn time to count.
    pub gate_s: f64,
    /// `T_B`, packets: how many must wait for a feature of the buffer to count.
    pub gate_b: f64,
    /// Whether a feature also counts that is below the threshold with a minus sign, as in the authors' program.
    pub absolute: bool,
    /// `D_r`: the probability with which arriving packets are dropped.
    pub rates: Features,
    /// `D_d`: for how long.
    pub durations: [Span; features::COUNT],
    /// By which share of themselves a feature's rate and duration grow when it is found again soon (line 44); zero leaves
    /// them as they are.
    pub update_step: f64,
}

/// A triple of thresholds, gates apart, and rate: one row of the paper's Table III. Every duration there is 400 ms.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// T, in the order of [`features::NAMES`]: b (packets), s (ms), then the derivatives.
    pub thresholds: Features,
    /// `D_r`, the same for all.
    pub rate: f64,
}

/// dAQM1 to dAQM3 of Table III, the laxest first.
pub const CONFIGURATIONS: [Configuration; 3] = [
    Configuration { thresholds: [120.0, 1000.0, 1.0, 10.0, 10.0, 10.0, 10.0, 10.0], rate: 0.05 },
    Configuration { thresholds: [80.0, 600.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], rate: 0.5 },
    Configuration { thresholds: [20.0, 100.0, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01], rate: 0.98 },
];

/// Most steps that an update takes a rate and a duration up.
const MOST_STEPS: u8 = 20;

/// What one queue remembers.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// The feature that was found last.
    found: Option<usize>,
    /// Until when packets are dropped, and with which probability.
    until: Time,
    rate: f64,
    /// How many steps each feature's rate and duration are above what was asked for.
    steps: [u8; features::COUNT],
}

impl State {
    /// Whether packets are dropped: the dropping phase lasts, and nothing is detected.
    #[inline]
    pub fn is_dropping(&self, now: Time) -> bool {
        now < self.until
    }

    /// The probability with which arriving packets are dropped while that phase lasts.
    #[inline]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The feature that was found last, from 1 as in the paper; zero before the first.
    pub fn found(&self) -> usize {
        self.found.map_or(0, |index| index + 1)
    }
}

impl Params {
    /// The detection phase (lines 11 to 36): the first feature above its threshold, jerk before acceleration, sojourn
    /// before buffer. Features of the buffer count where it was sampled, `with_buffer`.
    #[inline]
    pub fn detect(&self, features: &Features, with_buffer: bool) -> Option<usize> {
        let [b, s, ..] = *features;
        let sojourn = s > self.gate_s;
        let buffer = with_buffer && b > self.gate_b;
        if !sojourn && !buffer {
            return None;
        }
        let counts = |index| if features::is_sojourn(index) { sojourn } else { buffer };
        (0..features::COUNT).rev().find(|&index| counts(index) && self.is_above(features, index))
    }

    #[inline]
    fn is_above(&self, features: &Features, index: usize) -> bool {
        let (value, threshold) = (features[index], self.thresholds[index]);
        value > threshold || self.absolute && value < -threshold
    }

    /// Enters the dropping phase for the feature at `index` (lines 40 and 41).
    pub fn start(&self, state: &mut State, index: usize, now: Time) {
        self.update(state, index, now);
        let growth = 1.0 + self.update_step * f64::from(state.steps[index]);
        state.found = Some(index);
        state.rate = (self.rates[index] * growth).min(1.0);
        // Whole nanoseconds, rounded down.
        state.until = now + Span::from_nanos((self.durations[index].as_nanos() as f64 * growth) as u64);
    }

    /// Line 44 gives no rule. This one: a feature that is found again before its duration has passed once more since the
    /// last phase ended was not dealt with, and goes a step up; otherwise a step down, to what was asked for.
    fn update(&self, state: &mut State, index: usize, now: Time) {
        let soon = state.found == Some(index) && now < state.until + self.durations[index];
        let steps = &mut state.steps[index];
        *steps = if soon { (*steps + 1).min(MOST_STEPS) } else { steps.saturating_sub(1) };
    }
}

#[cfg(test)]
mod tests;
