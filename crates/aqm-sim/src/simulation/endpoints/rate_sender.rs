//! Rate-based senders and their receivers: what the sans-I/O machines of `rate_control` say becomes packets and timers.
//!
//! A packet follows the one before it as soon as the rate lets it; where the rate changes in between, the time of the next
//! changes with it. While flow control pauses the host's port, a packet that would be due is not sent, and tried again one
//! packet's time later, as a NIC holds its queue pairs back. Senders of one host take turns at its port. What is lost is sent again by go-back-N, if the flow recovers.

use crate::endpoint::rate_sender::RateEndpoints;
use crate::network::packet::{Packet, Role};
use crate::network::port::PortId;
use crate::network::records::{Feedback as Message, Record};
use crate::rate_control::NOTIFICATION;
use crate::rate_control::go_back_n::{self, Answer, Piece};
use crate::simulation::event_queue::{EventKind, Target};
use crate::simulation::state::Simulation;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};

/// Bytes of a notification, an ACK or a NAK on the link: a minimal Ethernet frame.
const SMALLEST_FRAME: u32 = 64;

/// Of a packet: it asks for an acknowledgment (AckReq of InfiniBand's base transport header). Of an answer: it is a NAK.
const ACK_REQUEST: u8 = 1;
const NAK: u8 = 2;

impl Simulation {
    fn rate_endpoints(&mut self, number: usize) -> Option<&mut RateEndpoints> {
        self.flows[number].session.rate_endpoints.as_deref_mut()
    }

    /// Makes sure that events stand for the next packet and for the timers. A flow begins with this.
    #[cold]
    pub(super) fn arm_rated(&mut self, number: usize) {
        let now = self.shared.now;
        let Some(ends) = self.rate_endpoints(number) else { return };
        if ends.transfer.is_done() {
            return;
        }
        let deadline = ends.deadline().max(now);
        let sooner = deadline < ends.timer;
        if sooner {
            ends.timer = deadline;
        }
        let sends = ends.transfer.has_more() && !ends.waits;
        let next = if sends { ends.due(now) } else { ends.next };
        let moved = std::mem::replace(&mut ends.next, next) != next;
        if moved {
            self.shared.events.push(next, Target::new(EventKind::Pace, number as u32));
        }
        if sooner {
            self.shared.events.push(deadline, Target::new(EventKind::SenderTimer, number as u32));
        }
    }

    /// The next packet may be due.
    #[cold]
    pub(super) fn on_rate_pace(&mut self, number: usize) -> Option<Time> {
        let now = self.shared.now;
        let port = self.flows[number].forward.first as PortId;
        let ends = self.flows[number].session.rate_endpoints.as_deref_mut()?;
        if ends.next != now {
            return None; // the rate has changed since
        }
        let nic = self.nics.entry(port).or_default();
        if !ends.waits && (nic.free > now || !nic.waiting.is_empty()) {
            ends.waits = true;
            nic.waiting.push_back(number as u32);
            ends.next = Time::MAX;
            if nic.waiting.len() == 1 {
                self.call_next(port);
            }
            return None;
        }
        let called = std::mem::take(&mut ends.waits);
        if called {
            nic.waiting.pop_front();
        }
        self.send_piece(number, port);
        if called {
            self.call_next(port);
        }
        self.arm_rated(number);
        None
    }

    /// Lets the flow that waits longest for a host's port send when the port is free.
    fn call_next(&mut self, port: PortId) {
        let now = self.shared.now;
        let Some(nic) = self.nics.get_mut(&port) else { return };
        let Some(number) = nic.waiting.front().copied() else { return };
        let at = nic.free.max(now);
        if let Some(ends) = self.rate_endpoints(number as usize) {
            ends.next = at;
            self.shared.events.push(at, Target::new(EventKind::Pace, number));
        }
    }

    /// Sends the next packet of a flow, if it has one.
    fn send_piece(&mut self, number: usize, port: PortId) {
        let (now, overhead) = (self.shared.now, self.overhead);
        let flow = &mut self.flows[number];
        let headers = u32::from(flow.identity.headers);
        let room = flow.session.piece - headers;
        let Some(ends) = flow.session.rate_endpoints.as_deref_mut() else { return };
        let Some(piece) = ends.transfer.peek(room) else { return };
        let length = piece.payload + headers + overhead;
        let bits = f64::from(length) * 8.0;
        ends.last = Some((now, bits));
        // A host whose port is paused holds its senders back; the packets behind do not pile up in front of the port.
        let paused = self.shared.switches.as_ref().map(|switches| switches.paused_classes(port));
        if paused.is_some_and(|classes| classes.contains(flow.identity.class)) {
            return;
        }
        ends.transfer.on_sent(piece, now);
        ends.control.on_sent(length.into());
        flow.session.ledger.sent.add_datagram(piece.payload);
        let route = flow.forward;
        let packet = Packet {
            flow: number as u32,
            next: route.rest,
            length,
            payload: piece.payload,
            stamp: now,
            number: piece.offset,
            flags: if piece.last { ACK_REQUEST } else { 0 },
            role: Role::Datagram,
            ecn: flow.identity.ecn,
            ..Packet::default()
        };
        let line = self.network.links[port].capacity.mean_rate().as_bits_per_sec() as f64;
        if let Some(nic) = self.nics.get_mut(&port) {
            nic.free = now + Span::from_nanos((bits / line * 1e9) as u64);
        }
        self.send(packet, route.first);
    }

    /// A timer may be due.
    #[cold]
    pub(super) fn on_rate_timer(&mut self, number: usize) -> Option<Time> {
        let now = self.shared.now;
        let ends = self.rate_endpoints(number)?;
        if ends.timer == now {
            ends.timer = Time::MAX;
            if ends.control.deadline().is_some_and(|deadline| deadline <= now) {
                ends.control.on_timer(now);
            }
            if ends.transfer.deadline() <= now {
                ends.transfer.on_timer();
            }
            self.arm_rated(number);
        }
        None
    }

    /// The receiver says how far it is.
    #[cold]
    pub(super) fn on_rated_answer(&mut self, number: usize, packet: &Packet) {
        let Some(ends) = self.rate_endpoints(number) else { return };
        let nak = packet.flags & NAK != 0;
        ends.transfer.on_answer(if nak { Answer::Nak(packet.number) } else { Answer::Ack(packet.number) });
        self.arm_rated(number);
    }

    /// A switch or the receiver says something about congestion. It may be forged: the control judges.
    #[cold]
    pub(super) fn on_rate_feedback(&mut self, number: usize, values: [u64; 3]) {
        let now = self.shared.now;
        let Some(ends) = self.rate_endpoints(number) else { return };
        let message = (ends.read)(values);
        if !ends.control.on_feedback(message, now, &mut ends.random) {
            self.shared.metrics.feedback.ignored += 1;
            return;
        }
        self.arm_rated(number);
    }

    /// A packet has arrived: its receiver may have to notify the sender of a mark, or of a gap.
    #[cold]
    pub(super) fn on_rated_delivery(&mut self, number: usize, packet: &Packet) {
        let now = self.shared.now;
        let Some(ends) = self.rate_endpoints(number) else { return };
        let notifies = ends.receiver.as_mut().is_some_and(|it| it.on_packet(packet.ecn == Ecn::Ce, now));
        let last = packet.flags & ACK_REQUEST != 0;
        let piece = Piece { offset: packet.number, payload: packet.payload, last };
        let answer = ends.arrived.as_mut().and_then(|arrived| arrived.on_packet(piece, now));
        let in_order = ends.arrived.as_ref().map(go_back_n::Receiver::delivered);
        let delivered = &mut self.shared.metrics.shares[number].total;
        *delivered = in_order.unwrap_or(*delivered + u64::from(packet.payload));
        let complete = *delivered >= self.flows[number].notify_at;
        if notifies {
            self.notify_sender(number);
        }
        if let Some(answer) = answer {
            self.answer_sender(number, answer);
        }
        if complete {
            self.on_transfer_complete(number);
        }
    }

    /// Sends DCQCN's notification.
    fn notify_sender(&mut self, number: usize) {
        let now = self.shared.now;
        let flow = &mut self.flows[number];
        let message = Message { class: flow.identity.class, values: NOTIFICATION, earliest: now };
        let route = flow.reverse;
        let notification = Packet {
            flow: number as u32,
            next: route.rest,
            length: SMALLEST_FRAME.max(self.overhead),
            stamp: now,
            role: Role::Feedback,
            record: Some(self.shared.slab.records.insert(Record::Feedback(message))),
            ..Packet::default()
        };
        flow.session.ledger.sent.feedback += 1;
        self.shared.metrics.feedback.sent += 1;
        self.send(notification, route.first);
    }

    /// Sends an ACK or a NAK. It is as ECN-capable as the data: what is not, marking switches drop.
    fn answer_sender(&mut self, number: usize, answer: Answer) {
        let flow = &mut self.flows[number];
        flow.session.ledger.sent.control += 1;
        let (expected, flags) = match answer {
            Answer::Ack(expected) => (expected, 0),
            Answer::Nak(expected) => (expected, NAK),
        };
        let route = flow.reverse;
        let packet = Packet {
            flow: number as u32,
            next: route.rest,
            length: SMALLEST_FRAME.max(self.overhead),
            stamp: self.shared.now,
            number: expected,
            flags,
            role: Role::Ack,
            ecn: flow.identity.ecn,
            ..Packet::default()
        };
        self.send(packet, route.first);
    }
}
