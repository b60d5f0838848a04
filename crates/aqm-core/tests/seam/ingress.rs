//! The port by which a packet came in: a discipline that serves the ports of a switch in turn, like virtual output
//! queues.

use super::{PLAIN, info, spec};
use crate::common::link;
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Info, Traits};
use aqm_core::packet::Packet;
use aqm_core::params::{ParamError, Params};
use aqm_core::queue::Fifo;
use aqm_core::random::Random;
use aqm_core::signal::Unobserved;
use aqm_core::units::Time;
use std::collections::BTreeMap;

static PORTS: Info = info("ports", &[], Traits { reorders_flows: true, ..PLAIN }, build);

/// A queue for each ingress port, served in turn.
#[derive(Default)]
struct Ports {
    queues: BTreeMap<u16, Fifo>,
    served: Option<u16>,
}

fn build(_: Blueprint<'_>) -> Built {
    Ok(Box::new(Ports::default()))
}

impl Discipline for Ports {
    fn enqueue(&mut self, packet: Packet, _cx: &mut Cx<'_>) {
        self.queues.entry(packet.ingress).or_default().push(packet);
    }

    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        let busy: Vec<u16> =
            self.queues.iter().filter(|(_, queue)| !queue.is_empty()).map(|(port, _)| *port).collect();
        let next = busy.iter().find(|port| Some(**port) > self.served).or(busy.first()).copied();
        self.served = next;
        self.queues.get_mut(&next?)?.pop()
    }

    fn backlog(&self) -> Backlog {
        self.queues.values().map(Fifo::backlog).fold(Backlog::default(), |sum, queue| Backlog {
            packets: sum.packets + queue.packets,
            bytes: sum.bytes + queue.bytes,
        })
    }

    fn change(&mut self, _params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queues.values_mut().for_each(|queue| queue.purge(cx));
    }

    fn state_bytes(&self) -> usize {
        size_of::<Ports>()
    }
}

#[test]
fn ports_take_turns_whatever_their_load() {
    let mut qdisc = spec(&PORTS).build(link(), Random::seeded(1)).unwrap();
    for (cookie, ingress) in [7, 7, 7, 2, 65_535].into_iter().enumerate() {
        let mut packet = Packet::new(cookie as u64, 0, 1000);
        packet.ingress = ingress;
        qdisc.enqueue(packet, Time::ZERO, &mut Unobserved);
    }
    let order = std::iter::from_fn(|| qdisc.dequeue(Time::ZERO, &mut Unobserved)).map(|packet| packet.cookie);
    assert_eq!(order.collect::<Vec<_>>(), [3, 0, 4, 1, 2]);
}
