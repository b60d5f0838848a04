#![doc = include_str!("../README.md")]
//! # Inside
//!
//! Packet-level simulation: a bottleneck, its disciplines, and senders that react to congestion.
//!
//! A [`scenario::Scenario`], its [`inputs::Inputs`](scenario::inputs::Inputs) and a seed go in, a [`report::Report`]
//! comes out. The same three always give the same bytes. Nothing here opens a file, reads a clock or starts a thread.
//!
//! Rooms use only those before them: no two use each other, and no file another in a circle.
//!
//! - [`transport`]: TCP sans I/O, its congestion controls in `control/`; [`rate_control`]: senders that have a rate.
//! - [`packetdrill`]: TCP's sender played by scripts in the language of packetdrill.
//! - [`stack`]: what real transports are to the simulator.
//! - [`switch`]: what a switch adds to its ports: flow control, shared memory, programs; sans I/O too.
//! - [`traffic`]: how much applications send, and when.
//! - [`scenario`]: what is simulated, and the captures and link traces that it needs.
//! - [`metrics`]: every metric, declared once.
//! - `prefetch`: the only `unsafe` line, for speed.
//! - `network`: nodes, links, routes and topologies, ports and packets.
//! - [`observer`]: what a host measures beside the metrics.
//! - [`headers`]: sizes of headers, protocol numbers.
//! - [`extension`]: what a host adds to the lists of the others.
//! - [`estimate`]: the events and the memory of a run, from its sources and its network, before it is made.
//! - `measure`: measurements, accumulated in place, and observers that only some scenarios ask for.
//! - `endpoint`: both ends of flows.
//! - `simulation`: the event loop, which moves all of these, and the checks of every run.
//! - `reporting`: what reads a whole finished simulation, and makes the metrics of a [`report`] of it.
#![deny(unsafe_code)]

pub mod estimate;
pub mod extension;
pub mod headers;
pub mod metrics;
pub mod observer;
pub mod packetdrill;
pub mod rate_control;
pub mod report;
pub mod scenario;
pub mod stack;
pub mod stepped;
pub mod switch;
pub mod traffic;
pub mod transport;

mod endpoint;
mod measure;
mod network;
mod prefetch;
mod reporting;
mod simulation;

use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};
use metrics::registry::{Part, WARMUP_S};
use report::{Monitor, Report, RunError};
use scenario::Scenario;
use scenario::inputs::Inputs;

/// Runs `scenario` with `seed`; `inputs` holds the captures and link traces that the scenario names.
///
/// # Errors
/// [`RunError::Input`] for a wrong input, [`RunError::Check`] for a defect of this program, [`RunError::Cancelled`]
/// if the monitor was stopped.
pub fn run(scenario: &Scenario, inputs: &Inputs, seed: u64, monitor: &Monitor) -> Result<Report, RunError> {
    let aqm = Spec::parse(&scenario.aqm).map_err(|error| RunError::Input(error.into()))?;
    run_under(&aqm, scenario, inputs, seed, monitor)
}

/// The same with a discipline under test that the caller has parsed, and perhaps declared, in place of the scenario's.
///
/// # Errors
/// As [`run`].
pub fn run_under(
    aqm: &Spec,
    scenario: &Scenario,
    inputs: &Inputs,
    seed: u64,
    monitor: &Monitor,
) -> Result<Report, RunError> {
    scenario.check().map_err(RunError::Input)?;
    let warmup = Time::from_nanos(scenario.warmup_ns);
    let report = run_from(aqm, scenario, inputs, seed, monitor, warmup)?;
    if !scenario.mser5 {
        return Ok(report);
    }
    let cut = reporting::warmup::cut(&report.series);
    let mut report =
        if cut.at > warmup { run_from(aqm, scenario, inputs, seed, monitor, cut.at)? } else { report };
    report.metrics.put(&Part::WHOLE, &WARMUP_S, cut.at.max(warmup).as_secs_f64());
    if !cut.is_steady {
        report
            .warnings
            .push("MSER-5 finds no steady state in the first half of some run: make it longer".to_owned());
    }
    Ok(report)
}

/// Runs it, measuring from `warmup`.
fn run_from(
    aqm: &Spec,
    scenario: &Scenario,
    inputs: &Inputs,
    seed: u64,
    monitor: &Monitor,
    warmup: Time,
) -> Result<Report, RunError> {
    let mut setup = simulation::build::Setup::build(scenario, aqm, inputs, seed, monitor)?;
    let end = Time::from_nanos(scenario.duration_ns);
    setup.simulation.run(end, warmup, Span::from_nanos(scenario.sample_ns), monitor)?;
    reporting::results::report(setup, end)
}
