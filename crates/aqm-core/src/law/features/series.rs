//! A quantity in samples, and its first three derivatives by differences.

use crate::units::{Span, Time};

/// What differences are divided by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// How many of a sample's units make one of a derivative's.
    pub(super) unit: f64,
    /// What differences are divided by; the time between the samples, in ms, by default.
    pub(super) spacing: Option<f64>,
    /// Time constant of the filter.
    pub(super) smoothing: Span,
}

/// The last sample, and the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Series {
    last: Option<Sample>,
    before: Option<Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    value: i64,
    /// How many derivatives there are; the others are zero.
    orders: usize,
    derivatives: [f64; 3],
}

impl Series {
    /// How long ago the last sample was taken.
    #[inline]
    pub(super) fn age(&self, now: Time) -> Option<Span> {
        self.last.map(|last| now.since(last.at))
    }

    #[inline]
    pub(super) fn value(&self) -> i64 {
        self.last.map_or(0, |last| last.value)
    }

    #[inline]
    pub(super) fn derivatives(&self) -> [f64; 3] {
        self.last.map_or([0.0; 3], |last| last.derivatives)
    }

    /// Takes a sample; one at the instant of the last takes its place.
    #[inline]
    pub(super) fn sample(&mut self, steps: Steps, now: Time, value: i64) {
        if self.age(now) != Some(Span::ZERO) {
            self.before = self.last;
        }
        self.last = Some(match &self.before {
            Some(before) => before.next(steps, now, value),
            None => Sample { at: now, value, orders: 0, derivatives: [0.0; 3] },
        });
    }
}

impl Sample {
    #[inline]
    fn next(&self, steps: Steps, now: Time, value: i64) -> Sample {
        let passed = now.since(self.at).as_millis_f64();
        let step = steps.spacing.unwrap_or(passed);
        let weight = passed / (steps.smoothing.as_millis_f64() + passed);
        let orders = (self.orders + 1).min(3);
        // The first difference is of whole numbers: a steady rise has the same slope each time, to the last bit.
        let mut raw = (value - self.value) as f64 / steps.unit / step;
        let mut derivatives = [0.0; 3];
        for (order, derivative) in derivatives.iter_mut().enumerate().take(orders) {
            let old = self.derivatives[order];
            // A derivative that did not exist before has nothing to be smoothed with.
            let filtered = if order < self.orders { old + weight * (raw - old) } else { raw };
            *derivative = if steps.smoothing == Span::ZERO { raw } else { filtered };
            raw = (*derivative - old) / step;
        }
        Sample { at: now, value, orders, derivatives }
    }
}
