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
