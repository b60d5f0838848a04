//! Packet-level simulation: a bottleneck, its disciplines and senders that react.
//!
//! A [`scenario::Scenario`] and a seed go in, a [`report::Report`] comes out; the same two always give the same bytes.
#![forbid(unsafe_code)]

pub mod capture;
pub mod input_error;
pub mod link_trace;
pub mod report;
pub mod scenario;

use report::{Monitor, Report, RunError};
use scenario::Scenario;

/// Runs `scenario` with `seed`.
///
/// # Errors
/// [`RunError::Input`] for what the user can mend, [`RunError::Check`] for what we must, [`RunError::Cancelled`]
/// if the monitor was told to stop.
pub fn run(scenario: &Scenario, seed: u64, monitor: &Monitor) -> Result<Report, RunError> {
    let _ = (scenario, seed);
    if !monitor.report(scenario.duration_ns) {
        return Err(RunError::Cancelled);
    }
    Ok(Report::default())
}
