//! Switches in the event loop: programs and admission before a port's queue, programs behind it, PAUSE frames and pauses
//! that end, timers of control planes.

use super::observer::PortObserver;
use super::state::{END, Simulation};
use crate::measure::observer::{AtQueue, Dropped, DroppedBy};
use crate::measure::port::Signalled;
use crate::network::packet::{Packet, PacketId, Role};
use crate::network::port::PortId;
use crate::network::records::Record;
use crate::scenario::inputs::Inputs;
use crate::simulation::event_queue::{EventKind, Target};
use crate::simulation::switches::Switches;
use crate::switch::pause::{FRAME_BYTES, PauseFrame};
use crate::switch::pipeline::{Egress, Ingress, QueueView};
use aqm_core::backlog::Backlog;
use aqm_core::input_error::InputError;
use aqm_core::packet::{Ecn, Packet as Metadata};
use aqm_core::signal::{MarkReason, Observer};
use aqm_core::units::{Span, Time};

/// The port that a packet came from, while it is at a port; `next` is its place in the table of routes.
#[inline]
pub(super) fn came_from(routes: &[u32], next: u32) -> Option<PortId> {
    let before = *routes.get((next as usize).checked_sub(2)?)?;
    (before != END).then_some(before as PortId)
}

/// Whether a mark would change anything: what is CE already is marked, and counted, once.
fn can_be_marked(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect0 | Ecn::Ect1)
}

impl Simulation {
    /// Gives switches what their options say; packets have at most `packet` bytes, programs draw from streams of `seed`.
    ///
    /// # Errors
    /// One line about what cannot be.
    pub(super) fn install_switches(
        &mut self,
        packet: u32,
        inputs: &Inputs,
        seed: u64,
    ) -> Result<(), InputError> {
        let program = |text: &str| inputs.program(text);
        let Some(mut switches) = Switches::of(&self.network, packet, program, seed)? else { return Ok(()) };
        for port in 0..self.ports.len() {
            if switches.owner(port).is_some() {
                switches.set_frame_route(port, self.add_route(&[port]).rest);
            }
        }
        self.shared.switches = Some(Box::new(switches));
        Ok(())
    }

    /// A packet comes to a port, with what its discipline will know of it; the switch that `port` belongs to lets its
    /// program see it, and has room for it. `None` if it is dropped.
    #[cold]
    pub(super) fn admit(&mut self, port: PortId, id: PacketId, mut packet: Metadata) -> Option<Metadata> {
        let now = self.shared.now;
        let Some(switches) = &mut self.shared.switches else { return Some(packet) };
        let from = came_from(&self.shared.routes, self.shared.slab[id].next);
        packet.ingress = switches.ingress(from);
        let (mut refusal, mut marked) = (None, false);
        if let Some(Ingress { class, mark, drop, emit }) = switches.on_ingress(port, &packet, now) {
            if let Some(class) = class {
                switches.check_class(port, from, packet.class, class);
                packet.class = class;
            }
            if drop {
                refusal = Some(DroppedBy::Program);
            } else if mark && can_be_marked(packet.ecn) {
                (packet.ecn, marked) = (Ecn::Ce, true);
            }
            if let Some(emission) = emit {
                self.shared.emit(port, emission);
            }
        }
        let Some(switches) = &mut self.shared.switches else { return Some(packet) };
        if refusal.is_none() && switches.admit(port, from, packet.class, packet.length, now).is_err() {
            switches.on_drop(port, &packet, now);
            refusal = Some(DroppedBy::Buffer);
        }
        let flow = self.shared.slab[id].flow;
        let Some(by) = refusal else {
            // A mark counts if the packet that has it is let in.
            if marked {
                switches.count_mark(port);
                self.shared.metrics.flows[flow as usize].marked += 1;
                self.observe_program_mark(port, id, packet.ecn);
                if let Some(device) = self.ports[port].device_mut()
                    && let Some(metrics) = &mut device.observed.metrics
                {
                    metrics.on_mark(Signalled { flow, arrival: now });
                }
            }
            return Some(packet);
        };
        let mut queued = Backlog::default();
        if let Some(device) = self.ports[port].device_mut() {
            queued = device.observed.queued;
            let observers = self.shared.metrics.observers.iter_mut();
            observers.for_each(|observer| observer.on_arrival(port, queued, now));
            if let Some((metrics, reason)) = device.observed.metrics.as_mut().zip(by.reason()) {
                let Backlog { packets, bytes } = queued;
                let with_it = Backlog { packets: packets + 1, bytes: bytes + u64::from(packet.length) };
                metrics.on_arrival(flow, queued, now);
                metrics.on_drop(Signalled { flow, arrival: now }, reason, with_it, now);
            }
        }
        let lost = &self.shared.slab[id];
        let seen = Dropped { id, packet: lost, port, by, queued, sojourn: Span::ZERO, now };
        self.shared.metrics.on_loss(&seen);
        self.shared.slab.remove(id);
        self.ports[port].leave(packet.length);
        self.send_pauses(port);
        None
    }

    /// Shows the observers a packet that a program marks before it enters its queue.
    fn observe_program_mark(&mut self, port: PortId, id: PacketId, ecn: Ecn) {
        if self.shared.metrics.observers.is_empty() {
            return;
        }
        let queued = self.ports[port].device().map_or_else(Backlog::default, |device| device.observed.queued);
        let packet = Packet { ecn, ..self.shared.slab[id] };
        let seen = AtQueue { id, packet: &packet, port, queued, now: self.shared.now };
        let observers = self.shared.metrics.observers.iter_mut();
        observers.for_each(|observer| observer.on_mark(&seen, Span::ZERO, MarkReason::Unspecified));
    }

    /// Lets the timers of all switches begin.
    pub(super) fn start_switches(&mut self) {
        let count = self.shared.switches.as_ref().map_or(0, |switches| switches.len());
        (0..count).for_each(|switch| self.send_pauses_of(switch));
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
            self.shared.events.push(at, Target::new(EventKind::SwitchTimer, switch as u32));
        }
    }

    /// Sends a PAUSE frame, before everything that waits and behind what is being sent.
    fn send_pause(&mut self, port: PortId, frame: PauseFrame) {
        let Some(switches) = &mut self.shared.switches else { return };
        let record = Some(self.shared.slab.records.insert(Record::Pause(frame)));
        let id = self.shared.slab.insert(Packet {
            // The port of its route is this one; behind it the route ends.
            next: switches.frame_route(port),
            length: FRAME_BYTES,
            role: Role::Pause,
            record,
            ..Packet::default()
        });
        switches.pauses.sent += 1;
        self.ports[port].enter(FRAME_BYTES);
        switches.frames_mut(port).push_back(id);
        self.start(port);
    }

    /// Lets a port send, if it is not at it.
    fn start(&mut self, port: PortId) {
        if self.ports[port].device().is_some_and(|device| !device.busy)
            && let Some(free) = self.serve(port)
        {
            self.shared.ready_at(free, port as u32);
        }
    }

    /// A PAUSE frame has reached the other end of the wire.
    #[cold]
    pub(crate) fn on_pause(&mut self, id: PacketId) {
        let (out, now) = (self.shared.sent_by(id), self.shared.now);
        let record = self.shared.slab[id].record.map(|record| self.shared.slab.records[record]);
        self.shared.slab.remove(id);
        let Some(Record::Pause(frame)) = record else { return };
        let Some(switches) = &mut self.shared.switches else { return };
        switches.pauses.received += 1;
        let Some(port) = switches.receive(out, frame, now) else { return };
        if let Some(at) = switches.arm_expiry(port) {
            self.shared.events.push(at, Target::new(EventKind::PauseEnd, port as u32));
        }
        self.start(port);
    }

    /// A pause ends by itself, unless it was prolonged.
    pub(super) fn on_pause_end(&mut self, port: PortId) -> Option<Time> {
        let switches = self.shared.switches.as_mut()?;
        switches.expire(port, self.shared.now);
        if let Some(at) = switches.arm_expiry(port) {
            self.shared.events.push(at, Target::new(EventKind::PauseEnd, port as u32));
        }
        self.start(port);
        None
    }

    /// A switch has a pause to say again, or its control plane has something to do.
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
    /// Tells the switch, and its program, that a packet in the queue was dropped.
    #[cold]
    pub(super) fn release_dropped(&mut self, packet: &Metadata) {
        let (port, from) = self.whence(packet);
        let Some(switches) = &mut self.shared.switches else { return };
        switches.release(port, from, packet.class, packet.length, true);
        switches.on_drop(port, packet, self.shared.now);
    }

    /// Tells the switch, and its program, that a packet has left the queue; answers with its ECN field from now on, and by
    /// how many bytes it has grown.
    #[cold]
    pub(super) fn release(&mut self, packet: &Metadata) -> (Ecn, u32) {
        let (port, from) = self.whence(packet);
        let now = self.shared.now;
        let Some(switches) = &mut self.shared.switches else { return (packet.ecn, 0) };
        switches.release(port, from, packet.class, packet.length, false);
        let Backlog { packets, bytes } = self.observed.queued;
        let queue = QueueView {
            packets: packets - 1,
            bytes: bytes - u64::from(packet.length),
            sojourn: now.since(packet.arrival),
        };
        let egress = switches.on_egress(port, packet, &queue, now);
        let Some(Egress { mark, emit, telemetry }) = egress else { return (packet.ecn, 0) };
        let marked = mark && can_be_marked(packet.ecn);
        if marked {
            switches.count_mark(port);
            self.on_mark(packet, MarkReason::Unspecified);
        }
        if let Some(emission) = emit {
            self.shared.emit(port, emission);
        }
        let add = |entry| self.shared.slab.add_telemetry(packet.cookie as PacketId, entry);
        (if marked { Ecn::Ce } else { packet.ecn }, telemetry.map_or(0, add))
    }

    /// The port that a packet is at, and the one that it came from.
    fn whence(&self, packet: &Metadata) -> (PortId, Option<PortId>) {
        let next = self.shared.slab[packet.cookie as PacketId].next;
        (self.shared.routes[next as usize - 1] as PortId, came_from(&self.shared.routes, next))
    }
}
