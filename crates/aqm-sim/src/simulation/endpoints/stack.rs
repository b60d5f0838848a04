//! Real transports: what their ends say becomes packets and timers, and packets become datagrams again.

use crate::endpoint::stack::{Side, StackEnds};
use crate::measure::metrics::Impossible;
use crate::network::packet::{Packet, PacketId, Role};
use crate::network::payloads::Payload;
use crate::network::records::Record;
use crate::simulation::event_queue::{EventKind, Target};
use crate::simulation::state::Simulation;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;

impl Simulation {
    fn stack(&mut self, number: usize) -> Option<&mut StackEnds> {
        self.flows[number].session.stack.as_deref_mut()
    }

    /// A packet with a payload has reached the end of its route.
    #[cold]
    pub(super) fn deliver_payload(&mut self, id: PacketId, payload: Payload) {
        let (packet, now) = (self.shared.slab[id], self.shared.now);
        self.shared.slab.remove(id);
        let number = packet.flow as usize;
        let metrics = &mut self.shared.metrics;
        if packet.ecn == Ecn::Ce {
            metrics.flows[number].marked -= 1;
        }
        if (payload.flow, payload.bytes.len()) != (packet.flow, packet.payload as usize) {
            metrics.impossible = Some(Impossible::Exchanged(packet.flow));
        }
        let received = &mut self.flows[number].session.ledger.received;
        let side = match packet.role {
            Role::Ack => {
                received.control += 1;
                Side::Client
            }
            _ => {
                received.add_datagram(packet.payload);
                metrics.on_delivery(packet.flow, now.since(packet.stamp));
                Side::Server
            }
        };
        let Some(ends) = self.stack(number) else { return };
        let before = ends.round_trips;
        ends.on_datagram(side, &payload.bytes, packet.ecn, now);
        let (after, delivered, early) = (ends.round_trips, ends.delivered(), ends.early());
        self.shared.slab.records.payloads.give_back(payload.bytes);
        if side == Side::Client && !self.flows[number].identity.back {
            self.shared.metrics.on_round_trips(before, after);
        }
        self.pump_stack(number, side);
        if side == Side::Server {
            let share = &mut self.shared.metrics.shares[number];
            (share.total, share.early) = (delivered, early);
            if delivered >= self.flows[number].notify_at {
                self.on_transfer_complete(number);
            }
        }
    }

    /// The timer of an end may be due.
    #[cold]
    #[inline(never)]
    pub(super) fn on_stack_timer(&mut self, number: usize, side: Side) -> Option<Time> {
        let now = self.shared.now;
        let ends = self.stack(number)?;
        // An event that a sooner one has taken the place of.
        if ends.timers[side as usize] == now {
            ends.timers[side as usize] = Time::MAX;
            self.pump_stack(number, side);
        }
        None
    }

    /// Sends what an end has to send now, and makes sure that an event stands for its timer. A flow begins with this.
    #[cold]
    #[inline(never)]
    pub(crate) fn pump_stack(&mut self, number: usize, side: Side) {
        let now = self.shared.now;
        for turn in 0.. {
            while !self.shared.slab.is_exceeded() {
                let mut bytes = self.shared.slab.records.payloads.buffer();
                let Some(ends) = self.stack(number) else { return };
                match ends.next_datagram(side, &mut bytes, now) {
                    Some(ecn) => self.send_payload(number, side, bytes, ecn),
                    None => {
                        self.shared.slab.records.payloads.give_back(bytes);
                        break;
                    }
                }
            }
            if !self.stack(number).is_some_and(|ends| ends.catch_up(side, now, turn)) {
                break;
            }
        }
        if side == Side::Client && !self.shared.metrics.observers.is_empty() {
            self.observe_sender(number, false);
        }
        if let Some(at) = self.stack(number).and_then(|ends| ends.arm(side, now)) {
            let kind = match side {
                Side::Client => EventKind::SenderTimer,
                Side::Server => EventKind::ReceiverTimer,
            };
            self.shared.events.push(at, Target::new(kind, number as u32));
        }
    }

    /// Sends a datagram.
    fn send_payload(&mut self, number: usize, side: Side, bytes: Vec<u8>, ecn: Ecn) {
        let flow = &mut self.flows[number];
        let payload = bytes.len() as u32;
        let sent = &mut flow.session.ledger.sent;
        let (role, route) = match side {
            Side::Client => {
                sent.add_datagram(payload);
                (Role::Datagram, flow.forward)
            }
            Side::Server => {
                sent.control += 1;
                (Role::Ack, flow.reverse)
            }
        };
        // Nobody has marked it yet.
        let ecn = if ecn == Ecn::Ce { Ecn::Ect0 } else { ecn };
        let length = payload + u32::from(flow.identity.headers) + self.overhead;
        let records = &mut self.shared.slab.records;
        let handle = records.payloads.insert(Payload { flow: number as u32, bytes });
        let packet = Packet {
            flow: number as u32,
            next: route.rest,
            length,
            payload,
            stamp: self.shared.now,
            role,
            ecn,
            record: Some(records.insert(Record::Payload(handle))),
            ..Packet::default()
        };
        self.send(packet, route.first);
    }
}
