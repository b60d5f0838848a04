//! # What it does
//! One queue under PIE: arriving packets are dropped (or marked) with a probability that a controller adjusts so that
//! the queue delay settles at the target.
//!
//! # Reference
//! RFC 8033: sections 4 and 5, appendix A; `linux` and `ns3.27` follow the behaviour of those programs.
//!
//! # Parameters
//! See `aqmlab aqm show pie`. `code` chooses the program whose order of steps and safeguards is followed; the presets
//! set it.
//!
//! # Deviations
//! `alpha` and `beta` are in Hz (tc: in sixteenths of that). Delay comes from timestamps, as in appendix A, unless
//! `dq_rate_estimator` is on (section 5.2); an empty queue has no delay, however long its last packet waited (as in
//! Linux and FreeBSD). The probability decays below half the target (appendix B; section 4.2 and appendix A: at zero
//! delay). The law becomes inactive only when a packet finds the queue empty (by section 5.3 and appendix B, it would
//! do so at the very packet that activated it). `MEAN_PKTSIZE` is the link's MTU. Probabilities are floats, also in
//! `linux`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; no signal while at most one packet is queued; updates once per period
//! through wake-ups, at most 16 of them late.

use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::choices;
use crate::cx::Cx;
use crate::law::pie::{Estimator, Linux, Ns3, Params as Law, QueueState, State};
use crate::law::{Pi, Verdict};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, TcNumber, Value};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Bytes, Size, Span, Time};
use core::mem::discriminant;

/// The registry entry.
pub static INFO: Info = Info {
    name: "pie",
    group: Group::Delay,
    summary: "Proportional Integral controller Enhanced: drops at random to hold the delay at a target",
    reference: "RFC 8033",
    params: &[
        LIMIT,
        TARGET,
        TUPDATE,
        ALPHA,
        BETA,
        MAX_BURST,
        ECN,
        MARK_THRESHOLD,
        BYTEMODE,
        DQ_RATE_ESTIMATOR,
        DQ_THRESHOLD,
        DQ_WEIGHT,
        ACTIVATE,
        DERANDOMIZE.with_help("Space the drops (not code ns3.27)"),
        CAP,
        CODE,
    ],
    presets: &[
        Preset { name: "rfc8033", source: "RFC 8033 sections 4, 5 and appendix A", values: &[] },
        Preset {
            name: "linux",
            source: "pie_drop_early(), pie_process_dequeue() and pie_calculate_probability() of Linux 6.1 net/sched/sch_pie.c \
                     (behaviour and defaults)",
            values: &[("code", Value::Choice(Whose::Linux.word()))],
        },
        Preset {
            name: "ns3.27",
            source: "ns-3.27 src/traffic-control/model/pie-queue-disc.cc (behaviour and defaults)",
            values: &[
                ("limit", Value::Size(Size::Packets(25))),
                ("target", Value::Span(Span::from_millis(20))),
                ("tupdate", Value::Span(Span::from_millis(30))),
                ("max_burst", Value::Span(Span::from_millis(100))),
                ("dq_rate_estimator", Value::Flag(true)),
                ("dq_threshold", Value::Bytes(Bytes::new(10_000))),
                ("dq_weight", Value::Fraction(0.5)),
                ("derandomize", Value::Flag(false)),
                ("code", Value::Choice(Whose::Ns3.word())),
            ],
        },
    ],
    probes: PROBES,
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: 0,
    },
    deviations: "an empty queue has no delay; decay below half the target (appendix B); rests only at an empty queue; MEAN_PKTSIZE is the MTU; floats in linux",
    build,
};

pub(super) const TARGET: ParamSpec = ParamSpec::new(
    "target",
    Kind::Span,
    Value::Span(Span::from_millis(15)),
    (1e3, 1e10),
    "Queue delay that the controller aims at (QDELAY_REF)",
    "RFC 8033 section 4.2: 15 ms",
);

pub(super) const TUPDATE: ParamSpec = ParamSpec::new(
    "tupdate",
    Kind::Span,
    Value::Span(Span::from_millis(15)),
    (1e3, 1e10),
    "Period of the controller",
    "RFC 8033 section 4.2: 15 ms",
);

pub(super) const ALPHA: ParamSpec = ParamSpec::new(
    "alpha",
    Kind::Frequency,
    Value::Frequency(0.125),
    (0.0, 1e3),
    "Weight of the distance to the target",
    "RFC 8033 section 4.2: 0.125 (tc: 2, in sixteenths)",
)
.tc_counts(TcNumber::Sixteenths);

pub(super) const BETA: ParamSpec = ParamSpec::new(
    "beta",
    Kind::Frequency,
    Value::Frequency(1.25),
    (0.0, 1e3),
    "Weight of the trend of the delay",
    "RFC 8033 section 4.2: 1.25 (tc: 20, in sixteenths)",
)
.tc_counts(TcNumber::Sixteenths);

pub(super) const MAX_BURST: ParamSpec = ParamSpec::new(
    "max_burst",
    Kind::Span,
    Value::Span(Span::from_millis(150)),
    (0.0, 1e11),
    "How long a burst is exempt from drops",
    "RFC 8033 section 4.4: 150 ms",
);

pub(super) const ECN: ParamSpec =
    ParamSpec::flag("ecn", false, "Mark ECN-capable packets instead of dropping them", "tc-pie(8): off");

pub(super) const MARK_THRESHOLD: ParamSpec = ParamSpec::new(
    "mark_threshold",
    Kind::Fraction,
    Value::Fraction(0.1),
    (0.0, 1.0),
    "Largest probability at which packets are marked instead of dropped",
    "RFC 8033 section 5.1: 0.1",
);

pub(super) const BYTEMODE: ParamSpec =
    ParamSpec::flag("bytemode", false, "Multiply the probability by length / MTU", "tc-pie(8): off");

pub(super) const DQ_RATE_ESTIMATOR: ParamSpec = ParamSpec::flag(
    "dq_rate_estimator",
    false,
    "Estimate the delay from the departure rate instead of timestamps",
    "RFC 8033 appendix A, tc-pie(8): off",
);

pub(super) const DQ_THRESHOLD: ParamSpec = ParamSpec::new(
    "dq_threshold",
    Kind::Bytes,
    Value::Bytes(Bytes::new(16_384)),
    (1.0, 1e9),
    "Bytes of one measurement of the departure rate",
    "RFC 8033 section 5.2: 2^14",
);

pub(super) const DQ_WEIGHT: ParamSpec = ParamSpec::new(
    "dq_weight",
    Kind::Fraction,
    Value::Fraction(0.25),
    (1e-6, 1.0),
    "Weight of a measurement in the average",
    "RFC 8033 section 5.2: dq_threshold / 2^16",
);

const ACTIVATE: ParamSpec = ParamSpec::flag(
    "activate",
    false,
    "Stay inactive until a third of the limit is in use (code rfc8033)",
    "RFC 8033 section 5.3: optional, and off here, since with a deep buffer PIE would rest far beyond its target",
);

pub(super) const DERANDOMIZE: ParamSpec =
    ParamSpec::flag("derandomize", true, "Space the drops", "RFC 8033 section 5.4");

pub(super) const CAP: ParamSpec = ParamSpec::flag(
    "cap",
    true,
    "Let the probability rise by at most 0.02 per period once it is 0.1",
    "RFC 8033 section 5.5",
);

choices! {
    /// Whose safeguards, tuning table and order of steps.
    enum Whose {
        Rfc8033 = "rfc8033",
        Linux = "linux",
        Ns3 = "ns3.27",
    }
}

const CODE: ParamSpec = ParamSpec::choice::<Whose>(
    "code",
    "Whose safeguards, tuning table and order of steps",
    "RFC 8033 appendix A",
);

pub(super) const PROBES: &[ProbeSpec] = &[
    ProbeSpec { name: "drop_probability", unit: "fraction", help: "Probability of the controller" },
    ProbeSpec { name: "qdelay", unit: "s", help: "Queue delay as the law sees it" },
    ProbeSpec { name: "burst_allowance", unit: "s", help: "Rest of the burst allowance" },
];

/// Reports the law's variables under [`PROBES`]; `qdelay` is the delay that it uses.
pub(super) fn probe(state: &State, qdelay: f64, sink: &mut dyn FnMut(&str, f64)) {
    sink("drop_probability", state.drop_prob());
    sink("qdelay", qdelay);
    sink("burst_allowance", state.burst_allowance().as_secs_f64());
}

/// Reads the parameters that PIE shares with its relatives, one of which calls `mark_threshold` otherwise; the
/// optional elements are off, but for the cap.
pub(super) fn common(params: &Params, mark_threshold: &ParamSpec, link: &Link) -> Law {
    Law {
        pi: Pi {
            target: params.span("target").as_secs_f64(),
            alpha: params.number("alpha"),
            beta: params.number("beta"),
        },
        tupdate: params.span("tupdate"),
        max_burst: params.span("max_burst"),
        estimator: None,
        mark_threshold: params.number(mark_threshold.name),
        activate: false,
        derandomize: false,
        cap: true,
        byte_mode: false,
        mtu: link.mtu,
    }
}

/// How the departure rate is estimated, by the parameters that PIE shares with S-PIE.
pub(super) fn estimator(params: &Params) -> Estimator {
    let threshold = params.bytes("dq_threshold").expect("dq_threshold has no auto").as_u64();
    Estimator { threshold, weight: params.number("dq_weight") }
}

/// The queue as an arriving packet finds it.
#[inline]
pub(super) fn seen(queue: Backlog, limit: Size) -> QueueState {
    let third_full = queue.in_unit_of(limit).saturating_mul(3) >= limit.count();
    QueueState { packets: queue.packets, bytes: queue.bytes, third_full }
}

/// The program whose order of steps is followed, with what it keeps beside the state of the law.
enum Code {
    Rfc8033,
    Linux(Linux),
    Ns3(Ns3),
}

impl Code {
    fn of(whose: Whose) -> Code {
        match whose {
            Whose::Linux => Code::Linux(Linux::default()),
            Whose::Ns3 => Code::Ns3(Ns3::default()),
            Whose::Rfc8033 => Code::Rfc8033,
        }
    }

    /// The state of the law at the start of a run.
    fn start(&self, law: &Law) -> State {
        match self {
            Code::Rfc8033 => law.start(),
            Code::Linux(_) => Linux::start(law),
            Code::Ns3(_) => Ns3::start(law),
        }
    }
}

struct Pie {
    limit: Size,
    law: Law,
    ecn: bool,
    code: Code,
    state: State,
    link: Link,
}

fn law(params: &Params, link: &Link) -> Law {
    Law {
        estimator: params.flag("dq_rate_estimator").then(|| estimator(params)),
        activate: params.flag("activate") && params.choice::<Whose>("code") == Whose::Rfc8033,
        derandomize: params.flag("derandomize"),
        cap: params.flag("cap"),
        byte_mode: params.flag("bytemode"),
        ..common(params, &MARK_THRESHOLD, link)
    }
}

fn limit(params: &Params) -> Size {
    params.size("limit").expect("limit has no auto")
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let (law, code) = (law(params, link), Code::of(params.choice("code")));
    let state = code.start(&law);
    let (limit, ecn) = (limit(params), params.flag("ecn"));
    Ok(Single::boxed(params, Pie { limit, law, ecn, code, state, link: *link }))
}

impl Gate for Pie {
    #[inline]
    fn admit(&mut self, mut packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let Pie { law, code, state, .. } = self;
        let (seen, length, now) = (seen(queue.backlog(), self.limit), packet.length, cx.now);
        let verdict = match code {
            Code::Rfc8033 => law.arrive(state, seen, length, now, || cx.uniform()),
            Code::Linux(_) => Linux::arrive(law, state, seen, length, || cx.uniform()),
            Code::Ns3(ns3) => ns3.arrive(law, state, seen, length, || cx.uniform()),
        };
        match verdict {
            Verdict::Admit => {}
            Verdict::Signal if self.ecn && cx.mark(&mut packet, MarkReason::Congestion) => {}
            _ => {
                cx.drop(packet, DropReason::Congestion);
                return None;
            }
        }
        Some(packet)
    }

    fn overflowed(&mut self, _packet: &Packet, _cx: &mut Cx<'_>) {
        self.state.overflowed();
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let packet = queue.pop()?;
        let Pie { law, code, state, .. } = self;
        let bytes_left = queue.backlog().bytes;
        match code {
            Code::Rfc8033 => law.depart(state, &packet, bytes_left, cx.now),
            Code::Linux(linux) => linux.depart(law, state, &packet, bytes_left, cx.now),
            Code::Ns3(_) => Ns3::depart(law, state, &packet, bytes_left, cx.now),
        }
        Some(packet)
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let before = core::mem::replace(&mut self.law, law(params, &self.link));
        self.law.adopt(&mut self.state, &before, cx.now);
        let code = Code::of(params.choice("code"));
        if discriminant(&code) != discriminant(&self.code) {
            self.state.forget_rate();
            self.code = code;
        }
        (self.limit, self.ecn) = (limit(params), params.flag("ecn"));
        Ok(())
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        self.state.due()
    }

    fn on_wakeup(&mut self, queue: &Fifo, cx: &mut Cx<'_>) {
        let Pie { law, code, state, .. } = self;
        let bytes = queue.backlog().bytes;
        state.catch_up(law.tupdate, cx.now, |state| match code {
            Code::Rfc8033 => law.calculate_drop_prob(state, bytes),
            Code::Linux(linux) => linux.calculate_drop_prob(law, state, bytes),
            Code::Ns3(ns3) => ns3.calculate_p(law, state, bytes),
        });
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        probe(&self.state, self.state.qdelay(), sink);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;

    /// `rounds` milliseconds in which two packets come and one leaves, ECN-capable where the cookie is even.
    fn overload(host: &mut Host, rounds: u64) {
        for round in 0..rounds {
            host.put_ect(ms(round), 2 * round, 0, 1000);
            host.put(ms(round), 2 * round + 1, 0, 1000);
            host.get(ms(round));
        }
    }

    #[test]
    fn a_standing_queue_raises_the_probability() {
        for preset in ["rfc8033", "linux", "ns3.27"] {
            let mut host = Host::new(&alloc::format!("pie:{preset} limit 200p"));
            overload(&mut host, 3000);
            let early = host.qdisc.counters().dropped_early();
            assert!(host.probe("drop_probability") > 0.2, "{preset}");
            assert!(early > 500, "{preset}: {early}");
            assert_eq!(host.marked().len(), 0);
        }
    }

    #[test]
    fn ecn_marks_up_to_a_probability_of_a_tenth_and_drops_beyond() {
        let mut host = Host::new("pie limit 1000p ecn");
        let mut last_mark = 0.0;
        for round in 0..3000 {
            let marks = host.log.marked.len();
            let before = host.probe("drop_probability");
            host.put_ect(ms(round), round, 0, 1000);
            if host.log.marked.len() > marks {
                last_mark = before;
            }
            host.put(ms(round), round, 0, 1000);
            host.get(ms(round));
        }
        assert!(last_mark > 0.05 && last_mark <= 0.1 + 0.02, "{last_mark}");
        assert!(host.probe("drop_probability") > 0.2);
    }

    #[test]
    fn an_inactive_law_is_activated_by_a_third_of_the_limit() {
        let mut host = Host::new("pie activate limit 30p");
        (0..10).for_each(|cookie| host.put(ms(3), cookie, 0, 1000));
        assert_eq!(host.qdisc.next_wakeup(), None);
        host.put(ms(3), 10, 0, 1000); // finds ten
        assert_eq!(host.qdisc.next_wakeup(), Some(ms(18)));
        assert_eq!(Host::new("pie").qdisc.next_wakeup(), Some(ms(15)));
        assert_eq!(Host::new("pie:linux").qdisc.next_wakeup(), Some(ms(500)));
        assert_eq!(Host::new("pie:ns3.27").qdisc.next_wakeup(), Some(ms(0)));
    }

    #[test]
    fn parameters_can_change_while_running() {
        let mut host = Host::new("pie activate limit 30p");
        (0..10).for_each(|cookie| host.put(ms(3), cookie, 0, 1000));
        host.qdisc.change(&[("activate", "off"), ("limit", "8p")], ms(4), &mut host.log).unwrap();
        assert_eq!(host.log.dropped, [(9, DropReason::Reconfigured), (8, DropReason::Reconfigured)]);
        assert_eq!(host.qdisc.next_wakeup(), Some(ms(19)));
    }

    #[test]
    fn another_program_measures_the_departure_rate_anew() {
        let mut host = Host::new("pie dq_rate_estimator limit 200p max_burst 10s");
        overload(&mut host, 1000);
        assert!(host.probe("qdelay") > 0.05);
        host.qdisc.change(&[("code", "linux")], ms(1000), &mut host.log).unwrap();
        host.wake_until(ms(1015));
        assert_eq!(host.probe("qdelay"), 0.0);
    }
}
