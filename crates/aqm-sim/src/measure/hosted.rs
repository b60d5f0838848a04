//! An observer of the host beside those of this crate: it sees the same by plain values.

use super::observer::{AtHost, AtQueue, Dropped, DroppedBy, PacketObserver};
use super::recording::Recording;
use crate::metrics::registry::Part;
use crate::network::packet::{Packet, PacketId, Role};
use crate::network::port::PortId;
use crate::observer::{self, Answers, Kind, Lost, LostBy, Observer, Samples};
use crate::report::Report;
use aqm_core::backlog::Backlog;
use aqm_core::units::{Span, Time};

/// The observer, and what the measured ports are called.
pub(crate) struct Hosted {
    pub(crate) observer: Box<dyn Observer>,
    pub(crate) ports: Vec<Part>,
}

fn view(id: PacketId, packet: &Packet, written: u64) -> observer::Packet {
    let kind = match packet.role {
        Role::Data => Kind::Data,
        Role::Ack => Kind::Ack,
        Role::Datagram => Kind::Datagram,
        Role::Feedback | Role::Pause => Kind::Feedback,
    };
    let Packet { flow, length, payload, number, .. } = *packet;
    observer::Packet { id, flow, kind, length, payload, first_byte: number, written }
}

impl PacketObserver for Hosted {
    fn on_sent(&mut self, seen: &AtHost<'_>) {
        self.observer.on_sent(&view(seen.id, seen.packet, seen.written), seen.now);
    }

    fn on_received(&mut self, seen: &AtHost<'_>) {
        self.observer.on_received(&view(seen.id, seen.packet, seen.written), seen.now);
    }

    fn on_arrival(&mut self, port: PortId, queued: Backlog, now: Time) {
        self.observer.on_arrival(port, queued, now);
    }

    fn on_enqueue(&mut self, seen: &AtQueue<'_>) {
        self.observer.on_enqueue(&view(seen.id, seen.packet, 0), seen.port, seen.queued, seen.now);
    }

    fn on_dequeue(&mut self, seen: &AtQueue<'_>, sojourn: Span) {
        self.observer.on_dequeue(&view(seen.id, seen.packet, 0), seen.port, seen.queued, sojourn, seen.now);
    }

    fn on_drop(&mut self, dropped: &Dropped<'_>) {
        let Dropped { id, packet, port, by, queued, sojourn, now } = *dropped;
        let by = match by {
            DroppedBy::Discipline(reason, point) => LostBy::Discipline(reason, point),
            DroppedBy::Buffer | DroppedBy::Program => LostBy::Switch,
            DroppedBy::Wire => LostBy::Wire,
        };
        self.observer.on_drop(&Lost { packet: view(id, packet, 0), port, by, queued, sojourn }, now);
    }

    fn on_measuring(&mut self, now: Time) {
        self.observer.on_measuring(now);
    }

    fn on_sample(&mut self, series: &mut Recording, now: Time) {
        let put = &mut |part: &Part, column: &crate::metrics::sampled::Sampled, value| {
            series.put(part, column.name(), value);
        };
        self.observer.on_sample(&mut Samples { put, ports: &self.ports }, now);
    }

    fn report(&mut self, report: &mut Report, end: Time) {
        self.observer.report(&mut Answers { values: &mut report.metrics, ports: &self.ports }, end);
    }
}
