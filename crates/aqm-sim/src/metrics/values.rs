//! The metrics of a run, by name. A value is put under its declaration.

use super::registry::{METRICS, Metric, MetricKind, Part};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Metric name to value; undefined values (no finite flow completed, say) are absent from a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Values(BTreeMap<String, f64>);

impl Values {
    /// Puts the value of a metric of a part.
    pub(crate) fn put(&mut self, part: &Part, metric: &Metric, value: f64) {
        self.0.insert(part.of(metric.name()), value);
    }

    /// Removes what is no number.
    pub(crate) fn keep_finite(&mut self) {
        self.0.retain(|_, value| value.is_finite());
    }

    /// Fractions, of whatever part, with their names.
    pub(crate) fn fractions(&self) -> impl Iterator<Item = (&str, f64)> {
        let is_fraction = |name: &str| {
            let plain = name.rsplit('.').next().unwrap_or(name);
            METRICS.iter().any(|metric| metric.name() == plain && matches!(metric.kind, MetricKind::Fraction))
        };
        self.0.iter().map(|(name, value)| (name.as_str(), *value)).filter(move |(name, _)| is_fraction(name))
    }
}

impl Deref for Values {
    type Target = BTreeMap<String, f64>;

    fn deref(&self) -> &BTreeMap<String, f64> {
        &self.0
    }
}
