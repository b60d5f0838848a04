//! The graph: nodes, one-way links and static shortest-path routes. Topologies build one.

use crate::link_trace::LinkTrace;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use std::cmp::Reverse;
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
    Discipline {
        spec: Spec,
        ring_packets: u32,
        /// Name of its stream of random numbers.
        random: String,
        /// The medium that it shares with other links, if it does.
        medium: Option<u32>,
    },
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
    /// Delay and links to each destination that was asked for, from every node.
    distances: BTreeMap<NodeId, Vec<Option<(u64, u32)>>>,
    /// From a node to a destination: the links with which a shortest route may begin.
    onward: BTreeMap<(NodeId, NodeId), Vec<LinkId>>,
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

    /// The route of least delay, fewest links; `None` where there is none. Of several such routes `choice` decides, at
    /// each node anew (equal-cost multipath): the same choice is always the same route.
    ///
    /// Leaves (hosts with one link) add their link to the route between their neighbours; how far each node is from a
    /// destination is computed once.
    pub(crate) fn route(&mut self, from: NodeId, to: NodeId, choice: u64) -> Option<Vec<LinkId>> {
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
        let mut route: Vec<LinkId> = first.into_iter().collect();
        self.walk(start, end, choice, &mut route)?;
        route.extend(last);
        Some(route)
    }

    /// Adds the links between two nodes to `route`.
    fn walk(&mut self, start: NodeId, end: NodeId, choice: u64, route: &mut Vec<LinkId>) -> Option<()> {
        let mut node = start;
        while node != end {
            if !self.onward.contains_key(&(node, end)) {
                let links = self.links_towards(node, end);
                self.onward.insert((node, end), links);
            }
            let links = &self.onward[&(node, end)];
            // The node has a say too, or all would choose alike.
            let turn = if choice == 0 { 0 } else { mix(choice ^ node as u64) };
            let link = *links.get(turn as usize % links.len().max(1))?;
            route.push(link);
            node = self.links[link].to;
        }
        Some(())
    }

    /// The links with which a shortest route from `node` to `end` may begin.
    fn links_towards(&mut self, node: NodeId, end: NodeId) -> Vec<LinkId> {
        if !self.distances.contains_key(&end) {
            let distances = self.distances_to(end);
            self.distances.insert(end, distances);
        }
        let distance = |node: NodeId| self.distances[&end].get(node).copied().flatten();
        let leads = |link: &LinkId| {
            let spec = &self.links[*link];
            let there = distance(spec.to).filter(|_| spec.to == end || !self.is_leaf(spec.to));
            let through = there.map(|(delay, hops)| (delay + spec.delay.as_nanos(), hops + 1));
            through.is_some() && through == distance(node)
        };
        self.out[node].iter().copied().filter(leads).collect()
    }

    /// Whether a node has one neighbour only: no shortest route leads through it.
    fn is_leaf(&self, node: NodeId) -> bool {
        match (self.out[node].as_slice(), self.into[node].as_slice()) {
            ([out], [into]) => self.links[*out].to == self.links[*into].from,
            _ => false,
        }
    }

    /// Dijkstra's algorithm backwards from `to`, not expanding leaves: delay and links from each node.
    fn distances_to(&self, to: NodeId) -> Vec<Option<(u64, u32)>> {
        let mut best: Vec<Option<(u64, u32)>> = vec![None; self.names.len()];
        best[to] = Some((0, 0));
        let mut open = BinaryHeap::from([Reverse((0_u64, 0_u32, to))]);
        while let Some(Reverse((delay, hops, node))) = open.pop() {
            if best[node] != Some((delay, hops)) || (node != to && self.is_leaf(node)) {
                continue;
            }
            for &link in &self.into[node] {
                let spec = &self.links[link];
                let reached = (delay + spec.delay.as_nanos(), hops + 1);
                if best[spec.from].is_none_or(|known| reached < known) {
                    best[spec.from] = Some(reached);
                    open.push(Reverse((reached.0, reached.1, spec.from)));
                }
            }
        }
        best
    }
}

/// Spreads the bits of a number (Stafford's variant 13 of MurmurHash3's finaliser).
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
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
        assert_eq!(network.route(a, d, 0), Some(vec![ad]));
        let cd = join(&mut network, c, d, 8);
        (network.distances, network.onward) = Default::default();
        assert_eq!(network.route(a, d, 0), Some(vec![ac, cd]));
        assert_eq!(network.route(a, b, 0), Some(vec![ab]));
        assert_eq!(network.route(b, d, 0), Some(vec![bd]));
        assert_eq!(network.route(d, a, 0), None);
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
        assert_eq!(network.route(hosts[0], hosts[1], 0), Some(vec![up, middle, down]));
        assert_eq!(network.route(hosts[0], hosts[2], 0), None);
    }

    #[test]
    fn equal_routes_are_shared_by_choice_and_a_choice_is_kept() {
        let mut network = Network::default();
        let [a, z] = ["a", "z"].map(|name| network.node(name.to_owned()));
        let ways: Vec<_> = (0..4)
            .map(|spine| {
                let spine = network.node(format!("s{spine}"));
                let back = join(&mut network, spine, a, 1); // so that it is no leaf
                assert!(back < 100);
                (join(&mut network, a, spine, 1), join(&mut network, spine, z, 1))
            })
            .collect();
        let mut used = [0; 4];
        for choice in 1..=400 {
            let route = network.route(a, z, choice).unwrap();
            assert_eq!(network.route(a, z, choice), Some(route.clone()));
            let way = ways.iter().position(|way| route == [way.0, way.1]).expect("one of the four");
            used[way] += 1;
        }
        assert!(used.iter().all(|count| (70..=130).contains(count)), "{used:?}");
        assert_eq!(network.route(a, z, 0), Some(vec![ways[0].0, ways[0].1]));
    }
}
