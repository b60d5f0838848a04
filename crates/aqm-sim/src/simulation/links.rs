//! Packets on links: propagation, serialisation, the queue and its device.

use super::{END, Simulation, Watch};
use crate::engine::{Kind, Target};
use crate::link::InFlight;
use crate::link_trace::OPPORTUNITY_BYTES;
use crate::network::LinkId;
use crate::packet::{PacketId, Role};
use aqm_core::packet::{Packet as Metadata, TcpView};
use aqm_core::units::{Span, Time};

const TCP: u8 = 6;

impl Simulation {
    /// The first packet in flight on a lane has arrived.
    pub(super) fn on_arrival(&mut self, lane: usize) -> Option<Time> {
        let (packet, again) = self.lanes[lane].land()?;
        self.links[packet.link as usize].balance -= 1;
        self.forward(packet.id);
        again
    }

    /// A packet that travels alone has arrived.
    pub(super) fn on_lone_arrival(&mut self, id: PacketId) -> Option<Time> {
        let link = self.routes[self.slab[id].next as usize - 1] as usize;
        self.links[link].balance -= 1;
        if let Some(impairment) = self.links[link].impairment_mut() {
            impairment.alone -= 1;
        }
        self.forward(id);
        None
    }

    /// Sends a packet on its next link, or to its endpoint.
    pub(super) fn forward(&mut self, id: PacketId) {
        let packet = &mut self.slab[id];
        let next = self.routes[packet.next as usize];
        if next == END {
            return self.deliver(id);
        }
        packet.next += 1;
        let (link, length) = (next as usize, packet.length);
        let this = &mut self.links[link];
        this.balance += 1;
        if this.device().is_some() {
            return self.enqueue(link, id);
        }
        let out = this.serialise(length, self.now);
        self.depart(link, id, out);
    }

    /// The last bit of a packet leaves `link` at `out`.
    pub(super) fn depart(&mut self, mut link: LinkId, id: PacketId, out: Time) {
        let links = self.links.as_mut_slice();
        let this = &mut links[link];
        let mut at = out + this.delay;
        if let Some(impairment) = this.impairment_mut() {
            if impairment.loss > 0.0 && impairment.random.uniform() < impairment.loss {
                this.balance -= 1;
                let lost = &self.slab[id];
                if lost.is_counted() {
                    self.metrics.on_loss(lost.flow);
                }
                return self.slab.remove(id);
            }
            if impairment.jitter > Span::ZERO {
                at += Span::from_nanos(impairment.random.below(impairment.jitter.as_nanos() + 1));
                impairment.alone += 1;
                return self.events.push(at, Target::new(Kind::Alone, id));
            }
        }
        let packet = &mut self.slab[id];
        // The route is at hand: as far as links share this one's event, the packet goes on at once.
        while let Some(following) = links.get_mut(self.routes[packet.next as usize] as usize)
            && following.fed_by == link as u32
        {
            following.balance += 1;
            at = following.serialise(packet.length, at) + following.delay;
            links[link].balance -= 1;
            link = self.routes[packet.next as usize] as usize;
            packet.next += 1;
        }
        let shared = links[link].lane as usize;
        let lane = if self.lanes[shared].admits(at) { shared } else { link };
        if self.lanes[lane].launch(InFlight { at, id, link: link as u32 }) {
            self.events.push(at, Target::new(Kind::Arrival, lane as u32));
        }
    }

    /// A packet arrives at a link with a discipline.
    pub(super) fn enqueue(&mut self, link: LinkId, id: PacketId) {
        let (packet, now) = (&self.slab[id], self.now);
        let flow = &self.flows[packet.flow as usize];
        let identity = &flow.identity;
        let back = packet.role == Role::Ack;
        let metadata = Metadata {
            cookie: u64::from(id),
            flow: if back { !identity.hash } else { identity.hash },
            arrival: now,
            source: if back { identity.destination } else { identity.source },
            destination: if back { identity.source } else { identity.destination },
            length: packet.length,
            tcp: (identity.protocol == TCP).then_some(TcpView {
                seq: if back { 0 } else { packet.number as u32 },
                ack: if back { packet.number as u32 } else { packet.sack[0].0 },
                payload: if back { 0 } else { packet.payload as u16 },
                flags: packet.flags,
                has_sack: packet.sack_count > 0,
            }),
            class: identity.class,
            dscp: identity.dscp,
            ecn: packet.ecn,
            protocol: identity.protocol,
        };
        let device = self.links[link].device_mut().expect("only links with a device queue");
        let measured = device.measured;
        if measured {
            self.metrics.on_arrival(packet.flow, packet.length, now);
        }
        let mut watch = Watch { slab: &mut self.slab, metrics: &mut self.metrics, measured, now };
        device.qdisc.enqueue(metadata, now, &mut watch);
        if measured {
            self.metrics.after_arrival();
        }
        if !device.busy {
            if let Some(free) = self.serve(link) {
                self.events.push(free, Target::new(Kind::Free, link as u32));
            }
        } else if device.ring_packets > 1 {
            self.fill_ring(link);
        }
        self.arm_wakeup(link);
    }

    /// A transmission has ended (or an opportunity has come).
    pub(super) fn on_free(&mut self, link: LinkId) -> Option<Time> {
        let Some(medium) = self.links[link].device()?.medium else { return self.serve(link) };
        // The others on the medium have their turn first.
        self.media[medium as usize].taken = false;
        self.media[medium as usize].waiting.push_back(link as u32);
        while let Some(next) = self.media[medium as usize].waiting.pop_front() {
            if let Some(free) = self.serve(next as LinkId) {
                self.events.push(free, Target::new(Kind::Free, next));
                break;
            }
        }
        None
    }

    /// The link can take a packet; answers when it can take the next one.
    pub(super) fn serve(&mut self, link: LinkId) -> Option<Time> {
        let device = self.links[link].device_mut()?;
        if device.trace.is_some() {
            return self.serve_opportunity(link);
        }
        if let Some(medium) = device.medium
            && self.media[medium as usize].taken
        {
            device.busy = true;
            self.media[medium as usize].waiting.push_back(link as u32);
            return None;
        }
        let id = self.next_packet(link);
        let this = &mut self.links[link];
        this.device_mut()?.busy = id.is_some();
        let id = id?;
        let out = self.now + this.serialisation(self.slab[id].length);
        let this = self.links[link].device()?;
        if let Some(medium) = this.medium {
            self.media[medium as usize].taken = true;
        }
        let (ring, wakes) = (this.ring_packets > 1, this.wakes);
        self.depart(link, id, out);
        if ring {
            self.fill_ring(link);
        }
        if wakes {
            self.arm_wakeup(link);
        }
        Some(out)
    }

    /// One delivery opportunity: what it carries leaves now, and what it has left stays while packets wait.
    pub(super) fn serve_opportunity(&mut self, link: LinkId) -> Option<Time> {
        let now = self.now;
        let device = self.links[link].device_mut()?;
        let trace = device.trace.as_mut()?;
        if !device.busy {
            // Opportunities that found nobody waiting are gone.
            trace.cursor.skip_to(now);
            device.busy = true;
            return Some(trace.cursor.peek());
        }
        trace.cursor.next_opportunity();
        trace.budget += OPPORTUNITY_BYTES.as_u64();
        loop {
            let sending = self.links[link].device_mut()?.trace.as_mut()?.sending.take();
            let next = sending.or_else(|| {
                let id = self.next_packet(link)?;
                Some((id, u64::from(self.slab[id].length - self.overhead)))
            });
            let trace = self.links[link].device_mut()?.trace.as_mut()?;
            let Some((id, left)) = next else {
                trace.budget = 0;
                self.links[link].device_mut()?.busy = false;
                self.arm_wakeup(link);
                return None;
            };
            if left > trace.budget {
                trace.sending = Some((id, left - trace.budget));
                trace.budget = 0;
                let again = trace.cursor.peek();
                self.fill_ring(link);
                self.arm_wakeup(link);
                return Some(again);
            }
            trace.budget -= left;
            self.depart(link, id, now);
        }
    }

    /// The next packet for the wire: from the ring, else from the discipline.
    pub(super) fn next_packet(&mut self, link: LinkId) -> Option<PacketId> {
        match self.links[link].device_mut()?.ring.pop_front() {
            Some(id) => Some(id),
            None => self.dequeue(link),
        }
    }

    /// Lets the device take packets ahead of the wire.
    pub(super) fn fill_ring(&mut self, link: LinkId) {
        loop {
            let Some(device) = self.links[link].device() else { return };
            if device.ring.len() + 1 >= device.ring_packets as usize {
                return;
            }
            let Some(id) = self.dequeue(link) else { return };
            if let Some(device) = self.links[link].device_mut() {
                device.ring.push_back(id);
            }
        }
    }

    /// Takes a packet from the discipline.
    pub(super) fn dequeue(&mut self, link: LinkId) -> Option<PacketId> {
        let now = self.now;
        let device = self.links[link].device_mut()?;
        let measured = device.measured;
        let mut watch = Watch { slab: &mut self.slab, metrics: &mut self.metrics, measured, now };
        let metadata = device.qdisc.dequeue(now, &mut watch)?;
        let id = metadata.cookie as PacketId;
        self.slab[id].ecn = metadata.ecn;
        if device.measured {
            let (flow, length) = (self.slab[id].flow, metadata.length);
            let sojourn = now.since(metadata.arrival);
            self.metrics.on_departure(flow, length, length - self.overhead, sojourn, now);
        }
        Some(id)
    }

    pub(super) fn on_wakeup(&mut self, link: LinkId) -> Option<Time> {
        let now = self.now;
        let device = self.links[link].device_mut()?;
        if device.wake_at != now {
            return None;
        }
        device.wake_at = Time::MAX;
        let measured = device.measured;
        let mut watch = Watch { slab: &mut self.slab, metrics: &mut self.metrics, measured, now };
        device.qdisc.wake(now, &mut watch);
        if !device.busy
            && device.qdisc.backlog().packets > 0
            && let Some(free) = self.serve(link)
        {
            self.events.push(free, Target::new(Kind::Free, link as u32));
        }
        self.arm_wakeup(link);
        None
    }

    /// Makes sure that an event stands for the discipline's next wake-up.
    pub(super) fn arm_wakeup(&mut self, link: LinkId) {
        let Some(device) = self.links[link].device_mut() else { return };
        if !device.wakes {
            return;
        }
        if let Some(at) = device.qdisc.next_wakeup()
            && at < device.wake_at
        {
            device.wake_at = at.max(self.now);
            self.events.push(device.wake_at, Target::new(Kind::Wake, link as u32));
        }
    }
}
