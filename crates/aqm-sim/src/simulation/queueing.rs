//! Enqueue to and dequeue from a port's discipline, with the port's metrics and observers.

use super::metadata::metadata;
use super::observer::PortObserver;
use super::state::{Device, Shared, Simulation};
use crate::measure::metrics::Impossible;
use crate::measure::observer::AtQueue;
use crate::measure::port::Departure;
use crate::network::packet::PacketId;
use crate::network::port::PortId;
use aqm_core::packet::Packet as Metadata;
use aqm_core::params::ParamError;
use aqm_core::paused::PausedClasses;
use aqm_core::sent::Sent;
use aqm_core::units::Span;
use aqm_path::device::burst::Whom;

/// A packet that was taken from a discipline.
pub(super) struct Taken {
    pub(super) id: PacketId,
    pub(super) length: u32,
    /// Where in the table of routes its next hop is.
    pub(super) hop: u32,
    /// The station that it is for, on a medium that stations share.
    pub(super) station: u8,
    /// How long it has waited there.
    pub(super) sojourn: Span,
    /// Bytes by which it has grown at its departure.
    pub(super) grown: u32,
}

impl Simulation {
    /// A packet arrives at any port with a discipline.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, port: PortId, id: PacketId) {
        let mut seen = metadata(&self.flows, &self.shared, id);
        if let Some(channel) = self.ports[port].device().and_then(|device| device.channel) {
            seen.station = self.station_of(id, channel as usize);
        }
        if self.shared.switches.is_some() {
            match self.admit(port, id, seen) {
                Some(admitted) => seen = admitted,
                None => return,
            }
        }
        let device = self.ports[port].device_mut().expect("only ports with a device queue");
        offer::<false>(device, port, id, seen, &mut self.shared);
        if device.busy && device.is_direct {
            return; // It goes on when the packet on the wire has been sent, and nothing else is to do.
        }
        let wakes = device.wakes;
        if !device.busy {
            if let Some(free) = self.serve(port) {
                self.shared.ready_at(free, port as u32);
            }
        } else if device.ring_packets > 1 {
            self.fill_ring(port);
        }
        if wakes {
            self.arm_wakeup(port);
        }
        if self.shared.switches_speak() {
            self.send_pauses(port);
        }
    }

    /// Takes a packet from the discipline.
    #[inline(never)]
    pub(super) fn dequeue(&mut self, port: PortId) -> Option<PacketId> {
        self.take(port, Whom::Any).map(|taken| taken.id)
    }

    /// The same for a next hop.
    #[inline(never)]
    pub(super) fn dequeue_for(&mut self, port: PortId, whom: Whom) -> Option<Taken> {
        let taken = self.take(port, whom)?;
        let device = self.ports[port].device_mut()?;
        if let Some(waiting) = device.observed.of_station.get_mut(usize::from(taken.station)) {
            *waiting -= 1;
        }
        Some(taken)
    }

    /// Takes a packet at any port.
    #[inline(always)]
    fn take(&mut self, port: PortId, whom: Whom) -> Option<Taken> {
        let this = &mut self.ports[port];
        let taken = dequeue_from::<false>(this.device_mut()?, port, &mut self.shared, whom)?;
        this.grow(taken.grown);
        Some(taken)
    }

    /// A device says what became of a packet that it has taken from the discipline.
    pub(super) fn tell(&mut self, port: PortId, sent: &Sent) {
        let now = self.shared.now;
        let Some(device) = self.ports[port].device_mut() else { return };
        let (qdisc, mut observer) = PortObserver::of(device, port, &mut self.shared);
        qdisc.sent(sent, now, &mut observer);
    }

    /// Changes parameters of the discipline under test.
    pub(crate) fn change(&mut self, settings: &[(&str, &str)]) -> Result<(), ParamError> {
        let (now, port) = (self.shared.now, self.measured[0]);
        let device = self.ports[port].device_mut().expect("a measured port has a discipline");
        let (qdisc, mut observer) = PortObserver::of(device, port, &mut self.shared);
        qdisc.change(settings, now, &mut observer)?;
        // The limit may be lower now than what waited before.
        device.longest = device.observed.queued;
        self.arm_wakeup(port);
        Ok(())
    }
}

/// Hands a packet to the discipline of `port`, which [is straight](Device::is_straight) or may not be.
#[inline(always)]
pub(super) fn offer<const STRAIGHT: bool>(
    device: &mut Device,
    port: PortId,
    id: PacketId,
    seen: Metadata,
    shared: &mut Shared,
) {
    let now = shared.now;
    if let Some(metrics) = &mut device.observed.metrics {
        metrics.on_arrival(shared.slab[id].flow, device.observed.queued, now);
    }
    if !STRAIGHT {
        for observer in &mut shared.metrics.observers {
            observer.on_arrival(port, device.observed.queued, now);
        }
        if let Some(waiting) = device.observed.of_station.get_mut(usize::from(seen.station)) {
            *waiting += 1;
        }
    }
    let (qdisc, mut observer) = PortObserver::of(device, port, shared);
    observer.observed.queued.packets += 1;
    observer.observed.queued.bytes += u64::from(seen.length);
    qdisc.enqueue(seen, now, &mut observer);
    device.update_longest();
    if let Some(metrics) = &mut device.observed.metrics {
        metrics.after_arrival(device.observed.queued);
    }
    if !STRAIGHT {
        for observer in &mut shared.metrics.observers {
            let packet = &shared.slab[id];
            observer.on_enqueue(&AtQueue { id, packet, port, queued: device.observed.queued, now });
        }
    }
}

/// Takes a packet from the discipline of `port`.
#[inline(always)]
pub(super) fn dequeue_from<const STRAIGHT: bool>(
    device: &mut Device,
    port: PortId,
    shared: &mut Shared,
    whom: Whom,
) -> Option<Taken> {
    let now = shared.now;
    let (qdisc, mut observer) = PortObserver::of(device, port, shared);
    let switches = if STRAIGHT { None } else { observer.shared.switches.as_ref() };
    let paused = switches.map(|switches| switches.paused_classes(port));
    let next = match (paused, whom) {
        // No link to a switch that pauses is shared by stations.
        (_, Whom::Station(station)) => qdisc.dequeue_for(station, now, &mut observer),
        (None | Some(PausedClasses::NONE), Whom::Any) => qdisc.dequeue(now, &mut observer),
        (Some(paused), Whom::Any) => qdisc.dequeue_unpaused(now, paused, &mut observer),
    };
    let metadata = next.as_ref()?;
    let (id, mut ecn, mut grown) = (metadata.cookie as PacketId, metadata.ecn, 0);
    if let Some(paused) = paused {
        if paused.contains(metadata.class) {
            let flow = observer.shared.slab[id].flow;
            observer.shared.metrics.impossible = Some(Impossible::SentWhilePaused(flow));
        }
        (ecn, grown) = observer.release(metadata);
    }
    let (packet, length) = (&mut shared.slab[id], metadata.length + grown);
    packet.ecn = ecn;
    let hop = packet.next;
    let sojourn = now.since(metadata.arrival);
    if let Some(metrics) = &mut device.observed.metrics {
        metrics.on_departure(Departure { flow: packet.flow, length, sojourn }, device.observed.queued, now);
    }
    device.observed.queued.packets -= 1;
    device.observed.queued.bytes -= u64::from(metadata.length);
    if !STRAIGHT {
        for observer in &mut shared.metrics.observers {
            let seen = AtQueue { id, packet, port, queued: device.observed.queued, now };
            observer.on_dequeue(&seen, sojourn);
        }
    }
    if !STRAIGHT {
        device.observed.grown += u64::from(grown);
    }
    Some(Taken { id, length, hop, station: metadata.station, sojourn, grown })
}
