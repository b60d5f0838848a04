//! From a scenario to a simulation: the graph of its topology, its flows, its captures.

mod flows;

use self::flows::Member;
use crate::endpoint::flow::Label;
use crate::headers::FULL_IP_PACKET;
use crate::measure::hosted::Hosted;
use crate::measure::logger::Logger;
use crate::measure::metrics::Metrics;
use crate::measure::recorder::Recorder;
use crate::measure::tracer::Tracer;
use crate::metrics::registry::PORT;
use crate::network::graph::{Capacity as LinkCapacity, Network};
use crate::network::hosts::{self, Socket};
use crate::network::path::{Layout, paths_per_member};
use crate::network::port::PortId;
use crate::network::{dumbbell, topology};
use crate::observer;
use crate::report::{Monitor, RunError};
use crate::scenario::inputs::Inputs;
use crate::scenario::options::find;
use crate::scenario::{Capacity, FlowGroup, Scenario, Transport};
use crate::simulation::carrier::Carrier;
use crate::simulation::event_queue::Target;
use crate::simulation::state::{END, Simulation};
use aqm_core::input_error::InputError;
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Time};
use aqm_path::mac::link::MULTICAST;
use serde_json::json;

/// By how many packets a limit can be exceeded before the run ends: few for each event between two polls of it.
const OVERSHOOT: usize = 1 << 19;

/// A simulation ready to run, and what its parts are called.
pub(crate) struct Setup {
    pub(crate) simulation: Simulation,
    pub(crate) labels: Vec<Label>,
    pub(crate) warnings: Vec<String>,
}

impl Setup {
    /// Builds what a scenario describes.
    ///
    /// The monitor may stop it: a million flows take a while.
    pub(crate) fn build(
        scenario: &Scenario,
        aqm: &Spec,
        inputs: &Inputs,
        seed: u64,
        monitor: &Monitor,
    ) -> Result<Setup, RunError> {
        let capacity = capacity(&scenario.capacity, inputs)?;
        let captures =
            scenario.captures.iter().map(|name| inputs.capture(name)).collect::<Result<Vec<_>, _>>()?;

        let mut groups: Vec<String> = scenario.flows.iter().map(|group| group.name.clone()).collect();
        if !captures.is_empty() {
            groups.push(crate::simulation::captures::GROUP.to_owned());
        }
        let mut metrics = Metrics::new(groups, scenario.flow_series);
        if scenario.trace {
            metrics.observers.push(Box::<Tracer>::default());
        }

        let Layout { network, measured, paths, recorded } = match &scenario.topology {
            None => dumbbell::layout(scenario, &capacity, aqm, inputs, monitor)?,
            Some(topology) => topology::layout(scenario, topology, &capacity, aqm, inputs)?,
        };
        check_multicast(&network, &scenario.flows)?;
        let mut warnings = idle_stations(&network, &scenario.flows);
        let mut kinds = network.media.iter().flat_map(|medium| &medium.links);
        if let Some(placement) = scenario.placement
            && !kinds.any(|(_, kind)| kind.kind().stations.is_some())
        {
            let text = find("placement").expect("it is declared").write(&json!(placement));
            let problem = "there is no medium with stations: give --link wifi";
            return Err(InputError::field("placement", text, problem).into());
        }
        if !scenario.observe.is_empty() {
            let site = site(&network, &measured, scenario.overhead_bytes);
            for name in &scenario.observe {
                let observer = (inputs.observer(name)?.build)(&site);
                let ports = measured.iter().map(|&port| PORT.part(&network.port_name(port))).collect();
                metrics.observers.push(Box::new(Hosted { observer, ports }));
            }
        }
        if scenario.log {
            let names = (0..network.links.len()).map(|link| network.link_name(link)).collect();
            metrics.observers.push(Box::new(Logger::new(names, scenario.overhead_bytes)));
        }
        let mut simulation = Simulation::new(network, measured, metrics, scenario.overhead_bytes, seed)
            .map_err(InputError::from)?;
        simulation.attach_media(scenario.placement, seed)?;
        // A packet that jitters has an event of its own, which names it in fewer bits.
        if simulation.network.links.iter().any(|link| link.wire.is_irregular()) {
            simulation.shared.slab.most = Target::MAX_INDEX - OVERSHOOT;
        }
        let longest = captures.iter().flat_map(|capture| capture.packets()).map(|packet| packet.length).max();
        let carriers =
            scenario.flows.iter().map(|group| Carrier::of(group, inputs)).collect::<Result<Vec<_>, _>>()?;
        let largest = largest_packet(scenario, &carriers).max(longest.unwrap_or(0) + scenario.overhead_bytes);
        simulation.install_switches(largest, inputs, seed)?;
        let mut labels = Vec::new();
        let mut paths = paths.as_slice();
        let end = Time::from_nanos(scenario.duration_ns);
        for ((number, group), carrier) in scenario.flows.iter().enumerate().zip(&carriers) {
            for index in 0..group.count {
                if !monitor.report(0) {
                    return Err(RunError::Cancelled);
                }
                let (own, others) = paths.split_at(paths_per_member(group) as usize);
                let name = format!("{}.{index}", group.name);
                let (simulation, labels) = (&mut simulation, &mut labels);
                Member { simulation, labels, number, group, index, name, paths: own, inputs, carrier, seed }
                    .add_flows(capacity.mean_rate(), end)?;
                paths = others;
            }
        }
        for capture in captures {
            warnings.extend(capture.warnings());
            let group = scenario.flows.len();
            crate::simulation::captures::add(&mut simulation, &mut labels, group, &recorded, capture);
        }
        if let Some(tap) = scenario.record {
            let recorder = Recorder::new(tap, sockets(&simulation, &labels));
            simulation.shared.metrics.observers.push(Box::new(recorder));
        }
        Ok(Setup { simulation, labels, warnings })
    }
}

/// Refuses flows that need an answer from all that listen to multicast.
fn check_multicast(network: &Network, flows: &[FlowGroup]) -> Result<(), InputError> {
    let mut kinds = network.media.iter().filter_map(|medium| medium.links.first());
    if !kinds.any(|(_, kind)| kind.stations().iter().any(|station| station == MULTICAST)) {
        return Ok(());
    }
    let is_group = |end: &String| end == MULTICAST;
    let answers = |group: &&FlowGroup| {
        let is_udp = matches!(group.transport, Transport::Udp { .. });
        group.from.iter().any(is_group) || (group.to.iter().any(is_group) && !is_udp)
    };
    flows.iter().find(answers).map_or(Ok(()), |group| {
        let problem = "multicast only receives, by UDP, as with --flows 1*cbr:rate=2mbit:to=multicast";
        Err(group.refused(InputError::new(problem)))
    })
}

/// One line for each station of which no flow begins or ends there.
fn idle_stations(network: &Network, flows: &[FlowGroup]) -> Vec<String> {
    let kinds = network.media.iter().filter_map(|medium| medium.links.first());
    let stations = kinds.flat_map(|(_, kind)| kind.stations());
    let has_flow = |station: &String| {
        flows.iter().any(|group| group.from.iter().chain(&group.to).any(|end| end == station))
    };
    stations
        .filter(|station| !has_flow(station))
        .map(|station| format!("station '{station}' has no flow: nothing is sent to it or by it"))
        .collect()
}

/// The network as observers of the host know it.
fn site(network: &Network, measured: &[PortId], overhead: u32) -> observer::Site {
    let full_packet = Bytes::new(u64::from(FULL_IP_PACKET + overhead));
    let ports = measured.iter().map(|&number| {
        let rate = network.links[number].capacity.mean_rate();
        observer::Port { number, full_packet: rate.time_for(full_packet) }
    });
    observer::Site { overhead, measured: ports.collect() }
}

/// The addresses and ports of every flow.
fn sockets(simulation: &Simulation, labels: &[Label]) -> Vec<[Socket; 2]> {
    let flows = labels.iter().zip(&simulation.flows).map(|(label, flow)| {
        let route = &simulation.shared.routes[flow.forward.start()..];
        let end = route.iter().position(|&port| port == END).unwrap_or(route.len());
        (label.ends, &route[..end])
    });
    hosts::sockets(&simulation.network, simulation.measured[0], flows)
}

/// Bytes on a link of the largest packet that is not recorded: a full one, unless some flow has larger ones.
fn largest_packet(scenario: &Scenario, carriers: &[Carrier<'_>]) -> u32 {
    carriers.iter().map(Carrier::largest_packet).max().unwrap_or(0).max(FULL_IP_PACKET)
        + scenario.overhead_bytes
}

/// The capacity of a scenario.
fn capacity(capacity: &Capacity, inputs: &Inputs) -> Result<LinkCapacity, RunError> {
    match capacity {
        Capacity::RateBps(0) => Err(RunError::Input(InputError::new("the bottleneck's rate is zero"))),
        Capacity::RateBps(bits) => Ok(LinkCapacity::Rate(Rate::from_bits_per_sec(*bits))),
        Capacity::Trace(name) => Ok(LinkCapacity::Trace(inputs.link_trace(name)?.clone())),
    }
}
