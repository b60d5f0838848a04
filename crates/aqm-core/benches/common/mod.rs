//! Loads that the benchmarks share: one step is the work of a host for each packet that it sends.

use aqm_core::link::Link;
use aqm_core::packet::Packet;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span, Time};
use std::collections::VecDeque;

/// A standing queue: number of flows, number of queued packets, time per packet, and whether packets that the law
/// drops are replaced.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// Its name.
    pub(crate) name: &'static str,
    flows: u64,
    backlog: u64,
    step: Span,
    refill: bool,
}

/// With 12 us per packet (1500 bytes at 1 Gbit/s) 100 packets wait 1.2 ms, below every target: laws only watch. At 60
/// us, 500 packets wait 30 ms, above every target: laws act, and up to two packets arrive for one that leaves.
pub(crate) const LOADS: [Load; 3] = [
    Load { name: "1_flow", flows: 1, backlog: 100, step: Span::from_micros(12), refill: false },
    Load { name: "1000_flows", flows: 1000, backlog: 100, step: Span::from_micros(12), refill: false },
    Load { name: "congested", flows: 100, backlog: 500, step: Span::from_micros(60), refill: true },
];

/// A source of packets at almost no cost: flows in turn, from a table, each from its own host to one of four.
struct Source {
    flows: [u64; 1024],
    number: u64,
}

impl Source {
    fn new(load: Load) -> Source {
        Source { flows: std::array::from_fn(|n| hashed(n as u64 % load.flows)), number: 0 }
    }

    #[inline]
    fn packet(&mut self) -> Packet {
        self.number += 1;
        let flow = self.flows[self.number as usize % 1024];
        let mut packet = Packet::new(self.number, flow, 1500);
        (packet.source, packet.destination) = (flow as u32, flow as u32 % 4);
        packet
    }
}

/// A benchmark whose steps can be repeated without end.
pub(crate) trait Stage {
    /// One packet is sent.
    fn step(&mut self);
}

/// A discipline under a load.
pub(crate) struct Queue {
    qdisc: Qdisc,
    source: Source,
    load: Load,
    now: Time,
}

impl Queue {
    /// `spec` with the load's backlog, after warm-up.
    pub(crate) fn new(spec: &Spec, load: Load) -> Queue {
        let link = Link::new(Rate::from_mbit(1000));
        let qdisc = spec.build(link, Random::seeded(1)).expect("the registry's defaults can be built");
        let mut queue = Queue { qdisc, source: Source::new(load), load, now: Time::ZERO };
        for _ in 0..load.backlog {
            queue.arrive();
        }
        for _ in 0..20_000 {
            queue.step();
        }
        queue
    }

    /// The discipline in its shell.
    #[allow(dead_code, reason = "one of the two programs asks for its size")]
    pub(crate) fn qdisc(&self) -> &Qdisc {
        &self.qdisc
    }

    #[inline]
    fn arrive(&mut self) {
        self.qdisc.enqueue(self.source.packet(), self.now, &mut Unobserved);
    }
}

impl Stage for Queue {
    #[inline]
    fn step(&mut self) {
        self.now += self.load.step;
        if self.qdisc.wakes() && self.qdisc.next_wakeup().is_some_and(|due| due <= self.now) {
            self.qdisc.wake(self.now, &mut Unobserved);
        }
        self.arrive();
        if self.load.refill && self.qdisc.backlog().packets < self.load.backlog {
            self.arrive();
        }
        std::hint::black_box(&self.qdisc.dequeue(self.now, &mut Unobserved));
    }
}

/// The reference: the same packets through a ring, nothing else.
pub(crate) struct Ring {
    packets: VecDeque<Packet>,
    source: Source,
}

impl Ring {
    /// A ring with the load's backlog.
    pub(crate) fn new(load: Load) -> Ring {
        let mut ring = Ring { packets: VecDeque::with_capacity(1024), source: Source::new(load) };
        for _ in 0..load.backlog {
            ring.packets.push_back(ring.source.packet());
        }
        ring
    }
}

impl Stage for Ring {
    #[inline]
    fn step(&mut self) {
        self.packets.push_back(self.source.packet());
        std::hint::black_box(&self.packets.pop_front());
    }
}

/// A number that looks like the hash of a 5-tuple.
fn hashed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
