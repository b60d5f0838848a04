//! Packets at the ends of their routes: senders, receivers, sources, timers.

use super::{Endpoints, Recorded, Simulation};
use crate::engine::{Kind, Target};
use crate::packet::{Packet, PacketId, Role};
use crate::transport::{Acknowledgment, Segment, flags};
use aqm_core::units::{Span, Time};

/// A message of datagrams is cut here: a heavy tail knows no bounds, and all its datagrams are sent at once.
const LARGEST_MESSAGE: u64 = 16 << 20;
/// Bytes by which the options of a SYN exceed those of a segment (MSS, window scale, SACK permitted).
const SYN_OPTIONS: u32 = 8;

impl Simulation {
    /// A packet has reached the end of its route.
    pub(super) fn deliver(&mut self, id: PacketId) {
        let packet = self.slab[id];
        self.slab.remove(id);
        let (number, now) = (packet.flow as usize, self.now);
        let flow = &mut self.flows[number];
        match (packet.role, &mut flow.endpoints) {
            (Role::Data, Endpoints::Tcp(_)) if packet.flags & flags::SYN != 0 => {
                self.answer_syn(number, &packet);
            }
            (Role::Data, Endpoints::Tcp(connection)) => {
                self.metrics.on_delivery(packet.flow, now.since(packet.stamp));
                if let Some(earlier) = connection.receiver.before_segment(packet.ecn) {
                    self.acknowledge(number, &earlier);
                }
                let flow = &mut self.flows[number];
                let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
                let receiver = &mut connection.receiver;
                let segment = Segment {
                    seq: packet.number,
                    payload: packet.payload,
                    sent_at: packet.stamp,
                    ecn: packet.ecn,
                    cwr: packet.ecn_flag,
                    fin: packet.flags & flags::FIN != 0,
                };
                let answer = receiver.on_segment(&segment, now);
                let delivered = receiver.delivered();
                self.metrics.flows[number].payload_total = delivered;
                let complete = delivered >= flow.awaited;
                match answer {
                    Some(ack) => self.acknowledge(number, &ack),
                    None => self.arm_receiver(number),
                }
                if complete {
                    self.on_awaited(number);
                }
            }
            (Role::Ack, Endpoints::Tcp(connection)) if packet.flags & flags::SYN != 0 => {
                connection.sender.on_syn_answered(packet.stamp, now);
                self.pump(number);
            }
            (Role::Ack, Endpoints::Tcp(connection)) => {
                let ack = Acknowledgment {
                    ack: packet.number,
                    echo: packet.stamp,
                    sack: packet.sack,
                    sack_count: packet.sack_count,
                    ece: packet.ecn_flag,
                    note: packet.payload,
                };
                connection.sender.on_ack(&ack, now);
                self.pump(number);
            }
            _ => {
                self.metrics.on_delivery(packet.flow, now.since(packet.stamp));
                self.metrics.flows[number].payload_total += u64::from(packet.payload);
            }
        }
    }

    /// Sends what the sender may send now.
    pub(super) fn pump(&mut self, number: usize) {
        let now = self.now;
        loop {
            let flow = &mut self.flows[number];
            let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
            let Some(sent) = connection.sender.poll(now) else { break };
            let syn = sent.flags & flags::SYN != 0;
            let options = if syn { SYN_OPTIONS } else { 0 };
            let packet = Packet {
                flow: number as u32,
                next: flow.forward,
                length: sent.payload + flow.headers + options + self.overhead,
                payload: sent.payload,
                stamp: now,
                number: sent.seq,
                role: Role::Data,
                flags: sent.flags,
                ecn: if syn { flow.identity.ecn } else { sent.ecn },
                ecn_flag: sent.cwr,
                ..Packet::default()
            };
            let id = self.slab.insert(packet);
            self.forward(id);
        }
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        if let Some(until) = connection.sender.paced_until(now)
            && !connection.paced
        {
            connection.paced = true;
            self.events.push(until, Target::new(Kind::Pace, number as u32));
        }
        if let Some(deadline) = connection.sender.deadline()
            && deadline < connection.sender_timer
        {
            connection.sender_timer = deadline;
            self.events.push(deadline, Target::new(Kind::SenderTimer, number as u32));
        }
    }

    /// Answers a SYN, as often as it comes.
    fn answer_syn(&mut self, number: usize, syn: &Packet) {
        let flow = &self.flows[number];
        let packet = Packet {
            flow: number as u32,
            next: flow.reverse,
            length: flow.headers + SYN_OPTIONS + self.overhead,
            stamp: syn.stamp,
            role: Role::Ack,
            flags: flags::SYN | flags::ACK,
            ecn: flow.identity.ecn,
            ..Packet::default()
        };
        let id = self.slab.insert(packet);
        self.forward(id);
    }

    /// Sends an acknowledgment back.
    pub(super) fn acknowledge(&mut self, number: usize, ack: &Acknowledgment) {
        let flow = &self.flows[number];
        // RFC 2018 section 3: two bytes and eight for each block, padded to a multiple of four.
        let sack_bytes = if ack.sack_count == 0 { 0 } else { 4 + 8 * u32::from(ack.sack_count) };
        let packet = Packet {
            flow: number as u32,
            next: flow.reverse,
            length: flow.headers + sack_bytes + self.overhead,
            number: ack.ack,
            payload: ack.note,
            stamp: ack.echo,
            sack: ack.sack,
            sack_count: ack.sack_count,
            role: Role::Ack,
            flags: flags::ACK,
            ecn_flag: ack.ece,
            ..Packet::default()
        };
        let id = self.slab.insert(packet);
        self.forward(id);
    }

    /// One event stands for the timer; a deadline that has moved later is looked up again when it fires.
    pub(super) fn arm_receiver(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        if let Some(deadline) = connection.receiver.deadline()
            && deadline < connection.receiver_timer
        {
            connection.receiver_timer = deadline;
            self.events.push(deadline, Target::new(Kind::ReceiverTimer, number as u32));
        }
    }

    pub(super) fn on_sender_timer(&mut self, number: usize) -> Option<Time> {
        let Endpoints::Tcp(connection) = &mut self.flows[number].endpoints else { return None };
        if connection.sender_timer != self.now {
            return None;
        }
        connection.sender_timer = Time::MAX;
        connection.sender.on_timer(self.now);
        self.pump(number);
        None
    }

    pub(super) fn on_pace(&mut self, number: usize) -> Option<Time> {
        let Endpoints::Tcp(connection) = &mut self.flows[number].endpoints else { return None };
        connection.paced = false;
        self.pump(number);
        None
    }

    pub(super) fn on_receiver_timer(&mut self, number: usize) -> Option<Time> {
        let Endpoints::Tcp(connection) = &mut self.flows[number].endpoints else { return None };
        if connection.receiver_timer != self.now {
            return None;
        }
        connection.receiver_timer = Time::MAX;
        match connection.receiver.on_timer(self.now) {
            Some(ack) => self.acknowledge(number, &ack),
            None => self.arm_receiver(number),
        }
        None
    }

    /// A source has something to send.
    pub(super) fn on_source(&mut self, index: usize) -> Option<Time> {
        if index >= self.flows.len() {
            let index = index - self.flows.len();
            return match index.checked_sub(self.replays.len()) {
                None => self.on_replay(index),
                Some(user) => self.on_call(user),
            };
        }
        let now = self.now;
        let flow = &mut self.flows[index];
        let Some(source) = &mut flow.session.source else {
            if let Endpoints::Tcp(connection) = &mut flow.endpoints {
                connection.sender.write(flow.session.size);
                connection.sender.close();
            }
            self.pump(index);
            return None;
        };
        let (message, gap) = source.next();
        match &mut flow.endpoints {
            Endpoints::Tcp(connection) => {
                connection.sender.write(message.unwrap_or(u64::from(flow.piece)));
                self.pump(index);
            }
            Endpoints::Datagrams => self.send_message(index, message),
        }
        Some(now + gap)
    }

    /// Sends a message in as many datagrams as it takes; `None` is one full datagram.
    fn send_message(&mut self, index: usize, message: Option<u64>) {
        let flow = &self.flows[index];
        let (headers, ecn) = (flow.headers, flow.identity.ecn);
        let room = flow.piece - headers;
        let mut left = message.unwrap_or(u64::from(room)).min(LARGEST_MESSAGE);
        loop {
            let payload = left.min(u64::from(room)) as u32;
            left -= u64::from(payload);
            let ip_length = payload + headers;
            let flow = index as u32;
            self.send_datagram(Recorded { at: Span::ZERO, flow, ip_length, payload, ecn, tcp: None });
            if left == 0 {
                return;
            }
        }
    }

    pub(super) fn on_replay(&mut self, index: usize) -> Option<Time> {
        let replay = &mut self.replays[index];
        let recorded = replay.packets[replay.next];
        replay.next += 1;
        let again = replay.packets.get(replay.next).map(|next| replay.start + next.at);
        self.send_datagram(recorded);
        again
    }

    /// Sends what nothing reacts to.
    pub(super) fn send_datagram(&mut self, datagram: Recorded) {
        let tcp = datagram.tcp.as_ref();
        let packet = Packet {
            flow: datagram.flow,
            next: self.flows[datagram.flow as usize].forward,
            length: datagram.ip_length + self.overhead,
            payload: datagram.payload,
            stamp: self.now,
            number: tcp.map_or(0, |tcp| u64::from(tcp.seq)),
            // A recorded segment's acknowledgment number has no other place: its blocks are not replayed.
            sack: [(tcp.map_or(0, |tcp| tcp.ack), 0), (0, 0), (0, 0)],
            flags: tcp.map_or(0, |tcp| tcp.flags),
            sack_count: tcp.map_or(0, |tcp| u8::from(tcp.has_sack)),
            role: Role::Datagram,
            ecn: datagram.ecn,
            ..Packet::default()
        };
        let id = self.slab.insert(packet);
        self.forward(id);
    }
}
