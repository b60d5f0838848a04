//! What moves endpoints: packets at the end of their routes, and sources that have something to send.

use crate::endpoint::flow::Endpoints;
use crate::endpoint::stack::Side;
use crate::network::packet::{Packet, PacketId, Role};
use crate::simulation::state::Simulation;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;

impl Simulation {
    /// A packet has reached the end of its route.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, id: PacketId) {
        match self.shared.slab[id].role {
            Role::Data => self.receive_segment(id),
            Role::Ack => self.receive_acknowledgment(id),
            Role::Datagram => self.receive_datagram(id),
            Role::Feedback => self.deliver_feedback(id),
            Role::Pause => self.on_pause(id),
        }
    }

    #[inline(never)]
    fn receive_datagram(&mut self, id: PacketId) {
        let packet = self.shared.slab[id];
        if self.take_out(id, &packet) {
            self.deliver_datagram(packet.flow as usize, packet);
        }
    }

    /// Takes a packet out of the network that has come to its endpoint. Answers whether the endpoint has still to read it.
    #[inline(always)]
    pub(super) fn take_out(&mut self, id: PacketId, packet: &Packet) -> bool {
        if !self.shared.metrics.observers.is_empty() {
            self.observe_at_host(id, |observer, seen| observer.on_received(seen));
        }
        if packet.record.is_some() {
            if self.open_record(id) {
                return false;
            }
            self.shared.slab.remove(id);
        } else {
            self.shared.slab.remove_plain(id);
        }
        if packet.ecn == Ecn::Ce {
            self.shared.metrics.flows[packet.flow as usize].marked -= 1;
        }
        true
    }

    /// A packet with a record has reached the end of its route; answers whether that was all of it.
    #[cold]
    #[inline(never)]
    fn open_record(&mut self, id: PacketId) -> bool {
        if let Some(payload) = self.shared.slab.take_payload(id) {
            self.deliver_payload(id, payload);
            return true;
        }
        self.read_telemetry(id);
        false
    }

    /// A source has something to send.
    pub(crate) fn on_source(&mut self, index: usize) -> Option<Time> {
        if let Some(again) = self.hold_piece(index) {
            return Some(again);
        }
        self.write_backlog(index);
        if index >= self.flows.len() {
            let index = index - self.flows.len();
            return match index.checked_sub(self.replays.len()) {
                None => self.on_replay(index),
                Some(user) => self.on_application_wake(user),
            };
        }
        let now = self.shared.now;
        let flow = &mut self.flows[index];
        let Some(source) = &mut flow.session.source else {
            match &mut flow.endpoints {
                Endpoints::Tcp(connection) if now >= flow.session.stop => connection.sender.stop(),
                Endpoints::Tcp(connection) => {
                    let stop = Some(flow.session.stop).filter(|&stop| stop != Time::MAX);
                    connection.sender.write(flow.session.size);
                    connection.sender.close();
                    self.pump(index);
                    return stop;
                }
                Endpoints::Datagrams => return self.start_datagrams(index),
            }
            return None;
        };
        let (message, gap) = source.next();
        match &mut flow.endpoints {
            Endpoints::Tcp(connection) => {
                if connection.socket.as_mut().is_some_and(|socket| socket.opens()) {
                    connection.sender.connect();
                    self.pump(index);
                    return Some(now + gap);
                }
                let bytes = message.unwrap_or(u64::from(flow.session.piece));
                if connection.takes(bytes) {
                    connection.sender.write(bytes);
                }
                self.pump(index);
            }
            Endpoints::Datagrams => match &mut flow.session.stack {
                Some(ends) => {
                    ends.write(message.unwrap_or(u64::from(flow.session.piece)), now);
                    self.pump_stack(index, Side::Client);
                }
                None => self.send_message(index, message),
            },
        }
        Some(now + gap)
    }
}
