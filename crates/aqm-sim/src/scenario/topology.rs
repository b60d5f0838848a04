//! Topologies as data: nodes are named by the links between them, and some links carry the AQM under test.

use crate::switch::options::SwitchOptions;
use aqm_core::input_error::InputError;
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of a medium: links on the same one share its time, or the device that serves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<String>,
    /// Kind of the link, as `KIND key value ...`; a line of its rate unless given, on a medium `turns`. Links of one medium have
    /// the same, but for what is each link's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What the wire behind the queue does to packets; where this does nothing, the measured link takes the scenario's.
    #[serde(default, skip_serializing_if = "Impairments::is_plain")]
    pub wire: Impairments,
}

impl TopologyLink {
    /// A link of its own, with a line of its rate and a wire that delays alone.
    pub fn new(from: &str, to: &str, rate_bps: Option<u64>, delay_ns: u64, queue: LinkQueue) -> TopologyLink {
        TopologyLink {
            from: from.to_owned(),
            to: to.to_owned(),
            rate_bps,
            delay_ns,
            queue,
            name: None,
            medium: None,
            kind: None,
            wire: Impairments::default(),
        }
    }

    /// The name of the port in front of it.
    pub fn port(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("{}->{}", self.from, self.to))
    }
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
    /// Refuses what cannot be built, but for the kinds of links, which the inputs may have; returns the names of the nodes.
    pub(crate) fn check(&self) -> Result<BTreeSet<&str>, InputError> {
        let mut nodes = BTreeSet::new();
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
            nodes.extend([link.from.as_str(), link.to.as_str()]);
        }
        for (name, options) in &self.switches {
            let place = || format!("switch '{name}'");
            if !nodes.contains(name.as_str()) {
                return Err(refused(place(), InputError::new("no link has a node of this name")));
            }
            options.check().map_err(|error| refused(place(), error))?;
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
