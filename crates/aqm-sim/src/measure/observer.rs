//! Observers of moving packets, beside the metrics that every run has. A run has an observer only if its scenario asks
//! for it.

use super::losses::Cause;
use super::recording::Recording;
use crate::network::packet::{Packet, PacketId};
use crate::network::port::PortId;
use crate::report::Report;
use crate::stack::Endpoint;
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
    Stack(&'a dyn Endpoint),
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

/// A packet that is lost, at a discipline or elsewhere.
pub(crate) struct Dropped<'a> {
    pub(crate) id: PacketId,
    pub(crate) packet: &'a Packet,
    pub(crate) port: PortId,
    pub(crate) by: DroppedBy,
    /// What the discipline of the port holds without it.
    pub(crate) queued: Backlog,
    /// How long it has been in the discipline.
    pub(crate) sojourn: Span,
    pub(crate) now: Time,
}

/// What drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DroppedBy {
    /// A discipline, for a reason and during a call.
    Discipline(DropReason, DropPoint),
    /// A switch without room for it, before any queue.
    Buffer,
    /// The program of a switch, before any queue.
    Program,
    /// Random loss on the wire, behind any queue.
    Wire,
}

impl DroppedBy {
    /// The cause that losses are counted by.
    pub(crate) const fn cause(self) -> Cause {
        match self {
            DroppedBy::Discipline(..) => Cause::Discipline,
            DroppedBy::Buffer => Cause::Buffer,
            DroppedBy::Program => Cause::Program,
            DroppedBy::Wire => Cause::Impairment,
        }
    }

    /// Why, as files have it; metrics of a port count by this reason. Loss on a wire is in none of them.
    pub(crate) const fn reason(self) -> Option<DropReason> {
        match self {
            DroppedBy::Discipline(reason, _) => Some(reason),
            DroppedBy::Buffer => Some(DropReason::Overlimit),
            DroppedBy::Program => Some(DropReason::Congestion),
            DroppedBy::Wire => None,
        }
    }

    /// The name of the reason in files.
    pub(crate) fn reason_name(self) -> &'static str {
        self.reason().map_or("random_loss", DropReason::name)
    }

    /// Where it happens, as files have it: the call of a discipline, or what drops in its place.
    pub(crate) const fn place_name(self) -> &'static str {
        match self {
            DroppedBy::Discipline(_, DropPoint::Enqueue) => "enqueue",
            DroppedBy::Discipline(_, DropPoint::Dequeue) => "dequeue",
            DroppedBy::Discipline(_, DropPoint::Other) => "other",
            DroppedBy::Buffer => "buffer",
            DroppedBy::Program => "program",
            DroppedBy::Wire => "wire",
        }
    }
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

    /// A packet comes to a port with a discipline, which holds `queued` before.
    fn on_arrival(&mut self, _port: PortId, _queued: Backlog, _now: Time) {}

    /// A packet has come to a discipline; if it or another was dropped, that was reported before.
    fn on_enqueue(&mut self, _seen: &AtQueue<'_>) {}

    /// A packet has left a discipline after `sojourn`.
    fn on_dequeue(&mut self, _seen: &AtQueue<'_>, _sojourn: Span) {}

    /// A discipline marks a packet that has been in it for `sojourn`.
    fn on_mark(&mut self, _seen: &AtQueue<'_>, _sojourn: Span, _reason: MarkReason) {}

    /// A packet is lost, wherever that is.
    fn on_drop(&mut self, _dropped: &Dropped<'_>) {}

    /// The warm-up is over.
    fn on_measuring(&mut self, _now: Time) {}

    /// A point of the time series is taken, and has begun.
    fn on_sample(&mut self, _series: &mut Recording, _now: Time) {}

    /// Adds what it has to say of a run that ends at `end`.
    fn report(&mut self, report: &mut Report, end: Time);
}
