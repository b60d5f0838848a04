//! # What it does
//! A few queues under strict priority, each with a bound on ranks that adapts to the packets: when a packet joins a
//! queue, the bound rises to its rank; when it ranks below all bounds, all of them fall. This approximates a PIFO
//! without sorting.
//!
//! # Reference
//! A. Gran Alcoz, A. Dietmüller and L. Vanbever, "SP-PIFO: Approximating Push-In First-Out Behaviors using
//! Strict-Priority Queues" (NSDI 2020), algorithm 1; nsg-ethz/SP-PIFO for the values of its simulations.
//!
//! # Parameters
//! See `aqmlab aqm show sp_pifo`.
//!
//! # Deviations
//! `limit` applies to all queues together, and `queue_limit` to each (the paper has only the latter). At the limit of all
//! the newest packet of the last queue gives way to one of a queue before it, as in a PIFO. As in the
//! authors' simulator a dropped packet does not change bounds. Ranks: as in `pifo`.
//!
//! # Promises
//! No order, not even within a flow: a later packet may join a queue of higher priority, once bounds have risen.
//! Drops the arriving packet when its queue is full, and one of the last queue when the limit is; never marks.

use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits, ranked};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::rank::Ranks;
use crate::law::sp_pifo::Bounds;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::{Chain, Pool};
use crate::signal::DropReason;
use crate::units::{Size, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "sp_pifo",
    group: Group::Flow,
    summary: "SP-PIFO: a PIFO approximated by strict-priority queues with bounds that adapt",
    reference: "Gran Alcoz 2020",
    params: &[
        LIMIT,
        ParamSpec::new(
            "queues",
            Kind::Count,
            Value::Count(8),
            (1.0, 256.0),
            "Queues under strict priority",
            "Gran Alcoz 2020, nsg-ethz/SP-PIFO: 8 (and 32 for fairness)",
        ),
        ParamSpec::new(
            "queue_limit",
            Kind::Size,
            Value::Auto,
            (1.0, 1e12),
            "Limit of each queue, in packets or bytes",
            "Gran Alcoz 2020, nsg-ethz/SP-PIFO: 10 packets, and no limit beside it",
        )
        .or_auto("limit"),
        ranked::RANK,
        ranked::SLACK,
        ranked::FLOWS,
    ],
    presets: &[
        Preset { name: "stfq", source: "Sivaraman 2016 figure 1: start-time fair queueing", values: &[] },
        ranked::PRIORITY,
        ranked::LSTF,
    ],
    probes: &[
        ProbeSpec { name: "busy_queues", unit: "queues", help: "Queues in which packets wait" },
        ProbeSpec { name: "last_bound", unit: "rank", help: "Bound of the queue that goes last" },
    ],
    traits: Traits {
        wakes: false,
        ecn: false,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: true,
        quiet_packets: u64::MAX,
        flow_state_bytes: size_of::<u64>(),
    },
    deviations: "one limit for all queues beside that of each; ranks as in pifo",
    build,
};

/// One queue: its packets, and the ranks that they came with.
#[derive(Default)]
struct Queue {
    chain: Chain,
    ranks: VecDeque<u64>,
}

struct SpPifo {
    /// The first has the highest priority.
    queues: Vec<Queue>,
    bounds: Bounds,
    pool: Pool,
    ranks: Ranks,
    limit: Size,
    queue_limit: Size,
}

fn limits(params: &Params) -> (Size, Size) {
    let limit = params.size("limit").expect("limit has no auto");
    (limit, params.size("queue_limit").unwrap_or(limit))
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let (limit, queue_limit) = limits(params);
    let queues: Vec<Queue> = (0..params.count("queues")).map(|_| Queue::default()).collect();
    let (bounds, pool, ranks) = (Bounds::new(queues.len()), Pool::default(), ranked::ranks(params));
    Ok(Box::new(SpPifo { queues, bounds, pool, ranks, limit, queue_limit }))
}

impl Queue {
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.ranks.len() as u64, bytes: self.chain.bytes() }
    }
}

impl SpPifo {
    /// Removes the newest packet of a queue.
    fn pop_newest(&mut self, number: usize) -> Option<Packet> {
        let queue = &mut self.queues[number];
        let rank = queue.ranks.pop_back()?;
        let newest = self.pool.pop_newest(&mut queue.chain)?;
        self.ranks.evicted(&newest, rank);
        Some(newest)
    }

    /// Drops the newest packets of queues behind queue `number` for one of `length`; returns whether there is room now.
    #[cold]
    fn make_room(&mut self, number: usize, length: u32, cx: &mut Cx<'_>) -> bool {
        let fits = !Backlog::default().would_exceed(self.limit, length);
        while fits && self.pool.backlog().would_exceed(self.limit, length) {
            let mut behind = (number + 1..self.queues.len()).rev();
            let Some(last) = behind.find(|queue| !self.queues[*queue].ranks.is_empty()) else {
                return false;
            };
            let newest = self.pop_newest(last).expect("it is not empty");
            cx.drop(newest, DropReason::Overlimit);
        }
        fits
    }

    /// Drops the newest packets of queues beyond their limit, and those of the last queues if the common limit is
    /// exceeded.
    fn trim(&mut self, cx: &mut Cx<'_>) {
        for number in (0..self.queues.len()).rev() {
            while self.queues[number].backlog().exceeds(self.queue_limit)
                || (self.pool.backlog().exceeds(self.limit) && !self.queues[number].ranks.is_empty())
            {
                let newest = self.pop_newest(number).expect("it is not empty");
                cx.drop(newest, DropReason::Reconfigured);
            }
        }
    }
}

impl Discipline for SpPifo {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let rank = self.ranks.of(&packet, cx.now);
        let number = self.bounds.map(rank);
        let full = self.queues[number].backlog().would_exceed(self.queue_limit, packet.length)
            || (self.pool.backlog().would_exceed(self.limit, packet.length)
                && !self.make_room(number, packet.length, cx));
        if full {
            return cx.drop(packet, DropReason::Overlimit);
        }
        self.ranks.queued(&packet, rank);
        let queue = &mut self.queues[number];
        queue.ranks.push_back(rank);
        self.pool.push(&mut queue.chain, packet);
        self.bounds.adapt(number, rank);
    }

    #[inline]
    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        let queue = self.queues.iter_mut().find(|queue| !queue.ranks.is_empty())?;
        self.ranks.sent(queue.ranks.pop_front()?);
        self.pool.pop(&mut queue.chain)
    }

    fn parts_limit(&self) -> Option<Size> {
        let all = self.queue_limit.count().saturating_mul(self.queues.len() as u64);
        Some(self.queue_limit.with_count(all))
    }

    /// The newest packet of the last queue that has one.
    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        (0..self.queues.len()).rev().find_map(|number| self.pop_newest(number))
    }

    fn backlog(&self) -> Backlog {
        self.pool.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        ranked::check(params, &self.ranks)?;
        let queues = params.count("queues");
        if queues != self.queues.len() as u64 {
            return Err(ParamError::while_packets_wait("queues", queues));
        }
        (self.limit, self.queue_limit) = limits(params);
        self.trim(cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        for number in 0..self.queues.len() {
            while let Some(packet) = self.pop_newest(number) {
                cx.drop(packet, DropReason::Reconfigured);
            }
        }
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("busy_queues", self.queues.iter().filter(|queue| !queue.ranks.is_empty()).count() as f64);
        sink("last_bound", self.bounds.as_slice()[self.queues.len() - 1] as f64);
    }

    /// The rank of a queued packet counts as part of it.
    fn state_bytes(&self) -> usize {
        size_of::<SpPifo>()
            + self.ranks.table_bytes()
            + self.queues.len() * (size_of::<Queue>() + size_of::<u64>())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};
    use super::*;

    /// Enqueues packets of these classes, which are their ranks; cookies count from zero.
    fn feed(spec: &str, ranks: &[u16]) -> Host {
        let mut host = Host::new(spec);
        for (cookie, rank) in ranks.iter().enumerate() {
            put_class(&mut host, cookie as u64, *rank, 100);
        }
        host
    }

    #[test]
    fn bounds_decide_the_queue_of_a_packet() {
        let two = "sp_pifo:priority queues 2";
        // 5 joins the last queue (bounds 0, 5), 3 and 4 the first (4, 5), 1 as well, which ranks 3 below (1, 2).
        // 2 joins the last queue now: that is an inversion, for 3 and 4 go first.
        let mut host = feed(two, &[5, 3, 4, 1, 2]);
        assert_eq!((host.probe("last_bound"), host.probe("busy_queues")), (2.0, 2.0));
        assert_eq!(rest(&mut host), [1, 2, 3, 0, 4]);
    }

    #[test]
    fn one_queue_is_first_in_first_out() {
        assert_eq!(rest(&mut feed("sp_pifo:priority queues 1", &[5, 3, 9, 1, 1])), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn with_a_queue_for_each_rank_it_becomes_a_pifo() {
        // Bounds 0, 0, 0: 2 joins the third, 1 the second, 0 the first; they stay.
        let mut host = feed("sp_pifo:priority queues 3", &[2, 1, 0, 2, 0, 1, 2, 1, 0]);
        assert_eq!(rest(&mut host), [2, 4, 8, 1, 5, 7, 0, 3, 6]);
    }

    #[test]
    fn a_packet_may_overtake_its_own_flow() {
        let mut host = Host::new("sp_pifo queues 2");
        host.put(ms(0), 0, 1, 1000); // starts at 0, joins the last queue
        host.put(ms(0), 10, 2, 3000); // 0, the last as well
        host.put(ms(0), 11, 2, 3000); // 3000, to which the bound of the last rises
        host.put(ms(0), 1, 1, 1000); // 1000, joins the first
        assert_eq!(rest(&mut host), [1, 0, 10, 11]);
        host.put(ms(1), 2, 1, 1000); // virtual time is 3000, not that of the packet before
        assert_eq!(host.probe("last_bound"), 3000.0);
    }

    #[test]
    fn a_full_queue_drops_although_others_are_not_full_and_keeps_the_bounds() {
        let mut host = feed("sp_pifo:priority queues 2 queue_limit 2p", &[5, 6, 7, 3]); // bounds 3, 6
        assert_eq!((host.dropped(), host.probe("last_bound")), (alloc::vec![2], 6.0));
        put_class(&mut host, 4, 0, 100); // three less each
        put_class(&mut host, 5, 0, 100); // the first queue is full
        assert_eq!((host.dropped(), host.probe("last_bound")), (alloc::vec![2, 5], 3.0));
    }

    #[test]
    fn the_newest_packet_of_the_last_queue_gives_way_to_one_before_it() {
        // 5 and 6 are in the last queue, 3 and 4 before it; 7 would join the last.
        let host = feed("sp_pifo:priority queues 2 limit 3p", &[5, 6, 3, 4, 7]);
        assert_eq!(host.dropped(), [1, 4]);
    }

    #[test]
    fn lower_limits_drop_the_newest_packets_of_the_last_queues() {
        let change = |name: &str, value: &str| {
            let mut host = feed("sp_pifo:priority queues 2", &[5, 6, 7, 3, 4]);
            host.qdisc.change(&[(name, value)], ms(1), &mut host.log).unwrap();
            assert!(host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Reconfigured));
            host.dropped()
        };
        assert_eq!(change("limit", "4p"), [2]);
        assert_eq!(change("limit", "1p"), [2, 1, 0, 4]);
        assert_eq!(change("queue_limit", "1p"), [2, 1, 4]);
        let mut host = Host::new("sp_pifo");
        let error = host.qdisc.change(&[("queues", "9")], ms(0), &mut host.log).unwrap_err();
        assert_eq!(error.param, "queues");
    }
}
