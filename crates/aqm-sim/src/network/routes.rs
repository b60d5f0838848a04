//! Static shortest-path routes, each computed once.
//!
//! Most of a network is trees: hosts behind routers behind switches. Leaves are removed one by one until a core
//! without leaves remains. A route climbs its tree, crosses the core if it has to, and descends. Only the core is
//! searched, once for each core node at which routes leave it. So setting up costs as much as there are links and hops
//! of routes, not pairs of nodes.

use super::graph::{LinkId, Network, NodeId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Delay and links to a destination.
type Distance = (u64, u32);

/// A route in the table of routes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// Its first port, or the end.
    pub(crate) first: u32,
    /// Where in the table the rest of it is.
    pub(crate) rest: u32,
}

impl Route {
    /// Where in the table it begins.
    pub(crate) fn start(self) -> usize {
        self.rest as usize - 1
    }
}

/// Routes of least delay, then fewest links, through a network that does not change any more.
#[derive(Debug)]
pub(crate) struct Routes {
    /// The place of each node in its tree; `None` in the core.
    branches: Vec<Option<Branch>>,
    /// How many core nodes there are, and the number of each among them.
    core: usize,
    numbers: Vec<usize>,
    /// The distances to each core node that was a destination: from every core node, by number.
    distances: BTreeMap<NodeId, Vec<Option<Distance>>>,
    /// From one core node to another: the links with which a shortest route may begin.
    onward: BTreeMap<(NodeId, NodeId), Vec<LinkId>>,
}

/// A node's place in a tree.
#[derive(Clone, Copy, Debug)]
struct Branch {
    parent: NodeId,
    /// Links from the node to its parent and back.
    up: LinkId,
    down: LinkId,
    /// Links to the core.
    depth: u32,
}

impl Routes {
    /// Routes through a network. Nodes that are added later have none.
    pub(crate) fn of(network: &Network) -> Routes {
        let branches = peel(network);
        let mut core = 0;
        let numbers = branches.iter().map(|branch| {
            core += usize::from(branch.is_none());
            core.saturating_sub(1)
        });
        let numbers = numbers.collect();
        Routes { branches, core, numbers, distances: BTreeMap::new(), onward: BTreeMap::new() }
    }

    /// The route between two nodes; `None` where there is none. Among equal ones `choice` decides at each node
    /// (equal-cost multipath): the same choice always gives the same route.
    pub(crate) fn route(
        &mut self,
        network: &Network,
        from: NodeId,
        to: NodeId,
        choice: u64,
    ) -> Option<Vec<LinkId>> {
        let (mut start, mut end) = (from, to);
        let (mut route, mut descent) = (Vec::new(), Vec::new());
        while start != end {
            match (self.branches[start], self.branches[end]) {
                (Some(branch), other) if other.is_none_or(|other| other.depth <= branch.depth) => {
                    route.push(branch.up);
                    start = branch.parent;
                }
                (_, Some(branch)) => {
                    descent.push(branch.down);
                    end = branch.parent;
                }
                (_, None) => {
                    self.cross(network, start, end, choice, &mut route)?;
                    start = end;
                }
            }
        }
        route.extend(descent.into_iter().rev());
        Some(route)
    }

    /// Adds the links between two nodes of the core to `route`.
    fn cross(
        &mut self,
        network: &Network,
        start: NodeId,
        end: NodeId,
        choice: u64,
        route: &mut Vec<LinkId>,
    ) -> Option<()> {
        let mut node = start;
        while node != end {
            if !self.onward.contains_key(&(node, end)) {
                let links = self.links_towards(network, node, end);
                self.onward.insert((node, end), links);
            }
            let links = &self.onward[&(node, end)];
            // Mixed with the node, or every node would choose alike.
            let turn = if choice == 0 { 0 } else { mix(choice ^ node as u64) };
            let link = *links.get(turn as usize % links.len().max(1))?;
            route.push(link);
            node = network.links[link].to;
        }
        Some(())
    }

    fn is_core(&self, node: NodeId) -> bool {
        self.branches[node].is_none()
    }

    /// The links with which a shortest route from `node` to `end` may begin.
    fn links_towards(&mut self, network: &Network, node: NodeId, end: NodeId) -> Vec<LinkId> {
        if !self.distances.contains_key(&end) {
            let distances = self.distances_to(network, end);
            self.distances.insert(end, distances);
        }
        let distances = &self.distances[&end];
        let leads = |link: &LinkId| {
            let spec = &network.links[*link];
            let there = distances[self.numbers[spec.to]].filter(|_| self.is_core(spec.to));
            let through = there.map(|(delay, hops)| (delay + spec.delay.as_nanos(), hops + 1));
            through.is_some() && through == distances[self.numbers[node]]
        };
        network.out[node].iter().copied().filter(leads).collect()
    }

    /// Dijkstra's algorithm backwards from `to` within the core: the distance of each of its nodes.
    fn distances_to(&self, network: &Network, to: NodeId) -> Vec<Option<Distance>> {
        let mut best: Vec<Option<Distance>> = vec![None; self.core];
        best[self.numbers[to]] = Some((0, 0));
        let mut open = BinaryHeap::from([Reverse((0_u64, 0_u32, to))]);
        while let Some(Reverse((delay, hops, node))) = open.pop() {
            if best[self.numbers[node]] != Some((delay, hops)) {
                continue;
            }
            for &link in &network.into[node] {
                let spec = &network.links[link];
                let reached = (delay + spec.delay.as_nanos(), hops + 1);
                let known = &mut best[self.numbers[spec.from]];
                if self.is_core(spec.from) && known.is_none_or(|known| reached < known) {
                    *known = Some(reached);
                    open.push(Reverse((reached.0, reached.1, spec.from)));
                }
            }
        }
        best
    }
}

/// Removes leaves until there are none: nodes with one link out and one link in, from and to the same neighbour.
fn peel(network: &Network) -> Vec<Option<Branch>> {
    let nodes = network.out.len();
    let mut branches: Vec<Option<Branch>> = vec![None; nodes];
    // For each node, how many links it has to and from nodes that remain.
    let mut degrees: Vec<(usize, usize)> =
        network.out.iter().zip(&network.into).map(|(out, into)| (out.len(), into.len())).collect();
    let mut peeled: Vec<NodeId> = Vec::new();
    for first in 0..nodes {
        let mut node = first;
        while let Some(branch) = leaf(network, &branches, &degrees, node) {
            branches[node] = Some(branch);
            peeled.push(node);
            let (out, into) = &mut degrees[branch.parent];
            (*out, *into) = (*out - 1, *into - 1);
            node = branch.parent;
        }
    }
    // Parents were peeled after their children.
    for &node in peeled.iter().rev() {
        if let Some(Branch { parent, .. }) = branches[node] {
            let above = branches[parent].map_or(0, |branch| branch.depth);
            branches[node].iter_mut().for_each(|branch| branch.depth = above + 1);
        }
    }
    branches
}

/// The place in its tree of a node that is now a leaf.
fn leaf(
    network: &Network,
    branches: &[Option<Branch>],
    degrees: &[(usize, usize)],
    node: NodeId,
) -> Option<Branch> {
    if branches[node].is_some() || degrees[node] != (1, 1) {
        return None;
    }
    let links = &network.links;
    let up = *network.out[node].iter().find(|link| branches[links[**link].to].is_none())?;
    let down = *network.into[node].iter().find(|link| branches[links[**link].from].is_none())?;
    let parent = links[up].to;
    (links[down].from == parent).then_some(Branch { parent, up, down, depth: 0 })
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
    use crate::network::graph::LinkSpec;
    use aqm_core::units::{Rate, Span};

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
        let mut routes = Routes::of(&network);
        assert_eq!(routes.route(&network, a, d, 0), Some(vec![ad]));
        let cd = join(&mut network, c, d, 8);
        let mut routes = Routes::of(&network);
        assert_eq!(routes.route(&network, a, d, 0), Some(vec![ac, cd]));
        assert_eq!(routes.route(&network, a, b, 0), Some(vec![ab]));
        assert_eq!(routes.route(&network, b, d, 0), Some(vec![bd]));
        assert_eq!(routes.route(&network, d, a, 0), None);
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
        let mut routes = Routes::of(&network);
        assert_eq!(routes.route(&network, hosts[0], hosts[1], 0), Some(vec![up, middle, down]));
        assert_eq!(routes.route(&network, hosts[0], hosts[2], 0), None);
    }

    #[test]
    fn equal_routes_are_shared_by_choice_and_a_choice_is_kept() {
        let mut network = Network::default();
        let [a, z] = ["a", "z"].map(|name| network.node(name.to_owned()));
        let paths: Vec<_> = (0..4)
            .map(|spine| {
                let spine = network.node(format!("s{spine}"));
                let back = join(&mut network, spine, a, 1); // so that it is not a leaf
                assert!(back < 100);
                (join(&mut network, a, spine, 1), join(&mut network, spine, z, 1))
            })
            .collect();
        let mut routes = Routes::of(&network);
        let mut used = [0; 4];
        for choice in 1..=400 {
            let route = routes.route(&network, a, z, choice).unwrap();
            assert_eq!(routes.route(&network, a, z, choice), Some(route.clone()));
            let path = paths.iter().position(|path| route == [path.0, path.1]).expect("one of the four");
            used[path] += 1;
        }
        assert!(used.iter().all(|count| (70..=130).contains(count)), "{used:?}");
        assert_eq!(routes.route(&network, a, z, 0), Some(vec![paths[0].0, paths[0].1]));
    }

    /// Two links, there and back.
    fn tie(network: &mut Network, from: NodeId, to: NodeId) -> [LinkId; 2] {
        [join(network, from, to, 1), join(network, to, from, 1)]
    }

    #[test]
    fn trees_of_any_depth_are_climbed_and_descended_without_a_search() {
        let mut network = Network::default();
        // Three sites around a core; each has a switch, two routers, and two hosts behind each router.
        let core = network.node("core".to_owned());
        let mut hosts = Vec::new();
        for _ in 0..3 {
            let switch = network.node("switch".to_owned());
            let [down, up] = tie(&mut network, core, switch);
            for _ in 0..2 {
                let router = network.node("router".to_owned());
                let [down2, up2] = tie(&mut network, switch, router);
                for _ in 0..2 {
                    let host = network.node("host".to_owned());
                    let [down3, up3] = tie(&mut network, router, host);
                    hosts.push((host, [up3, up2, up], [down, down2, down3]));
                }
            }
        }
        let mut routes = Routes::of(&network);
        for (one, &(from, up, _)) in hosts.iter().enumerate() {
            for (other, &(to, _, down)) in hosts.iter().enumerate() {
                // Links that two hosts share on their ways to the core are not used.
                let hops = match (one == other, one / 2 == other / 2, one / 4 == other / 4) {
                    (true, ..) => 0,
                    (_, true, _) => 1,
                    (.., true) => 2,
                    _ => 3,
                };
                let expected = [&up[..hops], &down[3 - hops..]].concat();
                assert_eq!(routes.route(&network, from, to, 7), Some(expected), "{one} to {other}");
            }
        }
        assert_eq!(routes.core, 1);
        assert!(routes.distances.is_empty());
    }

    #[test]
    fn only_the_core_is_searched_and_every_destination_in_it_once() {
        let mut network = Network::default();
        let ring: Vec<_> = (0..5).map(|i| network.node(format!("ring{i}"))).collect();
        for (i, &node) in ring.iter().enumerate() {
            tie(&mut network, node, ring[(i + 1) % 5]);
        }
        let mut hosts = Vec::new();
        for &node in &ring {
            let router = network.node("router".to_owned());
            tie(&mut network, node, router);
            for _ in 0..20 {
                let host = network.node("host".to_owned());
                tie(&mut network, router, host);
                hosts.push(host);
            }
        }
        let mut routes = Routes::of(&network);
        for &from in &hosts {
            for &to in hosts.iter().filter(|&&to| to != from) {
                let route = routes.route(&network, from, to, 1).expect("all are joined");
                // Up to four links of their trees and two of the ring.
                assert!((2..=6).contains(&route.len()), "{route:?}");
                let ends: Vec<_> = route.iter().map(|&link| network.links[link].to).collect();
                let starts: Vec<_> = route.iter().map(|&link| network.links[link].from).collect();
                assert_eq!((starts[0], ends[ends.len() - 1]), (from, to));
                assert_eq!(starts[1..], ends[..ends.len() - 1], "each link begins where the one before ends");
            }
        }
        assert_eq!(routes.core, 5);
        assert_eq!(routes.distances.len(), 5);
        assert!(routes.distances.values().all(|distances| distances.len() == 5));
    }

    #[test]
    fn unconnected_nodes_have_no_route() {
        let mut network = Network::default();
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| network.node(name.to_owned()));
        tie(&mut network, a, b);
        tie(&mut network, c, d);
        let one_way = join(&mut network, b, e, 1);
        let mut routes = Routes::of(&network);
        assert_eq!(routes.route(&network, a, c, 1), None);
        assert_eq!(routes.route(&network, a, a, 1), Some(Vec::new()));
        assert_eq!(routes.route(&network, a, e, 1).map(|route| route[1]), Some(one_way));
        assert_eq!(routes.route(&network, e, a, 1), None);
    }
}
