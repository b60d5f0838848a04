//! The events and the memory of a run, estimated before it is made: to notice experiments that would fill the memory or
//! take days.
//!
//! Sources say what they offer ([`Source::offer`](crate::scenario::Source)), the network is the one that would be
//! simulated, with few flows in place of many (`streams`), and what all streams get of it is shared as fluids
//! (`sharing`). Events are then counted hop by hop.

mod sharing;
mod streams;

use crate::network::graph::{Network, Queue};
use crate::report::RunError;
use crate::scenario::Scenario;
use crate::scenario::inputs::Inputs;
use crate::switch::declaration::Site;
use aqm_core::link::Link;
use aqm_core::params::Value;
use aqm_core::random::Random;
use aqm_core::registry;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Size, Span};
use sharing::Shares;
use std::collections::BTreeMap;
use streams::Streams;

// Measured on the scenarios of the tests.
const BYTES_PER_FLOW: f64 = 9_000.0;
const BYTES_PER_LINK: f64 = 2_000.0;
const BYTES_PER_PACKET: f64 = 150.0;
const BYTES_PER_RUN: f64 = 1_500_000.0;
/// In the result of a finished run.
const BYTES_KEPT: f64 = 30_000.0;
const BYTES_KEPT_PER_FLOW: f64 = 250.0;
const SAMPLE_BYTES: f64 = 8.0;
const COLUMNS: f64 = 20.0;
const COLUMNS_PER_FLOW: f64 = 3.0;
/// With more flows they have no time series.
const SAMPLED_FLOWS: f64 = 100.0;
/// The limit of a discipline that has no parameter for it, and the least bytes that a packet is taken to hold of one in
/// bytes.
const USUAL_LIMIT: f64 = 10_240.0;
const SMALLEST_PACKET: f64 = 64.0;

/// What a run will cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Events.
    pub events: f64,
    /// Largest memory during the run, bytes.
    pub memory_bytes: f64,
    /// Memory of its result, bytes.
    pub kept_bytes: f64,
}

/// Estimates a run of a scenario with a discipline under test.
///
/// # Errors
/// [`RunError::Input`] for a scenario that a run would refuse.
pub fn estimate(aqm: &Spec, scenario: &Scenario, inputs: &Inputs) -> Result<Estimate, RunError> {
    scenario.check().map_err(RunError::Input)?;
    let streams = Streams::of(aqm, scenario, inputs)?;
    let shares = Shares::of(&streams);
    let within = Span::from_nanos(scenario.duration_ns);
    let samples = scenario.duration_ns as f64 / scenario.sample_ns.max(1) as f64;
    let flows = streams.flows;
    let events = samples + shares.events(&streams) + switch_events(&streams.network, within, inputs);
    let each = if scenario.flow_series && flows <= SAMPLED_FLOWS { COLUMNS_PER_FLOW * flows } else { 0.0 };
    let sampled = samples * (COLUMNS + each) * SAMPLE_BYTES;
    let links = scenario.topology.as_ref().map_or(0, |topology| topology.links.len()) as f64;
    let waiting = shares.waiting(&streams, limit(aqm));
    Ok(Estimate {
        // With MSER-5 a run may be made twice.
        events: events * if scenario.mser5 { 2.0 } else { 1.0 },
        memory_bytes: BYTES_PER_RUN
            + flows * BYTES_PER_FLOW
            + links * BYTES_PER_LINK
            + state(&streams.network)
            + waiting * BYTES_PER_PACKET
            + sampled,
        kept_bytes: BYTES_KEPT + flows * BYTES_KEPT_PER_FLOW + sampled,
    })
}

/// Bytes that the disciplines of all links take without packets: tables of flows are as large from the beginning. Those
/// from outside the registry are not built for this.
fn state(network: &Network) -> f64 {
    let mut known = BTreeMap::new();
    let each = network.links.iter().map(|link| {
        let Queue::Discipline { spec, .. } = &link.queue else { return 0.0 };
        *known.entry(spec.to_string()).or_insert_with(|| {
            let is_known = registry::find(spec.info.name).is_some_and(|info| std::ptr::eq(info, spec.info));
            let build = || spec.build(Link::new(link.capacity.mean_rate()), Random::seeded(0));
            let built = if is_known { build().ok() } else { None };
            built.map_or(0.0, |qdisc| qdisc.discipline().state_bytes() as f64)
        })
    });
    each.sum()
}

/// The packets that a discipline holds at most.
fn limit(aqm: &Spec) -> f64 {
    let given = aqm.params.iter().find(|(param, _)| param.name == "limit");
    match given.map(|(_, value)| value) {
        Some(Value::Size(Size::Packets(packets)) | Value::Count(packets)) => *packets as f64,
        Some(Value::Size(Size::Bytes(bytes))) => *bytes as f64 / SMALLEST_PACKET,
        Some(Value::Bytes(bytes)) => bytes.as_u64() as f64 / SMALLEST_PACKET,
        _ => USUAL_LIMIT,
    }
}

/// Timers of the control planes of switches; what they write comes into force with an event of its own.
fn switch_events(network: &Network, within: Span, inputs: &Inputs) -> f64 {
    let events = network.switches.iter().filter_map(|(node, options)| {
        let rates = network.out[*node].iter().map(|link| network.links[*link].capacity.mean_rate());
        let site = Site { rates: rates.collect::<Vec<Rate>>(), random: Random::seeded(0) };
        let program = inputs.program(options.program.as_ref()?).and_then(|spec| spec.build(site)).ok()?;
        Some(2.0 * within.as_secs_f64() / program.period()?.as_secs_f64())
    });
    events.sum()
}
