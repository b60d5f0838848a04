//! Signals of a discipline: reasons for drops and marks, and packets to be sent.

use crate::classifier::FlowKind;
use crate::packet::Packet;

/// Why a packet was dropped. Numbers are stable: they appear in files and in the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum DropReason {
    /// No reason. No discipline of this crate uses it.
    Unspecified = 0,
    /// The queue was full: its limit in packets, bytes or memory was reached.
    Overlimit = 1,
    /// The control law decided to signal congestion.
    Congestion = 2,
    /// The packet's flow held more than its share.
    Unfair = 3,
    /// The limit was lowered while the queue held more.
    Reconfigured = 4,
    /// A later acknowledgment of the flow makes this one redundant.
    Redundant = 5,
    /// The law decided for a reason of its own, which its host knows. No discipline of this crate uses it.
    Other = 6,
}

impl DropReason {
    /// How many reasons there are; numbers run from zero.
    pub const COUNT: usize = 7;

    /// Every reason, in the order of their numbers.
    pub const ALL: [DropReason; Self::COUNT] = [
        DropReason::Unspecified,
        DropReason::Overlimit,
        DropReason::Congestion,
        DropReason::Unfair,
        DropReason::Reconfigured,
        DropReason::Redundant,
        DropReason::Other,
    ];

    /// Whether the AQM chose to drop, rather than because of a full queue.
    pub const fn is_early(self) -> bool {
        use DropReason::{Congestion, Other, Unfair};
        matches!(self, Congestion | Unfair | Other)
    }

    /// Whether the packet is lost: a filtered acknowledgment is not, since a later one covers it. tc counts it
    /// apart, as `ack_drops`.
    pub const fn is_loss(self) -> bool {
        !matches!(self, DropReason::Redundant)
    }

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Unspecified => "unspecified",
            DropReason::Overlimit => "overlimit",
            DropReason::Congestion => "congestion",
            DropReason::Unfair => "unfair",
            DropReason::Reconfigured => "reconfigured",
            DropReason::Redundant => "redundant",
            DropReason::Other => "other",
        }
    }
}

/// In which call a packet was dropped: independent of the reason, as in ns-3 (`DropBeforeEnqueue`,
/// `DropAfterDequeue`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropPoint {
    /// In an enqueue.
    Enqueue,
    /// In a dequeue.
    Dequeue,
    /// In a wake-up or a change of parameters.
    Other,
}

/// Why a packet was marked. Numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum MarkReason {
    /// No reason.
    Unspecified = 0,
    /// The law would have dropped a packet that is not ECN-capable.
    Congestion = 1,
    /// An instantaneous threshold on queue or sojourn time was exceeded (CoDel's `ce_threshold`, DCTCP's step).
    Threshold = 2,
}

impl MarkReason {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            MarkReason::Unspecified => "unspecified",
            MarkReason::Congestion => "congestion",
            MarkReason::Threshold => "threshold",
        }
    }
}

/// A packet that a discipline asks its host to send to a source (QCN and PMQECN feedback).
///
/// The host builds the real packet: a discipline has no payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// Flow that the feedback is about.
    pub flow: u64,
    /// Hash of the host that it goes to: the source of the packet that caused it.
    pub to: u32,
    /// Bytes on the link.
    pub length: u32,
    /// Traffic class of the feedback.
    pub class: u16,
    /// The content; the discipline documents the meaning.
    pub values: [u64; 3],
}

/// Receives what happens to packets. The host owns a dropped packet again and frees its data.
pub trait Observer {
    /// A packet was dropped.
    fn on_drop(&mut self, packet: Packet, reason: DropReason, point: DropPoint);

    /// A packet was marked; it stays in the queue or is about to leave it.
    fn on_mark(&mut self, _packet: &Packet, _reason: MarkReason) {}

    /// A classifier has decided about an arriving packet, for which it read `_read` records of its tables.
    fn on_classify(&mut self, _packet: &Packet, _kind: FlowKind, _read: u64) {}

    /// The discipline asks for a packet to be sent. There is no default: a host that ignores emissions would silently
    /// lose feedback.
    fn on_emit(&mut self, emission: Emission);
}

/// Passes on to an observer; drops by a function of its own.
pub(crate) struct Relay<'a, D> {
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) on_drop: D,
}

impl<D: FnMut(&mut dyn Observer, Packet, DropReason, DropPoint)> Observer for Relay<'_, D> {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, point: DropPoint) {
        (self.on_drop)(self.observer, packet, reason, point);
    }

    fn on_mark(&mut self, packet: &Packet, reason: MarkReason) {
        self.observer.on_mark(packet, reason);
    }

    fn on_classify(&mut self, packet: &Packet, kind: FlowKind, read: u64) {
        self.observer.on_classify(packet, kind, read);
    }

    fn on_emit(&mut self, emission: Emission) {
        self.observer.on_emit(emission);
    }
}

/// Ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn on_drop(&mut self, _packet: Packet, _reason: DropReason, _point: DropPoint) {}

    fn on_emit(&mut self, _emission: Emission) {}
}
