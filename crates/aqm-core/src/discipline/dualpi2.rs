//! # What it does
//! Two queues: one for scalable (L4S) traffic, with a shallow ramp of marks, and one for classic traffic under PI2. The
//! base probability p' of the classic queue is coupled to both: squared for classic packets, k times for scalable ones, so
//! that both kinds of flows get about the same rate.
//!
//! # Reference
//! RFC 9332: sections 2.4 and 2.5, appendix A (DualPI2: figures 2 to 5, 7 and 8). Preset `linux`: tc-dualpi2(8) and the
//! behaviour of `sch_dualpi2`, read in the patch series that brought it to Linux.
//!
//! # Parameters
//! See `aqmlab aqm show dualpi2`. `signals count` accumulates the likelihoods of each queue (`recur()` of figure 4);
//! `signals lot` draws random numbers, as Linux does.
//!
//! # Deviations
//! p' gives no signal while at most two full packets are queued (Linux: fewer than two; RFC: no such rule). Weights
//! in bytes are implemented by self-clocked fair queueing, where the RFC recommends weighted round robin, which Linux
//! has. The L4S ramp uses the delay of the departing packet; a step (no range) starts above its threshold, as in
//! Linux (RFC: at it). `Th_len` is one packet including the departing one; `min_qlen_step` is Linux's rule beside it, judged on
//! arrival. Likelihoods above one count as one. The limit has no byte form by default and does not add another
//! MTU.
//!
//! # Promises
//! Order kept within each queue; a flow that keeps its ECN identifier stays in order; updates once per period through
//! wake-ups, at most 16 of them late; no signal by p' while at most two full packets are queued, none by the ramp for
//! a packet that leaves the L4S queue empty, but with `step_alone`; random numbers only with `signals lot`.

use super::{Blueprint, Built, Discipline, Group, Info, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::choices;
use crate::cx::Cx;
use crate::law::{Controlled, Pi as Law};
use crate::packet::{Ecn, Packet};
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, TcNumber, Value};
use crate::queue::Fifo;
use crate::scheduler::{Scfq, Scheduler};
use crate::signal::{DropReason, MarkReason};
use crate::units::{Bytes, Size, Span, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// The registry entry.
pub static INFO: Info = Info {
    name: "dualpi2",
    group: Group::Delay,
    summary: "L4S: a shallow queue for scalable traffic, coupled to PI2 on a queue for classic traffic",
    reference: "RFC 9332",
    params: &[
        LIMIT,
        ParamSpec::new(
            "target",
            Kind::Span,
            Value::Span(Span::from_millis(15)),
            (1e3, 1e10),
            "Delay of the classic queue that the controller aims at",
            "RFC 9332 appendix A.1: 15 ms",
        ),
        ParamSpec::new(
            "tupdate",
            Kind::Span,
            Value::Span(Span::from_millis(15)),
            (1e4, 1e10),
            "Period of the controller",
            "RFC 9332 appendix A.1: the smaller of target and a third of 100 ms",
        ),
        ParamSpec::new(
            "alpha",
            Kind::Frequency,
            Value::Frequency(0.15),
            (0.0, 1e3),
            "Weight of the distance to the target",
            "RFC 9332 appendix A.1: 0.1 tupdate / (100 ms)^2",
        )
        .tc_counts(TcNumber::Hertz),
        ParamSpec::new(
            "beta",
            Kind::Frequency,
            Value::Frequency(3.0),
            (0.0, 1e3),
            "Weight of the trend of the delay",
            "RFC 9332 appendix A.1: 0.3 / 100 ms",
        )
        .tc_counts(TcNumber::Hertz),
        ParamSpec::new(
            "coupling_factor",
            Kind::Number,
            Value::Number(2.0),
            (0.0, 16.0),
            "Probability of marks in the L4S queue as a multiple of p' (k)",
            "RFC 9332 section 2.5: 2",
        ),
        ParamSpec::new(
            "typical_rtt",
            Kind::Span,
            Value::Auto,
            (1e3, 1e10),
            "Typical round-trip time: makes target, tupdate, alpha and beta follow from both round-trip times",
            "tc-dualpi2(8)",
        )
        .or_auto("a sixth of max_rtt; without that, as the preset"),
        ParamSpec::new(
            "max_rtt",
            Kind::Span,
            Value::Auto,
            (1e3, 6e10),
            "Longest round-trip time: makes target, tupdate, alpha and beta follow from both round-trip times",
            "tc-dualpi2(8)",
        )
        .or_auto("six times typical_rtt; without that, as the preset"),
        ParamSpec::new(
            "step_thresh",
            Kind::SpanOrPackets,
            Value::Span(Span::from_micros(800)),
            (0.0, 1e10),
            "Delay in the L4S queue, or packets left in it, above which its own marks begin",
            "RFC 9332 appendix A.1: 800 us",
        ),
        ParamSpec::new(
            "step_range",
            Kind::Span,
            Value::Span(Span::from_micros(400)),
            (0.0, 1e10),
            "Further delay over which these marks rise to all packets; none, or a threshold in packets, is a step",
            "RFC 9332 appendix A.1: 400 us",
        ),
        ParamSpec::new(
            "min_qlen_step",
            Kind::Count,
            Value::Count(0),
            (0.0, 1e9),
            "Packets that a packet has to find in the L4S queue to be marked by its step",
            "tc-dualpi2(8): 0",
        ),
        ParamSpec::flag(
            "step_alone",
            false,
            "Its own marks fall on a packet that leaves the L4S queue empty too",
            "RFC 9332 appendix A.1: Th_len, one packet; Linux: min_qlen_step 0, at any length",
        ),
        ParamSpec::choice::<Turns>(
            "scheduler",
            "Which queue goes next: by weights in bytes, or the older head, that of the L4S queue made older",
            "RFC 9332 section 4.2.2: either",
        ),
        ParamSpec::new(
            "classic_protection",
            Kind::Percent,
            Value::Percent(10.0),
            (0.0, 100.0),
            "Share of the link that classic traffic is guaranteed (wrr); at 0% the L4S queue always goes first",
            "tc-dualpi2(8): 10 %",
        ),
        ParamSpec::new(
            "tshift",
            Kind::Span,
            Value::Span(Span::from_millis(50)),
            (0.0, 1e10),
            "How much older the head of the L4S queue counts (tsfifo)",
            "RFC 9332 appendix A.2: 50 ms",
        ),
        ParamSpec::choice::<Signals>(
            "signals",
            "Whether likelihoods are added up until they make a signal, or are chances of one",
            "RFC 9332 appendix A.1 (recur): count; Linux: lot",
        ),
        ParamSpec::keywords::<DropAt>(
            "drop_at",
            "Whether p' marks and drops packets that leave or packets that arrive",
            "RFC 9332 appendix A, tc-dualpi2(8): drop_dequeue",
        ),
        ParamSpec::keywords::<Overload>(
            "overload",
            "Beyond saturated marks: drop in the L4S queue too, or let queues grow to the limit with p' at most 1/k",
            "RFC 9332 section 4.1, tc-dualpi2(8): drop_on_overload",
        ),
        ParamSpec::keywords::<L4sPackets>(
            "l4s",
            "What goes to the L4S queue beside CE: ECT(1), or ECT(0) too, for DCTCP",
            "RFC 9331 section 5.1, tc-dualpi2(8): l4s_ect",
        ),
        ParamSpec::new(
            "memlimit",
            Kind::Bytes,
            Value::Auto,
            (1.0, 1e12),
            "Most bytes of packets that wait",
            "tc-dualpi2(8): limit times two full packets, for the memory of buffers",
        )
        .or_auto("without a bound, as limit says"),
    ],
    presets: &[
        Preset {
            name: "rfc9332",
            source: "RFC 9332 appendix A.1; the classic share is Linux's",
            values: &[],
        },
        Preset {
            name: "linux",
            source: "tc-dualpi2(8), calculate_probability() of Linux 6.17 net/sched/sch_dualpi2.c (defaults; lots)",
            values: &[
                ("tupdate", Value::Span(Span::from_millis(16))),
                ("alpha", Value::Frequency(41.0 / 256.0)), // tc: 0.16
                ("beta", Value::Frequency(819.0 / 256.0)), // tc: 3.2
                ("step_thresh", Value::Span(Span::from_millis(1))),
                ("step_range", Value::Span(Span::ZERO)),
                ("step_alone", Value::Flag(true)),
                ("signals", Value::Choice(Signals::Lot.word())),
            ],
        },
    ],
    probes: &[
        ProbeSpec { name: "base_probability", unit: "fraction", help: "Probability of the controller (p')" },
        ProbeSpec { name: "qdelay", unit: "s", help: "The longer of both delays at the last update" },
        ProbeSpec { name: "l4s_backlog", unit: "packets", help: "Packets in the L4S queue" },
        ProbeSpec { name: "classic_backlog", unit: "packets", help: "Packets in the classic queue" },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: 0,
    },
    deviations: "quiet up to two full packets, as Linux; weighted fair queueing where the RFC has WRR",
    build,
};

const LIMIT: ParamSpec = super::LIMIT.with_default(
    Value::Size(Size::Packets(10_000)),
    "tc-dualpi2(8): 10000 packets; RFC 9332 appendix A.1: 250 ms of the link",
);

/// The queue of the L4S service, and that of all other traffic.
const L4S: usize = 0;
const CLASSIC: usize = 1;

struct Settings {
    limit: Size,
    memlimit: u64,
    law: Law,
    tupdate: Span,
    coupling: f64,
    step: Step,
    /// Packets that a packet has to find in the L4S queue for the step.
    min_qlen_step: u64,
    order: Order,
    /// Percent of the link, for each queue; at least one.
    weights: [u32; 2],
    /// Whether p' signals to packets that arrive.
    at_arrival: bool,
    /// Whether the L4S queue drops too once its marks are saturated.
    drop_on_overload: bool,
    /// Whether ECT(0) goes to the L4S queue too.
    any_ect: bool,
    /// Whether the ramp also marks a packet that leaves its queue empty.
    step_alone: bool,
    /// Accumulate likelihoods instead of drawing random numbers.
    count: bool,
}

/// Where the marks of the L4S queue itself begin.
enum Step {
    /// From this delay on, rising over `range`.
    Delay { thresh: Span, range: Span },
    /// With more packets left behind.
    Packets(u64),
}

/// Which queue goes next.
enum Order {
    /// By weights.
    Weights,
    /// This one while it has packets.
    First(usize),
    /// The older head, that of the L4S queue counting as older by this.
    Shifted(Span),
}

struct DualPi2 {
    queues: [Fifo; 2],
    /// Whether a packet of the L4S queue found fewer than `min_qlen_step` packets in it; empty where that is none.
    found_few: VecDeque<bool>,
    settings: Settings,
    state: Controlled,
    scheduler: Scfq,
    /// Likelihoods accumulated since the last signal, for each queue.
    counts: [f64; 2],
    /// Two full packets: no signal for less.
    quiet_bytes: u64,
}

choices! {
    /// Which queue goes next.
    enum Turns {
        Wrr = "wrr",
        TsFifo = "tsfifo",
    }
}

choices! {
    /// How likelihoods become signals.
    enum Signals {
        Count = "count",
        Lot = "lot",
    }
}

choices! {
    /// Which packets p' marks and drops.
    enum DropAt {
        Dequeue = "drop_dequeue",
        Enqueue = "drop_enqueue",
    }
}

choices! {
    /// What happens beyond saturated marks.
    enum Overload {
        Drop = "drop_on_overload",
        Overflow = "overflow",
    }
}

choices! {
    /// What goes to the L4S queue.
    enum L4sPackets {
        L4sEct = "l4s_ect",
        AnyEct = "any_ect",
    }
}

fn settings(params: &Params) -> Result<Settings, ParamError> {
    let classic = (params.number("classic_protection") * 100.0 + 0.5) as u32;
    let (law, tupdate) = controller(params)?;
    let order = match (params.choice("scheduler"), classic) {
        (Turns::TsFifo, _) => Order::Shifted(params.span("tshift")),
        (Turns::Wrr, 0) => Order::First(L4S),
        (Turns::Wrr, 100) => Order::First(CLASSIC),
        (Turns::Wrr, _) => Order::Weights,
    };
    let step = match params.get("step_thresh") {
        Value::Size(packets) => Step::Packets(packets.count()),
        _ => Step::Delay { thresh: params.span("step_thresh"), range: params.span("step_range") },
    };
    Ok(Settings {
        limit: params.size("limit").expect("limit has no auto"),
        memlimit: params.bytes("memlimit").map_or(u64::MAX, Bytes::as_u64),
        law,
        tupdate,
        coupling: params.number("coupling_factor"),
        step,
        min_qlen_step: params.count("min_qlen_step"),
        order,
        weights: [(100 - classic).max(1), classic.max(1)],
        at_arrival: params.choice::<DropAt>("drop_at") == DropAt::Enqueue,
        drop_on_overload: params.choice::<Overload>("overload") == Overload::Drop,
        any_ect: params.choice::<L4sPackets>("l4s") == L4sPackets::AnyEct,
        step_alone: params.flag("step_alone"),
        count: params.choice::<Signals>("signals") == Signals::Count,
    })
}

/// The controller with its period: as given, or from round-trip times (RFC 9332 appendix A.1; tc-dualpi2(8) takes one of
/// them from the other).
fn controller(params: &Params) -> Result<(Law, Span), ParamError> {
    let given = |name| match params.get(name) {
        Value::Span(rtt) => Some(*rtt),
        _ => None,
    };
    let (typical, longest) = match (given("typical_rtt"), given("max_rtt")) {
        (None, None) => {
            let target = params.span("target").as_secs_f64();
            let law = Law { target, alpha: params.number("alpha"), beta: params.number("beta") };
            return Ok((law, params.span("tupdate")));
        }
        (Some(typical), None) => (typical, typical * TYPICAL_IN_LONGEST),
        (None, Some(longest)) => (longest / TYPICAL_IN_LONGEST, longest),
        (Some(typical), Some(longest)) => (typical, longest),
    };
    if typical > longest {
        return Err(ParamError::relation(
            "typical_rtt",
            typical,
            format_args!("must be at most max_rtt, which is {longest}"),
        ));
    }
    if let Some(name) = ["target", "tupdate", "alpha", "beta"].into_iter().find(|name| params.is_given(name))
    {
        let problem = "follows from typical_rtt and max_rtt: give either it or them";
        return Err(ParamError::relation(name, params.get(name), problem));
    }
    let tupdate = typical.min(longest / 3).max(SHORTEST_PERIOD);
    let (period, longest) = (tupdate.as_secs_f64(), longest.as_secs_f64());
    let law =
        Law { target: typical.as_secs_f64(), alpha: 0.1 * period / (longest * longest), beta: 0.3 / longest };
    Ok((law, tupdate))
}

/// How many typical round-trip times the longest is, where one of them is given (tc-dualpi2(8)).
const TYPICAL_IN_LONGEST: u64 = 6;
/// The least period, as `tupdate` may be given.
const SHORTEST_PERIOD: Span = Span::from_micros(10);

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params)?;
    let mut state = Controlled::new(settings.tupdate);
    state.bound(settings.highest());
    Ok(Box::new(DualPi2 {
        queues: Default::default(),
        found_few: VecDeque::new(),
        state,
        scheduler: Scfq::new(&settings.weights),
        counts: [0.0; 2],
        quiet_bytes: 2 * u64::from(link.mtu),
        settings,
    }))
}

impl Settings {
    /// The ramp of the L4S queue itself (p'_L), for a packet that waited `delay` and leaves `left` packets behind.
    fn native(&self, delay: Span, left: u64) -> f64 {
        match self.step {
            Step::Packets(thresh) => f64::from(left > thresh),
            Step::Delay { thresh, .. } if delay <= thresh => 0.0,
            Step::Delay { thresh, range } => {
                let above = delay.saturating_sub(thresh);
                if above >= range { 1.0 } else { above.as_secs_f64() / range.as_secs_f64() }
            }
        }
    }

    /// The largest p'. Without drops in overload, marks in the L4S queue saturate there, and p' goes no further
    /// (calculate_probability() of Linux).
    fn highest(&self) -> f64 {
        if self.drop_on_overload { 1.0 } else { 1.0 / self.coupling.max(1.0) }
    }
}

impl DualPi2 {
    /// Whether a signal of likelihood `p` falls on a packet of `queue` (figure 4, `recur`).
    #[inline]
    fn falls(&mut self, queue: usize, p: f64, cx: &mut Cx<'_>) -> bool {
        if !self.settings.count {
            return p > 0.0 && (p >= 1.0 || cx.uniform() < p); // none is drawn where it is certain
        }
        let count = &mut self.counts[queue];
        *count += p.min(1.0);
        let falls = *count > 1.0;
        if falls {
            *count -= 1.0;
        }
        falls
    }

    /// The queue to serve.
    #[inline]
    fn select(&mut self) -> Option<usize> {
        let [l4s, classic] = &self.queues;
        let shift = match self.settings.order {
            Order::Shifted(shift) => shift,
            Order::First(first) => {
                return [first, L4S, CLASSIC].into_iter().find(|queue| !self.queues[*queue].is_empty());
            }
            Order::Weights => {
                let heads = [l4s.head(), classic.head()].map(|head| head.map(|packet| packet.length));
                return self.scheduler.select(&mut |queue| heads[queue]);
            }
        };
        match (l4s.head(), classic.head()) {
            (None, None) => None,
            (Some(_), None) => Some(L4S),
            (None, Some(_)) => Some(CLASSIC),
            // Each head counts by its age; the L4S head counts as having arrived earlier.
            (Some(l4s), Some(classic)) => {
                Some(if l4s.arrival <= classic.arrival + shift { L4S } else { CLASSIC })
            }
        }
    }

    /// Signals to a packet of the L4S queue with the higher of its own ramp's and the coupled probability. Once the
    /// latter has saturated, it is dropped like a classic packet (figure 7, lines 8c to 8i).
    fn signal_l4s(&mut self, mut packet: Packet, base: f64, native: f64, cx: &mut Cx<'_>) -> Option<Packet> {
        let coupled = self.settings.coupling * base;
        if coupled >= 1.0 && self.settings.drop_on_overload && self.falls(L4S, base * base, cx) {
            cx.drop(packet, DropReason::Congestion);
            return None;
        }
        if self.falls(L4S, native.max(coupled), cx) {
            let reason = if native > coupled { MarkReason::Threshold } else { MarkReason::Congestion };
            cx.mark(&mut packet, reason);
        }
        Some(packet)
    }

    /// Signals to a packet of the classic queue with the square of the base probability: with a mark, until that
    /// square has reached p_Cmax = min(1 / k^2, 1), where marks in the other queue saturate.
    fn signal_classic(&mut self, mut packet: Packet, base: f64, cx: &mut Cx<'_>) -> Option<Packet> {
        if !self.falls(CLASSIC, base * base, cx) {
            return Some(packet);
        }
        let overload = self.settings.drop_on_overload && self.settings.coupling.max(1.0) * base >= 1.0;
        if !overload && cx.mark(&mut packet, MarkReason::Congestion) {
            return Some(packet);
        }
        cx.drop(packet, DropReason::Congestion);
        None
    }

    /// Drops the newest packets, those of the classic queue first, until `memlimit` is met.
    fn trim_to_memlimit(&mut self, cx: &mut Cx<'_>) {
        let memlimit = self.settings.memlimit;
        let room = memlimit.saturating_sub(self.queues[L4S].backlog().bytes);
        self.queues[CLASSIC].trim(Size::Bytes(room), cx);
        self.queues[L4S].trim(Size::Bytes(memlimit), cx);
    }

    /// p', which gives no signal while at most two full packets wait.
    #[inline]
    fn base(&self) -> f64 {
        if self.backlog().bytes <= self.quiet_bytes { 0.0 } else { self.state.probability() }
    }

    /// What the L4S queue's own ramp says of `packet`, which has left it.
    #[inline]
    fn native(&mut self, packet: &Packet, now: Time) -> f64 {
        let left = self.queues[L4S].len() as u64;
        let found_few = self.found_few.pop_front().unwrap_or(false);
        if found_few || (left == 0 && !self.settings.step_alone) {
            return 0.0;
        }
        self.settings.native(now.since(packet.arrival), left)
    }
}

impl Discipline for DualPi2 {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let (backlog, length) = (self.backlog(), packet.length);
        if backlog.would_exceed(self.settings.limit, length)
            || backlog.bytes + u64::from(length) > self.settings.memlimit
        {
            return cx.drop(packet, DropReason::Overlimit);
        }
        // RFC 9331 section 5.1: ECT(1) and CE belong to the L4S service.
        let l4s =
            matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) || (self.settings.any_ect && packet.ecn == Ecn::Ect0);
        let queue = if l4s { L4S } else { CLASSIC };
        let mut admitted = Some(packet);
        if self.settings.at_arrival {
            let base = self.base();
            admitted = admitted.and_then(|packet| match queue {
                L4S => self.signal_l4s(packet, base, 0.0, cx),
                _ => self.signal_classic(packet, base, cx),
            });
        }
        let Some(packet) = admitted else { return };
        if l4s && self.settings.min_qlen_step > 0 {
            self.found_few.push_back((self.queues[L4S].len() as u64) < self.settings.min_qlen_step);
        }
        self.queues[queue].push(packet);
        self.scheduler.activate(queue);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let queue = self.select()?;
            let base = if self.settings.at_arrival { 0.0 } else { self.base() };
            let packet = self.queues[queue].pop().expect("only queues with a head are selected");
            self.scheduler.sent(queue, packet.length, self.queues[queue].is_empty());
            let left = match queue {
                L4S => {
                    let native = self.native(&packet, cx.now);
                    self.signal_l4s(packet, base, native, cx)
                }
                _ => self.signal_classic(packet, base, cx),
            };
            if left.is_some() {
                return left;
            }
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        let [l4s, classic] = [self.queues[L4S].backlog(), self.queues[CLASSIC].backlog()];
        Backlog { packets: l4s.packets + classic.packets, bytes: l4s.bytes + classic.bytes }
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let settings = settings(params)?;
        if settings.any_ect != self.settings.any_ect {
            // A flow that changes queues overtakes its own packets.
            return Err(ParamError::while_packets_wait("l4s", params.get("l4s")));
        }
        if (settings.min_qlen_step > 0) != (self.settings.min_qlen_step > 0) {
            // What the packets that wait found is not known.
            let known = if settings.min_qlen_step > 0 { self.queues[L4S].len() } else { 0 };
            self.found_few.clear();
            self.found_few.resize(known, false);
        }
        self.settings = settings;
        self.state.bound(self.settings.highest());
        self.state.adopt(self.settings.tupdate, cx.now);
        self.scheduler.reweigh(&self.settings.weights);
        // The classic queue is trimmed first: it is the one with the deep buffer.
        let limit = self.settings.limit;
        self.queues[L4S].trim(limit, cx);
        let room = limit.count() - self.queues[L4S].backlog().in_unit_of(limit);
        self.queues[CLASSIC].trim(limit.with_count(room), cx);
        self.trim_to_memlimit(cx);
        self.found_few.truncate(self.queues[L4S].len());
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queues.iter_mut().for_each(|queue| queue.purge(cx));
        self.found_few.clear();
        self.scheduler.clear();
        self.counts = [0.0; 2];
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        Some(self.state.due())
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        // Figure 8, line 2a: the longer delay, so that scalable traffic alone can cause overload.
        let oldest = self.queues.iter().filter_map(Fifo::head).map(|packet| packet.arrival).min();
        let delay = oldest.map_or(0.0, |arrival| cx.now.since(arrival).as_secs_f64());
        self.state.catch_up(&self.settings.law, self.settings.tupdate, delay, cx.now);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("base_probability", self.state.probability());
        sink("qdelay", self.state.last());
        sink("l4s_backlog", self.queues[L4S].len() as f64);
        sink("classic_backlog", self.queues[CLASSIC].len() as f64);
    }

    fn state_bytes(&self) -> usize {
        size_of::<DualPi2>() + self.scheduler.state_bytes() + self.found_few.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn put(host: &mut Host, at: Time, cookie: u64, ecn: Ecn) {
        let mut packet = Packet::new(cookie, cookie, 1514);
        packet.ecn = ecn;
        host.enqueue(at, packet);
    }

    /// Classic packets 0 to 9 and L4S packets 20 to 29 are queued since 0 ms; at 100 ms p' is `beta` / 10.
    fn standing(beta: u32, more: &str, uniforms: &[f64]) -> Host {
        let spec =
            alloc::format!("dualpi2 tupdate 100ms alpha 0 beta {beta} step_thresh 1s signals lot {more}");
        let mut host = Host::scripted(&spec, uniforms);
        (0..10).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::NotEct));
        (20..30).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
        host.wake_until(ms(100));
        assert!((host.probe("base_probability") - f64::from(beta) / 10.0).abs() < 1e-12);
        host
    }

    #[test]
    fn the_identifier_chooses_the_queue_and_l4s_goes_first_nine_times_in_ten() {
        let mut host = Host::new("dualpi2");
        for (cookie, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ce)] {
            put(&mut host, ms(0), cookie, ecn);
        }
        assert_eq!((host.probe("l4s_backlog"), host.probe("classic_backlog")), (2.0, 2.0));
        let mut host = standing(0, "", &[0.5]);
        // Tags of 1514 bytes: 1/90 each against 1/10: the ninth ties, and the L4S queue goes first.
        let order: Vec<_> = (0..12).filter_map(|_| host.get(ms(100))).collect();
        assert_eq!(order, [20, 21, 22, 23, 24, 25, 26, 27, 28, 0, 29, 1]);
    }

    #[test]
    fn a_time_shifted_fifo_serves_the_older_head() {
        let mut host = Host::new("dualpi2 scheduler tsfifo tshift 20ms");
        put(&mut host, ms(0), 0, Ecn::NotEct);
        put(&mut host, ms(5), 1, Ecn::NotEct);
        put(&mut host, ms(20), 2, Ecn::Ect1); // as if come at 0 ms
        put(&mut host, ms(26), 3, Ecn::Ect1); // as if come at 6 ms
        assert_eq!([26; 4].map(|at| host.get(ms(at)).unwrap()), [2, 0, 1, 3]);
    }

    #[test]
    fn with_any_ect_ect_0_goes_to_the_l4s_queue() {
        let mut host = Host::new("dualpi2 any_ect");
        for (cookie, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ce)] {
            put(&mut host, ms(0), cookie, ecn);
        }
        assert_eq!((host.probe("l4s_backlog"), host.probe("classic_backlog")), (3.0, 1.0));
    }

    #[test]
    fn the_base_probability_is_squared_for_classic_packets_and_doubled_for_l4s() {
        // p' = 0.3: 0.09 and 0.6.
        let mut host = standing(3, "scheduler tsfifo tshift 0s", &[0.59, 0.61]);
        assert_eq!([host.get(ms(100)), host.get(ms(100))], [Some(20), Some(21)]);
        assert_eq!(host.log.marked, [(20, MarkReason::Congestion)]);
        let mut host = standing(3, "classic_protection 99%", &[0.08, 0.1]);
        assert_eq!(host.get(ms(100)), Some(1)); // 0.08 < 0.09 drops packet 0
        assert_eq!(host.log.dropped, [(0, DropReason::Congestion)]);
    }

    #[test]
    fn classic_packets_are_marked_where_they_can_be_and_not_in_overload() {
        let run = |beta| {
            let mut host = standing(beta, "classic_protection 99%", &[0.0]);
            while host.qdisc.backlog().packets > 0 {
                host.get(ms(100));
            }
            (0..4).for_each(|cookie| put(&mut host, ms(101), 50 + cookie, Ecn::Ect0));
            host.get(ms(101));
            (host.marked().contains(&50), host.dropped().contains(&50))
        };
        assert_eq!(run(4), (true, false));
        assert_eq!(run(5), (false, true)); // k p' = 1
    }

    #[test]
    fn in_overload_l4s_packets_are_dropped_by_the_square_and_the_others_marked() {
        let mut host = standing(6, "scheduler tsfifo tshift 0s", &[0.35, 0.37]);
        assert_eq!(host.get(ms(100)), Some(21)); // 0.35 < 0.36 drops packet 20; 0.37 spares 21, which is marked
        assert_eq!((host.dropped(), host.marked()), (alloc::vec![20], alloc::vec![21]));
    }

    #[test]
    fn the_l4s_queue_marks_on_its_own_along_a_ramp_or_at_a_step() {
        let marked = |spec: &str, micros: u64| {
            let mut host = Host::scripted(spec, &[0.5]);
            (0..2).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
            host.get(Time::from_nanos(micros * 1000));
            host.marked().len()
        };
        // Halfway between 800 and 1200 us the probability is 0.5, which a lot of 0.5 does not meet.
        assert_eq!([800, 1000, 1001, 1200].map(|at| marked("dualpi2 signals lot", at)), [0, 0, 1, 1]);
        assert_eq!([1000, 1001].map(|at| marked("dualpi2:linux", at)), [0, 1]);
    }

    #[test]
    fn likelihoods_add_up_to_signals_without_chance() {
        // p' = 0.3: k p' = 0.6 gives 0.6, 1.2 (one), 0.8, 1.4 (one).
        let mut host = standing(3, "scheduler tsfifo tshift 0s signals count", &[0.0]);
        (0..4).for_each(|_| _ = host.get(ms(100)));
        assert_eq!(host.marked(), [21, 23]);
        // p' = 0.6: 0.36, 0.72, 1.08 (one).
        let mut host = standing(6, "classic_protection 99% signals count", &[0.0]);
        assert_eq!([host.get(ms(100)), host.get(ms(100))], [Some(0), Some(1)]);
        assert_eq!(host.get(ms(100)), Some(3));
        assert_eq!(host.dropped(), [2]);
    }

    #[test]
    fn with_a_weak_coupling_marks_last_until_the_square_is_one() {
        let run = |beta| {
            let mut host = standing(beta, "classic_protection 99% coupling_factor 0.5", &[0.0]); // every lot hits
            (50..56).for_each(|cookie| put(&mut host, ms(100), cookie, Ecn::Ect0));
            while host.get(ms(100)).is_some() {}
            (host.marked().contains(&50), host.dropped().contains(&50))
        };
        assert_eq!(run(9), (true, false)); // p' = 0.9
        assert_eq!(run(10), (false, true)); // p' = 1
    }

    #[test]
    fn round_trip_times_set_the_controller_as_tc_does() {
        let found = |text: &str| {
            let spec = crate::spec::Spec::parse(text).unwrap();
            let (law, tupdate) = controller(&spec.params).unwrap();
            let near = |value: f64| (value * 1e6 + 0.5) as u64;
            (near(law.target), tupdate.as_nanos() / 1000, near(law.alpha), near(law.beta))
        };
        // RFC 9332 appendix A.1 with its own round-trip times, 15 and 100 ms: its own values.
        let own = (15_000, 15_000, 150_000, 3_000_000);
        assert_eq!(found("dualpi2 typical_rtt 15ms max_rtt 100ms"), own);
        assert_eq!(found("dualpi2"), own);
        // 0.1 * 0.02 / 0.2^2 and 0.3 / 0.2; then 50 ms follow from 300: 0.1 * 0.05 / 0.09.
        assert_eq!(
            found("dualpi2:linux typical_rtt 20ms max_rtt 200ms"),
            (20_000, 20_000, 50_000, 1_500_000)
        );
        assert_eq!(found("dualpi2 max_rtt 300ms"), (50_000, 50_000, 55_556, 1_000_000));
        assert_eq!(found("dualpi2 typical_rtt 50ms"), (50_000, 50_000, 55_556, 1_000_000));
        let refused = |text: &str| {
            let spec = crate::spec::Spec::parse(text).unwrap();
            controller(&spec.params).unwrap_err().to_string()
        };
        let order = "parameter 'typical_rtt': '200ms' must be at most max_rtt, which is 100ms";
        assert_eq!(refused("dualpi2 typical_rtt 200ms max_rtt 100ms"), order);
        let both = "parameter 'target': '5ms' follows from typical_rtt and max_rtt: give either it or them";
        assert_eq!(refused("dualpi2 target 5ms max_rtt 100ms"), both);
    }

    #[test]
    fn without_protection_the_l4s_queue_always_goes_first_and_with_all_of_it_the_classic_one() {
        let order = |spec: &str| {
            let mut host = standing(0, spec, &[0.5]);
            (0..12).filter_map(|_| host.get(ms(100))).collect::<Vec<_>>()
        };
        assert_eq!(order("classic_protection 0"), [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 0, 1]);
        assert_eq!(order("classic_protection 100%"), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21]);
    }

    #[test]
    fn a_step_in_packets_counts_what_is_left_behind() {
        let mut host = Host::new("dualpi2 signals lot step_thresh 3p");
        (0..6).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
        while host.get(ms(9)).is_some() {}
        assert_eq!(host.marked(), [0, 1]); // five and four are left
    }

    #[test]
    fn a_packet_that_found_few_is_spared_by_the_step() {
        let mut host = Host::new("dualpi2:linux min_qlen_step 2");
        (0..4).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
        while host.get(ms(9)).is_some() {}
        assert_eq!(host.marked(), [2, 3]);
    }

    #[test]
    fn signals_to_arriving_packets_leave_those_that_wait_alone() {
        // p' = 0.3: 0.08 < 0.09 drops a classic packet, 0.59 < 0.6 marks an L4S packet.
        let mut host = standing(3, "drop_enqueue scheduler tsfifo tshift 0s", &[0.08, 0.59]);
        put(&mut host, ms(100), 50, Ecn::NotEct);
        put(&mut host, ms(100), 60, Ecn::Ect1);
        assert_eq!((host.dropped(), host.marked()), (alloc::vec![50], alloc::vec![60]));
        while host.get(ms(100)).is_some() {}
        assert_eq!((host.dropped(), host.marked()), (alloc::vec![50], alloc::vec![60]));
    }

    #[test]
    fn with_overflow_p_stops_at_1_by_k_and_l4s_packets_are_marked_only() {
        let spec = "dualpi2 tupdate 100ms alpha 0hz beta 9hz step_thresh 1s signals lot overflow";
        let mut host = Host::scripted(spec, &[0.0]);
        (20..30).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
        host.wake_until(ms(100));
        assert_eq!(host.probe("base_probability"), 0.5);
        while host.get(ms(100)).is_some() {}
        // While more than two full packets wait: 20 to 27.
        assert_eq!((host.dropped().len(), host.marked().len()), (0, 8));
    }

    #[test]
    fn memory_is_a_limit_beside_that_in_packets() {
        let mut host = Host::new("dualpi2 memlimit 4000b");
        (0..3).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::NotEct));
        assert_eq!(host.log.dropped, [(2, DropReason::Overlimit)]);
        host.qdisc.change(&[("memlimit", "2000b")], ms(1), &mut host.log).unwrap();
        assert_eq!(host.dropped(), [2, 1]);
    }

    #[test]
    fn the_step_spares_the_last_packet_of_the_l4s_queue_but_in_linux() {
        let marked = |spec| {
            let mut host = Host::new(spec);
            put(&mut host, ms(0), 0, Ecn::Ect1);
            assert_eq!(host.get(ms(9)), Some(0));
            host.marked().len()
        };
        assert_eq!(["dualpi2", "dualpi2:linux", "dualpi2:linux step_alone off"].map(marked), [0, 1, 0]);
    }
}
