//! What disciplines and programs emit, as packets: routed from the port's node to the host that they are for.

use super::state::{END, Simulation};
use crate::network::emissions::Directory;
use crate::network::graph::{LinkId, NodeId};
use crate::network::packet::{Packet, Role};
use crate::network::port::PortId;
use crate::network::records::{Feedback, Record};
use crate::network::routes::{Route, Routes};
use aqm_core::signal::Emission;
use aqm_core::units::{Span, Time};
use std::collections::BTreeMap;

impl Simulation {
    /// Sends what disciplines have asked for at this instant.
    #[cold]
    pub(super) fn send_emissions(&mut self) -> Option<Time> {
        while let Some((port, emission)) = self.shared.emissions.pending.pop_front() {
            match self.address(port, &emission) {
                Some((flow, route, propagation)) => {
                    let values = emission.values;
                    let earliest = self.shared.now + propagation;
                    let record = Record::Feedback(Feedback { class: emission.class, values, earliest });
                    let packet = Packet {
                        flow,
                        next: route.rest,
                        length: emission.length.max(self.overhead),
                        stamp: self.shared.now,
                        role: Role::Feedback,
                        record: Some(self.shared.slab.records.insert(record)),
                        ..Packet::default()
                    };
                    self.flows[flow as usize].session.ledger.sent.feedback += 1;
                    self.shared.metrics.feedback.sent += 1;
                    self.send(packet, route.first);
                }
                None => self.shared.metrics.feedback.unaddressed += 1,
            }
        }
        None
    }

    /// The flow that an emission is about, and the route from the port's node to the host that it is for: where the flow
    /// begins, or where it ends if an acknowledgment was the cause. `None` if it is for neither.
    fn address(&mut self, port: PortId, emission: &Emission) -> Option<(u32, Route, Span)> {
        let directory = self.shared.emissions.directory.get_or_insert_with(|| {
            let mut flows = BTreeMap::new();
            for (number, flow) in self.flows.iter().enumerate() {
                let hash = flow.identity.hash;
                flows.entry(hash).or_insert((number as u32, false));
                flows.entry(!hash).or_insert((number as u32, true));
            }
            Directory { routes: Routes::of(&self.network), flows, known: BTreeMap::new() }
        });
        let &(number, by_receiver) = directory.flows.get(&emission.flow)?;
        let identity = &self.flows[number as usize].identity;
        let host = if by_receiver { identity.destination } else { identity.source };
        if emission.to != host {
            return None;
        }
        let from = self.network.links[port].from;
        let key = (from, number, by_receiver);
        if let Some(&(known, propagation)) = directory.known.get(&key) {
            return Some((number, known, propagation));
        }
        let links = self.path_of(number);
        let to = if by_receiver {
            self.network.links[*links.last()?].to
        } else {
            self.network.links[*links.first()?].from
        };
        let directory = self.shared.emissions.directory.as_mut()?;
        let route = directory.routes.route(&self.network, from, to, emission.flow | 1)?;
        let propagation =
            route.iter().fold(Span::ZERO, |sum, &link| sum + self.network.links[link].least_delay());
        let start = self.shared.routes.len();
        self.shared.routes.extend(route.iter().map(|&link| link as u32).chain([END]));
        let route = Route { first: self.shared.routes[start], rest: start as u32 + 1 };
        directory.known.insert(key, (route, propagation));
        Some((number, route, propagation))
    }

    /// The links of a flow's route forward.
    fn path_of(&self, flow: u32) -> Vec<LinkId> {
        let start = self.flows[flow as usize].forward.start();
        self.shared.routes[start..]
            .iter()
            .take_while(|&&port| port != END)
            .map(|&port| port as LinkId)
            .collect()
    }

    /// Whether the discipline or the program of a port may emit packets.
    fn emits(&self, port: PortId) -> bool {
        let programs = self.shared.switches.as_ref();
        self.ports[port].device().is_some_and(|device| device.qdisc.emits())
            || programs.is_some_and(|switches| switches.has_program(port))
    }

    /// Whether any packets may be emitted.
    pub(super) fn has_emissions(&self) -> bool {
        (0..self.ports.len()).any(|port| self.emits(port))
    }

    /// Whether emitted packets, if there are any, may reach `port` other than by way of `upstream`: from a discipline at its
    /// node, or through another node that is no host.
    pub(super) fn emissions_may_enter(&self, port: PortId, upstream: PortId) -> bool {
        let node = self.network.links[port].from;
        let is_host =
            |other: NodeId| self.network.out[other].iter().all(|&link| self.network.links[link].to == node);
        let mut others = self.network.into[node].iter().filter(|link| **link != upstream);
        self.network.out[node].iter().any(|link| self.emits(*link))
            || others.any(|&link| !is_host(self.network.links[link].from))
    }
}
