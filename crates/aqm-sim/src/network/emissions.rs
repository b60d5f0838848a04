//! Packets that disciplines ask their hosts to send, and the way to whom they are for.

use super::graph::NodeId;
use super::port::PortId;
use super::routes::{Route, Routes};
use aqm_core::signal::Emission;
use aqm_core::units::Span;
use std::collections::{BTreeMap, VecDeque};

/// What was asked for and not yet sent, and how it gets there.
#[derive(Default)]
pub(crate) struct Emissions {
    /// Emissions of this instant, with the port of the discipline.
    pub(crate) pending: VecDeque<(PortId, Emission)>,
    /// Known from the first emission on.
    pub(crate) directory: Option<Directory>,
}

/// Where flows begin and end, and the routes there.
pub(crate) struct Directory {
    pub(crate) routes: Routes,
    /// By the hash that disciplines see: the flow, and whether the packets were sent by its receiver (acknowledgments).
    pub(crate) flows: BTreeMap<u64, (u32, bool)>,
    /// By node and addressee: the route's first index in the table of routes, and its propagation delay.
    pub(crate) known: BTreeMap<(NodeId, u32, bool), (Route, Span)>,
}
