//! Service of ports with a discipline: back to back, at delivery opportunities, on a shared medium, into a device ring, and at
//! the discipline's wake-ups.

use super::forwarding::Moving;
use super::observer::PortObserver;
use super::queueing::{Taken, dequeue_from};
use super::state::Simulation;
use crate::network::packet::PacketId;
use crate::network::port::PortId;
use crate::simulation::event_queue::{EventKind, Target};
use aqm_core::units::Time;
use aqm_path::device::burst::Whom;

impl Simulation {
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

    /// A port has sent what it had on a medium, or senses whether it is idle.
    #[inline(never)]
    fn serve_medium(&mut self, port: PortId, medium: usize) -> Option<Time> {
        let now = self.shared.now;
        if self.media[medium].release(port as u32, now) {
            let device = self.ports[port].device_mut()?;
            device.busy = self.media[medium].ask_again(port as u32, device.until, device.waiting() > 0);
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
    pub(super) fn send_directly<const STRAIGHT: bool>(&mut self, port: PortId) -> Option<Time> {
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

    /// One packet, or one opportunity, at any port.
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

    /// The time has come at which the discipline wanted to be woken.
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
