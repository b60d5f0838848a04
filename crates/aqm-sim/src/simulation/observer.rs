//! What a discipline says while it works: drops and marks reach the slab and the metrics.

use crate::engine::{EventQueue, Kind, Target};
use crate::measure::metrics::Metrics;
use crate::measure::port::PortMetrics;
use crate::network::emissions::Emissions;
use crate::network::packet::{PacketId, Slab};
use crate::network::port::PortId;
use crate::switch::installed::Switches;
use aqm_core::backlog::Backlog;
use aqm_core::packet::Packet as Metadata;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::units::Time;

/// What is dropped goes back into the slab.
pub(super) struct PortObserver<'a> {
    pub(super) slab: &'a mut Slab,
    pub(super) metrics: &'a mut Metrics,
    /// What waits in the discipline.
    pub(super) queued: &'a mut Backlog,
    pub(super) emissions: &'a mut Emissions,
    pub(super) events: &'a mut EventQueue,
    pub(super) port: PortId,
    pub(super) switches: &'a mut Option<Box<Switches>>,
    pub(super) routes: &'a [u32],
    /// Who observes the port, if it is measured.
    pub(super) at_port: Option<&'a mut PortMetrics>,
    pub(super) now: Time,
}

impl Observer for PortObserver<'_> {
    fn on_drop(&mut self, packet: Metadata, reason: DropReason, _point: DropPoint) {
        let queued = *self.queued;
        self.queued.packets -= 1;
        self.queued.bytes -= u64::from(packet.length);
        if self.switches.is_some() {
            self.release(packet.cookie as PacketId, packet.class, packet.length, true);
        }
        let id = packet.cookie as PacketId;
        let dropped = &self.slab[id];
        self.metrics.on_loss(dropped);
        if let Some(port) = &mut self.at_port {
            port.on_drop(dropped.flow, reason, queued, self.now);
        }
        self.slab.remove(id);
    }

    fn on_mark(&mut self, packet: &Metadata, _reason: MarkReason) {
        if let Some(port) = &mut self.at_port {
            port.on_mark(self.slab[packet.cookie as PacketId].flow);
        }
    }

    fn on_emit(&mut self, emission: Emission) {
        if self.emissions.pending.is_empty() {
            self.events.push(self.now, Target::new(Kind::Emission, 0));
        }
        self.emissions.pending.push_back((self.port, emission));
    }
}
