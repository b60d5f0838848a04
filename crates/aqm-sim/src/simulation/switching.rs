//! Switches in the event loop: admission before a port's queue, PAUSE frames, and pauses that end.

use super::observer::PortObserver;
use super::state::{END, Simulation};
use crate::engine::{Kind, Target};
use crate::network::packet::{Packet, PacketId, Role};
use crate::network::port::PortId;
use crate::network::records::Record;
use crate::switch::installed::Switches;
use crate::switch::pause::{FRAME_BYTES, PauseFrame};
use aqm_core::backlog::Backlog;
use aqm_core::signal::DropReason;
use aqm_core::units::Time;

/// The port that a packet came from, while it is at a port; `next` is its place in the table of routes.
#[inline]
pub(super) fn came_from(routes: &[u32], next: u32) -> Option<PortId> {
    let before = *routes.get((next as usize).checked_sub(2)?)?;
    (before != END).then_some(before as PortId)
}

impl Simulation {
    /// Gives switches what their options say; packets have at most `packet` bytes.
    ///
    /// # Errors
    /// One line about what cannot be.
    pub(super) fn install_switches(&mut self, packet: u32) -> Result<(), String> {
        let Some(mut switches) = Switches::of(&self.network, packet)? else { return Ok(()) };
        for port in 0..self.ports.len() {
            if switches.owner(port).is_some() {
                switches.set_frame_route(port, self.add_route(&[port]));
            }
        }
        self.shared.switches = Some(Box::new(switches));
        Ok(())
    }

    /// The ingress port of a packet, if the switch that `port` belongs to has room for it; if not, it is dropped.
    pub(super) fn admit(&mut self, port: PortId, id: PacketId, class: u16, length: u32) -> Option<u16> {
        let switches = self.shared.switches.as_mut()?;
        let from = came_from(&self.shared.routes, self.shared.slab[id].next);
        if switches.admit(port, from, class, length, self.shared.now).is_ok() {
            return Some(switches.ingress(from));
        }
        let (flow, now) = (self.shared.slab[id].flow, self.shared.now);
        if let Some(device) = self.ports[port].device_mut()
            && let Some(metrics) = &mut device.observed.metrics
        {
            let Backlog { packets, bytes } = device.observed.queued;
            let with_it = Backlog { packets: packets + 1, bytes: bytes + u64::from(length) };
            metrics.on_arrival(flow, device.observed.queued, now);
            metrics.on_drop(flow, DropReason::Overlimit, with_it, now);
        }
        self.shared.metrics.on_loss(&self.shared.slab[id]);
        self.shared.slab.remove(id);
        self.ports[port].leave(length);
        self.send_pauses(port);
        None
    }

    /// Sends what the switch that `port` belongs to has to say upstream.
    #[cold]
    pub(super) fn send_pauses(&mut self, port: PortId) {
        if let Some(switch) = self.shared.switches.as_ref().and_then(|switches| switches.owner(port)) {
            self.send_pauses_of(switch);
        }
    }

    fn send_pauses_of(&mut self, switch: usize) {
        while let Some(switches) = &mut self.shared.switches
            && let Some((port, frame)) = switches.next_frame(switch)
        {
            self.send_pause(port, frame);
        }
        if let Some(at) = self.shared.switches.as_mut().and_then(|switches| switches.arm(switch)) {
            self.shared.events.push(at, Target::new(Kind::SwitchTimer, switch as u32));
        }
    }

    /// Sends a PAUSE frame, before everything that waits and behind what is being sent.
    fn send_pause(&mut self, port: PortId, frame: PauseFrame) {
        let Some(switches) = &mut self.shared.switches else { return };
        let record = Some(self.shared.slab.records.insert(Record::Pause(frame)));
        let id = self.shared.slab.insert(Packet {
            // The port of its route is this one; behind it the route ends.
            next: switches.frame_route(port) + 1,
            length: FRAME_BYTES,
            role: Role::Pause,
            record,
            ..Packet::default()
        });
        self.ports[port].enter(FRAME_BYTES);
        switches.frames_mut(port).push_back(id);
        self.start(port);
    }

    /// Lets a port send, if it is not at it.
    fn start(&mut self, port: PortId) {
        if self.ports[port].device().is_some_and(|device| !device.busy)
            && let Some(free) = self.serve(port)
        {
            self.shared.events.push(free, Target::new(Kind::PortReady, port as u32));
        }
    }

    /// A PAUSE frame has reached the other end of the wire.
    #[cold]
    pub(crate) fn on_pause(&mut self, id: PacketId) {
        let (packet, now) = (self.shared.slab[id], self.shared.now);
        let record = packet.record.map(|record| self.shared.slab.records[record]);
        self.shared.slab.remove(id);
        let (Some(Record::Pause(frame)), Some(out)) = (record, came_from(&self.shared.routes, packet.next))
        else {
            return;
        };
        let Some(switches) = &mut self.shared.switches else { return };
        let Some(port) = switches.receive(out, frame, now) else { return };
        if let Some(at) = switches.arm_expiry(port) {
            self.shared.events.push(at, Target::new(Kind::PauseEnd, port as u32));
        }
        self.start(port);
    }

    /// A pause ends by itself, unless it was prolonged.
    pub(super) fn on_pause_end(&mut self, port: PortId) -> Option<Time> {
        let switches = self.shared.switches.as_mut()?;
        switches.expire(port, self.shared.now);
        if let Some(at) = switches.arm_expiry(port) {
            self.shared.events.push(at, Target::new(Kind::PauseEnd, port as u32));
        }
        self.start(port);
        None
    }

    /// A switch has something to say again.
    pub(super) fn on_switch_timer(&mut self, switch: usize) -> Option<Time> {
        let switches = self.shared.switches.as_mut()?;
        if switches.disarm(switch, self.shared.now) {
            switches.refresh(switch, self.shared.now);
            self.send_pauses_of(switch);
        }
        None
    }

    /// The next PAUSE frame that a port sends, before all else.
    #[cold]
    pub(super) fn next_pause(&mut self, port: PortId) -> Option<PacketId> {
        self.shared.switches.as_mut()?.frames_mut(port).pop_front()
    }
}

impl PortObserver<'_> {
    /// Tells the switch that a packet has left the queue, or was dropped there.
    #[cold]
    pub(super) fn release(&mut self, id: PacketId, class: u16, length: u32, dropped: bool) {
        let Some(switches) = &mut self.shared.switches else { return };
        let next = self.shared.slab[id].next;
        let port = self.shared.routes[next as usize - 1] as PortId;
        let from = came_from(&self.shared.routes, next);
        switches.release(port, from, class, length, dropped);
    }
}
