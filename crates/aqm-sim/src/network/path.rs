//! Paths of flows through a network.

use super::graph::{LinkId, Network};
use crate::scenario::{Exchange, FlowGroup, Source};
use aqm_core::units::Span;

/// The path of a flow, there and back.
pub(crate) struct Path {
    pub(crate) forward: Vec<LinkId>,
    pub(crate) reverse: Vec<LinkId>,
    /// Propagation delay forward.
    pub(crate) propagation: Span,
    /// Base round-trip time.
    pub(crate) rtt: Span,
}

/// A network with the paths of all flows through it.
pub(crate) struct Layout {
    pub(crate) network: Network,
    /// The link whose queue is measured.
    pub(crate) measured: LinkId,
    /// Group by group, member by member, as many as [`paths_per_member`] says.
    pub(crate) paths: Vec<Path>,
    /// The path of recorded traffic.
    pub(crate) recorded: Path,
}

/// How many pairs of hosts a member of the group needs: one, but for queries, which go to many servers.
pub(crate) fn paths_per_member(group: &FlowGroup) -> u32 {
    match &group.source {
        Source::Rounds(round) if round.exchange == Exchange::Query => round.connections,
        _ => 1,
    }
}

/// How many all members of the group need.
pub(crate) fn paths_of_group(group: &FlowGroup) -> u32 {
    group.count * paths_per_member(group)
}
