//! The graph: nodes and one-way links. Topologies build one.

use crate::switch::options::SwitchOptions;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use aqm_io::link_trace::LinkTrace;
use aqm_path::kind::KindSpec;
use aqm_path::wire::Impairments;
use std::collections::BTreeMap;

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

/// The queue in front of a link.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// A queue without limit and without a discipline.
    Plain,
    /// A discipline, and a device ring under it.
    Discipline {
        spec: Spec,
        ring_packets: u32,
        /// Name of its random stream.
        random: String,
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
    /// What its wire does to packets beside the delay.
    pub(crate) wire: Impairments,
    /// Name of its port, unless it is `from->to`.
    pub(crate) name: Option<String>,
}

impl LinkSpec {
    /// A plain link.
    pub(crate) fn plain(from: NodeId, to: NodeId, rate: Rate, delay: Span) -> LinkSpec {
        let capacity = Capacity::Rate(rate);
        LinkSpec { from, to, capacity, delay, queue: Queue::Plain, wire: Impairments::default(), name: None }
    }
}

impl LinkSpec {
    /// The shortest time that a packet spends on its wire: none where some overtake by the whole delay.
    pub(crate) fn least_delay(&self) -> Span {
        if self.wire.reorder.is_some() { Span::ZERO } else { self.delay }
    }
}

/// Links that share a medium, or the device that serves it.
#[derive(Clone)]
pub(crate) struct OnMedium {
    /// The name of the medium; of a link that is alone on it, its own.
    pub(crate) name: String,
    /// The links, each with its kind.
    pub(crate) links: Vec<(LinkId, KindSpec)>,
}

/// A graph under construction.
#[derive(Clone, Default)]
pub(crate) struct Network {
    names: Vec<String>,
    pub(crate) links: Vec<LinkSpec>,
    /// Of each link, how many links before it join the same nodes in the same direction.
    parallel: Vec<u32>,
    /// How many join two nodes.
    joining: BTreeMap<(NodeId, NodeId), u32>,
    /// The links that leave each node, and those that lead to it.
    pub(crate) out: Vec<Vec<LinkId>>,
    pub(crate) into: Vec<Vec<LinkId>>,
    /// Media, each with its links.
    pub(crate) media: Vec<OnMedium>,
    /// Options of switches, beside their ports.
    pub(crate) switches: BTreeMap<NodeId, SwitchOptions>,
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
        let joining = self.joining.entry((spec.from, spec.to)).or_default();
        self.parallel.push(*joining);
        *joining += 1;
        self.out[spec.from].push(id);
        self.into[spec.to].push(id);
        self.links.push(spec);
        id
    }

    /// A link of this kind is on a medium, with all others of that name.
    pub(crate) fn join(&mut self, medium: String, kind: KindSpec, link: LinkId) {
        match self.media.iter_mut().find(|other| other.name == medium) {
            Some(other) => other.links.push((link, kind)),
            None => self.media.push(OnMedium { name: medium, links: vec![(link, kind)] }),
        }
    }

    /// The name of a node.
    pub(crate) fn node_name(&self, node: NodeId) -> &str {
        &self.names[node]
    }

    /// The name of the port in front of a link.
    pub(crate) fn port_name(&self, link: LinkId) -> String {
        self.links[link].name.clone().unwrap_or_else(|| self.link_name(link))
    }

    /// The link behind the port of this name.
    pub(crate) fn find_port(&self, name: &str) -> Option<LinkId> {
        (0..self.links.len()).find(|&link| self.port_name(link) == name)
    }

    /// `from->to` of a link; of the second and further of parallel links, `from->to#2` and so on.
    pub(crate) fn link_name(&self, link: LinkId) -> String {
        let spec = &self.links[link];
        let ends = format!("{}->{}", self.names[spec.from], self.names[spec.to]);
        match self.parallel[link] {
            0 => ends,
            before => format!("{ends}#{}", before + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_links_have_names_of_their_own() {
        let mut network = Network::default();
        let [a, b] = ["a", "b"].map(|name| network.node(name.to_owned()));
        let rate = Rate::from_bits_per_sec(1);
        let links = [(a, b), (b, a), (a, b), (a, b)]
            .map(|(from, to)| network.link(LinkSpec::plain(from, to, rate, Span::ZERO)));
        assert_eq!(links.map(|link| network.link_name(link)), ["a->b", "b->a", "a->b#2", "a->b#3"]);
        assert_eq!(network.find_port("a->b#2"), Some(2));
    }
}
