//! What a discipline says while it works: drops and marks reach the slab and the metrics.

use crate::measure::metrics::Metrics;
use crate::network::packet::{PacketId, Slab};
use aqm_core::packet::Packet as Metadata;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::units::Time;

/// What is dropped goes back into the slab.
pub(super) struct PortObserver<'a> {
    pub(super) slab: &'a mut Slab,
    pub(super) metrics: &'a mut Metrics,
    /// Whether it is the measured queue that is watched.
    pub(super) measured: bool,
    pub(super) now: Time,
}

impl Observer for PortObserver<'_> {
    fn on_drop(&mut self, packet: Metadata, reason: DropReason, _point: DropPoint) {
        let id = packet.cookie as PacketId;
        let dropped = &self.slab[id];
        if dropped.is_counted() {
            self.metrics.on_loss(dropped.flow);
        }
        if self.measured {
            self.metrics.on_drop(dropped.flow, packet.length, reason, self.now);
        }
        self.slab.remove(id);
    }

    fn on_mark(&mut self, packet: &Metadata, _reason: MarkReason) {
        if self.measured {
            self.metrics.on_mark(self.slab[packet.cookie as PacketId].flow);
        }
    }

    /// No packet is made of it: the shell has counted it, and the run's checks fail.
    fn on_emit(&mut self, _emission: Emission) {}
}
