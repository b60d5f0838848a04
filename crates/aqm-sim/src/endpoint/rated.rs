//! Rate-based senders and their receivers: what the sans-I/O machines of `rate_control` say becomes packets and timers.
//!
//! A packet follows the one before it as soon as the rate lets it; where the rate changes in between, the time of the next
//! changes with it. While flow control pauses the host's port, a packet that would be due is not sent, and tried again one
//! packet's time later, as a NIC holds its queue pairs back. Nothing is sent again: in the networks that such senders are made for, flow control keeps packets from
//! being lost. A finite flow that loses one does not complete.

use super::flow::ENDLESS;
use super::rated_ends::RatedEnds;
use crate::engine::{Kind, Target};
use crate::network::packet::{Packet, Role};
use crate::network::port::PortId;
use crate::network::records::{Feedback as Message, Record};
use crate::rate_control::NOTIFICATION;
use crate::simulation::state::Simulation;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;

/// Bytes of a notification on the link: a minimal Ethernet frame.
const NOTIFICATION_BYTES: u32 = 64;

impl Simulation {
    fn rated(&mut self, number: usize) -> Option<&mut RatedEnds> {
        self.flows[number].session.rated.as_deref_mut()
    }

    /// The flow begins.
    #[cold]
    pub(super) fn start_rated(&mut self, number: usize) {
        let size = self.flows[number].session.size;
        if let Some(ends) = self.rated(number) {
            ends.left = size;
        }
        self.arm_rated(number);
    }

    /// Makes sure that events stand for the next packet and for the control's timer.
    fn arm_rated(&mut self, number: usize) {
        let now = self.shared.now;
        let Some(ends) = self.rated(number) else { return };
        if ends.left == 0 {
            return;
        }
        let next = ends.due(now);
        let moved = std::mem::replace(&mut ends.next, next) != next;
        let timer = ends.control.deadline().filter(|deadline| *deadline < ends.timer);
        ends.timer = timer.unwrap_or(ends.timer);
        if moved {
            self.shared.events.push(next, Target::new(Kind::Pace, number as u32));
        }
        if let Some(deadline) = timer {
            self.shared.events.push(deadline, Target::new(Kind::SenderTimer, number as u32));
        }
    }

    /// The next packet may be due.
    #[cold]
    pub(super) fn on_rate_pace(&mut self, number: usize) -> Option<Time> {
        let (now, overhead) = (self.shared.now, self.overhead);
        let flow = &mut self.flows[number];
        let piece = flow.session.piece;
        let ends = flow.session.rated.as_deref_mut()?;
        if ends.next != now || ends.left == 0 {
            return None; // the rate has changed since
        }
        let headers = u32::from(flow.identity.headers);
        let payload = u64::from(piece - headers).min(ends.left) as u32;
        let length = payload + headers + overhead;
        // A host whose port is paused holds its senders back; the packets behind do not pile up in front of the port.
        let port = self.shared.routes[flow.forward as usize] as PortId;
        let paused = self.shared.switches.as_ref().map(|switches| switches.paused_classes(port));
        if paused.is_some_and(|classes| classes.contains(flow.identity.class)) {
            ends.last = Some((now, f64::from(length) * 8.0));
            self.arm_rated(number);
            return None;
        }
        if ends.left != ENDLESS {
            ends.left -= u64::from(payload);
        }
        ends.last = Some((now, f64::from(length) * 8.0));
        ends.control.on_sent(length.into());
        flow.session.ledger.sent.add_datagram(payload);
        let packet = Packet {
            flow: number as u32,
            next: flow.forward,
            length,
            payload,
            stamp: now,
            role: Role::Datagram,
            ecn: flow.identity.ecn,
            ..Packet::default()
        };
        let id = self.shared.slab.insert(packet);
        self.forward(id);
        self.arm_rated(number);
        None
    }

    /// The control's timer may be due.
    #[cold]
    pub(super) fn on_rate_timer(&mut self, number: usize) -> Option<Time> {
        let now = self.shared.now;
        let ends = self.rated(number)?;
        if ends.timer == now {
            ends.timer = Time::MAX;
            if ends.control.deadline().is_some_and(|deadline| deadline <= now) {
                ends.control.on_timer(now);
            }
            self.arm_rated(number);
        }
        None
    }

    /// A switch or the receiver says something about congestion. It may be forged: the control judges.
    #[cold]
    pub(super) fn on_rate_feedback(&mut self, number: usize, values: [u64; 3]) {
        let now = self.shared.now;
        let Some(ends) = self.rated(number) else { return };
        let message = (ends.read)(values);
        if !ends.control.on_feedback(message, now, &mut ends.random) {
            self.shared.metrics.feedback.ignored += 1;
            return;
        }
        self.arm_rated(number);
    }

    /// A packet has arrived: its receiver may have to notify the sender.
    #[cold]
    pub(super) fn on_rated_delivery(&mut self, number: usize, packet: &Packet) {
        let (now, overhead) = (self.shared.now, self.overhead);
        let complete = self.shared.metrics.flows[number].payload_total >= self.flows[number].notify_at;
        let flow = &mut self.flows[number];
        if let Some(ends) = &mut flow.session.rated
            && let Some(receiver) = &mut ends.receiver
            && receiver.on_packet(packet.ecn == Ecn::Ce, now)
        {
            let message = Message { class: flow.identity.class, values: NOTIFICATION, earliest: now };
            let notification = Packet {
                flow: number as u32,
                next: flow.reverse,
                length: NOTIFICATION_BYTES.max(overhead),
                stamp: now,
                role: Role::Feedback,
                record: Some(self.shared.slab.records.insert(Record::Feedback(message))),
                ..Packet::default()
            };
            flow.session.ledger.sent.feedback += 1;
            self.shared.metrics.feedback.sent += 1;
            let id = self.shared.slab.insert(notification);
            self.forward(id);
        }
        if complete {
            self.on_transfer_complete(number);
        }
    }
}
