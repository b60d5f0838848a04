//! Traffic without a simulator: arrivals, and requests of the link.

use aqm_core::packet::Ecn;
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Rate, Span};

/// The link of every test.
pub(crate) const LINK_RATE: Rate = Rate::from_mbit(10);

/// One step of a host.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A packet arrives.
    Arrive { flow: u64, length: u32, ecn: Ecn },
    /// The link is free.
    Serve,
    /// Time passes.
    Advance(Span),
    /// A wake-up that was not requested.
    Wake,
    /// A parameter changes; both numbers are taken modulo the number of choices.
    Change { param: usize, value: usize },
}

/// A period with one offered load, as a multiple of the link's rate.
pub(crate) type Phase = (Span, f64);

/// A kind of traffic.
pub(crate) struct Workload {
    /// Its name in snapshots.
    pub(crate) name: &'static str,
    /// How the load changes.
    pub(crate) phases: &'static [Phase],
    /// Packets come from this many flows; flow 0 sends half of them.
    pub(crate) flows: u64,
    /// ECN fields, drawn evenly.
    pub(crate) ecn: &'static [Ecn],
}

const fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// Every kind of traffic that matters to laws: too little, too much, bursts with silence between, and marks.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload { name: "underload", phases: &[(ms(1000), 0.6)], flows: 8, ecn: &[Ecn::NotEct] },
    Workload { name: "overload", phases: &[(ms(1500), 1.3)], flows: 8, ecn: &[Ecn::NotEct] },
    Workload {
        name: "bursts",
        phases: &[(ms(400), 2.0), (ms(600), 0.0), (ms(300), 4.0), (ms(400), 0.1), (ms(300), 1.5)],
        flows: 30,
        ecn: &[Ecn::NotEct],
    },
    Workload {
        name: "ecn",
        phases: &[(ms(1500), 1.3)],
        flows: 8,
        ecn: &[Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce],
    },
];

/// Five seconds of everything: growing overload, relief, silence, a burst, all ECN fields.
pub(crate) const EVERYTHING: Workload = Workload {
    name: "everything",
    phases: &[
        (ms(500), 0.7),
        (ms(1500), 1.3),
        (ms(400), 0.3),
        (ms(700), 0.0),
        (ms(200), 5.0),
        (ms(1200), 1.05),
        (ms(500), 2.0),
    ],
    flows: 20,
    ecn: &[Ecn::NotEct, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce],
};

impl Workload {
    /// The steps of this traffic with random numbers from `seed`; no step depends on what a discipline does.
    pub(crate) fn ops(&self, seed: u64) -> Vec<Op> {
        const LENGTHS: [u32; 5] = [64, 590, 1000, 1514, 1514];
        let mean = LENGTHS.iter().sum::<u32>() / LENGTHS.len() as u32;
        let slot = LINK_RATE.time_for(Bytes::new(u64::from(mean)));
        let mut random = Random::stream(seed, self.name);
        let mut ops = Vec::new();
        for (length, load) in self.phases {
            let mut left = *length;
            let mut until_serve = slot;
            let mut until_arrival = self.gap(slot, *load, &mut random);
            while left > Span::ZERO {
                let step = left.min(until_serve).min(until_arrival);
                left = left.saturating_sub(step);
                until_serve = until_serve.saturating_sub(step);
                until_arrival = until_arrival.saturating_sub(step);
                ops.push(Op::Advance(step));
                if until_arrival == Span::ZERO {
                    ops.push(Op::Arrive {
                        flow: if random.below(2) == 0 { 0 } else { random.below(self.flows) },
                        length: LENGTHS[random.below(LENGTHS.len() as u64) as usize],
                        ecn: self.ecn[random.below(self.ecn.len() as u64) as usize],
                    });
                    until_arrival = self.gap(slot, *load, &mut random);
                }
                if until_serve == Span::ZERO {
                    ops.push(Op::Serve);
                    until_serve = slot;
                }
            }
        }
        ops
    }

    /// Time to the next arrival: uniform around its mean.
    fn gap(&self, slot: Span, load: f64, random: &mut Random) -> Span {
        if load == 0.0 {
            return Span::MAX;
        }
        Span::from_secs_f64(slot.as_secs_f64() / load * 2.0 * random.uniform()).max(Span::from_nanos(1))
    }
}
