//! Datagrams: nothing answers and nothing is sent again.

use crate::endpoint::flow::Session;
use crate::endpoint::recorded::Recorded;
use crate::endpoint::stack::Side;
use crate::network::packet::{Packet, Role};
use crate::simulation::state::Simulation;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};

/// A message of datagrams is cut here: a heavy tail knows no bounds, and all its datagrams are sent at once.
const LARGEST_MESSAGE: u64 = 16 << 20;

impl Simulation {
    /// A datagram has arrived, or what a receiver of datagrams answers.
    #[inline(never)]
    pub(super) fn deliver_datagram(&mut self, number: usize, packet: Packet) {
        if packet.role == Role::Ack {
            self.flows[number].session.ledger.received.control += 1;
            return self.on_rated_answer(number, &packet);
        }
        self.shared.metrics.on_delivery(packet.flow, self.shared.now.since(packet.stamp));
        let session = &mut self.flows[number].session;
        session.ledger.received.add_datagram(packet.payload);
        if session.rate_endpoints.is_some() {
            return self.on_rated_delivery(number, &packet);
        }
        self.shared.metrics.shares[number].total += u64::from(packet.payload);
    }

    /// A flow of a rate-based sender or of a real transport begins, or one of the latter stops. Answers when it does so.
    #[cold]
    pub(super) fn start_datagrams(&mut self, number: usize) -> Option<Time> {
        let Session { stack, stop, .. } = &mut *self.flows[number].session;
        let (stop, now) = (*stop, self.shared.now);
        match stack {
            Some(ends) => {
                if now >= stop {
                    ends.stop(now);
                }
                self.pump_stack(number, Side::Client);
            }
            None => self.arm_rated(number),
        }
        Some(stop).filter(|&stop| stop != Time::MAX && now < stop)
    }

    /// The timer of one of its ends may be due.
    #[cold]
    pub(super) fn on_datagram_timer(&mut self, number: usize, side: Side) -> Option<Time> {
        match &self.flows[number].session.stack {
            Some(_) => self.on_stack_timer(number, side),
            None => self.on_rate_timer(number),
        }
    }

    /// Sends a message in as many datagrams as it takes; `None` is one full datagram.
    pub(super) fn send_message(&mut self, index: usize, message: Option<u64>) {
        let flow = &self.flows[index];
        let (headers, ecn) = (u32::from(flow.identity.headers), flow.identity.ecn);
        let room = flow.session.piece - headers;
        let mut left = message.unwrap_or(u64::from(room)).min(LARGEST_MESSAGE);
        loop {
            let payload = left.min(u64::from(room)) as u32;
            left -= u64::from(payload);
            let ip_length = payload + headers;
            let flow = index as u32;
            self.send_datagram(Recorded { at: Span::ZERO, flow, ip_length, payload, ecn, tcp: None });
            if left == 0 || self.shared.slab.is_exceeded() {
                return;
            }
        }
    }

    /// Sends what nothing reacts to.
    pub(super) fn send_datagram(&mut self, datagram: Recorded) {
        let tcp = datagram.tcp.as_ref();
        let flow = &mut self.flows[datagram.flow as usize];
        flow.session.ledger.sent.add_datagram(datagram.payload);
        // A recorded packet may have been marked elsewhere.
        if datagram.ecn == Ecn::Ce {
            self.shared.metrics.flows[datagram.flow as usize].marked += 1;
        }
        let route = flow.forward;
        let packet = Packet {
            flow: datagram.flow,
            next: route.rest,
            length: datagram.ip_length + self.overhead,
            payload: datagram.payload,
            stamp: self.shared.now,
            number: tcp.map_or(0, |tcp| u64::from(tcp.seq)),
            // A recorded segment's acknowledgment number has no other place: its blocks are not replayed.
            sack: [(tcp.map_or(0, |tcp| tcp.ack), 0), (0, 0), (0, 0)],
            flags: tcp.map_or(0, |tcp| tcp.flags),
            sack_count: tcp.map_or(0, |tcp| u8::from(tcp.has_sack)),
            role: Role::Datagram,
            ecn: datagram.ecn,
            ..Packet::default()
        };
        self.send(packet, route.first);
    }
}
