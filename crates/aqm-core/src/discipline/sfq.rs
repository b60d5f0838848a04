//! # What it does
//! A queue for each flow (by hash), served in rounds of a quantum of bytes; when full, drops from the longest queue.
//! The hash changes periodically, so that flows share a queue only for a while.
//!
//! # Reference
//! P. McKenney, "Stochastic Fairness Queueing" (INFOCOM 1990); Linux `sch_sfq`, tc-sfq(8).
//!
//! # Parameters
//! See `aqmlab aqm show sfq`.
//!
//! # Deviations
//! The hash changes with the first packet after its period has ended, not by a timer. Among equally long queues the
//! first in the round loses a packet; Linux takes the one that reached that length last. RED in each queue has Linux's rules and
//! `red`'s arithmetic: a random number per packet on the curve, no fixed point. Its `redflowlimit` is no limit: as in Linux,
//! thresholds follow from it. The paper serves one packet per turn; `quantum 64b` is close to it. `divisor` and `flows` cannot
//! change while running.
//!
//! # Promises
//! Packets of one flow stay in order, also when the hash changes; drops only when full: the whole (`limit`),
//! one queue (`depth`), or the table of queues (`flows`), and with `redflowlimit` by RED; one random number with the first packet
//! and with every new hash, and one per packet on RED's curve; marks with `redflowlimit` and `ecn` only.

use super::sfq_red::{self, Fate, FlowRed};
use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::{Chain, Longest, Pool, Rank};
use crate::signal::DropReason;
use crate::sketch::mix;
use crate::units::{Bytes, Size, Span, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "sfq",
    group: Group::Flow,
    summary: "Stochastic fairness queueing: flows in turn; when full, drops from the longest",
    reference: "McKenney 1990; Linux sfq, tc-sfq(8)",
    params: &[
        LIMIT
            .with_default(Value::Size(Size::Packets(127)), "tc-sfq(8): 127 packets")
            .with_help("Limit of the queue, in packets or bytes in all queues"),
        ParamSpec::new(
            "depth",
            Kind::Count,
            Value::Count(127),
            (1.0, 65_536.0),
            "Limit of each queue, in packets",
            "tc-sfq(8): 127 packets",
        ),
        ParamSpec::new(
            "flows",
            Kind::Count,
            Value::Count(128),
            (1.0, 65_536.0),
            "Limit of queues that hold packets at a time",
            "Linux 6.12 net/sched/sch_sfq.c: 128 (tc-sfq(8) says 127)",
        ),
        ParamSpec::new(
            "divisor",
            Kind::Count,
            Value::Count(1024),
            (1.0, 65_536.0),
            "Queues that flows are hashed to",
            "tc-sfq(8): 1024",
        ),
        ParamSpec::new(
            "quantum",
            Kind::Bytes,
            Value::Bytes(Bytes::new(1514)),
            (64.0, 1e6),
            "Bytes that a queue may send in a round",
            "tc-sfq(8): the MTU of the interface",
        ),
        ParamSpec::new(
            "perturb",
            Kind::Span,
            Value::Span(Span::ZERO),
            (0.0, 1e13),
            "Period after which the hash changes; 0 for never",
            "tc-sfq(8): 0, advised 60 s",
        ),
        ParamSpec::flag(
            "headdrop",
            false,
            "When full, drop the oldest packet of the longest queue, not its newest",
            "tc-sfq(8): off",
        ),
        sfq_red::REDFLOWLIMIT,
        sfq_red::MIN,
        sfq_red::MAX,
        sfq_red::PROBABILITY,
        sfq_red::AVPKT,
        sfq_red::BURST,
        sfq_red::W,
        sfq_red::ECN,
        sfq_red::HARDDROP,
    ],
    presets: &[
        Preset {
            name: "linux",
            source: "sfq_enqueue() of Linux 6.12 net/sched/sch_sfq.c, tc-sfq(8): the defaults are Linux's",
            values: &[],
        },
        Preset {
            name: "perturbed",
            source: "tc-sfq(8): advised period 60 s",
            values: &[("perturb", Value::Span(Span::from_secs(60)))],
        },
    ],
    probes: &[
        ProbeSpec { name: "active_flows", unit: "flows", help: "Queues with packets" },
        ProbeSpec { name: "longest_queue", unit: "packets", help: "Packets in the longest queue" },
    ],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: u64::MAX,
        flow_state_bytes: size_of::<Queue>(),
    },
    deviations: "RED inside by floats; a new hash comes with the next packet, not by a timer; of equally long queues the first loses a packet",
    build,
};

/// The packets of the flows with one hash.
#[derive(Clone, Debug, Default)]
struct Queue {
    chain: Chain,
    packets: u32,
    /// When it went to the end of the round.
    turn: u32,
    /// Bytes that it may still send in this round; Linux's allot.
    allotment: i64,
}

impl Queue {
    /// Its length in the unit of `limit`; of equally long queues the first in the round is the first.
    #[inline]
    fn rank(&self, limit: Size) -> Rank {
        let backlog = Backlog { packets: u64::from(self.packets), bytes: self.chain.bytes() };
        Rank::new(backlog.in_unit_of(limit), self.turn)
    }
}

struct Settings {
    limit: Size,
    depth: u32,
    flows: usize,
    quantum: i64,
    perturb: Span,
    headdrop: bool,
}

/// The hash in use.
struct Hash {
    salt: u64,
    since: Time,
}

struct Sfq {
    settings: Settings,
    queues: Vec<Queue>,
    pool: Pool,
    /// Queues with packets in the order of their turns.
    round: VecDeque<u32>,
    /// How often a queue went to the end of the round, until they are recounted.
    turns: u32,
    longest: Longest,
    /// Drawn when the first packet arrives.
    hash: Option<Hash>,
    red: Option<Box<FlowRed>>,
}

fn settings(params: &Params) -> Settings {
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        depth: params.count("depth") as u32,
        flows: params.count("flows") as usize,
        quantum: params.bytes("quantum").expect("quantum has no auto").as_u64() as i64,
        perturb: params.span("perturb"),
        headdrop: params.flag("headdrop"),
    }
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(Sfq::new(params)?))
}

impl Sfq {
    fn new(params: &Params) -> Result<Sfq, ParamError> {
        let settings = settings(params);
        let queues = vec![Queue::default(); params.count("divisor") as usize];
        let round = VecDeque::with_capacity(settings.flows.min(queues.len()));
        let red = FlowRed::read(params, queues.len())?.map(Box::new);
        Ok(Sfq {
            settings,
            queues,
            pool: Pool::default(),
            round,
            turns: 0,
            longest: Longest::default(),
            hash: None,
            red,
        })
    }

    /// The queue of `flow`.
    #[inline]
    fn classify(&self, flow: u64) -> usize {
        let salt = self.hash.as_ref().map_or(0, |hash| hash.salt);
        ((u128::from(mix(flow ^ salt)) * self.queues.len() as u128) >> 64) as usize
    }

    /// Appends `packet` to its queue. An empty queue gets its turn after all others.
    #[inline(always)]
    fn push(&mut self, number: usize, packet: Packet) {
        if self.queues[number].packets == 0 {
            let turn = self.next_turn();
            let queue = &mut self.queues[number];
            (queue.turn, queue.allotment) = (turn, self.settings.quantum);
            self.round.push_back(number as u32);
        }
        let queue = &mut self.queues[number];
        self.pool.push(&mut queue.chain, packet);
        queue.packets += 1;
    }

    /// The turn after all others.
    #[inline]
    fn next_turn(&mut self) -> u32 {
        if self.turns == u32::MAX {
            self.count_turns_anew();
        }
        self.turns += 1;
        self.turns
    }

    /// Gives the queues of the round, in its order, the turns from 1 on.
    #[cold]
    fn count_turns_anew(&mut self) {
        self.turns = self.round.len() as u32;
        for (turn, number) in (1..).zip(&self.round) {
            self.queues[*number as usize].turn = turn;
        }
        self.longest.clear();
    }

    /// Takes a packet from a queue of the round.
    #[inline]
    fn take(&mut self, number: usize, newest: bool) -> Packet {
        let queue = &mut self.queues[number];
        let packet =
            if newest { self.pool.pop_newest(&mut queue.chain) } else { self.pool.pop(&mut queue.chain) };
        queue.packets -= 1;
        packet.expect("queues in the round have packets")
    }

    /// Takes the oldest packet of the first queue in the round, which leaves the round with its last packet.
    #[inline(always)]
    fn take_first(&mut self, number: usize) -> Packet {
        let packet = self.take(number, false);
        if self.queues[number].packets == 0 {
            self.round.pop_front();
        }
        packet
    }

    /// Draws a hash with the first packet, and another one when its period has ended.
    #[inline]
    fn perturb(&mut self, cx: &mut Cx<'_>) {
        match &self.hash {
            None => self.hash = Some(Hash { salt: cx.below(u64::MAX), since: cx.now }),
            Some(hash) => {
                let period = self.settings.perturb;
                if period > Span::ZERO && cx.now.since(hash.since) >= period {
                    self.rehash(cx);
                }
            }
        }
    }

    /// Changes the hash, and with it the queue of each packet. The packets of a flow stay in order, since they come
    /// from one queue.
    #[cold]
    fn rehash(&mut self, cx: &mut Cx<'_>) {
        self.hash = Some(Hash { salt: cx.below(u64::MAX), since: cx.now });
        let mut all = Chain::default();
        for queue in &mut self.queues {
            while let Some(packet) = self.pool.pop(&mut queue.chain) {
                self.pool.push(&mut all, packet);
            }
            queue.packets = 0;
        }
        self.round.clear();
        self.longest.clear();
        while let Some(packet) = self.pool.pop(&mut all) {
            let number = self.classify(packet.flow);
            if self.has_room(number) {
                if let Some(red) = &mut self.red {
                    red.rejoin(number, self.queues[number].chain.bytes(), cx.now);
                }
                self.push(number, packet);
            } else {
                cx.drop(packet, DropReason::Overlimit);
            }
        }
    }

    /// A packet arrives at a queue under RED. Apart, so that without RED nothing is in the way.
    #[cold]
    fn enqueue_under_red(&mut self, number: usize, mut packet: Packet, cx: &mut Cx<'_>) {
        let (Some(red), queue) = (&mut self.red, &mut self.queues[number]) else { return };
        let bytes = queue.chain.bytes();
        let oldest = if self.settings.headdrop { self.pool.peek(&queue.chain) } else { None };
        match red.arrive(number, bytes, oldest, &mut packet, cx) {
            Fate::Enters => self.admit(number, packet, cx),
            Fate::Drop => self.replace(number, packet, DropReason::Congestion, cx),
        }
    }

    /// A packet enters its queue if there is room.
    #[inline(always)]
    fn admit(&mut self, number: usize, packet: Packet, cx: &mut Cx<'_>) {
        if !self.has_room(number) {
            return self.replace(number, packet, DropReason::Overlimit, cx);
        }
        self.push(number, packet);
        self.lengthened(number, cx);
    }

    /// A queue has another packet at its end.
    #[inline(always)]
    fn lengthened(&mut self, number: usize, cx: &mut Cx<'_>) {
        self.longest.lengthen(number, || self.queues[number].rank(self.settings.limit));
        if self.pool.backlog().exceeds(self.settings.limit) {
            self.shrink(DropReason::Overlimit, cx);
        }
    }

    /// `packet` or, with headdrop, the oldest of its queue is dropped; the queue keeps its turn.
    #[cold]
    fn replace(&mut self, number: usize, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        let queue = &mut self.queues[number];
        if !self.settings.headdrop || queue.packets == 0 {
            return cx.drop(packet, reason);
        }
        let oldest = self.pool.pop(&mut queue.chain).expect("it is not empty");
        cx.drop(oldest, reason);
        self.pool.push(&mut queue.chain, packet);
        self.lengthened(number, cx);
    }

    /// Whether a queue can take another packet.
    #[inline]
    fn has_room(&self, number: usize) -> bool {
        match self.queues[number].packets {
            0 => self.round.len() < self.settings.flows,
            packets => packets < self.settings.depth,
        }
    }

    /// Drops from the longest queue until the limit is met.
    #[cold]
    fn shrink(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        while self.pool.backlog().exceeds(self.settings.limit) {
            let victim = self.take_from_longest().expect("something is too much");
            cx.drop(victim, reason);
        }
    }

    fn take_from_longest(&mut self) -> Option<Packet> {
        let rank = |queue: usize| self.queues[queue].rank(self.settings.limit);
        let longest = self.longest.find(self.queues.len(), rank)?;
        let victim = self.take(longest, !self.settings.headdrop);
        if self.queues[longest].packets == 0 {
            self.round.retain(|queue| *queue as usize != longest);
        }
        Some(victim)
    }
}

impl Discipline for Sfq {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        self.perturb(cx);
        let number = self.classify(packet.flow);
        if self.red.is_some() {
            return self.enqueue_under_red(number, packet, cx);
        }
        self.admit(number, packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let first = *self.round.front()? as usize;
            if self.queues[first].allotment > 0 {
                let packet = self.take_first(first);
                self.queues[first].allotment -= i64::from(packet.length);
                return Some(packet);
            }
            self.queues[first].turn = self.next_turn();
            self.queues[first].allotment += self.settings.quantum;
            self.round.rotate_left(1);
        }
    }

    /// From the longest queue.
    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.take_from_longest()
    }

    fn backlog(&self) -> Backlog {
        self.pool.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        for (name, now) in [("divisor", self.queues.len()), ("flows", self.settings.flows)] {
            let wanted = params.count(name);
            if wanted != now as u64 {
                return Err(ParamError::while_packets_wait(name, wanted));
            }
        }
        let red = FlowRed::read(params, self.queues.len())?.map(Box::new);
        let before = core::mem::replace(&mut self.red, red);
        if let (Some(red), Some(before)) = (&mut self.red, before) {
            red.adopt(*before);
        }
        self.settings = settings(params);
        // The limit may count in the other unit.
        self.longest.clear();
        self.shrink(DropReason::Reconfigured, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        while let Some(&first) = self.round.front() {
            let packet = self.take_first(first as usize);
            cx.drop(packet, DropReason::Reconfigured);
        }
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("active_flows", self.round.len() as f64);
        let longest = self.round.iter().map(|number| self.queues[*number as usize].packets).max();
        sink("longest_queue", f64::from(longest.unwrap_or(0)));
    }

    fn state_bytes(&self) -> usize {
        let round = self.round.capacity() * size_of::<u32>() + self.longest.bytes();
        let red = self.red.as_ref().map_or(0, |red| red.state_bytes());
        size_of::<Sfq>() + self.queues.len() * size_of::<Queue>() + round + red
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, Log, ms};
    use super::*;
    use crate::counters::Counters;
    use crate::cx::Shell;
    use crate::paused::PausedClasses;
    use crate::random::Random;
    use crate::signal::DropPoint;
    use crate::spec::Spec;
    use alloc::string::ToString;

    fn rest(host: &mut Host) -> Vec<u64> {
        core::iter::from_fn(|| host.get(ms(1))).collect()
    }

    #[test]
    fn flows_take_turns_of_a_quantum_of_bytes() {
        let mut host = Host::new("sfq quantum 1000b");
        (0..6).for_each(|cookie| host.put(ms(0), cookie, 1, 500));
        (10..13).for_each(|cookie| host.put(ms(0), cookie, 2, 1000));
        // Flow 1: 1000 - 500 - 500 = 0, its turn is over.
        assert_eq!(rest(&mut host), [0, 1, 10, 2, 3, 11, 4, 5, 12]);
    }

    #[test]
    fn a_flow_that_starts_waits_for_all_others() {
        let mut host = Host::new("sfq quantum 500b");
        (0..3).for_each(|cookie| host.put(ms(0), cookie, 1, 500));
        (10..13).for_each(|cookie| host.put(ms(0), cookie, 2, 500));
        assert_eq!(host.get(ms(0)), Some(0)); // flow 1 has used up its quantum; its turn is not over until it is asked
        host.put(ms(0), 20, 3, 500);
        assert_eq!(rest(&mut host), [10, 20, 1, 11, 2, 12]);
    }

    #[test]
    fn a_packet_beyond_the_quantum_is_paid_for_in_later_rounds() {
        let mut host = Host::new("sfq quantum 500b");
        (0..2).for_each(|cookie| host.put(ms(0), cookie, 1, 1400)); // 500, -900, -400, 100
        (10..14).for_each(|cookie| host.put(ms(0), cookie, 2, 500));
        assert_eq!(rest(&mut host), [0, 10, 11, 1, 12, 13]);
    }

    #[test]
    fn the_longest_queue_loses_its_newest_or_its_oldest_packet() {
        let overfill = |spec: &str| {
            let mut host = Host::new(spec);
            (0..3).for_each(|cookie| host.put(ms(0), cookie, 1, 100));
            (10..12).for_each(|cookie| host.put(ms(0), cookie, 2, 1000));
            host.put(ms(0), 20, 3, 100);
            host.dropped()
        };
        assert_eq!(overfill("sfq limit 5p"), [2]);
        assert_eq!(overfill("sfq limit 5p headdrop"), [0]);
        assert_eq!(overfill("sfq limit 2350b"), [11]); // in bytes, flow 2 is the longest
    }

    #[test]
    fn of_equally_long_queues_the_first_in_the_round_loses_a_packet() {
        let mut host = Host::new("sfq limit 3p");
        for (cookie, flow) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
            host.put(ms(0), cookie, flow, 100);
        }
        assert_eq!(host.dropped(), [0]);
        assert_eq!(rest(&mut host), [1, 2, 3]);
    }

    #[test]
    fn a_queue_holds_at_most_its_depth() {
        let mut host = Host::new("sfq depth 2");
        (0..4).for_each(|cookie| host.put(ms(0), cookie, 1, 100));
        host.put(ms(0), 10, 2, 100);
        assert_eq!(host.dropped(), [2, 3]);

        let mut host = Host::new("sfq depth 1 headdrop");
        (0..3).for_each(|cookie| host.put(ms(0), cookie, 1, 100));
        host.put(ms(0), 10, 2, 100);
        assert_eq!(host.dropped(), [0, 1]);
        assert_eq!(rest(&mut host), [2, 10]);
    }

    #[test]
    fn the_number_of_queues_is_limited() {
        for spec in ["sfq flows 2", "sfq flows 2 headdrop"] {
            let mut host = Host::new(spec);
            for (cookie, flow) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
                host.put(ms(0), cookie, flow, 100);
            }
            assert_eq!((host.dropped(), host.probe("active_flows")), (alloc::vec![2], 2.0));
            assert_eq!(host.probe("longest_queue"), 2.0);
        }
    }

    #[test]
    fn flows_that_collide_part_when_the_hash_changes() {
        // With two queues and a new hash each second, two flows share one for some seconds and not for others.
        let mut host = Host::new("sfq divisor 2 perturb 1s");
        let together: Vec<bool> = (0..40)
            .map(|second| {
                let now = ms(second * 1000);
                (0..2).for_each(|cookie| host.put(now, cookie, 1, 1514));
                host.put(now, 10, 2, 1514);
                let order = [0; 3].map(|_| host.get(now).unwrap());
                assert!(order == [0, 10, 1] || order == [0, 1, 10], "{order:?}");
                order == [0, 1, 10]
            })
            .collect();
        let count = together.iter().filter(|together| **together).count();
        assert!((8..=32).contains(&count), "{count} of 40");
    }

    #[test]
    fn packets_move_to_their_new_queues_in_order_and_are_dropped_if_those_are_full() {
        // All flows share a queue before and after.
        let mut host = Host::new("sfq divisor 1 depth 4 perturb 10ms");
        (0..3).for_each(|cookie| host.put(ms(0), cookie, cookie, 100));
        host.put(ms(10), 3, 3, 100); // a new hash, the same order
        assert_eq!(host.get(ms(10)), Some(0));
        host.qdisc.change(&[("depth", "2")], ms(10), &mut host.log).unwrap();
        assert_eq!(host.dropped().len(), 0); // what waits may stay ..
        host.put(ms(20), 4, 4, 100); // .. until the hash changes
        assert_eq!(host.dropped(), [3, 4]);
        assert_eq!(rest(&mut host), [1, 2]);
    }

    /// Packets 0 to 9 of flow 1, and one of flow 2, with a weight of 1: the average is what a packet finds in its queue.
    fn under_red(rest: &str, ect: bool) -> Host {
        let mut host = Host::scripted(
            &alloc::format!("sfq redflowlimit 20000b min 2000b max 5000b probability 1 w 1 {rest}"),
            &[0.5],
        );
        for cookie in 0..10 {
            let put = if ect { Host::put_ect } else { Host::put };
            put(&mut host, ms(0), cookie, 1, 1000);
        }
        host.put(ms(0), 20, 2, 1000);
        host
    }

    #[test]
    fn red_drops_in_the_queue_that_is_long() {
        // Packets find 0, 1, 2, .. thousand bytes: from 2000 on the curve, from 5000 on all go. p = (q - 2000) / 3000, made
        // uniform: 0 at the first on the curve, 1/3 / (1 - 1/3) = 0.5 at the second, which 0.5 is not below, 2/3 / .. = 1.
        let host = under_red("", false);
        assert_eq!(host.dropped(), [4, 5, 6, 7, 8, 9]);
        assert!(host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Congestion));
        // With headdrop the oldest goes, and the arriving packet stays.
        let mut host = under_red("headdrop", false);
        assert_eq!(host.dropped(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(rest(&mut host), [6, 7, 20, 8, 9]);
    }

    #[test]
    fn red_marks_instead_and_drops_hard_only_if_asked() {
        let host = under_red("ecn", true);
        assert_eq!((host.dropped().len(), host.marked()), (0, alloc::vec![4, 5, 6, 7, 8, 9]));
        let host = under_red("ecn harddrop", true);
        assert_eq!((host.dropped(), host.marked()), (alloc::vec![5, 6, 7, 8, 9], alloc::vec![4]));
        // With headdrop the oldest, which is enough while it waits: a mark stands for all (as in Linux).
        let host = under_red("ecn headdrop", true);
        assert_eq!((host.dropped().len(), host.marked()), (0, alloc::vec![0]));
        assert_eq!(under_red("ecn", false).dropped(), [4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_queue_that_was_empty_starts_without_an_average() {
        let mut host = under_red("", false);
        assert_eq!(rest(&mut host), [0, 1, 20, 2, 3]);
        (30..34).for_each(|cookie| host.put(ms(2), cookie, 1, 1000));
        assert_eq!(host.dropped().len(), 6);
    }

    #[test]
    fn thresholds_follow_from_redflowlimit_and_contradictions_are_refused() {
        let build = |text: &str| {
            let spec = Spec::parse(text).unwrap();
            Sfq::new(&spec.params).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(build("sfq redflowlimit 120000b"), Ok(())); // min 10000, max 30000, burst 16
        assert_eq!(build("sfq redflowlimit 120000b min 30000b"), Ok(())); // a step
        for text in ["max 200kb", "min 30001b", "burst 2"] {
            assert!(build(&alloc::format!("sfq redflowlimit 120000b {text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn turns_that_are_counted_anew_change_nothing() {
        let spec = Spec::parse("sfq limit 12p flows 8").unwrap();
        let run = |turns: u32| {
            let mut sfq = Sfq { turns, ..Sfq::new(&spec.params).unwrap() };
            let counters = Counters::default();
            let mut shell = Shell {
                random: Random::seeded(1),
                counters,
                paused: PausedClasses::NONE,
                next_hop: crate::stations::NextHop::Any,
                restricted: false,
            };
            let (mut log, mut arrivals) = (Log::default(), Random::stream(1, "arrivals"));
            let mut order = Vec::new();
            for cookie in 0..600 {
                let (now, point) = (ms(cookie), DropPoint::Enqueue);
                let mut cx = Cx { now, point, observer: &mut log, shell: &mut shell };
                sfq.enqueue(Packet::new(cookie, arrivals.below(6), 1500), &mut cx);
                if cookie % 3 == 0 {
                    order.extend(sfq.dequeue(&mut cx).map(|packet| packet.cookie));
                }
            }
            assert!(log.dropped.len() > 300);
            (order, log.dropped, sfq.turns)
        };
        let ((order, dropped, turns), anew) = (run(0), run(u32::MAX - 50));
        assert!(turns > 50 && anew.2 < turns, "{turns} {}", anew.2);
        assert_eq!((order, dropped), (anew.0, anew.1));
    }
}
