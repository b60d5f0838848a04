//! Topologies as data: nodes are named by the links between them, and some links carry the AQM under test.

use crate::switch::options::SwitchOptions;
use aqm_core::input_error::InputError;
pub use aqm_path::medium::Access;
use aqm_path::wire::Impairments;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A graph of one-way links. Routes have the least delay, then the fewest links; equal ones are shared among flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// The links.
    pub links: Vec<TopologyLink>,
    /// Number of the measured link, from zero: its queue is under test.
    pub measured: usize,
    /// Options of the switches among the nodes, beside their ports, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub switches: BTreeMap<String, SwitchOptions>,
}

/// A one-way link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The queue in front of it.
    #[serde(default)]
    pub queue: LinkQueue,
    /// Name of its port in metrics; `from->to` unless given.
    #[serde(default)]
    pub name: Option<String>,
    /// Name of a medium: links on the same one send one packet at a time.
    #[serde(default)]
    pub medium: Option<String>,
    /// How a packet that finds the medium busy comes to be sent; the same on all links of a medium.
    #[serde(default, skip_serializing_if = "is_in_turns")]
    pub access: Access,
    /// Whether the medium stays busy until the last bit has arrived, as CSMA's does, not only until it is sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_arrival: bool,
    /// Kind of the link, as `KIND key value ...`, whose device sends bursts; a line of its rate unless given. Links of one medium
    /// have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What the wire behind the queue does to packets; where this does nothing, the measured link takes the scenario's.
    #[serde(default, skip_serializing_if = "Impairments::is_plain")]
    pub wire: Impairments,
}

fn is_in_turns(access: &Access) -> bool {
    *access == Access::Turns
}

/// The queue in front of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LinkQueue {
    /// A FIFO without a limit.
    #[default]
    Plain,
    /// The AQM under test.
    UnderTest,
    /// This discipline, whatever is under test.
    Discipline(String),
}

/// An error about a link or a switch of a topology.
pub(crate) fn refused(place: String, error: InputError) -> InputError {
    error.within(place).of_option("topology")
}

impl Topology {
    /// Refuses what cannot be built; returns the names of the nodes. `recorded` says whether the scenario's capacity
    /// is a link trace.
    pub(crate) fn check(&self, recorded: bool) -> Result<BTreeSet<&str>, InputError> {
        let mut nodes = BTreeSet::new();
        let (mut media, mut kinds) = (BTreeMap::new(), BTreeMap::new());
        for (number, link) in self.links.iter().enumerate() {
            let place = || format!("link {number} ({}->{})", link.from, link.to);
            if link.from == link.to {
                return Err(
                    InputError::new(format!("{} ends where it begins", place())).of_option("topology")
                );
            }
            if link.rate_bps == Some(0) {
                return Err(refused(place(), InputError::field("rate", 0, "it must be greater than zero")));
            }
            link.wire.check().map_err(|error| refused(place(), error))?;
            if link.medium.is_some() && link.queue == LinkQueue::Plain {
                return Err(refused(place(), InputError::new("a link on a medium needs a queue")));
            }
            if link.medium.is_some() && link.rate_bps.is_none() && recorded {
                return Err(refused(place(), InputError::new("a link trace cannot share a medium")));
            }
            if link.medium.is_none() && link.access != Access::Turns {
                return Err(refused(place(), InputError::new("access is backoff, but it is on no medium")));
            }
            if let Some(kind) = &link.kind {
                let about = |problem: &str| Err(refused(place(), InputError::value(kind, problem)));
                if link.queue == LinkQueue::Plain {
                    return about("needs a queue");
                }
                if link.rate_bps.is_none() && recorded {
                    return about("cannot have a link trace");
                }
                if link.access != Access::Turns || link.until_arrival {
                    return about("has its own access to the medium");
                }
            }
            if let Some(medium) = &link.medium
                && *kinds.entry(medium).or_insert(&link.kind) != &link.kind
            {
                return Err(refused(
                    place(),
                    InputError::new(format!(
                        "kind differs from that of a link before it on medium '{medium}'"
                    )),
                ));
            }
            if let Some(medium) = &link.medium
                && *media.entry(medium).or_insert(link.access) != link.access
            {
                return Err(refused(
                    place(),
                    InputError::new(format!(
                        "access to medium '{medium}' differs from that of a link before it"
                    )),
                ));
            }
            nodes.extend([link.from.as_str(), link.to.as_str()]);
        }
        for (name, options) in &self.switches {
            let place = || format!("switch '{name}'");
            if !nodes.contains(name.as_str()) {
                return Err(refused(place(), InputError::new("no link has a node of this name")));
            }
            options.check().map_err(|error| refused(place(), error))?;
            let around = self.links.iter().filter(|link| link.from == *name || link.to == *name);
            for link in around.filter(|_| options.pfc.is_some()) {
                let problem = match (&link.medium, link.rate_bps) {
                    _ if link.kind.is_some() => "has a device of its own",
                    (Some(_), _) => "is on a medium",
                    (_, None) if recorded => "has a link trace",
                    _ => continue,
                };
                return Err(refused(
                    place(),
                    InputError::new(format!("xoff cannot pause {}->{}: it {problem}", link.from, link.to)),
                ));
            }
        }
        match self.links.get(self.measured) {
            Some(link) if link.queue == LinkQueue::UnderTest => Ok(nodes),
            Some(_) => {
                Err(InputError::new("the measured link has no queue under test").of_option("topology"))
            }
            None => {
                let (measured, last) = (self.measured, self.links.len());
                Err(InputError::field(
                    "measured",
                    measured,
                    format_args!("there are {last} links, counted from 0"),
                )
                .of_option("topology"))
            }
        }
    }
}
