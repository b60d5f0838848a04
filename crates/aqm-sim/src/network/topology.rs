//! The network of a topology that is given as data.

use super::graph::{Capacity, LinkSpec, Network, NodeId, Queue};
use super::kinds;
use super::path::{Layout, Path, measured_ports, paths_of_group};
use super::routes::Routes;
use crate::report::RunError;
use crate::scenario::inputs::Inputs;
use crate::scenario::topology::{LinkQueue, Topology, refused};
use crate::scenario::{FlowGroup, Scenario};
use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use std::collections::BTreeMap;

/// Links that only add delay are this many times as fast as the measured one.
const HOST_FACTOR: u64 = 100;

/// The code points of all packets.
fn code_points(scenario: &Scenario, inputs: &Inputs) -> Vec<u8> {
    let captures = scenario.captures.iter().filter_map(|name| inputs.capture(name).ok());
    let replayed = captures.flat_map(|capture| capture.packets()).map(|packet| packet.dscp);
    let mut all: Vec<u8> = scenario.flows.iter().map(|group| group.dscp).chain(replayed).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The network of a topology, with the paths of all flows.
pub(crate) fn layout(
    scenario: &Scenario,
    topology: &Topology,
    capacity: &Capacity,
    aqm: &Spec,
    inputs: &Inputs,
) -> Result<Layout, RunError> {
    let mut plan = Plan::default();
    let dscps = code_points(scenario, inputs);
    let kinds = kinds::of_links(scenario, topology, capacity, inputs)?;
    for ((number, link), serves) in topology.links.iter().enumerate().zip(kinds) {
        let measured = number == topology.measured;
        let name = format!("{}->{}", link.from, link.to);
        let spec = match &link.queue {
            LinkQueue::Plain => waits_at_switch(topology, &link.from, &link.to)?,
            LinkQueue::UnderTest => Some(aqm.clone()),
            LinkQueue::Discipline(text) => {
                Some(Spec::parse(text).map_err(|error| refused(format!("link {name}"), error.into()))?)
            }
        };
        let (kind, placement) = (serves.shared.as_ref(), scenario.placement);
        let spec = spec
            .map(|spec| kinds::discipline_at(spec, &link.from, kind, placement, &dscps))
            .transpose()
            .map_err(|error| refused(format!("link {name}"), error.into()))?;
        let queue = spec.map_or(Queue::Plain, |spec| Queue::Discipline {
            spec,
            // Packets that the device has taken from the discipline cannot be paused.
            ring_packets: if kinds::pauses(topology, &link.to) { 1 } else { scenario.device_ring_packets },
            random: String::new(),
        });
        let (from, to) = (plan.node(&link.from), plan.node(&link.to));
        let id = plan.network.link(LinkSpec {
            from,
            to,
            capacity: serves.capacity,
            delay: Span::from_nanos(link.delay_ns),
            queue,
            wire: if measured { link.wire.or(scenario.impairments()) } else { link.wire },
            name: link.name.clone(),
        });
        if let Some(kind) = serves.shared {
            let medium = link.medium.clone().unwrap_or_else(|| plan.network.link_name(id));
            plan.network.join(medium, kind, id);
        }
        // Parallel links draw from streams of their own.
        let own = plan.network.link_name(id);
        if let Queue::Discipline { random, .. } = &mut plan.network.links[id].queue {
            *random = own;
        }
    }
    for (name, options) in &topology.switches {
        let node = plan.node(name);
        plan.network.switches.insert(node, options.clone());
    }
    let host_rate =
        Rate::from_bits_per_sec(capacity.mean_rate().as_bits_per_sec().saturating_mul(HOST_FACTOR));
    let mut routes = Routes::of(&plan.network);
    let mut paths = Vec::new();
    for group in &scenario.flows {
        for index in 0..paths_of_group(group) {
            paths.push(plan.path(&mut routes, group, index, (topology, host_rate))?);
        }
    }
    let measured = topology.measured;
    let propagation = plan.network.links[measured].delay;
    let rtt = Span::from_nanos(scenario.rtt_ns);
    let ends = [plan.network.links[measured].from, plan.network.links[measured].to];
    let recorded =
        Path { forward: vec![measured], reverse: Vec::new(), propagation, rtt, delayed: false, ends };
    let mut network = plan.network;
    let measured = measured_ports(&mut network, scenario, measured)?;
    Ok(Layout { network, measured, paths, recorded })
}

/// The queue of a plain link that a switch limits or pauses. It has no limit. Where classes are paused, each has its
/// own queue, so that one can be paused while the others go on.
fn waits_at_switch(topology: &Topology, from: &str, to: &str) -> Result<Option<Spec>, RunError> {
    let text = if kinds::pauses(topology, to) {
        "rr classes 8 limit 1000000000000b"
    } else if topology.switches.contains_key(from) {
        "fifo limit 1000000000000b"
    } else {
        return Ok(None);
    };
    Spec::parse(text).map(Some).map_err(|error| RunError::Input(error.into()))
}

/// The graph while it grows.
#[derive(Default)]
struct Plan {
    network: Network,
    nodes: BTreeMap<String, NodeId>,
}

impl Plan {
    fn node(&mut self, name: &str) -> NodeId {
        if let Some(&node) = self.nodes.get(name) {
            return node;
        }
        let node = self.network.node(name.to_owned());
        self.nodes.insert(name.to_owned(), node);
        node
    }

    /// The path of flow `index` of a group, there and back. If its base round-trip time is longer than that of the
    /// links, an extra host in front of its first node adds the difference.
    fn path(
        &mut self,
        routes: &mut Routes,
        group: &FlowGroup,
        index: u32,
        (topology, host_rate): (&Topology, Rate),
    ) -> Result<Path, RunError> {
        let name = format!("{}.{index}", group.name);
        let pick = |names: &[String]| names[index as usize % names.len()].clone();
        let (from_name, to_name) = (pick(&group.from), pick(&group.to));
        let (from, to) = (self.node(&from_name), self.node(&to_name));
        let ends = [from, to];
        if from == to {
            return Err(RunError::Input(
                group.refused(InputError::new(format!("flow {index} begins and ends at '{to_name}'"))),
            ));
        }
        // A flow of the same name takes the same of several equal routes under every seed.
        let choice = Random::stream(0, &format!("{name} route")).next_u64() | 1;
        let mut route = |from, to| {
            let missing = || {
                let text = format!("no route leads from '{from_name}' to '{to_name}'");
                RunError::Input(group.refused(InputError::new(text)))
            };
            routes.route(&self.network, from, to, choice).ok_or_else(missing)
        };
        let (forward, reverse) = (route(from, to)?, route(to, from)?);
        let rtt = self.delay(&forward) + self.delay(&reverse);
        let wanted = group.rtt_ns.map_or(rtt, Span::from_nanos);
        if wanted < rtt {
            return Err(RunError::Input(group.refused(InputError::field(
                "rtt",
                wanted,
                format_args!("it must be {rtt} at least, which its links alone take"),
            ))));
        }
        if wanted == rtt {
            let propagation = self.delay(&forward);
            return Ok(Path { forward, reverse, propagation, rtt, delayed: false, ends });
        }
        let extra = wanted.saturating_sub(rtt);
        let host_name = format!("{name}.host");
        let host = self.network.node(host_name.clone());
        let mut link = |from: (NodeId, &str), to: (NodeId, &str), delay| {
            let plain = LinkSpec::plain(from.0, to.0, host_rate, delay);
            // The first node may be a switch.
            let queue = waits_at_switch(topology, from.1, to.1)?.map_or(Queue::Plain, |spec| {
                let random = format!("{}->{}", from.1, to.1);
                Queue::Discipline { spec, ring_packets: 1, random }
            });
            Ok::<_, RunError>(self.network.link(LinkSpec { queue, ..plain }))
        };
        let (inner, outer) = ((from, from_name.as_str()), (host, host_name.as_str()));
        let there = link(outer, inner, extra / 2)?;
        let back = link(inner, outer, extra.saturating_sub(extra / 2))?;
        debug_assert_ne!(host, to);
        let forward: Vec<_> = std::iter::once(there).chain(forward).collect();
        let reverse: Vec<_> = reverse.into_iter().chain([back]).collect();
        let propagation = self.delay(&forward);
        Ok(Path { forward, reverse, propagation, rtt: wanted, delayed: true, ends })
    }

    fn delay(&self, route: &[usize]) -> Span {
        route.iter().fold(Span::ZERO, |sum, &link| sum + self.network.links[link].delay)
    }
}
