//! Packets from port to port: serialisation and propagation. Ports with a discipline are in [`queueing`](super::queueing) and
//! [`serving`](super::serving).
//!
//! The common path is inlined; rare paths are cold calls: a call that saves registers costs as much as forwarding a packet.

use super::metadata::metadata;
use super::queueing::offer;
use super::state::{END, Simulation};
use crate::endpoint::flow::{Endpoints, Identity};
use crate::measure::observer::{AtHost, Dropped, DroppedBy, PacketObserver};
use crate::network::in_flight::{InFlight, InFlightQueue};
use crate::network::packet::{Packet, PacketId, Role};
use crate::network::port::{NONE, PortId};
use crate::prefetch::prefetch;
use crate::simulation::event_queue::{EventKind, Target};
use aqm_core::backlog::Backlog;
use aqm_core::units::{Span, Time};
use aqm_path::wire::Passage;

/// A packet on its way.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub(super) id: PacketId,
    pub(super) length: u32,
    /// Its next hop is there in the table of routes.
    pub(super) hop: u32,
}

impl Simulation {
    /// The first packet of a queue of packets in flight has arrived. Answers when the next one does, [`Time::MAX`] if there is
    /// none: an option would cost as much as the rest of an event.
    #[inline(always)]
    pub(super) fn on_arrival(&mut self, queue: usize) -> Time {
        let arrived = &mut self.in_flight[queue];
        if arrived.due() != self.shared.now {
            return Time::MAX; // The packet that this event was for was overtaken, and has another.
        }
        let InFlight { id, next, .. } = arrived.pop();
        let mut again = arrived.due();
        if arrived.ack_path != NONE && again != Time::MAX {
            again = self.go_on(queue);
        }
        if self.looks_ahead {
            self.look_ahead(queue);
        }
        self.move_on(id, next);
        again
    }

    /// Asks for the memory that the next packets of a queue will need: for one the packet itself, then what it names, then
    /// both ends of its flow or its next port.
    #[inline]
    fn look_ahead(&self, queue: usize) {
        let shared = &self.shared;
        // In a short queue there would be no time.
        let arrived = &self.in_flight[queue];
        let [soon, _, later, _, last, ..] = arrived.behind() else { return };
        prefetch(&shared.slab[last.id]);
        prefetch(&self.flows[shared.slab[later.id].flow as usize]);
        if let Some(port) = self.ports.get(soon.next as usize)
            && arrived.ack_path == NONE
        {
            return prefetch(port);
        }
        let Packet { flow, role, .. } = shared.slab[soon.id];
        if role != Role::Ack {
            shared.metrics.prefetch(flow);
        }
        if let Endpoints::Tcp(connection) = &self.flows[flow as usize].endpoints {
            if role == Role::Ack { prefetch(&connection.sender) } else { prefetch(&connection.receiver) }
        }
    }

    /// A packet has arrived over a wire that may reorder.
    pub(super) fn on_irregular_arrival(&mut self, id: PacketId) -> Option<Time> {
        let port = self.shared.sent_by(id);
        if let Some(impaired) = self.ports[port].impaired_mut() {
            impaired.with_event -= 1;
        }
        self.move_on(id, self.shared.routes[self.shared.slab[id].next as usize]);
        None
    }

    /// Sends a new packet through its first port, or to its endpoint.
    #[inline(always)]
    pub(crate) fn send(&mut self, packet: Packet, first: u32) {
        let (length, hop) = (packet.length, packet.next);
        let id = self.shared.slab.insert(packet);
        if !self.shared.metrics.observers.is_empty() {
            self.observe_at_host(id, |observer, seen| observer.on_sent(seen));
        }
        if first == END { self.deliver(id) } else { self.enter(first as PortId, Moving { id, length, hop }) }
    }

    /// The same for a packet that waits at its host first.
    #[cold]
    pub(crate) fn send_after(&mut self, packet: Packet, wait: Span) {
        let id = self.shared.slab.insert(packet);
        if !self.shared.metrics.observers.is_empty() {
            self.observe_at_host(id, |observer, seen| observer.on_sent(seen));
        }
        self.shared.resolving += 1;
        self.shared.events.push(self.shared.now + wait, Target::new(EventKind::Resolved, id));
    }

    /// The address is known that a packet has waited for.
    pub(super) fn on_resolved(&mut self, id: PacketId) -> Option<Time> {
        self.shared.resolving -= 1;
        let Packet { next: hop, length, .. } = self.shared.slab[id];
        self.enter(self.shared.sent_by(id), Moving { id, length, hop });
        None
    }

    /// Shows the observers a packet that is sent, or has arrived.
    #[cold]
    pub(super) fn observe_at_host(
        &mut self,
        id: PacketId,
        show: impl Fn(&mut dyn PacketObserver, &AtHost<'_>),
    ) {
        let packet = &self.shared.slab[id];
        let flow = &self.flows[packet.flow as usize];
        let Identity { protocol, dscp, .. } = flow.identity;
        let written = u64::from(flow.session.piece);
        let sender = flow.sender();
        let seen = AtHost { id, packet, protocol, dscp, written, sender, now: self.shared.now };
        self.shared.metrics.observers.iter_mut().for_each(|observer| show(observer.as_mut(), &seen));
    }

    /// Shows the observers a sender that has handled an acknowledgment or a timer.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_sender(&mut self, number: usize, timed_out: bool) {
        let (sender, now) = (self.flows[number].sender(), self.shared.now);
        for observer in &mut self.shared.metrics.observers {
            observer.on_sender(number as u32, sender, timed_out, now);
        }
    }

    /// A packet goes on to port `next`, or to its endpoint.
    #[inline(always)]
    fn move_on(&mut self, id: PacketId, next: u32) {
        if next == END {
            return self.deliver(id);
        }
        let (port, moving) = (next as PortId, self.take_hop(id));
        if self.ports[port].extras.is_none() { self.pass(port, moving) } else { self.wait(port, moving) }
    }

    /// A packet goes to the next port of its route.
    #[inline]
    fn take_hop(&mut self, id: PacketId) -> Moving {
        let packet = &mut self.shared.slab[id];
        packet.next += 1;
        Moving { id, length: packet.length, hop: packet.next }
    }

    /// A packet comes to a port.
    #[inline(always)]
    fn enter(&mut self, port: PortId, packet: Moving) {
        if self.ports[port].extras.is_none() { self.pass(port, packet) } else { self.enter_any(port, packet) }
    }

    /// The same where something may be beside the wire.
    #[inline(never)]
    fn enter_any(&mut self, port: PortId, packet: Moving) {
        self.wait(port, packet);
    }

    /// A packet comes to a port with nothing but its wire.
    #[inline(always)]
    fn pass(&mut self, port: PortId, packet: Moving) {
        let this = &mut self.ports[port];
        let at = this.serialise(packet.length, self.shared.now) + this.line.delay;
        let queue = this.line.in_flight;
        self.fly(port, packet, at, queue);
    }

    /// A packet comes to a port with more: a discipline, or impairments of the wire.
    #[inline(always)]
    fn wait(&mut self, port: PortId, packet: Moving) {
        let this = &mut self.ports[port];
        this.enter(packet.length);
        match this.device_mut() {
            Some(device) if device.is_straight => {
                let id = packet.id;
                let seen = metadata(&self.flows, &self.shared, id);
                offer::<true>(device, port, id, seen, &mut self.shared);
                // If it is busy it goes on when the packet on the wire has been sent.
                if !device.busy
                    && let Some(free) = self.send_directly::<true>(port)
                {
                    self.shared.ready_at(free, port as u32);
                }
            }
            Some(_) => self.enqueue(port, packet.id),
            None => {
                let out = this.serialise(packet.length, self.shared.now);
                self.depart(port, packet.id, out);
            }
        }
    }

    /// The last bit of a packet leaves `port` at `out`; it may be lost, late or doubled on its wire.
    #[inline(never)]
    pub(super) fn depart(&mut self, port: PortId, id: PacketId, out: Time) {
        let this = &mut self.ports[port];
        let length = self.shared.slab[id].length;
        this.leave(length);
        let Some(impaired) = this.impaired_mut() else { return self.launch_any(port, id, out) };
        impaired.passed += 1;
        match impaired.wire.pass(out, length) {
            Passage::Lost => {
                impaired.lost += 1;
                self.lose_on_wire(port, id);
            }
            Passage::Arrives(at) if impaired.wire.impairments().is_irregular() => {
                self.launch_alone(port, id, at);
            }
            Passage::Arrives(_) => self.launch_any(port, id, out),
            Passage::Twice([first, second]) => {
                impaired.doubled += 1;
                let packet = &self.shared.slab[id];
                self.shared.metrics.on_doubled(packet);
                let copy = self.shared.slab.copy(id);
                self.launch_alone(port, copy, first);
                self.launch_alone(port, id, second);
            }
        }
    }

    /// A packet enters a wire that may reorder: its arrival has an event of its own.
    fn launch_alone(&mut self, port: PortId, id: PacketId, at: Time) {
        if let Some(impaired) = self.ports[port].impaired_mut() {
            impaired.with_event += 1;
        }
        self.shared.events.push(at, Target::new(EventKind::IrregularArrival, id));
    }

    /// A packet is lost by chance on the wire of `port`.
    #[cold]
    pub(super) fn lose_on_wire(&mut self, port: PortId, id: PacketId) {
        let queued = self.ports[port].device().map_or_else(Backlog::default, |device| device.observed.queued);
        let (packet, now) = (&self.shared.slab[id], self.shared.now);
        let seen = Dropped { id, packet, port, by: DroppedBy::Wire, queued, sojourn: Span::ZERO, now };
        self.shared.metrics.on_loss(&seen);
        self.shared.slab.remove(id);
    }

    /// The last bit of a packet enters the wire of `port` at `out`.
    #[inline(always)]
    fn launch_any(&mut self, port: PortId, id: PacketId, out: Time) {
        let Packet { next: hop, length, .. } = self.shared.slab[id];
        let this = &self.ports[port];
        let (at, queue) = (out + this.line.delay, this.line.in_flight);
        self.fly(port, Moving { id, length, hop }, at, queue);
    }

    /// The same where it is known when the packet arrives, and which queue of packets in flight that wire has.
    #[inline(always)]
    pub(super) fn fly(&mut self, mut port: PortId, packet: Moving, mut at: Time, mut number: u32) {
        let Moving { id, length, mut hop } = packet;
        let ports = self.ports.as_mut_slice();
        // The route is at hand: as far as ports share this one's event, the packet goes on at once.
        let next = loop {
            let next = self.shared.routes[hop as usize];
            match ports.get_mut(next as PortId) {
                Some(following) if following.upstream == port as u32 => {
                    at = following.serialise(length, at) + following.line.delay;
                    (port, number) = (next as PortId, following.line.in_flight);
                    hop += 1;
                }
                _ => break next,
            }
        };
        if hop != packet.hop {
            self.shared.slab[id].next = hop;
        }
        let mut queue = &mut self.in_flight[number as usize];
        if !queue.keeps_order(at) {
            if queue.ack_path != NONE {
                return self.overtake(number, InFlight { at, id, next });
            }
            number = self.own_queue(port);
            queue = &mut self.in_flight[number as usize];
        }
        if queue.push(InFlight { at, id, next }) {
            if queue.ack_path != NONE {
                at = self.begin_ack_path(number as usize);
            }
            self.shared.events.push_of_wire(self.shared.now, at, Target::new(EventKind::Arrival, number));
        }
    }

    /// The queue of packets in flight behind a port that it shares with no other.
    #[cold]
    fn own_queue(&mut self, port: PortId) -> u32 {
        let number = &mut self.own_queues[port];
        if *number == NONE {
            *number = self.in_flight.len() as u32;
            self.in_flight.push(InFlightQueue::default());
        }
        *number
    }
}
