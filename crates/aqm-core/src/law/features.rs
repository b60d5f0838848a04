//! The eight features of a queue that dAQM looks at: sojourn time, buffer size, and three derivatives of each
//! (S. Saleh, S. Shu and B. Koldehofe, "dAQM: Derivative-based Active Queue Management" (2024), eqs. 6 to 8 and 13 to 15).
//!
//! | feature | what it is | unit |
//! |---|---|---|
//! | `s` | how long the packet waited that is about to leave | ms |
//! | `s1` | its change since the departure before, divided by the time between the two (eq. 6) | ms/ms |
//! | `s2` | the change of `s1`, divided by that time (eq. 7) | 1/ms |
//! | `s3` | the change of `s2`, divided by that time (eq. 8) | 1/ms² |
//! | `b` | packets that wait, the one about to leave included | packets |
//! | `b1` | its change since the sample before (eq. 13) | packets/sample |
//! | `b2` | the change of `b1` since then (eq. 14) | packets/sample² |
//! | `b3` | the change of `b2` since then (eq. 15) | packets/sample³ |
//!
//! The equations divide by Δt and Δt_b, and the paper's thresholds have no units. For sojourn time Δt is the time between
//! the departures ("related to the packet arrival"), or a fixed one; for the buffer Δt_b is one sampling interval, as in
//! the authors' program, or the time that passed in milliseconds: then the units are packets/ms and so on.
//!
//! Sojourn time is sampled at every departure, the buffer size at the first departure from an interval `t_b` on after the
//! last sample. A derivative of order n exists from sample n + 1 on; until then it is zero. A second sample at the same
//! instant replaces the first: that is what recomputing after a drop at the head means.
//!
//! In a queue that keeps order `s1` is at most 1. With departures at t and t' and arrivals at a and a' before them,
//! s' - s = (t' - t) - (a' - a), and a' is not before a: a threshold of 1 or more for `s1` is never exceeded.
//!
//! Only additions, subtractions, multiplications and divisions of `f64`, which IEEE 754 defines to the last bit and
//! Rust neither reorders nor fuses: every machine has the same features. No random numbers.

mod series;

use series::{Series, Steps};

use crate::units::{Span, Time};

/// How many features there are.
pub const COUNT: usize = 8;

/// Their names, in the order of algorithm 1: feature k of the paper is at k - 1, and the last comes first.
pub const NAMES: [&str; COUNT] = ["b", "s", "b1", "s1", "b2", "s2", "b3", "s3"];

/// One value for each feature, in the order of [`NAMES`].
pub type Features = [f64; COUNT];

/// Whether the feature at `index` is one of sojourn time.
pub const fn is_sojourn(index: usize) -> bool {
    index % 2 == 1
}

/// Whether the feature at `index` is a derivative.
pub const fn is_derivative(index: usize) -> bool {
    index >= 2
}

/// How features are taken.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Least time between two samples of the buffer size (the paper's t_b).
    pub sample_interval: Span,
    /// What a change of sojourn time is divided by; the time between the departures by default.
    pub spacing: Option<Span>,
    /// Whether a change of the buffer size is divided by the milliseconds between the samples, not counted per sample.
    pub buffer_per_ms: bool,
    /// Time constant of the low-pass filter on each derivative; zero for the raw differences.
    ///
    /// The filtered derivative of PID control (K. J. Åström and T. Hägglund, "Advanced PID Control" (2006), section 3.3)
    /// by backward difference: after a time h a derivative moves by h / (smoothing + h) of the way to the new one.
    pub smoothing: Span,
}

/// Takes the features of one queue by [`Params`], destroying nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extractor {
    sojourn: Series,
    buffer: Series,
}

impl Extractor {
    /// The packet at the head is about to leave after `sojourn`, one of `backlog` packets that wait.
    #[inline]
    pub fn departing(&mut self, params: &Params, now: Time, sojourn: Span, backlog: usize) {
        let Params { sample_interval, spacing, buffer_per_ms, smoothing } = *params;
        // Sojourn time in nanoseconds, its derivatives by milliseconds.
        let steps = Steps { unit: 1e6, spacing: spacing.map(Span::as_millis_f64), smoothing };
        self.sojourn.sample(steps, now, sojourn.as_nanos() as i64);
        if self.buffer.age(now).is_none_or(|age| age >= sample_interval || age == Span::ZERO) {
            let steps = Steps { unit: 1.0, spacing: (!buffer_per_ms).then_some(1.0), smoothing };
            self.buffer.sample(steps, now, backlog as i64);
        }
    }

    /// Whether the buffer size was sampled at this instant.
    #[inline]
    pub fn is_fresh(&self, now: Time) -> bool {
        self.buffer.age(now) == Some(Span::ZERO)
    }

    /// The features of the last samples.
    #[inline]
    pub fn features(&self) -> Features {
        let ([s1, s2, s3], [b1, b2, b3]) = (self.sojourn.derivatives(), self.buffer.derivatives());
        [self.buffer.value() as f64, self.sojourn.value() as f64 / 1e6, b1, s1, b2, s2, b3, s3]
    }
}

#[cfg(test)]
mod tests;
