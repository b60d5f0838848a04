//! The graph: nodes, one-way links and static shortest-path routes. [`dumbbell`](crate::dumbbell) builds one.

use crate::link_trace::LinkTrace;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use std::collections::{BTreeMap, BinaryHeap};

/// Number of a node.
pub(crate) type NodeId = usize;
/// Number of a link.
pub(crate) type LinkId = usize;

/// What a link can carry.
#[derive(Clone, Debug)]
pub(crate) enum Capacity {
    /// Constant.
    Rate(Rate),
    /// Delivery opportunities.
    Trace(LinkTrace),
}

impl Capacity {
    /// The rate, or a trace's mean rate.
    pub(crate) fn mean_rate(&self) -> Rate {
        match self {
            Capacity::Rate(rate) => *rate,
            Capacity::Trace(trace) => trace.mean_rate(),
        }
    }
}

/// What waits in front of a link.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// A queue without limit and without a discipline.
    Plain,
    /// A discipline, and a device ring under it.
    Discipline { spec: Spec, ring_packets: u32, random: &'static str },
}

/// A one-way link: queue, serialiser, propagation.
#[derive(Clone, Debug)]
pub(crate) struct LinkSpec {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) capacity: Capacity,
    pub(crate) delay: Span,
    pub(crate) queue: Queue,
    /// Probability that a packet is lost behind the queue.
    pub(crate) loss: f64,
    /// Largest extra delay; where it is not zero, packets may overtake each other.
    pub(crate) jitter: Span,
}

impl LinkSpec {
    /// A plain link.
    pub(crate) fn plain(from: NodeId, to: NodeId, rate: Rate, delay: Span) -> LinkSpec {
        let capacity = Capacity::Rate(rate);
        LinkSpec { from, to, capacity, delay, queue: Queue::Plain, loss: 0.0, jitter: Span::ZERO }
    }
}

/// A graph under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    names: Vec<String>,
    pub(crate) links: Vec<LinkSpec>,
    out: Vec<Vec<LinkId>>,
    into: Vec<Vec<LinkId>>,
    /// Routes between nodes that are not leaves.
    core: BTreeMap<(NodeId, NodeId), Option<Vec<LinkId>>>,
}

impl Network {
    /// Adds a node.
    pub(crate) fn node(&mut self, name: String) -> NodeId {
        self.names.push(name);
        self.out.push(Vec::new());
        self.into.push(Vec::new());
        self.names.len() - 1
    }

    /// Adds a link.
    pub(crate) fn link(&mut self, spec: LinkSpec) -> LinkId {
        let id = self.links.len();
        self.out[spec.from].push(id);
        self.into[spec.to].push(id);
        self.links.push(spec);
        id
    }

    /// `from->to` of a link.
    pub(crate) fn link_name(&self, link: LinkId) -> String {
        let spec = &self.links[link];
        format!("{}->{}", self.names[spec.from], self.names[spec.to])
    }

    /// The route of least delay, fewest links, lowest numbers, in this order; `None` where there is none.
    ///
    /// Leaves (hosts with one link) add their link to the route between their neighbours, which is computed once.
    pub(crate) fn route(&mut self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        if from == to {
            return Some(Vec::new());
        }
        let (first, start) = match self.out[from].as_slice() {
            [only] => (Some(*only), self.links[*only].to),
            _ => (None, from),
        };
        if start == to {
            return first.map(|link| vec![link]);
        }
        let (last, end) = match self.into[to].as_slice() {
            [only] => (Some(*only), self.links[*only].from),
            _ => (None, to),
        };
        if !self.core.contains_key(&(start, end)) {
            let route = self.shortest(start, end);
            self.core.insert((start, end), route);
        }
        let middle = self.core[&(start, end)].as_ref()?;
        Some(first.into_iter().chain(middle.iter().copied()).chain(last).collect())
    }

    /// Whether a node has one neighbour only: no shortest route leads through it.
    fn is_leaf(&self, node: NodeId) -> bool {
        match (self.out[node].as_slice(), self.into[node].as_slice()) {
            ([out], [into]) => self.links[*out].to == self.links[*into].from,
            _ => false,
        }
    }

    /// Dijkstra's algorithm, not expanding leaves.
    fn shortest(&self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let mut best: Vec<Option<(u64, u32, LinkId)>> = vec![None; self.names.len()];
        let mut open = BinaryHeap::from([std::cmp::Reverse((0_u64, 0_u32, from))]);
        while let Some(std::cmp::Reverse((delay, hops, node))) = open.pop() {
            if node == to {
                break;
            }
            if best[node].is_some_and(|b| (b.0, b.1) < (delay, hops)) {
                continue;
            }
            for &link in &self.out[node] {
                let spec = &self.links[link];
                if spec.to == from || (spec.to != to && self.is_leaf(spec.to)) {
                    continue;
                }
                let reached = (delay + spec.delay.as_nanos(), hops + 1, link);
                if best[spec.to].is_none_or(|b| reached < b) {
                    best[spec.to] = Some(reached);
                    open.push(std::cmp::Reverse((reached.0, reached.1, spec.to)));
                }
            }
        }
        let mut route = Vec::new();
        let mut node = to;
        while node != from {
            let (_, _, link) = best[node]?;
            route.push(link);
            node = self.links[link].from;
        }
        route.reverse();
        Some(route)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(network: &mut Network, from: NodeId, to: NodeId, ms: u64) -> LinkId {
        network.link(LinkSpec::plain(from, to, Rate::from_bits_per_sec(1), Span::from_millis(ms)))
    }

    #[test]
    fn the_route_of_least_delay_wins_and_fewer_links_break_ties() {
        let mut network = Network::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| network.node(name.to_owned()));
        let ab = join(&mut network, a, b, 5);
        let bd = join(&mut network, b, d, 5);
        let ad = join(&mut network, a, d, 10);
        let ac = join(&mut network, a, c, 1);
        assert_eq!(network.route(a, d), Some(vec![ad]));
        let cd = join(&mut network, c, d, 8);
        network.core.clear();
        assert_eq!(network.route(a, d), Some(vec![ac, cd]));
        assert_eq!(network.route(a, b), Some(vec![ab]));
        assert_eq!(network.route(b, d), Some(vec![bd]));
        assert_eq!(network.route(d, a), None);
    }

    #[test]
    fn hosts_reach_each_other_through_their_routers() {
        let mut network = Network::default();
        let [left, right] = ["left", "right"].map(|name| network.node(name.to_owned()));
        let middle = join(&mut network, left, right, 1);
        join(&mut network, right, left, 1);
        let hosts: Vec<_> = (0..3).map(|i| network.node(format!("h{i}"))).collect();
        let up = join(&mut network, hosts[0], left, 1);
        join(&mut network, left, hosts[0], 1);
        let down = join(&mut network, right, hosts[1], 1);
        join(&mut network, hosts[1], right, 1);
        assert_eq!(network.route(hosts[0], hosts[1]), Some(vec![up, middle, down]));
        assert_eq!(network.route(hosts[0], hosts[2]), None);
    }
}
