//! The declarations of metrics, as JSON.

use aqm_sim::metrics::registry::{
    Better, DISTRIBUTIONS, Distribution, FAMILIES, METRICS, Metric, MetricKind, Source, Unit,
};
use aqm_sim::metrics::sampled::COLUMNS;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Everything that is declared about metrics, as JSON.
#[pyfunction]
pub(crate) fn metrics() -> String {
    let families = FAMILIES.iter().map(|family| {
        json!({ "name": family.name, "preposition": family.preposition, "dotted": family.is_dotted })
    });
    let series =
        COLUMNS.iter().map(|one| json!({ "name": one.name(), "label": one.label, "unit": one.unit.text() }));
    json!({
        "metrics": METRICS.iter().map(|one| metric(one)).collect::<Value>(),
        "families": families.collect::<Value>(),
        "series": series.collect::<Value>(),
        "flows": DISTRIBUTIONS.iter().filter_map(|one| of_flows(one)).collect::<Value>(),
    })
    .to_string()
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
