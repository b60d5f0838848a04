//! Classifiers: they watch packets and say which flows are non-responsive long-term fast (LTF) ones. They are algorithms
//! in their own right, usable without a queue.
//!
//! All keep a bounded list of flows in fixed memory; every packet takes a constant number of steps. They differ in where
//! new flows enter the list, and so in how easily many short flows push the heavy ones out.

mod cache;
mod l_lru;
mod lru;
mod m_lru;
mod shadow;
mod table;

pub use l_lru::LandmarkLru;
pub use lru::Lru;
pub use m_lru::{MLru, Settings};
pub use shadow::{Sampling, ShadowQueue};

use crate::random::Random;

/// What a classifier takes a packet for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    /// Of a flow that was not reported: responsive, short or slow.
    Responsive,
    /// Of a flow that was reported: non-responsive, long-term and fast.
    Ltf,
}

impl FlowKind {
    /// LTF if `reported`.
    #[inline]
    const fn ltf_if(reported: bool) -> FlowKind {
        if reported { FlowKind::Ltf } else { FlowKind::Responsive }
    }
}

/// Tells heavy flows from others, packet by packet.
pub trait Classifier: Send {
    /// A packet of `flow` arrives: what is it taken for? `random` is drawn from as the classifier's own page says.
    fn observe(&mut self, flow: u64, random: &mut Random) -> FlowKind;

    /// Records that it has read since the start to find, enter and forget flows. All else that it does for a packet
    /// takes a fixed number of steps.
    fn records_read(&self) -> u64;

    /// Flows that it keeps, and those of them that are reported.
    fn flows(&self) -> (usize, usize);

    /// Bytes of its tables, the classifier itself not counted.
    fn bytes(&self) -> usize;
}

#[cfg(test)]
mod tests;
