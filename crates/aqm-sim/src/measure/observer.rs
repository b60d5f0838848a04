//! Who looks on while packets move, beside the metrics that every run has. A run has an observer only if its scenario asks
//! for it.

use crate::network::packet::{Packet, PacketId};
use crate::report::{Report, SenderRow};
use aqm_core::backlog::Backlog;
use aqm_core::packet::Ecn;
use aqm_core::signal::{DropPoint, DropReason};
use aqm_core::units::{Span, Time};

/// A packet at its sender or its receiver.
pub(crate) struct AtHost<'a> {
    pub(crate) id: PacketId,
    pub(crate) packet: &'a Packet,
    /// Protocol and DSCP in the IP header of its flow.
    pub(crate) protocol: u8,
    pub(crate) dscp: u8,
    /// Bytes that the source of its flow writes at a time.
    pub(crate) written: u64,
    /// TCP's sender of its flow, before an acknowledgment is handled.
    pub(crate) sender: Option<SenderRow>,
    pub(crate) now: Time,
}

/// A packet that a discipline drops.
pub(crate) struct Dropped<'a> {
    pub(crate) id: PacketId,
    pub(crate) packet: &'a Packet,
    pub(crate) reason: DropReason,
    pub(crate) point: DropPoint,
    /// What the discipline holds without it.
    pub(crate) queued: Backlog,
    /// How long it has been in the discipline.
    pub(crate) sojourn: Span,
    pub(crate) now: Time,
}

/// A packet that leaves a discipline.
pub(crate) struct Left {
    pub(crate) id: PacketId,
    /// Its ECN field.
    pub(crate) ecn: Ecn,
    /// What the discipline holds without it.
    pub(crate) queued: Backlog,
    /// How long it has been in the discipline.
    pub(crate) sojourn: Span,
    pub(crate) now: Time,
}

/// An observer of all hosts and all disciplines; it changes nothing.
pub(crate) trait PacketObserver: Send {
    /// A packet is sent by its host.
    fn on_sent(&mut self, seen: &AtHost<'_>);

    /// A packet of data, a datagram or an acknowledgment reaches its host.
    fn on_received(&mut self, seen: &AtHost<'_>);

    /// A packet has come to a discipline, which holds `queued` now; if it or another was dropped, that was told before.
    fn on_enqueue(&mut self, _id: PacketId, _queued: Backlog, _now: Time) {}

    /// A packet has left a discipline.
    fn on_dequeue(&mut self, _left: &Left) {}

    /// A discipline drops a packet.
    fn on_drop(&mut self, _dropped: &Dropped<'_>) {}

    /// A switch drops a packet before any queue: no discipline has it.
    fn on_refusal(&mut self, _packet: &Packet) {}

    /// A point of the time series is taken.
    fn on_sample(&mut self, _now: Time) {}

    /// Adds what it has to say of a run that ends at `end`.
    fn report(&mut self, report: &mut Report, end: Time);
}
