//! Packets from port to port: queue, device, serialisation, propagation.
//!
//! What nearly every packet does is inlined where it happens, what few do is called: a call that saves registers costs as much
//! as passing a packet on.

use super::metadata::metadata;
use super::observer::PortObserver;
use super::state::{Device, END, Shared, Simulation};
use crate::endpoint::flow::{Endpoints, Identity};
use crate::measure::metrics::Impossible;
use crate::measure::observer::{AtHost, AtQueue, Dropped, DroppedBy, PacketObserver};
use crate::measure::port::Departure;
use crate::network::in_flight::{InFlight, InFlightQueue};
use crate::network::packet::{Packet, PacketId, Role};
use crate::network::port::{NONE, PortId};
use crate::prefetch::prefetch;
use crate::simulation::event_queue::{EventKind, Target};
use aqm_core::backlog::Backlog;
use aqm_core::packet::Packet as Metadata;
use aqm_core::params::ParamError;
use aqm_core::paused::PausedClasses;
use aqm_core::sent::Sent;
use aqm_core::units::{Span, Time};
use aqm_path::device::burst::Whom;
use aqm_path::wire::Passage;

/// A packet that was taken from a discipline.
pub(super) struct Taken {
    pub(super) id: PacketId,
    pub(super) length: u32,
    /// Where in the table of routes its next hop is.
    hop: u32,
    /// The station that it is for, on a medium that stations share.
    pub(super) station: u8,
    /// How long it has waited there.
    pub(super) sojourn: Span,
    /// Bytes by which it has grown at its departure.
    grown: u32,
}

/// A packet on its way.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    id: PacketId,
    length: u32,
    /// Its next hop is there in the table of routes.
    hop: u32,
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
    fn fly(&mut self, mut port: PortId, packet: Moving, mut at: Time, mut number: u32) {
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

    /// A transmission has ended (or an opportunity has come).
    #[inline(always)]
    pub(super) fn on_port_ready(&mut self, port: PortId) -> Option<Time> {
        let device = self.ports[port].device()?;
        if device.is_straight {
            return self.send_directly::<true>(port);
        }
        self.on_any_port_ready(port)
    }

    /// The same at any port.
    #[inline(never)]
    fn on_any_port_ready(&mut self, port: PortId) -> Option<Time> {
        let device = self.ports[port].device()?;
        if device.is_direct {
            return self.send_directly::<false>(port);
        }
        match (device.channel, device.medium) {
            (Some(channel), _) => {
                self.on_channel_due(channel as usize);
                None
            }
            (_, Some(medium)) => self.serve_medium(port, medium as usize),
            _ => self.serve_any(port),
        }
    }

    /// A port has sent what it had on a medium, or looks whether it is idle.
    #[inline(never)]
    fn serve_medium(&mut self, port: PortId, medium: usize) -> Option<Time> {
        let now = self.shared.now;
        if self.media[medium].release(port as u32, now) {
            let device = self.ports[port].device_mut()?;
            let has_more = !device.ring.is_empty() || device.observed.queued.packets > 0;
            device.busy = self.media[medium].ask_again(port as u32, device.until, has_more);
        }
        while !self.media[medium].is_busy()
            && let Some((next, at)) = self.media[medium].next(now)
        {
            let ready = if at > now { Some(at) } else { self.serve(next as PortId) };
            if let Some(ready) = ready {
                self.shared.ready_at(ready, next);
                break;
            }
        }
        None
    }

    /// The port can send a packet; answers when it can send the next one.
    #[inline]
    pub(super) fn serve(&mut self, port: PortId) -> Option<Time> {
        if self.ports[port].device()?.is_direct {
            self.send_directly::<false>(port)
        } else {
            self.serve_any(port)
        }
    }

    /// The same where nothing but the discipline says what is sent when, and nothing is lost or late on the wire.
    #[inline(never)]
    fn send_directly<const STRAIGHT: bool>(&mut self, port: PortId) -> Option<Time> {
        let this = &mut self.ports[port];
        let (device, line) = this.device_and_line()?;
        let taken = dequeue_from::<STRAIGHT>(device, port, &mut self.shared, Whom::Any);
        let Some(Taken { id, length, hop, grown, .. }) = taken else {
            device.busy = false;
            return None;
        };
        let out = self.shared.now + line.serialisation(length);
        (device.busy, device.until) = (true, out);
        if !STRAIGHT {
            this.grow(grown);
        }
        this.leave(length);
        let (at, queue) = (out + this.line.delay, this.line.in_flight);
        self.fly(port, Moving { id, length, hop }, at, queue);
        Some(out)
    }

    /// The same at any port.
    #[inline(never)]
    fn serve_any(&mut self, port: PortId) -> Option<Time> {
        let again = self.send_next(port);
        if self.shared.switches_speak() {
            self.send_pauses(port);
        }
        again
    }

    #[inline]
    fn send_next(&mut self, port: PortId) -> Option<Time> {
        let device = self.ports[port].device_mut()?;
        if let Some(channel) = device.channel {
            self.ready_on_channel(port, channel as usize);
            return None;
        }
        if device.trace.is_some() {
            return self.serve_opportunity(port);
        }
        if let Some(medium) = device.medium
            && self.media[medium as usize].is_busy()
        {
            device.busy = true;
            self.media[medium as usize].wait(port as u32, self.shared.now);
            if device.ring_packets > 1 {
                self.fill_ring(port);
            }
            return None;
        }
        let (medium, ring, wakes) = (device.medium, device.ring_packets > 1, device.wakes);
        let hold = device.hold;
        // Nothing else has anything in front of the discipline.
        let id =
            if ring || self.shared.switches.is_some() { self.next_packet(port) } else { self.dequeue(port) };
        let this = &mut self.ports[port];
        let Some(id) = id else {
            this.device_mut()?.busy = false;
            // A shaper has just learnt when it may go on.
            if wakes {
                self.arm_wakeup(port);
            }
            return None;
        };
        let out = self.shared.now + this.serialisation(self.shared.slab[id].length);
        let device = this.device_mut()?;
        (device.busy, device.until) = (true, out);
        if let Some(medium) = medium {
            self.media[medium as usize].take(port as u32, out + hold);
        }
        self.depart(port, id, out);
        if ring {
            self.fill_ring(port);
        }
        if wakes {
            self.arm_wakeup(port);
        }
        Some(out + hold)
    }

    /// One delivery opportunity: what it carries leaves now, and what it has left stays while packets wait.
    pub(super) fn serve_opportunity(&mut self, port: PortId) -> Option<Time> {
        let now = self.shared.now;
        let device = self.ports[port].device_mut()?;
        let trace = device.trace.as_mut()?;
        if !device.busy {
            device.busy = true;
            return Some(trace.wait(now));
        }
        // Out of its port while it sends: that asks for packets, but not for the device.
        let mut trace = device.trace.take()?;
        let pull = |this: &mut Simulation| {
            let id = this.next_packet(port)?;
            Some((id, u64::from(this.shared.slab[id].length - this.overhead)))
        };
        let again = trace.serve(self, pull, |this, id| this.depart(port, id, now));
        let device = self.ports[port].device_mut()?;
        (device.trace, device.busy) = (Some(trace), again.is_some());
        if again.is_some() {
            self.fill_ring(port);
        }
        self.arm_wakeup(port);
        again
    }

    /// The next packet for the wire: from the ring, else from the discipline.
    pub(super) fn next_packet(&mut self, port: PortId) -> Option<PacketId> {
        if self.shared.switches.is_some()
            && let Some(pause) = self.next_pause(port)
        {
            return Some(pause);
        }
        match self.ports[port].device_mut()?.ring.pop_front() {
            Some(id) => Some(id),
            None => self.dequeue(port),
        }
    }

    /// Lets the device take packets ahead of the wire.
    pub(super) fn fill_ring(&mut self, port: PortId) {
        loop {
            let Some(device) = self.ports[port].device() else { return };
            if let Some(channel) = device.channel {
                return self.ready_on_channel(port, channel as usize);
            }
            if device.ring.len() + 1 >= device.ring_packets as usize {
                return;
            }
            let Some(id) = self.dequeue(port) else { return };
            if let Some(device) = self.ports[port].device_mut() {
                device.ring.push_back(id);
            }
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

    pub(super) fn on_wakeup(&mut self, port: PortId) -> Option<Time> {
        let now = self.shared.now;
        let device = self.ports[port].device_mut()?;
        if device.wake_at != now {
            return None;
        }
        device.wake_at = Time::MAX;
        let (qdisc, mut observer) = PortObserver::of(device, port, &mut self.shared);
        qdisc.wake(now, &mut observer);
        if (!device.busy || device.channel.is_some())
            && device.qdisc.backlog().packets > 0
            && let Some(free) = self.serve(port)
        {
            self.shared.ready_at(free, port as u32);
        }
        self.arm_wakeup(port);
        if self.shared.switches_speak() {
            self.send_pauses(port);
        }
        None
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

    /// Makes sure that an event stands for the discipline's next wake-up.
    pub(super) fn arm_wakeup(&mut self, port: PortId) {
        let Some(device) = self.ports[port].device_mut() else { return };
        if !device.wakes {
            return;
        }
        if let Some(at) = device.qdisc.next_wakeup()
            && at < device.wake_at
        {
            device.wake_at = at.max(self.shared.now);
            self.shared.events.push(device.wake_at, Target::new(EventKind::QdiscWake, port as u32));
        }
    }
}

/// Hands a packet to the discipline of `port`, which [is straight](Device::is_straight) or may not be.
#[inline(always)]
fn offer<const STRAIGHT: bool>(
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
fn dequeue_from<const STRAIGHT: bool>(
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
