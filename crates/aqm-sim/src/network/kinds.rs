//! What serves the links of a topology: the kind of each, and what that needs of it.

use super::graph::Capacity;
use crate::report::RunError;
use crate::scenario::Scenario;
use crate::scenario::inputs::Inputs;
use crate::scenario::topology::{LinkQueue, Topology, TopologyLink, refused};
use aqm_core::by_category;
use aqm_core::discipline::Group;
use aqm_core::input_error::InputError;
use aqm_core::spec::{Spec, SpecError};
use aqm_core::units::Rate;
use aqm_path::kind::{self, KindSpec, Service};
use aqm_path::mac::category::Category;
use aqm_path::mac::link::dscp_map;
use aqm_path::placement::Placement;
use std::collections::BTreeMap;

/// The kind of a link that names only its medium.
const ON_A_MEDIUM: &str = "turns";

/// What serves a link.
pub(super) struct Serves {
    pub(super) capacity: Capacity,
    /// Its kind, where links share a device or a medium.
    pub(super) shared: Option<KindSpec>,
}

/// The kind of a scenario's bottleneck, if that is neither a line nor a recording.
pub(super) fn of_scenario(scenario: &Scenario, inputs: &Inputs) -> Result<Option<KindSpec>, RunError> {
    let spec = scenario.link.as_deref().map(|text| inputs.link_kind(text)).transpose();
    let spec = spec.map_err(|error| RunError::Input(error.of_option("link")))?;
    Ok(spec.filter(|spec| spec.kind().service.is_shared()))
}

/// What serves each link of a scenario's topology.
pub(super) fn of_links(
    scenario: &Scenario,
    topology: &Topology,
    capacity: &Capacity,
    inputs: &Inputs,
) -> Result<Vec<Serves>, RunError> {
    let mut media: BTreeMap<&str, KindSpec> = BTreeMap::new();
    let mut all = Vec::with_capacity(topology.links.len());
    for (number, link) in topology.links.iter().enumerate() {
        let place = || format!("link {number} ({}->{})", link.from, link.to);
        let is_measured = number == topology.measured;
        let usual = scenario.link.as_deref().filter(|_| is_measured);
        let serves = of_link(link, usual, capacity, inputs).map_err(|error| refused(place(), error))?;
        if is_measured && serves.capacity.mean_rate() != capacity.mean_rate() && link.rate_bps.is_none() {
            let what = format!(
                "its kind has a rate of {}, but the bottleneck has {}: leave the rate out",
                serves.capacity.mean_rate(),
                capacity.mean_rate()
            );
            return Err(refused(place(), InputError::new(what)).into());
        }
        if let (Some(name), Some(spec)) = (&link.medium, &serves.shared)
            && !media.entry(name).or_insert_with(|| spec.clone()).agrees(spec)
        {
            let first = &media[name.as_str()];
            let what =
                format!("its kind '{spec}' differs from '{first}' of a link before it on medium '{name}'");
            return Err(refused(place(), InputError::new(what)).into());
        }
        if let Some(paused) = [&link.from, &link.to].into_iter().find(|&node| pauses(topology, node))
            && let Some(why) = unpausable(&serves)
        {
            let what = format!("xoff cannot pause {}->{}: it {why}", link.from, link.to);
            return Err(refused(format!("switch '{paused}'"), InputError::new(what)).into());
        }
        all.push(serves);
    }
    Ok(all)
}

/// `usual` is the kind of a link that has none of its own.
fn of_link(
    link: &TopologyLink,
    usual: Option<&str>,
    scenario: &Capacity,
    inputs: &Inputs,
) -> Result<Serves, InputError> {
    let text = link.kind.as_deref().or(usual).or(link.medium.as_ref().map(|_| ON_A_MEDIUM));
    let Some(text) = text else {
        return Ok(Serves { capacity: of_path(link, scenario), shared: None });
    };
    let spec = inputs.link_kind(text)?;
    let about = |problem: &str| Err(InputError::value(text, problem));
    let capacity = match spec.capacity() {
        kind::Capacity::OfPath => of_path(link, scenario),
        _ if link.rate_bps.is_some() => {
            return about("says what the link carries, and so does its rate: give one");
        }
        kind::Capacity::Rate(rate) => Capacity::Rate(rate),
        kind::Capacity::Trace(name) => Capacity::Trace(inputs.link_trace(&name)?.clone()),
    };
    match (&spec.kind().service, &capacity) {
        (service, _) if link.medium.is_some() && !service.is_shared() => {
            about("is of a kind that is on no medium")
        }
        (Service::Opportunities, Capacity::Rate(_)) => {
            about("names no recording, and the scenario has a rate")
        }
        (service, _) if link.queue == LinkQueue::Plain && (service.is_shared() || is_recorded(&capacity)) => {
            about("needs a queue")
        }
        (Service::Line | Service::Medium(_) | Service::Bursts(_), Capacity::Trace(_)) => {
            about("has no rate, and the scenario has a recorded link")
        }
        (service, _) => {
            let shared = service.is_shared().then_some(spec);
            Ok(Serves { capacity, shared })
        }
    }
}

/// The discipline of a link as it sits there: at an access point it knows how many stations there are, and one that has no
/// queues for stations takes the place of the driver's queue as one for each. Each access category has it once, where a code
/// point of these is not best effort.
pub(super) fn discipline_at(
    mut spec: Spec,
    from: &str,
    kind: Option<&KindSpec>,
    placement: Option<Placement>,
    dscps: &[u8],
) -> Result<Spec, SpecError> {
    let Some(kind) = kind.filter(|kind| !kind.stations().is_empty()) else { return Ok(spec) };
    let stations = kind.stations();
    let at_station = stations.iter().any(|station| station == from);
    if !at_station && spec.info.group != Group::Station && placement == Some(Placement::Integrated) {
        // Its parameters stay, also for slow stations.
        spec = Spec::parse(&format!("airtime_fq schedule round_robin slow 0bit child [{spec}]"))?;
    }
    if !at_station && spec.info.group == Group::Station {
        let name = spec.info.name;
        spec.set_text("stations", &stations.len().to_string())
            .map_err(|error| SpecError::Param { name, error })?;
    }
    let map = dscp_map(kind.params());
    if dscps.iter().all(|dscp| Category::of(*dscp, map) == Category::BestEffort) {
        return Ok(spec);
    }
    let next_hops = if at_station { 1 } else { stations.len() };
    let text = format!("{} stations {next_hops} child [{spec}]", by_category::INFO.name);
    Spec::parse_among(&text, &[&by_category::INFO])
}

/// What a link carries of which no kind says it.
fn of_path(link: &TopologyLink, scenario: &Capacity) -> Capacity {
    match link.rate_bps {
        Some(bits) => Capacity::Rate(Rate::from_bits_per_sec(bits)),
        None => scenario.clone(),
    }
}

fn is_recorded(capacity: &Capacity) -> bool {
    matches!(capacity, Capacity::Trace(_))
}

/// Whether links around this node can be paused: it is a switch that uses flow control.
pub(super) fn pauses(topology: &Topology, node: &str) -> bool {
    topology.switches.get(node).is_some_and(|options| options.pfc.is_some())
}

/// Why a link cannot be paused.
fn unpausable(serves: &Serves) -> Option<&'static str> {
    match &serves.shared {
        Some(spec) if matches!(spec.kind().service, Service::Bursts(_)) => Some("has a device of its own"),
        Some(_) => Some("is on a medium"),
        None if is_recorded(&serves.capacity) => Some("has a link trace"),
        None => None,
    }
}
