//! # What it does
//! One queue under RED: arriving packets are dropped (or marked) at random, more often the longer the average queue.
//!
//! # Reference
//! S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993); S. Floyd,
//! "Recommendation on using the 'gentle_' variant of RED" (2000); RFC 3168 section 7 for ECN.
//!
//! # Parameters
//! See `aqmlab aqm show red`.
//!
//! # Deviations
//! The unit of `min` and `max` decides whether the average counts packets or bytes. In bytes, the probability is
//! scaled by length / `avpkt`, as in ns-2 and ns-3 (the paper: by the largest packet). A full queue is tested before
//! the thresholds, and its drops do not change the count between signals. `ns3`: parameters, spacing and the
//! idle time; its exemption of the first packet above `min` is not copied. `linux`: parameters, their defaults by tc, the
//! idle time and a probability that no length scales; its fixed-point average and its draw once per signal are not copied.
//! Equal thresholds are a step, as DCTCP asks of RED: `red min 20p max 20p w 1 nogentle ecn noharddrop`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet while the average is on the curve.

use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::choices;
use crate::cx::Cx;
use crate::law::Verdict;
use crate::law::idle::Idle;
use crate::law::max_p::{Adaptation, Floyd, Rule};
use crate::law::red::{Params as Law, Shape, State, power};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Bytes, Size, Time};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "red",
    group: Group::QueueLength,
    summary: "Random Early Detection: drops at random as the average queue grows",
    reference: "Floyd and Jacobson 1993; gentle: Floyd 2000",
    params: &[
        LIMIT,
        MIN,
        MAX,
        PROBABILITY,
        W,
        BURST,
        GENTLE,
        ECN,
        HARDDROP,
        NODROP,
        ADAPTIVE,
        WAIT,
        AVPKT,
        BANDWIDTH,
        CODE,
    ],
    presets: &[
        Preset {
            name: "floyd",
            source: "Floyd and Jacobson 1993, Floyd 1997 and 2000; thresholds from the limit",
            values: &[],
        },
        Preset {
            name: "ns3",
            source: "ns-3.27 src/traffic-control/model/red-queue-disc.cc (defaults, LinkBandwidth apart)",
            values: &[
                ("limit", Value::Size(Size::Packets(25))),
                ("min", Value::Size(Size::Packets(5))),
                ("max", Value::Size(Size::Packets(15))),
                ("probability", Value::Fraction(0.02)), // LInterm 50
                ("wait", Value::Flag(true)),
                ("avpkt", Value::Bytes(Bytes::new(500))),
                ("code", Value::Choice(Code::Ns3.word())),
            ],
        },
        Preset {
            name: "linux",
            source: "red_enqueue() of Linux 6.1 net/sched/sch_red.c, tc-red(8) (defaults)",
            values: &[
                ("probability", Value::Fraction(0.02)),
                ("w", Value::Auto),
                ("gentle", Value::Flag(false)),
                ("harddrop", Value::Flag(false)),
                ("code", Value::Choice(Code::Linux.word())),
            ],
        },
    ],
    probes: &[AVERAGE_QUEUE, DROP_PROBABILITY],
    traits: TRAITS,
    deviations: "byte mode scales by avpkt; a full queue is tested first; ns3 and linux: parameters, not the code's own order",
    build,
};

pub(super) const MIN: ParamSpec = ParamSpec::new(
    "min",
    Kind::Size,
    Value::Auto,
    (0.0, 1e12),
    "Average queue below which nothing is dropped",
    "Floyd, \"RED: Discussions of Setting Parameters\" (1997): max is three times min",
)
.or_auto("20 % of limit; by tc's code a third of max");

pub(super) const MAX: ParamSpec = ParamSpec::new(
    "max",
    Kind::Size,
    Value::Auto,
    (1.0, 1e12),
    "Average queue at which the probability reaches its parameter; equal to min, a step",
    "Floyd 1997: three times min",
)
.or_auto("60 % of limit; by tc's code a quarter of limit, or three times min if that is given");

pub(super) const PROBABILITY: ParamSpec = ParamSpec::new(
    "probability",
    Kind::Fraction,
    Value::Fraction(0.1),
    (0.0, 1.0),
    "Drop probability at max (max_p)",
    "Floyd 1997: 0.1",
);

pub(super) const W: ParamSpec = ParamSpec::new(
    "w",
    Kind::Fraction,
    Value::Fraction(0.002),
    (1e-9, 1.0),
    "Weight of a sample in the average (w_q)",
    "Floyd and Jacobson 1993: 0.002",
)
.or_auto("from burst, as tc derives it");

pub(super) const BURST: ParamSpec = ParamSpec::new(
    "burst",
    Kind::Count,
    Value::Auto,
    (1.0, 1e6),
    "Packets that may arrive at an empty queue before the average reaches min; if given, w follows from it",
    "tc-red(8); Floyd and Jacobson 1993 section 6, eq. 3",
)
.or_auto("no effect on a given w; for w auto (2 min + max) / 3, in packets of avpkt");

pub(super) const GENTLE: ParamSpec =
    ParamSpec::flag("gentle", true, "Raise the probability to 1 between max and twice max", "Floyd 2000: on");

pub(super) const ECN: ParamSpec =
    ParamSpec::flag("ecn", false, "Mark ECN-capable packets instead of dropping them", "tc-red(8): off");

pub(super) const HARDDROP: ParamSpec = ParamSpec::flag(
    "harddrop",
    true,
    "Drop ECN-capable packets too while the probability is 1",
    "RFC 3168 section 7: on",
);

const NODROP: ParamSpec = ParamSpec::flag(
    "nodrop",
    false,
    "With ecn, admit packets that cannot be marked instead of dropping them",
    "tc-red(8): off",
);

const ADAPTIVE: ParamSpec = ParamSpec::flag(
    "adaptive",
    false,
    "Move probability with the average, by the rule and the constants of ared",
    "tc-red(8): off; Floyd, Gummadi and Shenker 2001 section 4",
);

pub(super) const WAIT: ParamSpec =
    ParamSpec::flag("wait", false, "Wait 1/p packets before the next drop", "Floyd and Jacobson 1993: off");

pub(super) const AVPKT: ParamSpec = ParamSpec::new(
    "avpkt",
    Kind::Bytes,
    Value::Bytes(Bytes::new(1000)),
    (1.0, 1e6),
    "Mean packet, for the decay on an idle link and for byte mode",
    "tc-red(8): 1000 is a good value",
);

pub(super) const BANDWIDTH: ParamSpec = ParamSpec::new(
    "bandwidth",
    Kind::Rate,
    Value::Auto,
    (1.0, 1e15),
    "Link rate, for the decay on an idle link",
    "tc-red(8)",
)
.or_auto("the link's rate");

choices! {
    /// Whose rules hold where the paper leaves a choice.
    pub(super) enum Code {
        Floyd = "floyd",
        Ns3 = "ns3",
        Linux = "linux",
    }
}

pub(super) const CODE: ParamSpec = ParamSpec::choice::<Code>(
    "code",
    "Whose rules hold for the average of an empty queue, for thresholds that are auto, and in byte mode",
    "Floyd and Jacobson 1993 figure 2; ns-3 red-queue-disc.cc; Linux red.h, iproute2 q_red.c",
);

pub(super) const AVERAGE_QUEUE: ProbeSpec =
    ProbeSpec { name: "average_queue", unit: "packets or bytes", help: "Weighted average of the queue" };

pub(super) const DROP_PROBABILITY: ProbeSpec =
    ProbeSpec { name: "drop_probability", unit: "fraction", help: "Read from the curve (p_b)" };

pub(super) const MAX_P: ProbeSpec =
    ProbeSpec { name: "max_p", unit: "fraction", help: "Drop probability at max, as it is now" };

/// Traits of RED's family: all act on arrival only.
pub(super) const TRAITS: Traits = Traits {
    wakes: false,
    ecn: true,
    drops_queued: false,
    reorders_flows: false,
    reorders_within_flow: false,
    // The average may be above min when the queue is empty; only a queue that was never used is certain to give no
    // signal.
    quiet_packets: 0,
    flow_state_bytes: 0,
};

/// The parameters in use.
pub(super) struct Settings {
    pub(super) limit: Size,
    /// The unit of the average.
    pub(super) unit: Size,
    pub(super) law: Law,
    pub(super) rule: Option<Rule>,
    pub(super) ecn: bool,
    pub(super) harddrop: bool,
    pub(super) nodrop: bool,
}

/// How a member of the family reads its parameters.
pub(super) type Read = fn(&Params, &Link) -> Result<Settings, ParamError>;

/// A queue under RED, with or without a rule that moves `max_p`.
pub(super) struct Red {
    pub(super) queue: Fifo,
    pub(super) settings: Settings,
    pub(super) state: State,
    /// `max_p` as given by the parameters.
    max_p: f64,
    adaptation: Adaptation,
    link: Link,
    read: Read,
    /// Whether `max_p` is one of the discipline's probes.
    shows_max_p: bool,
}

/// Reads the common parameters of the family; thresholds that are `auto` come from the limit.
pub(super) fn settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    let (min, max) = match params.choice("code") {
        Code::Linux => tc_thresholds(params, params.size("min").map(|min| min.with_count(3 * min.count()))),
        Code::Floyd | Code::Ns3 => thresholds(params),
    };
    settings_between(params, link, min, max, weight(params, min, max)?)
}

/// Floyd 1997: `max` is three times `min`.
fn thresholds(params: &Params) -> (Size, Size) {
    let limit = params.size("limit").expect("limit has no auto");
    let share = |fifths: u64, least: u64| limit.with_count((limit.count() * fifths / 5).max(least));
    (params.size("min").unwrap_or(share(1, 1)), params.size("max").unwrap_or(share(3, 2)))
}

/// Those of iproute2's `q_red.c`; `max_of_min` is what `max` is without being given, or a quarter of the limit. Where a
/// third of it is less than a packet, tc finds no weight and refuses.
pub(super) fn tc_thresholds(params: &Params, max_of_min: Option<Size>) -> (Size, Size) {
    let limit = params.size("limit").expect("limit has no auto");
    let max = params.size("max").or(max_of_min);
    let max = max.unwrap_or(limit.with_count((limit.count() / 4).max(2 * in_packets(params, limit))));
    (params.size("min").unwrap_or(max.with_count((max.count() / 3).max(in_packets(params, max)))), max)
}

/// `w`, or what follows from `burst`.
pub(super) fn weight(params: &Params, min: Size, max: Size) -> Result<f64, ParamError> {
    match (params.get("burst"), params.get("w")) {
        (Value::Count(burst), _) => tc_weight(params, min, *burst),
        (_, Value::Fraction(weight)) => Ok(*weight),
        _ => {
            let burst = (2 * min.count() + max.count()) / (3 * in_packets(params, min));
            tc_weight(params, min, burst.max(1))
        }
    }
}

/// What a packet counts in the unit of `size`.
fn in_packets(params: &Params, size: Size) -> u64 {
    match size {
        Size::Packets(_) => 1,
        Size::Bytes(_) => params.bytes("avpkt").expect("avpkt has no auto").as_u64(),
    }
}

/// The weight that tc finds for `burst`.
fn tc_weight(params: &Params, min: Size, burst: u64) -> Result<f64, ParamError> {
    let least = min.count() as f64 / in_packets(params, min) as f64;
    if (burst as f64) < least {
        let problem = format_args!("must be at least min, which is {min}");
        return Err(ParamError::relation("burst", burst, problem));
    }
    let weight = weight_of_burst(burst, least);
    weight.ok_or_else(|| ParamError::relation("burst", burst, format_args!("is too large for min {min}")))
}

/// `tc_red_eval_ewma()` of iproute2's `tc_red.c`: the largest 2^-n with which `burst` packets at an empty queue do not
/// lift the average above `min` packets of average length; none if the burst is too large, or below `min`.
pub fn weight_of_burst(burst: u64, min: f64) -> Option<f64> {
    let wanted = burst as f64 + 1.0 - min;
    let reached = |weight: f64| (1.0 - power(1.0 - weight, burst)) / weight;
    let mut weights = (1..32).map(|log| 1.0 / f64::from(1_u32 << log));
    weights.find(|weight| (1.0..=reached(*weight)).contains(&wanted))
}

/// The same with given thresholds and weight.
pub(super) fn settings_between(
    params: &Params,
    link: &Link,
    min: Size,
    max: Size,
    weight: f64,
) -> Result<Settings, ParamError> {
    if core::mem::discriminant(&min) != core::mem::discriminant(&max) {
        return Err(ParamError::relation("max", max, format_args!("and min {min} must be in the same unit")));
    }
    // Equal thresholds are a step: Linux's red_check_params() refuses no more than max below min.
    if min.count() > max.count() {
        return Err(ParamError::relation("max", max, format_args!("must be at least min, which is {min}")));
    }
    let code: Code = params.choice("code");
    let avpkt = params.bytes("avpkt").expect("avpkt has no auto");
    let packet_time = params.rate("bandwidth").unwrap_or(link.rate).time_for(avpkt);
    let law = Law {
        min: min.count() as f64,
        max: max.count() as f64,
        max_p: params.number("probability"),
        weight,
        shape: Shape::Linear,
        gentle: params.flag("gentle"),
        wait: params.flag("wait"),
        // Linux counts bytes, and leaves the probability alone.
        mean_packet: (matches!(min, Size::Bytes(_)) && code != Code::Linux).then_some(avpkt.as_u64() as f64),
        packet_time,
        idle: match code {
            Code::Ns3 => Idle::Ns3,
            Code::Linux => Idle::linux(weight, packet_time),
            Code::Floyd => Idle::floyd(weight, packet_time),
        },
    };
    let limit = params.size("limit").expect("limit has no auto");
    Ok(Settings {
        limit,
        unit: min,
        law,
        rule: None,
        ecn: params.flag("ecn"),
        harddrop: params.flag("harddrop"),
        nodrop: false,
    })
}

/// Those of RED alone.
fn own_settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    let nodrop = params.flag("nodrop");
    if nodrop && !params.flag("ecn") {
        return Err(ParamError::relation(
            "nodrop",
            "on",
            "needs ecn: else no packet would ever get a signal",
        ));
    }
    let rule = params.flag("adaptive").then_some(Rule::Floyd(Floyd::ADAPTIVE_RED));
    Ok(Settings { rule, nodrop, ..settings(params, link)? })
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(Red::new(params, link, own_settings)?))
}

impl Red {
    /// An empty queue.
    pub(super) fn new(params: &Params, link: &Link, read: Read) -> Result<Red, ParamError> {
        let settings = read(params, link)?;
        let max_p = settings.law.max_p;
        let (queue, state) = (Fifo::default(), State::default());
        let adaptation = settings.rule.as_ref().map_or_else(Adaptation::default, Rule::start);
        let shows_max_p = settings.rule.is_some() && params.names().all(|name| name != ADAPTIVE.name);
        Ok(Red { queue, settings, state, max_p, adaptation, link: *link, read, shows_max_p })
    }

    /// Updates the average with the queue that an arriving packet finds.
    #[inline]
    pub(super) fn sample(&mut self, now: Time) {
        let Settings { law, unit, rule, .. } = &mut self.settings;
        law.sample(&mut self.state, self.queue.backlog().in_unit_of(*unit), now);
        if let Some(rule) = rule {
            rule.adapt(&mut self.adaptation, law, self.state.average(), now);
        }
    }

    /// Admits `packet` if it fits, while the average is below `max`; above it, as any other packet.
    #[inline]
    pub(super) fn spare(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        if self.state.average() >= self.settings.law.max {
            self.admit(packet, cx);
        } else if self.queue.backlog().would_exceed(self.settings.limit, packet.length) {
            cx.drop(packet, DropReason::Overlimit);
        } else {
            self.queue.push(packet);
        }
    }

    /// Admits `packet`, marks it or drops it.
    #[inline]
    pub(super) fn admit(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let Settings { limit, law, ecn, harddrop, nodrop, .. } = &self.settings;
        let rules = Rules { limit: *limit, ecn: *ecn, harddrop: *harddrop, nodrop: *nodrop };
        rules.admit(&mut self.queue, law, &mut self.state, packet, cx);
    }
}

/// Settings other than the curve.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) limit: Size,
    pub(super) ecn: bool,
    pub(super) harddrop: bool,
    pub(super) nodrop: bool,
}

impl Rules {
    /// Admits `packet` into `queue`, marks it or drops it, by the average in `state`.
    #[inline]
    pub(super) fn admit(
        self,
        queue: &mut Fifo,
        law: &Law,
        state: &mut State,
        mut packet: Packet,
        cx: &mut Cx<'_>,
    ) {
        if queue.backlog().would_exceed(self.limit, packet.length) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        let mut verdict = law.decide(state, packet.length, || cx.uniform());
        if verdict == Verdict::Drop && !self.harddrop {
            verdict = Verdict::Signal;
        }
        match verdict {
            Verdict::Admit => {}
            // red_enqueue(): without drops, what cannot be marked is queued.
            Verdict::Signal if self.ecn && (cx.mark(&mut packet, MarkReason::Congestion) || self.nodrop) => {}
            _ => return cx.drop(packet, DropReason::Congestion),
        }
        queue.push(packet);
    }
}

impl Discipline for Red {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        self.sample(cx.now);
        self.admit(packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let Some(packet) = self.queue.pop() else {
            self.settings.law.idle(&mut self.state, cx.now);
            return None;
        };
        if self.queue.is_empty() {
            self.state.emptied(cx.now);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let mut settings = (self.read)(params, &self.link)?;
        if core::mem::discriminant(&settings.unit) != core::mem::discriminant(&self.settings.unit) {
            // An average in packets says nothing about bytes.
            self.state = State::default();
        }
        if settings.law.max_p == self.max_p {
            // The learned value remains, unless the user sets another.
            settings.law.max_p = self.settings.law.max_p;
        } else {
            self.max_p = settings.law.max_p;
        }
        self.settings = settings;
        self.queue.trim(self.settings.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
        self.state.emptied(cx.now);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("average_queue", self.state.average());
        sink("drop_probability", self.state.probability());
        if self.shows_max_p {
            sink("max_p", self.settings.law.max_p);
        }
    }

    fn state_bytes(&self) -> usize {
        size_of::<Red>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use crate::units::Span;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    /// Weight 1 makes the average the queue itself: packet n finds n packets. min 2, max 4, p_b = 0, 0.25 and gently
    /// 0.5, 0.625, .. 0.875 at 2, 3, 4, 5, .. 7, then 1.
    const SMALL: &str = "red limit 100p min 2p max 4p probability 0.5 w 1";

    #[test]
    fn a_packet_goes_when_its_number_is_below_the_spread_probability() {
        // Averages 0, 1 draw nothing. Average 2: p 0, passes. Average 3: count 1, p_a = 0.25 / 0.75 = 0.33: dropped.
        // Average 3 again: count 1, p_a = 0.33, dropped again.
        let mut host = Host::scripted(SMALL, &[0.3]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert_eq!(host.dropped(), [3, 4]);
        assert_eq!((host.probe("average_queue"), host.probe("drop_probability")), (3.0, 0.25));
    }

    #[test]
    fn ecn_marks_on_the_curve_and_drops_beyond_it() {
        let fill = |spec: &str| {
            let mut host = Host::scripted(spec, &[0.0]);
            (0..10).for_each(|cookie| host.put_ect(ms(1), cookie, 0, 1000));
            host
        };
        let ecn = "red limit 100p min 2p max 4p probability 0.5 w 1 ecn";
        let host = fill(ecn);
        assert_eq!((host.marked(), host.dropped()), (alloc::vec![3, 4, 5, 6, 7], alloc::vec![8, 9]));
        let host = fill("red limit 100p min 2p max 4p probability 0.5 w 1 ecn noharddrop");
        assert_eq!(host.marked(), [3, 4, 5, 6, 7, 8, 9]);
        // Without gentle every packet goes from max on.
        assert_eq!(
            fill("red limit 100p min 2p max 4p probability 0.5 w 1 ecn nogentle").dropped(),
            [4, 5, 6, 7, 8, 9]
        );
        let mut host = Host::scripted(ecn, &[0.0]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert_eq!((host.marked().len(), host.dropped()), (0, alloc::vec![3, 4]));
    }

    #[test]
    fn with_nodrop_what_cannot_be_marked_is_queued() {
        let spec = "red limit 9p min 2p max 4p probability 0.5 w 1 ecn nodrop noharddrop";
        let mut host = Host::scripted(spec, &[0.0]);
        (0..9).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        host.put(ms(1), 9, 0, 1000);
        assert_eq!(host.log.dropped, [(9, DropReason::Overlimit)]);
        let spec = crate::spec::Spec::parse("red nodrop").unwrap();
        let link = Link::new(crate::units::Rate::from_mbit(1));
        let error = own_settings(&spec.params, &link).err().unwrap().to_string();
        assert!(error.starts_with("parameter 'nodrop': 'on' needs ecn"), "{error}");
    }

    #[test]
    fn adaptive_red_moves_max_p_as_ared_does() {
        let same = " limit 100p min 5p max 15p w 1";
        let mut moved = Vec::new();
        for spec in ["red adaptive", "ared"] {
            let mut host = Host::scripted(&alloc::format!("{spec}{same}"), &[0.999]);
            (0..12).for_each(|cookie| host.put(ms(499), cookie, 0, 1000));
            host.put(ms(500), 12, 0, 1000); // finds 12, above the target: max_p is 0.11
            moved.push(host.probe("drop_probability"));
        }
        assert_eq!(moved[0], moved[1]);
        assert!((moved[0] - 0.11 * 0.7).abs() < 1e-12, "{moved:?}"); // 12 of 5 to 15
    }

    #[test]
    fn a_full_queue_is_tested_before_the_thresholds() {
        let mut host = Host::scripted("red limit 2p min 1p max 2p w 1 probability 0", &[0.9]);
        (0..3).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert_eq!(host.log.dropped, [(2, DropReason::Overlimit)]);
    }

    #[test]
    fn thresholds_follow_the_limit_and_must_agree() {
        let info = |text: &str| {
            let spec = crate::spec::Spec::parse(text).unwrap();
            settings(&spec.params, &Link::new(crate::units::Rate::from_mbit(8)))
        };
        let law = info("red limit 50p").unwrap_or_else(|error| panic!("{error}")).law;
        assert_eq!((law.min, law.max, law.mean_packet), (10.0, 30.0, None));
        assert_eq!(law.packet_time.as_nanos(), 1_000_000); // 1000 bytes at 8 Mbit/s
        let error = |text| info(text).err().expect("refused").to_string();
        assert_eq!(error("red min 5p max 4p"), "parameter 'max': '4p' must be at least min, which is 5p");
        assert_eq!(error("red min 5kb"), "parameter 'max': '600p' and min 5kb must be in the same unit");
    }

    #[test]
    fn equal_thresholds_are_dctcps_step() {
        // Alizadeh 2010 section 3.1: RED, both thresholds K, of the queue as it is. dctcp_step marks above its threshold.
        let marks = |spec: &str| {
            let mut host = Host::new(spec);
            for cookie in 0..400 {
                host.put_ect(ms(cookie), cookie, 0, 1000);
                // The queue grows for 7 packets of 13, and shrinks by one or two for each of the others.
                (0..if cookie % 13 < 7 { 0 } else { 2 + cookie % 2 }).for_each(|_| _ = host.get(ms(cookie)));
            }
            (host.marked(), host.dropped())
        };
        let step = marks("dctcp_step limit 100p threshold 3p");
        assert_eq!(marks("red limit 100p min 4p max 4p w 1 nogentle ecn noharddrop"), step);
        assert!((50..350).contains(&step.0.len()) && step.1.is_empty(), "{step:?}");
        // Without ecn every packet from K on is dropped, and with gentle the step is one to max_p.
        let mut host = Host::scripted("red min 4p max 4p w 1 probability 0.3", &[0.999]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert_eq!((host.dropped().len(), host.probe("drop_probability")), (0, 0.3));
        let mut host = Host::new("red:linux min 4p max 4p w 1");
        (0..6).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert_eq!(host.dropped(), [4, 5]);
    }

    #[test]
    fn tc_derives_thresholds_and_weight_from_the_limit() {
        let law = |text: &str| {
            let spec = crate::spec::Spec::parse(text).unwrap();
            let link = Link::new(crate::units::Rate::from_mbit(10));
            settings(&spec.params, &link).map(|settings| settings.law)
        };
        let of = |text: &str| law(text).map(|law| (law.min, law.max, law.weight)).unwrap();
        // A quarter of 400 kB and a third of it; burst (2 * 33333 + 100000) / 3000 = 55, 22.667 packets to go: 2^-5 gives
        // (1 - 0.1744) * 32 = 26.4, and 2^-4 (1 - 0.0287) * 16 = 15.5.
        assert_eq!(of("red:linux limit 400000b"), (33_333.0, 100_000.0, 1.0 / 32.0));
        assert_eq!(of("red:linux limit 1000p"), (83.0, 250.0, 1.0 / 64.0));
        // tc-red(8)'s example: limit 400000 min 30000 max 90000 avpkt 1000 burst 55.
        assert_eq!(
            of("red:linux limit 400000b min 30000b max 90000b burst 55"),
            (30_000.0, 90_000.0, 1.0 / 32.0)
        );
        assert_eq!(of("red:linux min 5p"), (5.0, 15.0, 0.125)); // burst 8: 4 to go, (1 - 0.1001) * 4 = 3.6
        assert_eq!(of("red:linux max 30p w 0.5"), (10.0, 30.0, 0.5));
        assert_eq!(of("red burst 300"), (200.0, 600.0, 1.0 / 128.0)); // (1 - 0.0951) * 128 = 115.8, 101 to go
        assert_eq!(law("red:linux limit 400000b").unwrap().mean_packet, None);
        let error = |text: &str| law(text).expect_err("refused").to_string();
        assert_eq!(error("red burst 199"), "parameter 'burst': '199' must be at least min, which is 200p");
        assert_eq!(
            error("red min 0p max 2p burst 1000000"),
            "parameter 'burst': '1000000' is too large for min 0p"
        );
    }

    #[test]
    fn an_idle_link_forgets() {
        // 1000 bytes take 0.8 ms at 10 Mbit/s; w 0.5: after 8 ms the average 1 is 0.5^10 of itself.
        let mut host = Host::scripted("red w 0.5", &[0.5]);
        (0..2).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
        assert_eq!(host.probe("average_queue"), 0.5);
        host.get(ms(1));
        host.get(ms(2));
        host.put(ms(10), 2, 0, 1000);
        assert!((host.probe("average_queue") - 0.5 / 1024.0).abs() < 1e-16);
    }

    /// Bits per second that leave a link of 10 Mbit/s under a constant 20 Mbit/s, from 3 to 10 s. The link takes a packet
    /// whenever it is free, and asks again after every arrival.
    fn flooded(spec: &str) -> f64 {
        const BYTES: u32 = 1514;
        let (gap, send) = (605_600, 1_211_200); // ns of a packet at 20 and at 10 Mbit/s
        let mut host = Host::new(spec);
        let (mut free, mut sent) = (Time::ZERO, 0);
        for cookie in 0..10_000_000_000 / gap {
            let now = Time::from_nanos(cookie * gap);
            while free <= now && host.get(free).is_some() {
                free += Span::from_nanos(send);
                sent += u64::from(free > ms(3000));
            }
            host.put(now, cookie, 0, BYTES);
            if free <= now && host.get(now).is_some() {
                free = now + Span::from_nanos(send);
                sent += u64::from(free > ms(3000));
            }
        }
        (sent * u64::from(BYTES) * 8) as f64 / 7.0
    }

    #[test]
    fn a_flood_never_locks_the_link_out() {
        // If a dropped arrival at an empty queue restarted the idle time, nothing would ever be sent again: 0.0 Mbit/s.
        for code in ["floyd", "ns3", "linux"] {
            let rate = flooded(&alloc::format!("red limit 300p min 5p max 15p nogentle code {code}"));
            assert!((9.95e6..10.05e6).contains(&rate), "{code}: {rate}");
        }
    }
}
