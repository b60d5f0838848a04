//! # What it does
//! A queue for each flow, served in rounds of a quantum with new flows first, in three bands by type of service. With
//! `maxrate` each flow is paced: its next packet waits until the last one has been sent at that rate.
//!
//! # Reference
//! tc-fq(8); the behaviour of Linux `sch_fq`.
//!
//! # Parameters
//! See `aqmlab aqm show fq`.
//!
//! # Deviations
//! Every packet is a forwarded one: its flow is hashed to `orphan_mask` + 1 queues, and no socket says a pacing rate or a
//! time of departure, so that `maxrate` alone paces, and there is no `horizon`. Senders that pace (`pacing`, BBR) do so
//! themselves, ahead of the queue. `limit` holds for all bands together (Linux 6.8: for each), a flow's queue
//! is never forgotten, and a timer has no slack.
//!
//! # Promises
//! Packets of one flow stay in order; drops on arrival only, when all queues (`limit`) or the flow's (`flow_limit`) are
//! full; marks with `ce_threshold` only; a flow sends at most a quantum beyond `maxrate`; one random number, for the
//! hash, with the first packet.

use super::flow_queueing::FlowHash;
use super::priomap::{LINUX, priority};
use super::{Blueprint, Built, Discipline, Group, Info, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};
use crate::queue::{Chain, Pool};
use crate::signal::{DropReason, MarkReason};
use crate::units::{Bytes, Rate, Size, Span, Time};
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "fq",
    group: Group::Flow,
    summary: "Flow queueing with pacing: flows in turn, each at most at a rate of its own",
    reference: "Linux sch_fq; tc-fq(8)",
    params: &[
        super::LIMIT.with_default(Value::Size(Size::Packets(10_000)), "tc-fq(8): 10000 packets"),
        ParamSpec::new(
            "flow_limit",
            Kind::Size,
            Value::Size(Size::Packets(100)),
            (1.0, 1e9),
            "Limit of the queue of each flow, in packets or bytes",
            "tc-fq(8): 100 packets",
        ),
        ParamSpec::new(
            "quantum",
            Kind::Bytes,
            Value::Bytes(Bytes::new(3028)),
            (64.0, 1e6),
            "Bytes that a flow may send in a round",
            "tc-fq(8): two packets of the interface's MTU, of Ethernet 3028",
        ),
        ParamSpec::new(
            "initial_quantum",
            Kind::Bytes,
            Value::Bytes(Bytes::new(15_140)),
            (64.0, 1e7),
            "Bytes that a flow may send in its first round",
            "tc-fq(8): ten packets of the interface's MTU, of Ethernet 15140",
        ),
        ParamSpec::new(
            "maxrate",
            Kind::Rate,
            Value::Auto,
            (1.0, 1e15),
            "Rate that each flow is paced at",
            "tc-fq(8): none",
        )
        .or_auto("unlimited"),
        ParamSpec::flag("pacing", true, "Pace flows at maxrate", "tc-fq(8): on"),
        ParamSpec::new(
            "low_rate_threshold",
            Kind::Rate,
            Value::Rate(Rate::from_bits_per_sec(550_000)),
            (0.0, 1e15),
            "maxrate up to which packets are paced one by one, not by the quantum",
            "tc-fq(8): 550 kbit/s",
        ),
        ParamSpec::new(
            "refill_delay",
            Kind::Span,
            Value::Span(Span::from_millis(40)),
            (0.0, 1e11),
            "How long a flow has to be idle for a full quantum at its return",
            "tc-fq(8): 40 ms",
        ),
        ParamSpec::new(
            "ce_threshold",
            Kind::Span,
            Value::Auto,
            (0.0, 1e11),
            "Packets that wait longer than this beyond their time by pacing are marked",
            "tc-fq(8): off",
        )
        .or_auto("off"),
        ParamSpec::new(
            "orphan_mask",
            Kind::Count,
            Value::Count(1023),
            (0.0, 65_535.0),
            "One less than the queues that forwarded flows are hashed to",
            "tc-fq(8): 1023",
        ),
        ParamSpec::new(
            "weights",
            Kind::PerClass(Each::Count),
            Value::PerClass(PerClass::of(Each::Count, &[589_824, 196_608, 65_536])),
            (16_384.0, 1e9),
            "Shares of the three bands, by DSCP as in pfifo_fast, interactive traffic first",
            "tc-fq(8): 589824 196608 65536",
        ),
    ],
    presets: &[Preset {
        name: "linux",
        source: "fq_enqueue() and fq_dequeue() of Linux 6.12 net/sched/sch_fq.c, tc-fq(8): the defaults are Linux's",
        values: &[],
    }],
    probes: &[
        ProbeSpec { name: "active_flows", unit: "flows", help: "Flow queues in the rounds of the bands" },
        ProbeSpec {
            name: "throttled_flows",
            unit: "flows",
            help: "Flow queues whose next packet is not due yet",
        },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: false,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: u64::MAX,
        flow_state_bytes: size_of::<Flow>(),
    },
    deviations: "forwarded packets alone: no socket's pacing rate, no horizon; limit holds for all bands together; no garbage collection, no timer slack",
    build,
};

/// Longest time between two packets of a paced flow (fq_dequeue()).
const LONGEST_GAP: Span = Span::from_secs(1);

struct Settings {
    limit: Size,
    flow_limit: Size,
    quantum: i64,
    initial_quantum: i64,
    /// Rate of each flow; `None`: not paced.
    maxrate: Option<Rate>,
    one_by_one: bool,
    refill_delay: Span,
    ce_threshold: Option<Span>,
    weights: [i64; 3],
}

/// Where a flow queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// On no list: it is empty, since this time.
    #[default]
    Detached,
    /// In a round of its band.
    Listed,
    /// Until its next packet is due.
    Throttled,
}

/// A flow queue.
#[derive(Clone, Debug, Default)]
struct Flow {
    chain: Chain,
    packets: u32,
    band: u8,
    place: Place,
    seen: bool,
    /// Bytes that it may still send in this round.
    credit: i64,
    /// When it became detached.
    since: Time,
    /// When its next packet is due by pacing; zero if it was never paced.
    next: Time,
}

/// The rounds of a band.
#[derive(Clone, Debug, Default)]
struct Band {
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    credit: i64,
}

struct Fq {
    settings: Settings,
    flows: Vec<Flow>,
    pool: Pool,
    hash: FlowHash,
    bands: [Band; 3],
    /// The band whose turn it is.
    turn: usize,
    /// Throttled flows by the time when their next packet is due, then in the order in which they were throttled.
    delayed: BTreeSet<(Time, u64, u32)>,
    throttled: u64,
    wake_at: Option<Time>,
}

fn settings(params: &Params) -> Settings {
    let bytes = |name| params.bytes(name).expect("quanta have no auto").as_u64() as i64;
    let maxrate = params.rate("maxrate").filter(|_| params.flag("pacing"));
    let low = params.rate("low_rate_threshold").expect("low_rate_threshold has no auto");
    let weights = params.per_class("weights");
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        flow_limit: params.size("flow_limit").expect("flow_limit has no auto"),
        quantum: bytes("quantum"),
        initial_quantum: bytes("initial_quantum"),
        maxrate,
        one_by_one: maxrate.is_some_and(|rate| rate <= low),
        refill_delay: params.span("refill_delay"),
        ce_threshold: match params.get("ce_threshold") {
            Value::Span(threshold) => Some(*threshold),
            _ => None,
        },
        weights: [0, 1, 2].map(|band| weights.of_class(band) as i64),
    }
}

fn queues(params: &Params) -> usize {
    params.count("orphan_mask") as usize + 1
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params);
    let bands = settings.weights.map(|credit| Band { credit, ..Band::default() });
    Ok(Box::new(Fq {
        flows: vec![Flow::default(); queues(params)],
        pool: Pool::default(),
        hash: FlowHash::default(),
        bands,
        turn: 0,
        delayed: BTreeSet::new(),
        throttled: 0,
        wake_at: None,
        settings,
    }))
}

impl Fq {
    /// Flows whose next packet is due return to the end of the old flows of their band.
    fn release(&mut self, now: Time) {
        while let Some(&(due, order, number)) = self.delayed.first() {
            if due > now {
                return;
            }
            self.delayed.remove(&(due, order, number));
            self.append_old(number);
        }
    }

    fn append_old(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        flow.place = Place::Listed;
        self.bands[usize::from(flow.band)].old.push_back(number);
    }

    /// Turns to the band that may send and has flows; `None` if none has.
    fn band(&mut self) -> Option<usize> {
        let is_ready = |band: &Band| band.credit > 0 && !(band.new.is_empty() && band.old.is_empty());
        if is_ready(&self.bands[self.turn]) {
            return Some(self.turn);
        }
        if self.bands.iter().all(|band| band.new.is_empty() && band.old.is_empty()) {
            // Each was asked in vain, and has a full share again.
            for (band, weight) in self.bands.iter_mut().zip(self.settings.weights) {
                band.credit = (band.credit + weight).min(weight);
            }
            return None;
        }
        loop {
            self.turn = (self.turn + 1) % self.bands.len();
            let (band, weight) = (&mut self.bands[self.turn], self.settings.weights[self.turn]);
            band.credit = (band.credit + weight).min(weight);
            if is_ready(band) {
                return Some(self.turn);
            }
        }
    }

    /// When the packet after one of `length`, which leaves now, is due (fq_dequeue()).
    fn pace(&mut self, number: usize, length: u32, now: Time) {
        let Settings { maxrate, one_by_one, quantum, .. } = self.settings;
        let Some(rate) = maxrate else { return };
        let flow = &mut self.flows[number];
        let mut paid = i64::from(length);
        if one_by_one {
            flow.credit = 0;
        } else {
            paid = paid.max(quantum);
            if flow.credit > 0 {
                return;
            }
        }
        let mut gap = rate.time_for(Bytes::new(paid as u64)).min(LONGEST_GAP);
        // What the last packet left late is made up for, up to half of the time.
        if flow.next > Time::ZERO {
            gap = gap.saturating_sub(now.since(flow.next).min(gap / 2));
        }
        flow.next = now + gap;
    }
}

impl Discipline for Fq {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let number = self.hash.queue(packet.flow, self.flows.len(), cx);
        let flow = &mut self.flows[number];
        let own = Backlog { packets: u64::from(flow.packets), bytes: flow.chain.bytes() };
        if self.pool.backlog().would_exceed(self.settings.limit, packet.length)
            || own.would_exceed(self.settings.flow_limit, packet.length)
        {
            return cx.drop(packet, DropReason::Overlimit);
        }
        flow.band = LINUX[priority(packet.dscp)];
        if flow.place == Place::Detached {
            if !flow.seen {
                (flow.seen, flow.credit) = (true, self.settings.initial_quantum);
            } else if cx.now.since(flow.since) > self.settings.refill_delay {
                flow.credit = flow.credit.max(self.settings.quantum);
            }
            flow.place = Place::Listed;
            self.bands[usize::from(flow.band)].new.push_back(number as u32);
        }
        self.pool.push(&mut flow.chain, packet);
        flow.packets += 1;
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.release(cx.now);
        self.wake_at = None;
        loop {
            let Some(band) = self.band() else {
                self.wake_at = self.delayed.first().map(|(due, ..)| *due);
                return None;
            };
            let is_new = !self.bands[band].new.is_empty();
            let round = &mut self.bands[band];
            let list = if is_new { &mut round.new } else { &mut round.old };
            let number = *list.front()?;
            let flow = &mut self.flows[number as usize];
            if flow.credit <= 0 {
                flow.credit += self.settings.quantum;
                list.pop_front();
                self.append_old(number);
                continue;
            }
            let Some(head) = self.pool.peek(&flow.chain) else {
                list.pop_front();
                // A pass through the old flows, so that none starves.
                if is_new {
                    self.append_old(number);
                } else {
                    (flow.place, flow.since) = (Place::Detached, cx.now);
                }
                continue;
            };
            let due = flow.next.max(head.arrival);
            if due > cx.now {
                list.pop_front();
                (flow.next, flow.place) = (due, Place::Throttled);
                self.throttled += 1;
                self.delayed.insert((due, self.throttled, number));
                continue;
            }
            let mut packet = self.pool.pop(&mut flow.chain)?;
            flow.packets -= 1;
            let length = packet.length;
            if self.settings.ce_threshold.is_some_and(|threshold| cx.now.since(due) > threshold) {
                cx.mark(&mut packet, MarkReason::Threshold);
            }
            flow.credit -= i64::from(length);
            round.credit -= i64::from(length);
            self.pace(number as usize, length, cx.now);
            return Some(packet);
        }
    }

    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        let longest = self.flows.iter_mut().max_by_key(|flow| flow.chain.bytes())?;
        let packet = self.pool.pop(&mut longest.chain)?;
        longest.packets -= 1;
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.pool.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        if queues(params) != self.flows.len() {
            let mask = params.count("orphan_mask");
            return Err(ParamError::while_packets_wait("orphan_mask", mask));
        }
        self.settings = settings(params);
        while self.pool.backlog().exceeds(self.settings.limit) {
            let Some(packet) = self.evict(cx) else { break };
            cx.drop(packet, DropReason::Reconfigured);
        }
        let Fq { flows, pool, settings, .. } = self;
        for flow in flows {
            while (Backlog { packets: u64::from(flow.packets), bytes: flow.chain.bytes() })
                .exceeds(settings.flow_limit)
            {
                let Some(packet) = pool.pop(&mut flow.chain) else { break };
                flow.packets -= 1;
                cx.drop(packet, DropReason::Reconfigured);
            }
        }
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        let Fq { flows, pool, .. } = self;
        for flow in flows {
            while let Some(packet) = pool.pop(&mut flow.chain) {
                cx.drop(packet, DropReason::Reconfigured);
            }
            flow.packets = 0;
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
        let listed: usize = self.bands.iter().map(|band| band.new.len() + band.old.len()).sum();
        sink("active_flows", listed as f64);
        sink("throttled_flows", self.delayed.len() as f64);
    }

    fn state_bytes(&self) -> usize {
        let lists: usize = self.bands.iter().map(|band| band.new.capacity() + band.old.capacity()).sum();
        let delayed = self.delayed.len() * size_of::<(Time, u64, u32)>();
        size_of::<Fq>() + self.flows.len() * size_of::<Flow>() + lists * size_of::<u32>() + delayed
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;

    fn micros(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn flows_take_turns_after_their_first_quantum() {
        // Ten full packets are the first quantum: flow 1 sends them, then flow 2, then both by two.
        let mut host = Host::new("fq");
        (0..14).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        (20..34).for_each(|cookie| host.put(ms(0), cookie, 2, 1514));
        let order: Vec<_> = (0..26).filter_map(|_| host.get(ms(0))).collect();
        let expected: Vec<u64> = (0..10).chain(20..30).chain([10, 11, 30, 31, 12, 13]).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn a_flow_is_paced_once_its_credit_is_spent() {
        // 12.112 Mbit/s: a full packet in 1 ms, a quantum in 2 ms. The first quantum goes at once.
        let mut host = Host::new("fq maxrate 12112kbit initial_quantum 3028b");
        (0..6).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        assert_eq!([host.get(ms(0)), host.get(ms(0)), host.get(ms(0))], [Some(0), Some(1), None]);
        assert_eq!((host.qdisc.next_wakeup(), host.probe("throttled_flows")), (Some(ms(2)), 1.0));
        assert_eq!([host.get(ms(2)), host.get(ms(2)), host.get(ms(2))], [Some(2), Some(3), None]);
        // Asked for half a millisecond late: that is made up for.
        assert_eq!([host.get(micros(4500)), host.get(micros(4500))], [Some(4), Some(5)]);
        host.put(ms(5), 6, 1, 1514);
        assert_eq!((host.get(ms(5)), host.qdisc.next_wakeup()), (None, Some(ms(6))));
    }

    #[test]
    fn a_low_rate_paces_packet_by_packet() {
        // 121.12 kbit/s: 100 ms for a packet.
        let mut host = Host::new("fq maxrate 121120bit");
        (0..3).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        assert_eq!(
            (host.get(ms(0)), host.get(ms(0)), host.qdisc.next_wakeup()),
            (Some(0), None, Some(ms(100)))
        );
        assert_eq!(
            (host.get(ms(100)), host.get(ms(100)), host.qdisc.next_wakeup()),
            (Some(1), None, Some(ms(200)))
        );
    }

    #[test]
    fn without_pacing_maxrate_has_no_effect() {
        let mut host = Host::new("fq maxrate 100kbit nopacing");
        (0..30).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        assert_eq!((0..30).filter_map(|_| host.get(ms(0))).count(), 30);
    }

    #[test]
    fn a_flow_has_a_limit_of_its_own() {
        let mut host = Host::new("fq flow_limit 2p limit 4p");
        (0..3).for_each(|cookie| host.put(ms(0), cookie, 1, 1000));
        (10..12).for_each(|cookie| host.put(ms(0), cookie, 2, 1000));
        host.put(ms(0), 20, 3, 1000);
        assert_eq!(host.log.dropped, [(2, DropReason::Overlimit), (20, DropReason::Overlimit)]);
    }

    #[test]
    fn marks_count_from_when_pacing_lets_a_packet_go() {
        let mut host = Host::new("fq ce_threshold 5ms maxrate 121120bit");
        (0..3).for_each(|cookie| host.put_ect(ms(0), cookie, 1, 1514));
        assert_eq!([host.get(ms(5)), host.get(ms(105)), host.get(ms(211))], [Some(0), Some(1), Some(2)]);
        assert_eq!(host.log.marked, [(2, MarkReason::Threshold)]); // due at 205 ms
    }

    #[test]
    fn bands_share_by_weights_and_interactive_goes_first() {
        let put = |host: &mut Host, cookie: u64, dscp: u8| {
            let mut packet = Packet::new(cookie, cookie % 7 + cookie / 100 * 1000, 1514);
            packet.dscp = dscp;
            host.enqueue(ms(0), packet);
        };
        let mut host = Host::new("fq weights 32768,16384");
        (0..60).for_each(|cookie| put(&mut host, cookie, 0));
        (100..160).for_each(|cookie| put(&mut host, cookie, 4)); // minimise delay: the first band
        let first: Vec<_> = (0..33).filter_map(|_| host.get(ms(0))).collect();
        let interactive = |order: &[u64]| order.iter().filter(|cookie| **cookie >= 100).count();
        // 32768 bytes are 22 packets, 16384 are 11.
        assert_eq!((interactive(&first[..22]), interactive(&first)), (22, 22));
    }
}
