//! Who looks on while packets move, beside the metrics that every run has. A run has an observer only if its scenario asks
//! for it.

use crate::network::packet::{Packet, PacketId};
use crate::network::port::PortId;
use crate::report::Report;
use crate::stack::End;
use crate::transport::Sender;
use aqm_core::backlog::Backlog;
use aqm_core::signal::{DropPoint, DropReason, MarkReason};
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
    /// The sender of its flow, before an acknowledgment is handled.
    pub(crate) sender: AnySender<'a>,
    pub(crate) now: Time,
}

/// What sends in a flow.
#[derive(Clone, Copy)]
pub(crate) enum AnySender<'a> {
    /// TCP.
    Tcp(&'a Sender),
    /// A real transport: its client.
    Stack(&'a dyn End),
    /// A source of datagrams, or a rate-based sender.
    Other,
}

/// A packet at a discipline.
pub(crate) struct AtQueue<'a> {
    pub(crate) id: PacketId,
    pub(crate) packet: &'a Packet,
    pub(crate) port: PortId,
    /// What the discipline holds now.
    pub(crate) queued: Backlog,
    pub(crate) now: Time,
}

/// A packet that a discipline drops.
pub(crate) struct Dropped<'a> {
    pub(crate) id: PacketId,
    pub(crate) packet: &'a Packet,
    pub(crate) port: PortId,
    pub(crate) reason: DropReason,
    pub(crate) point: DropPoint,
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

    /// The sender of a flow has handled an acknowledgment or a timer, and sends what follows next; `timed_out` if its
    /// retransmission timer fired.
    fn on_sender(&mut self, _flow: u32, _sender: AnySender<'_>, _timed_out: bool, _now: Time) {}

    /// A packet has come to a discipline; if it or another was dropped, that was told before.
    fn on_enqueue(&mut self, _seen: &AtQueue<'_>) {}

    /// A packet has left a discipline after `sojourn`.
    fn on_dequeue(&mut self, _seen: &AtQueue<'_>, _sojourn: Span) {}

    /// A discipline marks a packet that has been in it for `sojourn`.
    fn on_mark(&mut self, _seen: &AtQueue<'_>, _sojourn: Span, _reason: MarkReason) {}

    /// A discipline drops a packet.
    fn on_drop(&mut self, _dropped: &Dropped<'_>) {}

    /// A switch drops a packet before any queue: no discipline has it.
    fn on_refusal(&mut self, _packet: &Packet) {}

    /// A point of the time series is taken.
    fn on_sample(&mut self, _now: Time) {}

    /// Adds what it has to say of a run that ends at `end`.
    fn report(&mut self, report: &mut Report, end: Time);
}
