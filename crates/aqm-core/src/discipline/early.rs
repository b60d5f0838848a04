//! What laws with a single probability do with an arriving packet.

use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamSpec, Params, Value};
use crate::signal::{DropReason, MarkReason};

pub(super) const ECN: ParamSpec = ParamSpec::flag(
    "ecn",
    false,
    "Mark ECN-capable packets instead of dropping them",
    "tc's other disciplines: off",
);

pub(super) const MARK_THRESHOLD: ParamSpec = ParamSpec::new(
    "mark_threshold",
    Kind::Fraction,
    Value::Fraction(0.5),
    (0.0, 1.0),
    "Largest probability at which packets are marked instead of dropped",
    "RFC 7567 section 4.2.1; Linux sch_sfb: 1/2",
);

/// How a signal is given: by a mark if possible, else by a drop.
pub(super) struct Early {
    pub(super) ecn: bool,
    /// Above this probability, packets are dropped, since senders may ignore marks (RFC 7567 section 4.2.1).
    pub(super) mark_threshold: f64,
}

impl Early {
    pub(super) fn new(params: &Params) -> Early {
        Early { ecn: params.flag("ecn"), mark_threshold: params.number("mark_threshold") }
    }

    /// Signals with `packet` with probability `p`; one random number.
    #[inline]
    pub(super) fn toss(&self, packet: Packet, p: f64, cx: &mut Cx<'_>) -> Option<Packet> {
        if cx.uniform() < p { self.hit(packet, p, cx) } else { Some(packet) }
    }

    /// Marks `packet` and returns it, or drops it.
    pub(super) fn hit(&self, mut packet: Packet, p: f64, cx: &mut Cx<'_>) -> Option<Packet> {
        if self.ecn && p <= self.mark_threshold && cx.mark(&mut packet, MarkReason::Congestion) {
            return Some(packet);
        }
        cx.drop(packet, DropReason::Congestion);
        None
    }
}
