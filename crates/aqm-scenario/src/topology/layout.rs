//! A topology under construction: links, default ends of flows, measured ports, options of switches.

use super::glob;
use crate::flows::Files;
use aqm_core::input_error::InputError;
use aqm_core::units::{Rate, Span};
use aqm_path::kind::KindSpec;
use aqm_sim::scenario::Topology;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};
use aqm_sim::switch::declaration::Info as ProgramInfo;
use aqm_sim::switch::options::SwitchOptions;
use std::collections::{BTreeMap, BTreeSet};

/// Links, both directions together, that are built without asking: twice as many take 0.2 GB and some seconds.
pub const MOST_LINKS: usize = 100_000;
/// Names among which the nearest is looked for.
const MOST_SEARCHED: usize = 1000;

/// What a topology is built for, and with.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The rate of the links under test.
    pub rate: Rate,
    /// The base round-trip time of the longest path.
    pub rtt: Span,
    /// How files are read.
    pub files: &'a dyn Files,
    /// The programs of switches that are known.
    pub programs: &'a [&'static ProgramInfo],
    /// More links are refused before they take memory.
    pub limit: Option<SizeLimit<'a>>,
    /// The kind of the bottleneck's link, if it is more than a rate.
    pub link: Option<&'a KindSpec>,
}

/// How many links are built.
#[derive(Clone, Copy, Debug)]
pub struct SizeLimit<'a> {
    /// The most, both directions together.
    pub links: usize,
    /// What lifts the limit, in the words of the host; empty for nothing.
    pub lifted_by: &'a str,
}

impl SizeLimit<'_> {
    /// The error about a topology of more links.
    pub(super) fn refusal(&self) -> InputError {
        let most = self.links;
        let hint = match self.lifted_by {
            "" => ", and no more are built".to_owned(),
            lifted_by => format!(", and that many are built only with {lifted_by}"),
        };
        InputError::new(format!("it has more than {most} links{hint}"))
    }
}

/// Links, the number of the bottleneck, the default ends of flows, and the measured ports. Without measured ports the
/// bottleneck's is measured.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Layout {
    /// Its name, or that of its file.
    pub name: String,
    /// Every link, in one direction.
    pub links: Vec<TopologyLink>,
    /// The number of the measured link.
    pub measured: usize,
    /// The ports that are measured unless others are named.
    pub measure: Vec<String>,
    /// Where flows begin unless they say it.
    pub sources: Vec<String>,
    /// Where they end.
    pub sinks: Vec<String>,
    /// Options of switches, by node.
    pub switches: BTreeMap<String, SwitchOptions>,
    /// The kind of the bottleneck's link.
    pub(super) link: Option<KindSpec>,
    /// The most links in one direction, and the error about more.
    most: Option<(usize, InputError)>,
}

impl Layout {
    /// One without links.
    pub(super) fn new(name: &str, limit: Option<SizeLimit<'_>>) -> Layout {
        let most = limit.map(|limit| (limit.links.saturating_mul(2), limit.refusal()));
        Layout { name: name.to_owned(), most, ..Layout::default() }
    }

    /// The names of the nodes, in order of appearance.
    pub fn nodes(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let ends = self.links.iter().flat_map(|link| [link.from.as_str(), link.to.as_str()]);
        ends.filter(|end| seen.insert(*end)).collect()
    }

    /// The name of the port in front of each link.
    pub fn ports(&self) -> Vec<String> {
        self.links.iter().map(TopologyLink::port).collect()
    }

    /// Adds a one-way link.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn add(&mut self, link: TopologyLink) -> Result<(), InputError> {
        if let Some((most, refusal)) = &self.most
            && self.links.len() >= *most
        {
            return Err(refusal.clone());
        }
        self.links.push(link);
        Ok(())
    }

    /// Adds a link in each direction, with their queues.
    pub(super) fn both(
        &mut self,
        ends: (impl Into<String>, impl Into<String>),
        rate_bps: u64,
        delay_ns: u64,
        queues: [LinkQueue; 2],
    ) -> Result<(), InputError> {
        let (from, to) = (ends.0.into(), ends.1.into());
        let [there, back] = queues;
        self.add(TopologyLink::new(&from, &to, Some(rate_bps), delay_ns, there))?;
        self.add(TopologyLink::new(&to, &from, Some(rate_bps), delay_ns, back))
    }

    /// The topology; its measured link has the scenario's capacity, recorded or not.
    pub fn topology(&self) -> Topology {
        let mut links = self.links.clone();
        links[self.measured].rate_bps = None;
        Topology { links, measured: self.measured, switches: self.switches.clone() }
    }

    /// Sets options of switches: of nodes that match a pattern, or of all with more than one neighbour.
    ///
    /// # Errors
    /// If no node matches the pattern.
    pub(super) fn equip(&mut self, options: Option<SwitchOptions>, pattern: &str) -> Result<(), InputError> {
        let Some(options) = options else { return Ok(()) };
        let nodes = if pattern.is_empty() { self.between() } else { self.choose(pattern)? };
        self.switches = nodes.into_iter().map(|node| (node, options.clone())).collect();
        Ok(())
    }

    /// The nodes with more than one neighbour.
    fn between(&self) -> Vec<String> {
        let mut neighbours: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for link in &self.links {
            neighbours.entry(&link.from).or_default().insert(&link.to);
            neighbours.entry(&link.to).or_default().insert(&link.from);
        }
        let several = neighbours.into_iter().filter(|(_, others)| others.len() > 1);
        several.map(|(node, _)| node.to_owned()).collect()
    }

    /// The nodes that match a pattern: names and globs, with `|` between them.
    ///
    /// # Errors
    /// If a part matches no node.
    pub fn choose(&self, pattern: &str) -> Result<Vec<String>, InputError> {
        let nodes = self.nodes();
        let known: BTreeSet<&str> = nodes.iter().copied().collect();
        let mut chosen = Vec::new();
        for part in pattern.split('|') {
            let before = chosen.len();
            if part.contains(['*', '?', '[']) {
                let found = nodes.iter().filter(|node| glob::matches(part, node));
                chosen.extend(found.map(|node| (*node).to_owned()));
            } else if known.contains(part) {
                chosen.push(part.to_owned());
            }
            if chosen.len() == before {
                return Err(unknown_node(part, &nodes));
            }
        }
        Ok(chosen)
    }
}

/// The error about a name that no node has.
pub(super) fn unknown_node(name: &str, nodes: &[&str]) -> InputError {
    InputError::unknown("node", name, nodes.iter().take(MOST_SEARCHED).copied())
}
