//! Paths of flows through a network.

use super::graph::{LinkId, Network, NodeId, Queue};
use crate::report::RunError;
use crate::scenario::{Exchange, FlowGroup, Round, Scenario, Source};
use aqm_core::input_error::InputError;
use aqm_core::params::did_you_mean;
use aqm_core::spec::Spec;
use aqm_core::units::Span;

/// The forward and the reverse path of a flow.
pub(crate) struct Path {
    pub(crate) forward: Vec<LinkId>,
    pub(crate) reverse: Vec<LinkId>,
    /// Propagation delay forward.
    pub(crate) propagation: Span,
    /// Base round-trip time.
    pub(crate) rtt: Span,
    /// Whether the first link forward only adds delay.
    pub(crate) delayed: bool,
    /// The nodes that its flows begin and end at; what only adds delay is none.
    pub(crate) ends: [NodeId; 2],
}

/// A network with the paths of all flows through it.
pub(crate) struct Layout {
    pub(crate) network: Network,
    /// The links whose ports are measured.
    pub(crate) measured: Vec<LinkId>,
    /// Group by group, member by member, as many as [`paths_per_member`] says.
    pub(crate) paths: Vec<Path>,
    /// The path of recorded traffic.
    pub(crate) recorded: Path,
}

/// How many pairs of hosts a member of the group needs: one, except for queries, which go to many servers.
pub(crate) fn paths_per_member(group: &FlowGroup) -> u32 {
    match &group.source {
        Source::Rounds(round) => servers(round),
        _ => 1,
    }
}

/// How many servers a round asks. Inlined, it would be one comparison with that of the source, and read what other sources leave
/// open: harmless, but valgrind tells it of every program that has our library in it.
#[inline(never)]
fn servers(round: &Round) -> u32 {
    if round.exchange == Exchange::Query { round.connections } else { 1 }
}

/// How many paths all members of the group need.
pub(crate) fn paths_of_group(group: &FlowGroup) -> u32 {
    group.count * paths_per_member(group)
}

/// A limit that no queue reaches.
pub(super) const UNLIMITED: &str = "fifo limit 1000000000p";

/// The ports that a scenario measures, or else that of `bottleneck`. A port without a discipline gets a FIFO without
/// a limit, so that its queue can be measured.
pub(crate) fn measured_ports(
    network: &mut Network,
    scenario: &Scenario,
    bottleneck: LinkId,
) -> Result<Vec<LinkId>, RunError> {
    let mut measured = Vec::new();
    for name in &scenario.measure {
        let Some(link) = network.find_port(name) else {
            let names: Vec<String> = (0..network.links.len()).map(|link| network.port_name(link)).collect();
            let hint = did_you_mean(name, names.iter().map(String::as_str));
            return Err(RunError::Input(
                InputError::new(format!("no port is called '{name}'{hint}"))
                    .of_value(name)
                    .near(name, names.iter().map(String::as_str))
                    .of_option("measure"),
            ));
        };
        if measured.contains(&link) {
            return Err(RunError::Input(
                InputError::new(format!("port '{name}' is named twice")).of_value(name).of_option("measure"),
            ));
        }
        measured.push(link);
        if matches!(network.links[link].queue, Queue::Plain) {
            let spec = Spec::parse(UNLIMITED).map_err(|error| RunError::Check(error.to_string()))?;
            let ring_packets = scenario.device_ring_packets;
            network.links[link].queue =
                Queue::Discipline { spec, ring_packets, random: network.link_name(link) };
        }
    }
    Ok(if measured.is_empty() { vec![bottleneck] } else { measured })
}
