//! What a discipline says while it works: drops and marks reach the slab and the metrics.

use super::state::{Device, Observed, Shared};
use crate::headers::UDP;
use crate::measure::metrics::Impossible;
use crate::measure::observer::{AtQueue, Dropped, DroppedBy};
use crate::measure::port::Signalled;
use crate::network::packet::{Packet, PacketId};
use crate::network::port::PortId;
use crate::simulation::event_queue::{EventKind, Target};
use aqm_core::classifier::FlowKind;
use aqm_core::packet::Packet as Metadata;
use aqm_core::qdisc::Qdisc;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};

/// What is dropped goes back into the slab.
pub(super) struct PortObserver<'a> {
    pub(super) shared: &'a mut Shared,
    /// What waits in the discipline, and who observes the port.
    pub(super) observed: &'a mut Observed,
    pub(super) port: PortId,
}

impl<'a> PortObserver<'a> {
    /// The discipline of a port, and what listens to it.
    #[inline]
    pub(super) fn of(
        device: &'a mut Device,
        port: PortId,
        shared: &'a mut Shared,
    ) -> (&'a mut Qdisc, PortObserver<'a>) {
        (&mut device.qdisc, PortObserver { shared, observed: &mut device.observed, port })
    }
}

impl Observer for PortObserver<'_> {
    fn on_drop(&mut self, packet: Metadata, reason: DropReason, point: DropPoint) {
        let queued = self.observed.queued;
        self.observed.queued.packets -= 1;
        self.observed.queued.bytes -= u64::from(packet.length);
        if let Some(waiting) = self.observed.of_station.get_mut(usize::from(packet.station)) {
            *waiting -= 1;
        }
        if self.shared.switches.is_some() {
            self.release_dropped(&packet);
        }
        let id = packet.cookie as PacketId;
        // It may have been marked before.
        self.shared.slab[id].ecn = packet.ecn;
        let dropped = &self.shared.slab[id];
        let now = self.shared.now;
        let seen = Dropped {
            id,
            packet: dropped,
            port: self.port,
            by: DroppedBy::Discipline(reason, point),
            queued: self.observed.queued,
            sojourn: now.since(packet.arrival),
            now,
        };
        self.shared.metrics.on_loss(&seen);
        if let Some(metrics) = &mut self.observed.metrics {
            let signalled = Signalled { flow: dropped.flow, arrival: packet.arrival };
            metrics.on_drop(signalled, reason, queued, now);
        }
        self.shared.slab.remove(id);
    }

    fn on_mark(&mut self, packet: &Metadata, reason: MarkReason) {
        let id = packet.cookie as PacketId;
        let Packet { flow, ecn, .. } = self.shared.slab[id];
        if !ecn.is_capable() {
            self.shared.metrics.impossible = Some(Impossible::MarkedNotEct(flow));
        }
        self.shared.metrics.flows[flow as usize].marked += 1;
        if !self.shared.metrics.observers.is_empty() {
            let (queued, now, marked) = (self.observed.queued, self.shared.now, &self.shared.slab[id]);
            let seen = AtQueue { id, packet: marked, port: self.port, queued, now };
            let sojourn = now.since(packet.arrival);
            let observers = self.shared.metrics.observers.iter_mut();
            observers.for_each(|observer| observer.on_mark(&seen, sojourn, reason));
        }
        if let Some(metrics) = &mut self.observed.metrics {
            metrics.on_mark(Signalled { flow, arrival: packet.arrival });
        }
    }

    fn on_classify(&mut self, packet: &Metadata, kind: FlowKind, read: u64) {
        if let Some(port) = &mut self.observed.metrics {
            let flow = self.shared.slab[packet.cookie as PacketId].flow;
            port.on_classify(flow, packet.protocol == UDP, kind == FlowKind::Ltf, read);
        }
    }

    fn on_emit(&mut self, emission: Emission) {
        self.shared.emit(self.port, emission);
    }
}

impl Shared {
    /// Sends a packet that a discipline or a program at `port` asks for, once this instant's work is done.
    pub(super) fn emit(&mut self, port: PortId, emission: Emission) {
        if self.emissions.pending.is_empty() {
            self.events.push(self.now, Target::new(EventKind::Emission, 0));
        }
        self.emissions.pending.push_back((port, emission));
    }
}
