//! The options of a scenario, resolved: one call.

use crate::error::wrong;
use crate::flows::{catalogue, described, reading};
use aqm_core::units::{Rate, Size};
use aqm_scenario::options::Options;
use aqm_scenario::resolve::{Host, resolve};
use aqm_sim::scenario::Capacity;
use aqm_sim::scenario::options::OPTIONS;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Resolves the options of a scenario but those of disciplines, ports, topology and runs. `link_trace` is the name and the
/// mean rate of a recorded link; `captures` are the names of those that are replayed; `files` reads what flows name.
/// Returns JSON.
#[pyfunction]
#[pyo3(signature = (given, link_trace, captures, files))]
pub(crate) fn resolve_scenario(
    given: Vec<(String, String)>,
    link_trace: Option<(String, u64)>,
    captures: Vec<String>,
    files: Bound<'_, PyAny>,
) -> PyResult<String> {
    let mut options = Options::default();
    for (name, text) in &given {
        options.give(name, text).map_err(wrong)?;
    }
    let known = catalogue();
    let link_trace = link_trace.as_ref().map(|(name, mean)| (name.as_str(), Rate::from_bits_per_sec(*mean)));
    let found = reading(files, |files| {
        let host = Host { known: &known, files, link_trace, captures: &captures, own: None };
        resolve(&options, &host)
    })?;
    let scenario = &found.scenario;
    let fields = scenario.json();
    let settings: Map<String, Value> = OPTIONS
        .iter()
        .filter(|option| option.has_field())
        .map(|option| {
            // A scenario leaves out what has its default.
            let value = fields.get(option.field).cloned().or_else(|| option.default_value());
            (option.field.to_owned(), value.unwrap_or_default())
        })
        .collect();
    let rate_bps = match (&scenario.capacity, link_trace) {
        (Capacity::RateBps(rate), _) => *rate,
        (Capacity::Trace(_), mean) => mean.map_or(0, |(_, mean)| mean.as_bits_per_sec()),
    };
    let size = found.buffer.size;
    Ok(json!({
        "rate_bps": rate_bps,
        "settings": settings,
        "warmup_ns": scenario.warmup_ns,
        "warmup_rule": found.warmup.rule,
        "mser5": scenario.mser5,
        "sample_ns": scenario.sample_ns,
        "buffer": (size.count(), matches!(size, Size::Packets(_))),
        "buffer_rule": found.buffer.rule,
        "groups": found.groups.iter().map(described).collect::<Value>(),
    })
    .to_string())
}
