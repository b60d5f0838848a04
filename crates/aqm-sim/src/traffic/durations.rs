//! Statistics of durations.

use aqm_core::units::Span;
use aqm_io::histogram::Histogram;

/// Durations: their number, sum and histogram.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    pub(crate) count: u64,
    sum_ns: u128,
    histogram: Option<Histogram>,
}

impl Durations {
    /// Counts one.
    pub(crate) fn record(&mut self, duration: Span) {
        self.count += 1;
        self.sum_ns += u128::from(duration.as_nanos());
        self.histogram.get_or_insert_default().record(duration.as_nanos());
    }

    /// Adds those of another record.
    pub(crate) fn merge(&mut self, other: &Durations) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        if let Some(more) = &other.histogram {
            self.histogram.get_or_insert_default().merge(more);
        }
    }

    /// Removes all.
    pub(crate) fn clear(&mut self) {
        *self = Durations::default();
    }

    /// The mean in milliseconds; `NaN` without any.
    pub(crate) fn mean_ms(&self) -> f64 {
        self.sum_ns as f64 / self.count as f64 / 1e6
    }

    /// The histogram, if anything was counted.
    pub(crate) fn histogram(&self) -> Option<&Histogram> {
        self.histogram.as_ref()
    }
}
