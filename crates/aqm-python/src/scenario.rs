//! The options of a scenario, resolved in one call, and the topologies that there are.

use crate::describe::every_program;
use crate::error::wrong;
use crate::flows::{catalogue, described, reading};
use aqm_core::units::{Rate, Size};
use aqm_scenario::options::Options;
use aqm_scenario::resolve::{Host, resolve};
use aqm_scenario::topology::{KINDS, MOST_LINKS, SizeLimit, texts};
use aqm_sim::scenario::Capacity;
use aqm_sim::scenario::options::OPTIONS;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Resolves the options of a scenario but those of disciplines and runs. `link_trace` is the name and the mean rate of a
/// recorded link; `captures` are the names of those that are replayed; `files` reads what options name; `lifted_by` is what
/// lifts the limit of a topology's size, nothing where it is lifted. Returns JSON.
#[pyfunction]
#[pyo3(signature = (given, link_trace, captures, files, lifted_by))]
pub(crate) fn resolve_scenario(
    given: Vec<(String, String)>,
    link_trace: Option<(String, u64)>,
    captures: Vec<String>,
    files: Bound<'_, PyAny>,
    lifted_by: Option<&str>,
) -> PyResult<String> {
    let mut options = Options::default();
    for (name, text) in &given {
        options.give(name, text).map_err(wrong)?;
    }
    let known = catalogue();
    let link_trace = link_trace.as_ref().map(|(name, mean)| (name.as_str(), Rate::from_bits_per_sec(*mean)));
    let programs = every_program();
    let found = reading(files, |files| {
        let mut host = Host::new(&known, files);
        (host.link_trace, host.captures, host.programs) = (link_trace, &captures, &programs);
        host.limit = limit(lifted_by);
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
        "ends": scenario.flows.iter().map(|group| (&group.from, &group.to)).collect::<Vec<_>>(),
        "measure": scenario.measure,
        "topology": scenario.topology,
        "topology_name": found.topology,
    })
    .to_string())
}

fn limit(lifted_by: Option<&str>) -> Option<SizeLimit<'_>> {
    lifted_by.map(|lifted_by| SizeLimit { links: MOST_LINKS, lifted_by })
}

/// The texts of a topology's file with `$names`; of a name there are none.
#[pyfunction]
#[pyo3(signature = (text, files, lifted_by))]
pub(crate) fn topology_texts(
    text: &str,
    files: Bound<'_, PyAny>,
    lifted_by: Option<&str>,
) -> PyResult<Vec<String>> {
    reading(files, |files| texts(text, files, limit(lifted_by)))
}

/// The topologies by name with their keys, as JSON.
#[pyfunction]
pub(crate) fn topologies() -> String {
    let kind = |kind: &aqm_scenario::topology::TopologyKind| {
        let keys = kind.keys.iter().map(|key| {
            json!({ "name": key.name, "default": key.default, "takes": key.allowed(), "help": key.help })
        });
        json!({
            "name": kind.name,
            "help": kind.help,
            "keys": keys.collect::<Value>(),
            "has_switches": kind.has_switches,
        })
    };
    KINDS.iter().map(kind).collect::<Value>().to_string()
}
