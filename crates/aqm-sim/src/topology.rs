//! Topologies as data: nodes are named by the links between them, and some links carry the AQM under test.

use crate::members;
use crate::network::{Capacity, LinkSpec, Network, NodeId, Queue};
use crate::report::RunError;
use crate::routes::Routes;
use crate::scenario::{self, FlowGroup, Scenario};
use crate::setup::Graph;
use crate::simulation::Way;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Links are this many times as fast as the measured one where only delay is wanted.
const HOST_FACTOR: u64 = 100;

/// A graph of one-way links. Routes are those of least delay, fewest links; equal ones are shared among flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// The links.
    pub links: Vec<TopologyLink>,
    /// The link that the metrics look at, by its number from zero: one whose queue is under test.
    pub measured: usize,
}

/// A one-way link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopologyLink {
    /// Node that it leaves.
    pub from: String,
    /// Node that it leads to.
    pub to: String,
    /// Bit/s; `None` means the scenario's capacity, which may be recorded.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Propagation delay, nanoseconds.
    pub delay_ns: u64,
    /// What waits in front of it.
    #[serde(default)]
    pub queue: LinkQueue,
    /// Name of a medium: links on the same one send in turns, one packet at a time.
    #[serde(default)]
    pub medium: Option<String>,
}

/// What waits in front of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LinkQueue {
    /// As much as comes, in order.
    #[default]
    Plain,
    /// The AQM under test.
    UnderTest,
    /// This discipline, whatever is under test.
    Discipline(String),
}

impl Topology {
    /// Refuses what cannot be built.
    pub(crate) fn check(&self, scenario: &Scenario) -> Result<(), String> {
        let mut nodes = BTreeMap::new();
        for (number, link) in self.links.iter().enumerate() {
            let place = format!("topology: link {number} ({}->{})", link.from, link.to);
            if link.from == link.to {
                return Err(format!("{place} ends where it begins"));
            }
            if link.rate_bps == Some(0) {
                return Err(format!("{place}: rate_bps is 0: it must be greater than zero"));
            }
            if link.medium.is_some() && link.queue == LinkQueue::Plain {
                return Err(format!("{place}: a link on a medium needs a queue"));
            }
            if link.medium.is_some()
                && link.rate_bps.is_none()
                && matches!(scenario.capacity, scenario::Capacity::Trace(_))
            {
                return Err(format!("{place}: a recorded capacity cannot share a medium"));
            }
            nodes.insert(link.from.as_str(), ());
            nodes.insert(link.to.as_str(), ());
        }
        match self.links.get(self.measured) {
            Some(link) if link.queue == LinkQueue::UnderTest => {}
            Some(_) => return Err("topology: the measured link has no queue under test".to_owned()),
            None => {
                let (measured, last) = (self.measured, self.links.len());
                return Err(format!(
                    "topology: measured is {measured}: there are {last} links, counted from 0"
                ));
            }
        }
        for group in &scenario.flows {
            if group.from.is_empty() || group.to.is_empty() {
                return Err(format!("flow group '{}': from and to are missing", group.name));
            }
            if let Some(node) =
                group.from.iter().chain(&group.to).find(|name| !nodes.contains_key(name.as_str()))
            {
                return Err(format!("flow group '{}': no link has a node '{node}'", group.name));
            }
        }
        Ok(())
    }
}

/// The graph of a topology, with the ways of all flows.
pub(crate) fn graph(
    scenario: &Scenario,
    topology: &Topology,
    capacity: &Capacity,
    aqm: &Spec,
) -> Result<Graph, RunError> {
    let mut plan = Plan::default();
    let mut media = BTreeMap::new();
    for (number, link) in topology.links.iter().enumerate() {
        let measured = number == topology.measured;
        let name = format!("{}->{}", link.from, link.to);
        let spec = match &link.queue {
            LinkQueue::Plain => None,
            LinkQueue::UnderTest => Some(aqm.clone()),
            LinkQueue::Discipline(text) => {
                let refused = |error| RunError::Input(format!("topology: link {name}: {error}"));
                Some(Spec::parse(text).map_err(refused)?)
            }
        };
        let known = media.len() as u32;
        let medium = link.medium.as_ref().map(|medium| *media.entry(medium.clone()).or_insert(known));
        let queue = spec.map_or(Queue::Plain, |spec| Queue::Discipline {
            spec,
            ring_packets: scenario.device_ring_packets,
            random: name,
            medium,
        });
        let (from, to) = (plan.node(&link.from), plan.node(&link.to));
        plan.network.link(LinkSpec {
            from,
            to,
            capacity: match link.rate_bps {
                Some(bits) => Capacity::Rate(Rate::from_bits_per_sec(bits)),
                None => capacity.clone(),
            },
            delay: Span::from_nanos(link.delay_ns),
            queue,
            loss: if measured { scenario.loss } else { 0.0 },
            jitter: Span::from_nanos(if measured { scenario.jitter_ns } else { 0 }),
        });
    }
    let host_rate =
        Rate::from_bits_per_sec(capacity.mean_rate().as_bits_per_sec().saturating_mul(HOST_FACTOR));
    let mut routes = Routes::of(&plan.network);
    let mut ways = Vec::new();
    for group in &scenario.flows {
        for index in 0..members::ways_of_all(group) {
            ways.push(plan.way(&mut routes, group, index, host_rate)?);
        }
    }
    let measured = topology.measured;
    let propagation = plan.network.links[measured].delay;
    let rtt = Span::from_nanos(scenario.rtt_ns);
    let recorded = Way { forward: vec![measured], reverse: Vec::new(), propagation, rtt };
    Ok(Graph { network: plan.network, measured, ways, recorded })
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

    /// The way of flow `index` of a group, there and back. A base round-trip time beyond that of the links is made up
    /// for by a host of its own in front of its first node.
    fn way(
        &mut self,
        routes: &mut Routes,
        group: &FlowGroup,
        index: u32,
        host_rate: Rate,
    ) -> Result<Way, RunError> {
        let name = format!("{}.{index}", group.name);
        let pick = |names: &[String]| names[index as usize % names.len()].clone();
        let (from_name, to_name) = (pick(&group.from), pick(&group.to));
        let (mut from, to) = (self.node(&from_name), self.node(&to_name));
        if from == to {
            return Err(RunError::Input(format!(
                "flow group '{}': flow {index} begins and ends at '{to_name}'",
                group.name
            )));
        }
        // Flows of the same name take the same of several equal routes, whatever the seed.
        let choice = Random::stream(0, &format!("{name} route")).next_u64() | 1;
        let mut route = |from, to| {
            let missing = || RunError::Input(format!("topology: no way for flow {name}"));
            routes.route(&self.network, from, to, choice).ok_or_else(missing)
        };
        let (forward, reverse) = (route(from, to)?, route(to, from)?);
        let rtt = self.delay(&forward) + self.delay(&reverse);
        let wanted = group.rtt_ns.map_or(rtt, Span::from_nanos);
        if wanted < rtt {
            let (wanted, rtt) = (wanted.as_nanos(), rtt.as_nanos());
            return Err(RunError::Input(format!(
                "flow group '{}': rtt_ns is {wanted}, but its links alone take {rtt}",
                group.name
            )));
        }
        if wanted == rtt {
            let propagation = self.delay(&forward);
            return Ok(Way { forward, reverse, propagation, rtt });
        }
        let extra = wanted.saturating_sub(rtt);
        let host = self.network.node(format!("{name}.host"));
        let there = self.network.link(LinkSpec::plain(host, from, host_rate, extra / 2));
        let back = self.network.link(LinkSpec::plain(from, host, host_rate, extra.saturating_sub(extra / 2)));
        from = host;
        debug_assert_ne!(from, to);
        let forward: Vec<_> = std::iter::once(there).chain(forward).collect();
        let reverse: Vec<_> = reverse.into_iter().chain([back]).collect();
        let propagation = self.delay(&forward);
        Ok(Way { forward, reverse, propagation, rtt: wanted })
    }

    fn delay(&self, route: &[usize]) -> Span {
        route.iter().fold(Span::ZERO, |sum, &link| sum + self.network.links[link].delay)
    }
}
