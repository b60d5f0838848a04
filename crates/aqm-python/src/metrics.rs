//! The declarations of metrics, as JSON.

use aqm_papers::OBSERVERS;
use aqm_sim::metrics::registry::{
    Better, DISTRIBUTIONS, Distribution, FAMILIES, METRICS, Metric, MetricKind, Source, Unit,
};
use aqm_sim::metrics::sampled::COLUMNS;
use aqm_sim::observer;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Everything that is declared about metrics, as JSON.
#[pyfunction]
pub(crate) fn metrics() -> String {
    let families = FAMILIES.iter().map(|family| {
        json!({ "name": family.name, "preposition": family.preposition, "dotted": family.is_dotted })
    });
    let series = COLUMNS.iter().copied().chain(OBSERVERS.iter().flat_map(|info| info.series).copied());
    let series = series.map(|one| json!({ "name": one.name(), "label": one.label, "unit": one.unit.text() }));
    json!({
        "metrics": METRICS.iter().copied().chain(observed()).map(metric).collect::<Value>(),
        "observers": OBSERVERS.iter().map(|info| observer(info)).collect::<Value>(),
        "families": families.collect::<Value>(),
        "series": series.collect::<Value>(),
        "flows": DISTRIBUTIONS.iter().filter_map(|one| of_flows(one)).collect::<Value>(),
    })
    .to_string()
}

/// The metrics of observers.
fn observed() -> impl Iterator<Item = &'static Metric> {
    OBSERVERS.iter().flat_map(|info| info.metrics).copied()
}

fn observer(info: &observer::Info) -> Value {
    json!({
        "name": info.name,
        "summary": info.summary,
        "reference": info.reference,
        "metrics": info.metrics.iter().map(|metric| metric.name()).collect::<Value>(),
    })
}

fn metric(metric: &Metric) -> Value {
    let (histogram, quantile) = match metric.kind {
        MetricKind::Percentile { of, quantile } => (of.name, quantile),
        MetricKind::Value | MetricKind::Fraction => ("", 0.0),
    };
    json!({
        "name": metric.name(),
        "label": metric.label,
        "unit": metric.unit.text(),
        "share": metric.unit == Unit::Share,
        "decimals": metric.decimals,
        "better": match metric.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "",
        },
        "histogram": histogram,
        "quantile": quantile,
        "compared": metric.is_compared,
        "meaning": metric.meaning,
    })
}

/// Of a distribution over flows, where its values are.
fn of_flows(distribution: &Distribution) -> Option<Value> {
    let Source::Flows { column, above, up_to } = distribution.source else { return None };
    Some(json!({ "name": distribution.name, "column": column, "above": above, "up_to": up_to }))
}
