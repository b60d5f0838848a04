//! Common code of disciplines that mark by a threshold: packets that are not ECN-capable are dropped.

use crate::choices;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{ParamSpec, Params};
use crate::signal::{DropReason, MarkReason};

choices! {
    /// What happens to a packet that cannot be marked.
    enum Unmarkable {
        Drop = "drop",
        Pass = "pass",
    }
}

pub(super) const UNMARKABLE: ParamSpec = ParamSpec::choice::<Unmarkable>(
    "unmarkable",
    "What happens to a Not-ECT packet that should be marked",
    "RFC 3168 section 5: drop; the switches of the data-centre papers, with ECN everywhere, let it pass",
);

/// Marking, and what to do with packets that cannot be marked.
#[derive(Clone, Copy)]
pub(super) struct Marker {
    pass: bool,
}

impl Marker {
    pub(super) fn new(params: &Params) -> Marker {
        Marker { pass: params.choice::<Unmarkable>("unmarkable") == Unmarkable::Pass }
    }

    /// Signals with `packet` and returns it, or drops it.
    #[inline]
    pub(super) fn hit(self, mut packet: Packet, cx: &mut Cx<'_>) -> Option<Packet> {
        if cx.mark(&mut packet, MarkReason::Threshold) || self.pass {
            return Some(packet);
        }
        cx.drop(packet, DropReason::Congestion);
        None
    }
}
