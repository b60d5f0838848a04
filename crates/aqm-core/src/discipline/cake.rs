//! # What it does
//! A shaper, with tins of traffic by code point below it, and in each tin a queue for each flow, fairness between
//! hosts, and COBALT on each queue: everything that a home gateway needs, in one discipline.
//!
//! Give it room: with a buffer of one bandwidth-delay product a lone flow may lose half of its rate and more. Slow start
//! overflows the buffer, each overflow raises BLUE's drop probability, and it falls only when the queue of a flow is
//! found empty while others wait. Linux does so, too, once its buffer overflows; its slow start rarely overflows one of this
//! size, nor does that of `profile=linux` ([measured](../../../validate/linux/README.md#a-lone-flow-behind-a-small-cake)).
//! Linux' CAKE has at least 4 MB. Runs in which this happens have a warning.
//!
//! # Reference
//! T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways" (2018); tc-cake(8); the behaviour of Linux `sch_cake`.
//!
//! # Parameters
//! See `aqmlab aqm show cake`. Keywords have no parameter name, as in tc: `cake bandwidth 20mbit diffserv4
//! dual-srchost ack-filter`.
//!
//! # Deviations
//! Those of `cobalt`. Shares of a quantum are counted in 1/256 of a byte (Linux: rounded at random). A flow that
//! finds its set full shares its home queue without taking it over, so that flows stay in order (Linux: takes it
//! over). The ACK filter keeps all acknowledgments with SACK blocks, which it cannot compare. `limit` counts packets,
//! and `memlimit` their bytes (Linux: full packets, and the memory of buffers). `overhead` is always added to the IP
//! packet. Decaying queues are visited by number. The estimate of `autorate_ingress` counts acknowledgments that the
//! filter drops, and is used four times a second at most (Linux 6.12: each time). The firewall mark of `fwmark` is the
//! packet's class. Packets are single and addresses are not translated, so there are no split-gso and no nat; `wash`, which
//! clears code points behind CAKE, is left out.
//!
//! # Promises
//! Packets of one flow stay in order; a full buffer drops from the head of the flow with the most bytes; one random
//! number in a run, for the hash, when the first packet arrives, then those of `cobalt`; at most `bandwidth` is sent,
//! plus a packet; 64 bytes and a bit per flow queue, and ten in the round.

mod acks;
mod autorate;
mod circle;
mod flows;
mod framing;
mod isolation;
mod sets;
mod settings;
mod shaper;
#[cfg(test)]
mod tests;
mod tin;
mod tins;

use super::{Blueprint, Built, Discipline, Group, Info, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{ParamError, Params, Preset};
use crate::queue::Pool;
use crate::signal::DropReason;
use crate::units::{Rate, Span, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;
use autorate::Autorate;
pub use framing::{Cells, LinkLayer};
use isolation::{Fairness, Isolation};
use settings::Settings;
use shaper::Shaper;
use tin::Tin;
use tins::{Keyword, Plan, Rank};

/// The registry entry.
pub static INFO: Info = Info {
    name: "cake",
    group: Group::Flow,
    summary: "CAKE: a shaper, tins by code point, fairness between hosts and flows, COBALT",
    reference: "Høiland-Jørgensen, Täht and Morton 2018; tc-cake(8); Linux sch_cake",
    params: settings::PARAMS,
    presets: &[Preset {
        name: "linux",
        source: "tc-cake(8) of iproute2; cake_enqueue() and cake_dequeue() of Linux 6.12 net/sched/sch_cake.c: the defaults are Linux's",
        values: &[],
    }],
    probes: &[
        ProbeSpec {
            name: "sparse_flows",
            unit: "flows",
            help: "Flow queues that are new or became active again",
        },
        ProbeSpec { name: "bulk_flows", unit: "flows", help: "Flow queues that keep a backlog" },
        ProbeSpec {
            name: "decaying_flows",
            unit: "flows",
            help: "Empty flow queues whose law still has state",
        },
        ProbeSpec {
            name: "collisions",
            unit: "packets",
            help: "Packets queued with another flow's (hash collisions)",
        },
        ProbeSpec {
            name: "capacity_estimate",
            unit: "bit/s",
            help: "Link rate as autorate_ingress estimates it",
        },
        ProbeSpec { name: "background_delay", unit: "s", help: "Mean delay in tins below best effort" },
        ProbeSpec { name: "best_effort_delay", unit: "s", help: "Mean delay in the tin for best effort" },
        ProbeSpec { name: "priority_delay", unit: "s", help: "Mean delay in tins above best effort" },
        ProbeSpec { name: "background_drops", unit: "packets", help: "Drops in tins below best effort" },
        ProbeSpec { name: "best_effort_drops", unit: "packets", help: "Drops in the tin for best effort" },
        ProbeSpec { name: "priority_drops", unit: "packets", help: "Drops in tins above best effort" },
        ProbeSpec { name: "background_marks", unit: "packets", help: "Marks in tins below best effort" },
        ProbeSpec { name: "best_effort_marks", unit: "packets", help: "Marks in the tin for best effort" },
        ProbeSpec { name: "priority_marks", unit: "packets", help: "Marks in tins above best effort" },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: size_of::<flows::Queue>() + circle::Circle::ENTRY,
    },
    deviations: "no dithering; collisions never reorder a flow; the ACK filter keeps SACKs; limit and memlimit count packets and their bytes; overhead is on top of IP; autorate_ingress counts all arrivals; fwmark is the class; no split-gso, nat, wash",
    build,
};

struct Cake {
    settings: Settings,
    plan: Plan,
    /// Settings that cannot change while packets are queued: tins, isolation, queues.
    fixed: (Keyword, Fairness, usize),
    tins: Vec<Tin>,
    /// The packets of all tins.
    pool: Pool,
    /// The tin whose turn it is.
    turn: usize,
    shaper: Shaper,
    autorate: Option<Autorate>,
    /// Drawn when the first packet arrives.
    isolation: Option<Isolation>,
    /// Until when the shaper holds back a packet.
    wake_at: Option<Time>,
    link: Link,
}

fn fixed(params: &Params) -> Result<(Keyword, Fairness, usize), ParamError> {
    Ok((params.choice("tins"), params.choice("isolation"), settings::queues(params)?))
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = Settings::read(params, link)?;
    let fixed = fixed(params)?;
    let plan = Plan::new(fixed.0, settings.bandwidth);
    Ok(Box::new(Cake {
        tins: plan.shares.iter().map(|share| Tin::new(&settings, share, fixed.2)).collect(),
        pool: Pool::default(),
        turn: 0,
        shaper: Shaper::new(settings.bandwidth),
        autorate: params.flag("autorate_ingress").then(Autorate::default),
        settings,
        plan,
        fixed,
        isolation: None,
        wake_at: None,
        link: *link,
    }))
}

impl Cake {
    /// Drops from the head of the flow with the most bytes in all tins, a packet at a time, until the buffer limit is
    /// met.
    #[cold]
    fn shrink(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        while self.settings.overfull(self.pool.backlog()) {
            let (tin, queue) = self.fattest().expect("what waits is on a list");
            let Cake { tins, settings, shaper, pool, .. } = self;
            if let Some(packet) = tins[tin].shed(queue, reason, settings, shaper, pool, cx.now) {
                cx.drop(packet, reason);
            }
        }
    }

    /// Tin and number of the queue with the most bytes.
    fn fattest(&self) -> Option<(usize, usize)> {
        let mut fattest: Option<(usize, usize, u64)> = None;
        for (tin, flows) in self.tins.iter().map(|tin| &tin.flows).enumerate() {
            if let Some((queue, bytes)) = flows.fattest()
                && fattest.is_none_or(|(_, _, most)| bytes > most)
            {
                fattest = Some((tin, queue, bytes));
            }
        }
        fattest.map(|(tin, queue, _)| (tin, queue))
    }

    /// The tin to serve if something waits: of those within their threshold the last, else the one that will be first to
    /// return to it.
    #[inline]
    fn scheduled_tin(tins: &[Tin], now: Time) -> Option<usize> {
        let mut best: Option<(usize, Time)> = None;
        for (number, tin) in tins.iter().enumerate().filter(|(_, tin)| tin.flows.is_active()) {
            let at = tin.threshold.next;
            if at <= now || best.is_none_or(|(_, earliest)| at <= earliest) {
                best = Some((number, at));
            }
        }
        best.map(|(number, _)| number)
    }

    /// The tin whose turn it is in a round by weights, used if no rate is known and something waits.
    #[inline]
    fn weighted_tin(tins: &mut [Tin], turn: &mut usize) -> usize {
        loop {
            while let Some(tin) = tins.get_mut(*turn) {
                if tin.deficit >= 0 && tin.flows.is_active() {
                    return *turn;
                }
                if tin.deficit <= 0 {
                    tin.deficit += i64::from(tin.weight);
                }
                *turn += 1;
            }
            *turn = 0;
        }
    }

    /// Divides another bandwidth among the tins.
    fn set_bandwidth(&mut self, bandwidth: Option<Rate>) {
        self.settings = self.settings.under(bandwidth);
        self.plan = Plan::new(self.fixed.0, bandwidth);
        for (tin, share) in self.tins.iter_mut().zip(&self.plan.shares) {
            tin.change(&self.settings, share);
        }
        self.shaper.rate = bandwidth;
    }

    fn sum(&self, rank: Rank, value: fn(&Tin) -> u64) -> f64 {
        self.tins.iter().filter(|tin| tin.rank == rank).map(value).sum::<u64>() as f64
    }
}

impl Discipline for Cake {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let keyword = self.fixed.1;
        let isolation = &*self.isolation.get_or_insert_with(|| Isolation::new(keyword, cx.below(u64::MAX)));
        if self.pool.backlog().packets == 0 {
            self.shaper.start(cx.now);
        }
        let length = packet.length;
        let tin = self.plan.tin(&packet, self.settings.fwmark);
        self.tins[tin].enqueue(packet, isolation, &self.settings, &mut self.shaper, &mut self.pool, cx);
        if let Some(autorate) = &mut self.autorate
            && let Some(rate) = autorate.arrive(length, cx.now)
        {
            self.set_bandwidth(Some(rate));
        }
        if self.settings.overfull(self.pool.backlog()) {
            self.shrink(DropReason::Overlimit, cx);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let isolation = self.isolation.as_ref()?;
        let mut decayed = false;
        // The law drops no last packet of a queue: one will be found, unless drops use up the shaper's time.
        loop {
            if self.pool.backlog().packets == 0 {
                return None;
            }
            self.wake_at = self.shaper.not_before(cx.now);
            if self.wake_at.is_some() {
                return None;
            }
            let number = match self.settings.bandwidth {
                Some(_) => Cake::scheduled_tin(&self.tins, cx.now)?,
                None => Cake::weighted_tin(&mut self.tins, &mut self.turn),
            };
            if !decayed {
                self.tins[number].decay(cx.now);
                decayed = true;
            }
            let tin = &mut self.tins[number];
            if let Some(queue) = tin.ready(isolation, &self.settings, &mut self.shaper, &mut self.pool, cx) {
                return tin.send(queue, &self.settings, &mut self.shaper, &mut self.pool, cx.now);
            }
        }
    }

    /// From the queue with the most bytes, whatever the shaper says.
    fn evict(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let (tin, queue) = self.fattest()?;
        let Cake { tins, settings, shaper, pool, .. } = self;
        tins[tin].shed(queue, DropReason::Overlimit, settings, shaper, pool, cx.now)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.pool.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let settings = Settings::read(params, &self.link)?;
        let now_fixed = fixed(params)?;
        for (name, changed) in [
            ("tins", now_fixed.0 != self.fixed.0),
            ("isolation", now_fixed.1 != self.fixed.1),
            ("queues", now_fixed.2 != self.fixed.2),
            ("fwmark", settings.fwmark != self.settings.fwmark),
        ] {
            if changed {
                return Err(ParamError::while_packets_wait(name, params.get(name)));
            }
        }
        let autorate = params.flag("autorate_ingress");
        self.autorate = autorate.then(|| self.autorate.unwrap_or_default());
        // An estimate remains until the next one, unless the rate is set again.
        let estimate =
            self.settings.bandwidth.filter(|_| autorate && settings.initial == self.settings.initial);
        self.settings = settings;
        self.set_bandwidth(estimate.or(settings.bandwidth));
        self.shrink(DropReason::Reconfigured, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        for tin in &mut self.tins {
            tin.flows.purge(&mut self.pool, cx);
        }
        self.wake_at = None;
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.wake_at
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        self.wake_at = self.wake_at.filter(|due| *due > cx.now);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        let mut counts = [0; 3];
        for tin in &self.tins {
            counts.iter_mut().zip(tin.flows.counts()).for_each(|(sum, count)| *sum += count);
        }
        let [sparse, bulk, decaying] = counts.map(f64::from);
        sink("sparse_flows", sparse);
        sink("bulk_flows", bulk);
        sink("decaying_flows", decaying);
        sink("collisions", self.tins.iter().map(|tin| tin.flows.collisions()).sum::<u64>() as f64);
        sink(
            "capacity_estimate",
            self.autorate.map_or(0.0, |estimate| estimate.capacity().as_bits_per_sec() as f64),
        );
        let longest = |rank: Rank| {
            let delays = self.tins.iter().filter(|tin| tin.rank == rank).map(|tin| tin.delay);
            delays.max().unwrap_or(Span::ZERO).as_secs_f64()
        };
        sink("background_delay", longest(Rank::Background));
        sink("best_effort_delay", longest(Rank::BestEffort));
        sink("priority_delay", longest(Rank::Priority));
        sink("background_drops", self.sum(Rank::Background, |tin| tin.drops));
        sink("best_effort_drops", self.sum(Rank::BestEffort, |tin| tin.drops));
        sink("priority_drops", self.sum(Rank::Priority, |tin| tin.drops));
        sink("background_marks", self.sum(Rank::Background, |tin| tin.marks));
        sink("best_effort_marks", self.sum(Rank::BestEffort, |tin| tin.marks));
        sink("priority_marks", self.sum(Rank::Priority, |tin| tin.marks));
    }

    fn state_bytes(&self) -> usize {
        let tins: usize = self.tins.iter().map(|tin| size_of::<Tin>() + tin.flows.state_bytes()).sum();
        size_of::<Cake>() + tins
    }
}
