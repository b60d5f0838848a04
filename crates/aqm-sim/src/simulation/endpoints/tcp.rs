//! TCP at both ends: what the sans-I/O state machines of `transport` say becomes packets and timers.

use crate::endpoint::flow::Endpoints;
use crate::endpoint::stack::Side;
use crate::network::packet::{Packet, PacketId, Role};
use crate::simulation::event_queue::{EventKind, Target};
use crate::simulation::state::Simulation;
use crate::transport::{Acknowledgment, Segment, flags};
use aqm_core::units::{Span, Time};

/// Bytes by which the options of a SYN exceed those of a segment (MSS, window scale, SACK permitted).
const SYN_OPTIONS: u32 = 8;

impl Simulation {
    /// The sender takes an acknowledgment, or the answer to its SYN; where no TCP is, what answers datagrams.
    #[inline(never)]
    pub(super) fn receive_acknowledgment(&mut self, id: PacketId) {
        let now = self.shared.now;
        let packet = self.shared.slab[id];
        if !self.take_out(id, &packet) {
            return;
        }
        let number = packet.flow as usize;
        if !self.backlogged.is_empty() {
            self.write_backlog(number);
        }
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else {
            // A copy: what a call refers to is kept in memory, here for all acknowledgments.
            return self.deliver_datagram(number, Packet { ..packet });
        };
        connection.sender_counts.received += 1;
        if packet.flags & flags::RST != 0 {
            return; // Refused: the SYN will be repeated.
        }
        let answers_syn = packet.flags & flags::SYN != 0;
        let sample = if answers_syn {
            connection.sender.on_syn_answered(packet.stamp, now)
        } else {
            let ack = Acknowledgment {
                ack: packet.number,
                echo: packet.stamp,
                sack: packet.sack,
                sack_count: packet.sack_count,
                ece: packet.flags & flags::ECE != 0,
                report: packet.payload,
            };
            connection.sender.on_ack(&ack, now)
        };
        if !flow.identity.back {
            self.shared.metrics.on_round_trip(sample);
        }
        if !answers_syn && !self.shared.metrics.observers.is_empty() {
            self.observe_sender(number, false);
        }
        self.pump_now(number);
    }

    /// The receiver takes a segment with data.
    #[inline(never)]
    pub(super) fn receive_segment(&mut self, id: PacketId) {
        let now = self.shared.now;
        let packet = self.shared.slab[id];
        if !self.take_out(id, &packet) {
            return;
        }
        let number = packet.flow as usize;
        if packet.flags & flags::SYN != 0 {
            return self.answer_syn(number, packet.stamp);
        }
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        self.shared.metrics.on_delivery(packet.flow, now.since(packet.stamp));
        connection.receiver_counts.received += 1;
        let receiver = &mut connection.receiver;
        if receiver.wants_round_trip() {
            // The receiver's own estimate, by timestamps, is taken to be the sender's.
            receiver.time_round_trip(connection.sender.rtt().smoothed());
        }
        let earlier = receiver.before_segment(packet.ecn);
        let segment = Segment {
            seq: packet.number,
            payload: packet.payload,
            sent_at: packet.stamp,
            ecn: packet.ecn,
            cwr: packet.flags & flags::CWR != 0,
            fin: packet.flags & flags::FIN != 0,
        };
        let answer = receiver.on_segment(&segment, now);
        let delivered = receiver.delivered();
        let share = &mut self.shared.metrics.shares[number];
        (share.total, share.early) = (delivered, receiver.early());
        let complete = delivered >= flow.notify_at;
        if let Some(earlier) = earlier {
            self.acknowledge(number, &earlier);
        }
        match answer {
            Some(ack) => self.acknowledge(number, &ack),
            None => self.arm_receiver(number),
        }
        if complete {
            self.on_transfer_complete(number);
        }
    }

    /// Sends what the sender may send now.
    #[inline(never)]
    pub(crate) fn pump(&mut self, number: usize) {
        self.pump_now(number);
    }

    /// The same, in place.
    #[inline(always)]
    fn pump_now(&mut self, number: usize) {
        let now = self.shared.now;
        loop {
            let flow = &mut self.flows[number];
            let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
            let Some(sent) = connection.sender.poll(now) else { break };
            if sent.flags & flags::SYN != 0 {
                self.send_syn(number);
            } else {
                connection.sender_counts.sent += 1;
                let route = flow.forward;
                let packet = Packet {
                    flow: number as u32,
                    next: route.rest,
                    length: sent.payload + u32::from(flow.identity.headers) + self.overhead,
                    payload: sent.payload,
                    stamp: now,
                    number: sent.seq,
                    role: Role::Data,
                    flags: sent.flags | if sent.cwr { flags::CWR } else { 0 },
                    ecn: sent.ecn,
                    ..Packet::default()
                };
                self.send(packet, route.first);
            }
            if sent.is_last {
                break;
            }
            if self.shared.slab.is_exceeded() {
                return;
            }
        }
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        if let Some(until) = connection.sender.paced_until(now)
            && !connection.paced
        {
            connection.paced = true;
            self.shared.events.push(until, Target::new(EventKind::Pace, number as u32));
        }
        if let Some(deadline) = connection.sender.deadline()
            && deadline < connection.sender_timer
        {
            connection.sender_timer = deadline;
            self.shared.events.push(deadline, Target::new(EventKind::SenderTimer, number as u32));
        }
        if !self.backlogged.is_empty() {
            self.begin_to_hold(number);
        }
    }

    /// Sends a SYN.
    #[cold]
    fn send_syn(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        let wait = connection.socket.as_mut().map_or(Span::ZERO, |socket| socket.wait(false));
        flow.session.ledger.sent.control += 1;
        let route = flow.forward;
        let packet = Packet {
            flow: number as u32,
            next: route.rest,
            length: u32::from(flow.identity.headers) + SYN_OPTIONS + self.overhead,
            stamp: self.shared.now,
            role: Role::Data,
            flags: flags::SYN,
            ecn: flow.identity.ecn,
            ..Packet::default()
        };
        self.send_resolved(packet, route.first, wait);
    }

    /// Answers a SYN, as often as it comes, with a refusal while the receiver does not listen yet.
    #[cold]
    fn answer_syn(&mut self, number: usize, sent_at: Time) {
        let flow = &mut self.flows[number];
        flow.session.ledger.received.control += 1;
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        let (wait, listens) = connection
            .socket
            .as_mut()
            .map_or((Span::ZERO, true), |socket| (socket.wait(true), socket.listens(self.shared.now)));
        flow.session.ledger.sent.control += 1;
        let route = flow.reverse;
        let packet = Packet {
            flow: number as u32,
            next: route.rest,
            length: u32::from(flow.identity.headers) + SYN_OPTIONS + self.overhead,
            stamp: sent_at,
            role: Role::Ack,
            flags: if listens { flags::SYN | flags::ACK } else { flags::RST | flags::ACK },
            ecn: flow.identity.ecn,
            ..Packet::default()
        };
        self.send_resolved(packet, route.first, wait);
    }

    /// Sends a packet, which may have to wait for the address of its first hop.
    #[cold]
    fn send_resolved(&mut self, packet: Packet, first: u32, wait: Span) {
        if wait == Span::ZERO {
            self.send(packet, first);
        } else {
            self.send_after(packet, wait);
        }
    }

    /// Sends an acknowledgment back.
    #[inline(always)]
    fn acknowledge(&mut self, number: usize, ack: &Acknowledgment) {
        let flow = &mut self.flows[number];
        if let Endpoints::Tcp(connection) = &mut flow.endpoints {
            connection.receiver_counts.sent += 1;
        }
        // RFC 2018 section 3: two bytes and eight for each block, padded to a multiple of four.
        let sack_bytes = if ack.sack_count == 0 { 0 } else { 4 + 8 * u32::from(ack.sack_count) };
        let route = flow.reverse;
        let packet = Packet {
            flow: number as u32,
            next: route.rest,
            length: u32::from(flow.identity.headers) + sack_bytes + self.overhead,
            number: ack.ack,
            payload: ack.report,
            stamp: ack.echo,
            sack: ack.sack,
            sack_count: ack.sack_count,
            role: Role::Ack,
            flags: flags::ACK | if ack.ece { flags::ECE } else { 0 },
            ..Packet::default()
        };
        self.send(packet, route.first);
    }

    /// One event stands for the timer; a deadline that has moved later is looked up again when it fires.
    fn arm_receiver(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        if let Some(deadline) = connection.receiver.deadline()
            && deadline < connection.receiver_timer
        {
            connection.receiver_timer = deadline;
            self.shared.events.push(deadline, Target::new(EventKind::ReceiverTimer, number as u32));
        }
    }

    pub(crate) fn on_sender_timer(&mut self, number: usize) -> Option<Time> {
        self.write_backlog(number);
        let Endpoints::Tcp(connection) = &mut self.flows[number].endpoints else {
            return self.on_datagram_timer(number, Side::Client);
        };
        if connection.sender_timer != self.shared.now {
            return None;
        }
        connection.sender_timer = Time::MAX;
        let timed_out = connection.sender.on_timer(self.shared.now);
        if !self.shared.metrics.observers.is_empty() {
            self.observe_sender(number, timed_out);
        }
        self.pump(number);
        None
    }

    pub(crate) fn on_pace(&mut self, number: usize) -> Option<Time> {
        self.write_backlog(number);
        let Endpoints::Tcp(connection) = &mut self.flows[number].endpoints else {
            return self.on_rate_pace(number);
        };
        connection.paced = false;
        self.pump(number);
        None
    }

    pub(crate) fn on_receiver_timer(&mut self, number: usize) -> Option<Time> {
        let Endpoints::Tcp(connection) = &mut self.flows[number].endpoints else {
            return self.on_datagram_timer(number, Side::Server);
        };
        if connection.receiver_timer != self.shared.now {
            return None;
        }
        connection.receiver_timer = Time::MAX;
        match connection.receiver.on_timer(self.shared.now) {
            Some(ack) => self.acknowledge(number, &ack),
            None => self.arm_receiver(number),
        }
        None
    }
}
