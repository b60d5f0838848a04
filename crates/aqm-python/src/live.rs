//! The live link. It needs a process of its own with one thread, whose namespaces are others afterwards.

use crate::error::input;
use aqm_core::units::Span;
use aqm_link::config::{Config, LinkError};
use aqm_link::report::Lateness;
use aqm_link::{log, run, timers};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Runs a command behind a link (JSON) with servers at its far end, and returns the report (JSON). `join` is called in the
/// network namespace of the far end before they start.
#[pyfunction]
pub(crate) fn link(
    config: &str,
    command: Vec<OsString>,
    servers: Vec<Vec<OsString>>,
    parent: u32,
    join: Bound<'_, PyAny>,
) -> PyResult<String> {
    let join = || join.call0().map(drop).map_err(io::Error::other);
    let report = run::run(&read(config)?, &command, &servers, parent, join).map_err(error)?;
    serde_json::to_string(&report).map_err(input)
}

/// How late this machine wakes a thread, measured for so many seconds: the 50th, 99th and 99.9th percentile and the largest,
/// in milliseconds.
#[pyfunction]
pub(crate) fn timer_lateness(py: Python<'_>, seconds: f64) -> PyResult<Option<Lateness>> {
    Ok(py.detach(|| timers::lateness(Span::from_secs_f64(seconds)))?)
}

/// Makes the calls in the log of a direction again: how many there are, and the first row that was not repeated.
#[pyfunction]
pub(crate) fn replay_link(config: &str, direction: &str, path: PathBuf) -> PyResult<(u64, Option<u64>)> {
    let config = read(config)?;
    let line = if direction == "down" { &config.down } else { &config.up };
    let replayed = log::replay(line, direction, config.seed, &path).map_err(error)?;
    Ok((replayed.calls, replayed.parts_at))
}

fn read(config: &str) -> PyResult<Config> {
    serde_json::from_str(config).map_err(input)
}

fn error(error: LinkError) -> PyErr {
    match error {
        LinkError::Input(text) => input(text),
        LinkError::Machine(text) => PyOSError::new_err(text),
    }
}
