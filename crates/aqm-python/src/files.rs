//! Files from outside, read once for what they hold before anything runs.

use crate::error::input;
use aqm_sim::capture::Capture;
use aqm_sim::link_trace::LinkTrace;
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Reads a link trace; gives its period, mean rate and number of opportunities as JSON.
#[pyfunction]
pub(crate) fn link_trace(path: PathBuf) -> PyResult<String> {
    let trace = LinkTrace::read(&path).map_err(input)?;
    let summary = json!({
        "period_ns": trace.period().as_nanos(),
        "mean_rate_bps": trace.mean_rate().as_bits_per_sec(),
        "opportunities": trace.opportunities_ms().len(),
    });
    Ok(summary.to_string())
}

/// Reads a capture; gives it in figures, as text, and what to know before trusting it, as JSON.
#[pyfunction]
pub(crate) fn capture(path: PathBuf) -> PyResult<String> {
    let capture = Capture::read(&path).map_err(input)?;
    let summary = capture.summary();
    let figures = json!({
        "packets": summary.packets,
        "bytes": summary.bytes,
        "duration_ns": summary.duration.as_nanos(),
        "mean_rate_bps": summary.mean_rate().map(|rate| rate.as_bits_per_sec()),
        "flows": summary.flows,
        "skipped": summary.skipped.to_string(),
        "warnings": capture.warnings(),
    });
    Ok(figures.to_string())
}

/// The distributions that come with the program.
const WORKLOADS: [(&str, &str); 4] = [
    ("websearch", include_str!("../../../data/workloads/websearch.cdf")),
    ("datamining", include_str!("../../../data/workloads/datamining.cdf")),
    ("hadoop", include_str!("../../../data/workloads/hadoop.cdf")),
    ("telnet", include_str!("../../../data/workloads/telnet.cdf")),
];

/// The text of a distribution that comes with the program.
#[pyfunction]
pub(crate) fn workload(name: &str) -> PyResult<&'static str> {
    let found = WORKLOADS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| input(format!("'{name}' does not come with the program")))
}
