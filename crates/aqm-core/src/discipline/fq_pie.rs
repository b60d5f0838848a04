//! # What it does
//! A queue for each flow (by hash), served in rounds of a quantum with new flows first, and PIE on each: a packet is
//! dropped or marked when it arrives, with the probability of its flow.
//!
//! # Reference
//! RFC 8290 for the flow queues, RFC 8033 for PIE; Linux has the two together as `sch_fq_pie` (tc-fq_pie(8)).
//!
//! # Parameters
//! See `aqmlab aqm show fq_pie`.
//!
//! # Deviations
//! As in Linux, a full queue drops the arriving packet; with `drop_batch`, as in ns-3, it drops from the flow with the
//! most bytes (RFC 8290 section 4.1). `code` chooses whose PIE each flow has, as in `pie`; the presets set it. All flows
//! are updated at once, each period (ns-3: each by a clock of its own); idle ones (no packets, delay or probability) are
//! skipped and lose what they had accumulated. Delays above 4.2 s count as 4.2 s. `ecn_prob` is what `pie` has as
//! `mark_threshold`.
//!
//! # Promises
//! Packets of one flow stay in order; drops and marks on arrival only, with `drop_batch` of queued packets too; no
//! signal while at most two full packets are queued in the flow; updates once per period through wake-ups, at most 16 of
//! them late; random numbers: one for the hash when the first packet arrives, then those of `pie`; 64 bytes per flow
//! queue, and 32 more with `dq_rate_estimator`.

use super::flow_queueing::{self, FlowHash};
use super::{Blueprint, Built, Discipline, Group, Info, ProbeSpec, Traits, pie};
use crate::backlog::Backlog;
use crate::choices;
use crate::cx::Cx;
use crate::law::pie::{Compact, DepartureRate, Linux, Params as Law, QueueState, State};
use crate::law::{Periodic, Verdict};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::{Flow, Flows};
use crate::signal::{DropReason, MarkReason};
use crate::units::{Size, Time};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "fq_pie",
    group: Group::Flow,
    summary: "Flow queueing with PIE on every flow",
    reference: "RFC 8290; RFC 8033; Linux sch_fq_pie",
    params: &[
        flow_queueing::LIMIT,
        flow_queueing::MEMORY_LIMIT,
        flow_queueing::FLOWS,
        flow_queueing::QUANTUM,
        DROP_BATCH,
        pie::TARGET,
        pie::TUPDATE,
        pie::ALPHA,
        pie::BETA,
        pie::MAX_BURST,
        pie::ECN,
        ECN_PROB,
        pie::BYTEMODE,
        pie::DQ_RATE_ESTIMATOR,
        pie::DQ_THRESHOLD,
        pie::DQ_WEIGHT,
        pie::DERANDOMIZE,
        pie::CAP,
        CODE,
    ],
    presets: &[
        Preset {
            name: "rfc8033",
            source: "RFC 8033 sections 4, 5 and appendix A; tc-fq_pie(8): 10240 packets, 1024 flows, 15 ms, 15 ms",
            values: &[],
        },
        Preset {
            name: "linux",
            source: "Linux 6.1 net/sched/sch_fq_pie.c, with pie_drop_early(), pie_process_dequeue() and \
                     pie_calculate_probability() of sch_pie.c (behaviour and defaults); tc-fq_pie(8)",
            values: &[("code", Value::Choice(Code::Linux.word()))],
        },
        Preset {
            name: "ns3",
            source: "ns-3 src/traffic-control/model/fq-pie-queue-disc.cc (defaults)",
            values: &[
                ("drop_batch", Value::Count(64)),
                ("ecn", Value::Flag(true)),
                ("derandomize", Value::Flag(false)),
            ],
        },
    ],
    probes: &[
        flow_queueing::ACTIVE_FLOWS,
        ProbeSpec {
            name: "awake_flows",
            unit: "flows",
            help: "Flow queues with a probability or a delay to keep",
        },
        ProbeSpec {
            name: "drop_probability_max",
            unit: "fraction",
            help: "The largest probability of a flow",
        },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: size_of::<Flow<Compact>>(),
    },
    deviations: "flows at rest are not updated, and all others by one clock",
    build,
};

const DROP_BATCH: ParamSpec = flow_queueing::DROP_BATCH
    .with_default(Value::Auto, "Linux sch_fq_pie: the arriving packet; RFC 8290 section 4.1 and ns-3: 64")
    .or_auto("a full queue drops the arriving packet");

/// PIE's `mark_threshold` under tc's name.
const ECN_PROB: ParamSpec = ParamSpec::new(
    "ecn_prob",
    Kind::Percent,
    Value::Percent(10.0),
    (0.0, 100.0),
    "Largest probability at which packets are marked instead of dropped",
    "RFC 8033 section 5.1, tc-fq_pie(8): 10 %",
);

choices! {
    /// Whose safeguards, tuning table and order of steps.
    enum Code {
        Rfc8033 = "rfc8033",
        Linux = "linux",
    }
}

const CODE: ParamSpec = ParamSpec::choice::<Code>(
    "code",
    "Whose safeguards, tuning table and order of steps",
    "RFC 8033 appendix A",
);

struct Settings {
    limit: Size,
    memory_limit: u64,
    quantum: u32,
    /// Packets that a full queue drops at a time from the flow with the most bytes; `None`: it drops the arriving one.
    drop_batch: Option<u64>,
    ecn: bool,
    law: Law,
}

struct FqPie {
    flows: Flows<Compact>,
    settings: Settings,
    hash: FlowHash,
    timer: Periodic,
    /// What Linux's code keeps of each flow beside the state of the law; nothing for other code.
    linux: Vec<Linux>,
    /// What is known of the departure rate of each flow; nothing where delays come from timestamps.
    rates: Vec<DepartureRate>,
    /// Flow queues with a state to update.
    awake: Vec<u32>,
    link: Link,
}

fn settings(params: &Params, link: &Link) -> Settings {
    let law = Law {
        derandomize: params.flag("derandomize"),
        cap: params.flag("cap"),
        byte_mode: params.flag("bytemode"),
        estimator: params.flag("dq_rate_estimator").then(|| pie::estimator(params)),
        ..pie::common(params, &ECN_PROB, link)
    };
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        memory_limit: params.bytes("memory_limit").expect("memory_limit has no auto").as_u64(),
        quantum: params.bytes("quantum").expect("quantum has no auto").as_u64() as u32,
        drop_batch: match params.get("drop_batch") {
            Value::Count(batch) => Some(*batch),
            _ => None,
        },
        ecn: params.flag("ecn"),
        law,
    }
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params, link);
    let (flows, linux) = (params.count("flows") as usize, params.choice::<Code>("code") == Code::Linux);
    let timer = Periodic::new(if linux { Linux::FIRST_UPDATE } else { settings.law.tupdate });
    Ok(Box::new(FqPie {
        flows: Flows::new(flows),
        linux: if linux { vec![Linux::default(); flows] } else { Vec::new() },
        rates: rates(&settings.law, flows),
        settings,
        hash: FlowHash::default(),
        timer,
        awake: Vec::new(),
        link: *link,
    }))
}

/// What is known of the departure rate of `flow`.
#[inline]
fn rate_of(rates: &[DepartureRate], flow: usize) -> DepartureRate {
    rates.get(flow).copied().unwrap_or(DepartureRate::UNKNOWN)
}

/// A departure rate for each of `flows`, where it is estimated.
fn rates(law: &Law, flows: usize) -> Vec<DepartureRate> {
    if law.estimator.is_some() { vec![DepartureRate::UNKNOWN; flows] } else { Vec::new() }
}

impl FqPie {
    fn full(&self, length: u32) -> bool {
        let backlog = self.flows.backlog();
        let bytes = backlog.bytes + u64::from(length);
        backlog.would_exceed(self.settings.limit, length) || bytes > self.settings.memory_limit
    }

    fn over(&self) -> bool {
        let backlog = self.flows.backlog();
        backlog.exceeds(self.settings.limit) || backlog.bytes > self.settings.memory_limit
    }

    /// Applies PIE's law to the state of flow `flow`.
    #[inline]
    fn with<R>(&mut self, flow: usize, work: impl FnOnce(&Law, &mut State, &mut [Linux]) -> R) -> R {
        let law = &self.settings.law;
        let (_, compact) = self.flows.head(flow, false);
        if !compact.is_awake() {
            self.awake.push(flow as u32);
        }
        let mut state = compact.unfold(law, rate_of(&self.rates, flow));
        let result = work(law, &mut state, &mut self.linux);
        *compact = Compact::fold(&state);
        if let Some(rate) = self.rates.get_mut(flow) {
            *rate = state.rate();
        }
        result
    }

    /// Updates the flows that are awake as often as periods have passed.
    #[inline]
    fn update(&mut self, now: Time, calculate: impl Fn(&Law, &mut State, &mut [Linux], usize, u64)) {
        let FqPie { flows, settings, timer, linux, rates, awake, .. } = self;
        timer.catch_up(settings.law.tupdate, now, || {
            awake.retain(|&flow| {
                let flow = flow as usize;
                let bytes = flows.bytes(flow);
                let (_, compact) = flows.head(flow, false);
                let mut state = compact.unfold(&settings.law, rate_of(rates, flow));
                calculate(&settings.law, &mut state, linux, flow, bytes);
                *compact = Compact::fold(&state);
                let rests = bytes == 0 && compact.is_calm();
                if rests {
                    *compact = Compact::default();
                }
                if let Some(rate) = rates.get_mut(flow) {
                    *rate = if rests { DepartureRate::UNKNOWN } else { state.rate() };
                }
                !rests
            });
        });
    }

    fn is_linux(&self) -> bool {
        !self.linux.is_empty()
    }
}

impl Discipline for FqPie {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        let flow = self.hash.queue(packet.flow, self.flows.len(), cx);
        if self.settings.drop_batch.is_none() && self.full(packet.length) {
            self.with(flow, |_, state, _| state.overflowed());
            return cx.drop(packet, DropReason::Overlimit);
        }
        let bytes = self.flows.bytes(flow);
        let seen = QueueState { packets: u64::from(bytes > 0), bytes, third_full: false };
        let (length, now) = (packet.length, cx.now);
        let verdict = if self.is_linux() {
            self.with(flow, |law, state, _| Linux::arrive(law, state, seen, length, || cx.uniform()))
        } else {
            self.with(flow, |law, state, _| law.arrive(state, seen, length, now, || cx.uniform()))
        };
        match verdict {
            Verdict::Admit => {}
            Verdict::Signal if self.settings.ecn && cx.mark(&mut packet, MarkReason::Congestion) => {}
            _ => return cx.drop(packet, DropReason::Congestion),
        }
        self.flows.push(flow, packet, self.settings.quantum);
        if let Some(batch) = self.settings.drop_batch {
            while self.over() {
                let fattest = self.flows.fattest();
                flow_queueing::drop_batch(&mut self.flows, fattest, batch, DropReason::Overlimit, cx);
            }
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let flow = self.flows.select(self.settings.quantum)?;
            let Some(packet) = self.flows.pop(flow) else {
                self.flows.retire(flow);
                continue;
            };
            let left = self.flows.bytes(flow);
            if self.is_linux() {
                self.with(flow, |law, state, linux| linux[flow].depart(law, state, &packet, left, cx.now));
            } else {
                self.with(flow, |law, state, _| law.depart(state, &packet, left, cx.now));
            }
            self.flows.charge(flow, packet.length);
            return Some(packet);
        }
    }

    /// From the flow with the most bytes.
    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.flows.pop(self.flows.fattest())
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let flows = params.count("flows");
        if flows != self.flows.len() as u64 {
            return Err(ParamError::while_packets_wait("flows", flows));
        }
        let linux = params.choice::<Code>("code") == Code::Linux;
        if linux != self.is_linux() {
            self.linux = if linux { vec![Linux::default(); self.flows.len()] } else { Vec::new() };
        }
        let before = self.settings.law.tupdate;
        let estimated = self.settings.law.estimator.is_some();
        self.settings = settings(params, &self.link);
        if self.settings.law.estimator.is_some() != estimated {
            self.rates = rates(&self.settings.law, self.flows.len());
        }
        // The same period leaves Linux's late first update where it is.
        if self.settings.law.tupdate != before {
            self.timer.adopt(self.settings.law.tupdate, cx.now);
        }
        while self.over() {
            let fattest = self.flows.fattest();
            let oldest =
                self.flows.pop(fattest).expect("the fattest flow of a queue beyond its limit has packets");
            cx.drop(oldest, DropReason::Reconfigured);
        }
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.flows.purge(cx);
        self.linux.fill(Linux::default());
        self.rates.fill(DepartureRate::UNKNOWN);
        self.awake.clear();
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        Some(self.timer.due())
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        if self.is_linux() {
            self.update(cx.now, |law, state, linux, flow, bytes| {
                linux[flow].calculate_drop_prob(law, state, bytes);
            });
        } else {
            self.update(cx.now, |law, state, _, _, bytes| law.calculate_drop_prob(state, bytes));
        }
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        let largest =
            self.awake.iter().map(|&flow| self.flows.law(flow as usize).drop_prob()).fold(0.0, f64::max);
        sink("active_flows", f64::from(self.flows.active()));
        sink("awake_flows", self.awake.len() as f64);
        sink("drop_probability_max", largest);
    }

    fn state_bytes(&self) -> usize {
        let tables = self.flows.len() * size_of::<Flow<Compact>>() + self.awake.capacity() * size_of::<u32>();
        let rates = self.rates.len() * size_of::<DepartureRate>();
        size_of::<Self>() + tables + rates + self.linux.len() * size_of::<Linux>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;

    #[test]
    fn a_full_queue_drops_the_arriving_packet_or_as_in_ns3_from_the_fat_flow() {
        let dropped = |spec: &str| {
            let mut host = Host::new(spec);
            for (cookie, flow) in [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2)] {
                host.put(ms(0), cookie, flow, 100);
            }
            assert!(host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Overlimit));
            host.dropped()
        };
        assert_eq!(dropped("fq_pie:linux limit 4p quantum 1500b"), [4]);
        // ns-3: packets of the flow with 300 bytes, until 150 of them are gone.
        assert_eq!(dropped("fq_pie:ns3 limit 4p quantum 1500b"), [0, 1]);
        assert_eq!(dropped("fq_pie:ns3 limit 4p quantum 1500b drop_batch 1"), [0]);
    }

    #[test]
    fn each_flow_has_a_probability_of_its_own() {
        // Flow 1 has a standing queue, flow 2 sends a packet occasionally. No bursts are allowed.
        let mut host = Host::scripted("fq_pie max_burst 0s noderandomize flows 65536", &[0.0]);
        for cookie in 0..60 {
            host.put(ms(0), cookie, 1, 1000);
        }
        for step in 1..=20 {
            let now = ms(15 * step);
            host.wake_until(now);
            host.put(now, 100 + step, 2, 1000);
            (0..2).for_each(|_| _ = host.get(now));
        }
        assert!(host.dropped().is_empty()); // flow 2 has hardly any delay
        assert!(host.probe("drop_probability_max") > 0.0);
        host.put(ms(301), 999, 1, 1000);
        assert_eq!(host.dropped(), [999]);
    }

    #[test]
    fn with_linux_s_code_updates_begin_after_half_a_second_and_two_full_packets_are_a_queue() {
        for (code, late, drops) in [("rfc8033", false, 0), ("linux", true, 1)] {
            let spec = alloc::format!("fq_pie code {code} max_burst 0s noderandomize");
            let mut host = Host::scripted(&spec, &[0.0]);
            (0..60).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
            for step in 1..=40 {
                host.wake_until(ms(15 * step));
                host.get(ms(15 * step));
                if step == 33 {
                    assert_eq!(host.probe("drop_probability_max") == 0.0, late, "{code}");
                }
            }
            (0..18).for_each(|_| _ = host.get(ms(601)));
            host.put(ms(601), 100, 1, 1514); // finds two full packets
            assert_eq!(host.dropped().len(), drops, "{code}");
        }
    }

    #[test]
    fn a_full_queue_drops_what_arrives() {
        let mut host = Host::new("fq_pie limit 3p");
        (0..3).for_each(|cookie| host.put(ms(0), cookie, 1, 1000));
        host.put(ms(0), 3, 2, 1000);
        assert_eq!((host.dropped(), host.log.dropped[0].1), (alloc::vec![3], DropReason::Overlimit));
    }

    #[test]
    fn a_flow_that_has_come_to_rest_costs_nothing() {
        let mut host = Host::new("fq_pie");
        host.put(ms(0), 0, 1, 1000);
        assert_eq!(host.probe("awake_flows"), 1.0);
        host.get(ms(1));
        host.wake_until(ms(45)); // the delay of its last packet is forgotten after two periods
        assert_eq!(host.probe("awake_flows"), 0.0);
    }

    #[test]
    fn a_flow_takes_one_cache_line() {
        assert!(size_of::<Flow<Compact>>() <= 64, "{}", size_of::<Flow<Compact>>());
    }
}
