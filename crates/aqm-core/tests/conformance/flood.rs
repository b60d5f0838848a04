//! A flood of sources that take no notice of any signal: the link stays full, and the queue as short as the law promises.
//!
//! Every preset is under test, and where a discipline has thresholds `min` and `max` of a queue, a short one as well: a law
//! must not lock the link out, however much arrives, and whatever it drops or marks. What a law does not promise is in
//! `flood_exceptions`.

use crate::common::{every_preset, values, with_ecn};
use crate::flood_exceptions::EXCEPTIONS;
use aqm_core::link::Link;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::Kind;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::registry::DISCIPLINES;
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Size, Span, Time};
use std::fmt;

/// Sources in turn, each with constant gaps.
const SOURCES: [u64; 2] = [1, 5];
/// Offered load, as a multiple of the link's rate.
const LOADS: [f64; 3] = [1.2, 2.0, 10.0];
/// Length and link rate: small packets have a slow link, so that both links send about 800 packets per second.
const PACKETS: [(u32, Rate); 2] = [(1514, Rate::from_mbit(10)), (100, Rate::from_bits_per_sec(660_000))];
const ECN: [Ecn; 2] = [Ecn::NotEct, Ecn::Ect0];
/// The measured part of a run. With small packets an average in steps of `avpkt` takes some seconds to fall again.
const MEASURED: (Time, Time) = (Time::from_nanos(8_000_000_000), Time::from_nanos(10_000_000_000));

/// Share of the link's time that is a full link.
const FULL: f64 = 0.95;
/// Multiple of `target` that the mean sojourn time stays below.
const TARGETS: u64 = 3;
/// Packets of the MTU, for each source, that laws with a target never signal on, and those that may arrive until it acts.
const SPARED: u64 = 3;

/// What a law promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// The link is full.
    FullLink,
    /// The queue is within `limit`: so is every sojourn time where flows do not overtake each other, and the mean else.
    Limit,
    /// With drops, the mean sojourn time stays near `target`, if there is one; of the listed disciplines, since the others
    /// have no place among the exceptions.
    Target,
    /// With drops, the average queue stays below twice `max` (RED's gentle curve ends there).
    Thresholds,
}

#[derive(Clone, Copy)]
struct Flood {
    sources: u64,
    load: f64,
    length: u32,
    rate: Rate,
    ecn: Ecn,
}

impl fmt::Display for Flood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flood { sources, load, length, ecn, .. } = self;
        write!(f, "{sources} sources, {load} times the rate, {length} B, {ecn:?}")
    }
}

/// What left in the measured part.
struct Outcome {
    /// Share of the link's time.
    full: f64,
    mean: Span,
    longest: Span,
}

impl Flood {
    fn all() -> impl Iterator<Item = Flood> {
        SOURCES.into_iter().flat_map(|sources| {
            LOADS.into_iter().flat_map(move |load| {
                PACKETS.into_iter().flat_map(move |(length, rate)| {
                    ECN.into_iter().map(move |ecn| Flood { sources, load, length, rate, ecn })
                })
            })
        })
    }

    /// How long the link sends a packet.
    fn sending(&self) -> Span {
        self.rate.time_for(Bytes::new(u64::from(self.length)))
    }

    fn run(&self, spec: &Spec) -> Outcome {
        let qdisc = Qdisc::new(spec, Link::new(self.rate), Random::seeded(1));
        let mut device = Device {
            qdisc: qdisc.unwrap_or_else(|error| panic!("{spec}: {error}")),
            sending: self.sending(),
            free: Time::ZERO,
            idle: true,
            sojourns: Vec::new(),
        };
        let gap = self.sending().as_nanos() as f64 / self.load;
        for number in 0.. {
            let now = Time::from_nanos((number as f64 * gap) as u64);
            if now >= MEASURED.1 {
                break;
            }
            device.run_until(now);
            let source = number % self.sources;
            let mut packet = Packet::new(number, source, self.length);
            (packet.source, packet.destination) = (source as u32, !source as u32);
            packet.ecn = self.ecn;
            device.qdisc.enqueue(packet, now, &mut Unobserved);
            if device.idle {
                device.ask(now);
            }
        }
        let count = device.sojourns.len() as u64;
        let total: u64 = device.sojourns.iter().map(|sojourn| sojourn.as_nanos()).sum();
        Outcome {
            full: (count * self.sending().as_nanos()) as f64 / MEASURED.1.since(MEASURED.0).as_nanos() as f64,
            mean: Span::from_nanos(total / count.max(1)),
            longest: device.sojourns.iter().copied().max().unwrap_or(Span::ZERO),
        }
    }
}

/// A link that takes a packet whenever it is free, and asks again after every arrival.
struct Device {
    qdisc: Qdisc,
    sending: Span,
    /// When the packet on the wire has left.
    free: Time,
    idle: bool,
    /// Of the packets whose sending began in the measured part.
    sojourns: Vec<Span>,
}

impl Device {
    fn ask(&mut self, now: Time) {
        let Some(packet) = self.qdisc.dequeue(now, &mut Unobserved) else {
            self.idle = true;
            return;
        };
        (self.idle, self.free) = (false, now + self.sending);
        if (MEASURED.0..MEASURED.1).contains(&now) {
            self.sojourns.push(now.since(packet.arrival));
        }
    }

    /// The ends of sending and the wake-ups up to `now`, each at its time.
    fn run_until(&mut self, now: Time) {
        loop {
            let wake_up = self.qdisc.next_wakeup().filter(|due| *due <= now);
            let free = Some(self.free).filter(|free| !self.idle && *free <= now);
            match (wake_up, free) {
                (Some(due), free) if free.is_none_or(|free| due < free) => {
                    self.qdisc.wake(due, &mut Unobserved);
                    if self.idle {
                        self.ask(due);
                    }
                }
                (_, Some(free)) => self.ask(free),
                _ => break,
            }
        }
    }
}

/// A promise that a law does not give.
pub(crate) struct Exception {
    /// A discipline, or one of its presets.
    pub(crate) of: &'static str,
    pub(crate) promise: Promise,
    /// From this load on, as a multiple of the link's rate.
    pub(crate) from_load: f64,
    pub(crate) reason: &'static str,
}

pub(crate) const fn exception(
    of: &'static str,
    promise: Promise,
    from_load: f64,
    reason: &'static str,
) -> Exception {
    Exception { of, promise, from_load, reason }
}

impl Exception {
    /// Whether it is about `spec` under `load`.
    pub(crate) fn covers(&self, spec: &Spec, promise: Promise, load: f64) -> bool {
        let (name, preset) =
            self.of.split_once(':').map_or((self.of, None), |(name, preset)| (name, Some(preset)));
        let named = name == spec.info.name && preset.is_none_or(|preset| preset == spec.preset.name);
        named && promise == self.promise && load >= self.from_load
    }
}

/// Every preset as it is, and with a short RED-like queue.
fn specs() -> impl Iterator<Item = Spec> {
    every_preset().flat_map(|spec| {
        let short = [("min", "5p"), ("max", "15p")];
        let sized =
            |name: &str| spec.info.params.iter().any(|param| param.name == name && param.kind == Kind::Size);
        let changed = short.iter().all(|(name, _)| sized(name)).then(|| {
            let mut changed = spec.clone();
            for (name, text) in short {
                changed.set_text(name, text).unwrap_or_else(|error| panic!("{spec}: {error}"));
            }
            changed
        });
        [Some(spec), changed].into_iter().flatten()
    })
}

/// The longest that `promise` allows, and what to compare with it; `None` where `spec` has no such promise.
fn allowed(spec: &Spec, promise: Promise, flood: &Flood, outcome: &Outcome) -> Option<(Span, Span)> {
    let packets = |count: u64| flood.rate.time_for(Bytes::new(count * u64::from(flood.length)));
    let of = |size: Size| match size {
        Size::Packets(count) => packets(count),
        Size::Bytes(bytes) => flood.rate.time_for(Bytes::new(bytes)),
    };
    let has = |name: &str, kind: Kind| {
        spec.info.params.iter().any(|param| param.name == name && param.kind == kind)
    };
    let drops = flood.ecn == Ecn::NotEct;
    let listed = DISCIPLINES.iter().any(|info| info.name == spec.info.name);
    match promise {
        Promise::FullLink => unreachable!("it is a share, not a time"),
        Promise::Limit => {
            let bound = of(values::limit(&spec.params)?) + packets(1);
            let waited = if spec.info.traits.reorders_flows { outcome.mean } else { outcome.longest };
            Some((bound, waited))
        }
        Promise::Target if drops && listed && has("target", Kind::Span) => {
            let spared = flood
                .rate
                .time_for(Bytes::new(SPARED * flood.sources * u64::from(Link::new(flood.rate).mtu)));
            let target = spec.params.span("target").as_nanos();
            Some((Span::from_nanos(TARGETS * target) + spared, outcome.mean))
        }
        Promise::Thresholds if drops && has("min", Kind::Size) => {
            let max = spec.params.size("max")?;
            Some((of(max) + of(max) + packets(2), outcome.mean))
        }
        _ => None,
    }
}

/// Why `promise` is not held, if it is not.
fn broken(spec: &Spec, promise: Promise, flood: &Flood, outcome: &Outcome) -> Option<String> {
    if promise == Promise::FullLink {
        return (outcome.full < FULL)
            .then(|| format!("the link is full {:.1} % of the time", 100.0 * outcome.full));
    }
    let (bound, waited) = allowed(spec, promise, flood, outcome)?;
    (waited > bound).then(|| format!("packets wait {waited}, and {bound} are allowed"))
}

const PROMISES: [Promise; 4] = [Promise::FullLink, Promise::Limit, Promise::Target, Promise::Thresholds];

/// Every promise that `spec` breaks, the flood under which it does, and how.
fn all_broken(spec: &Spec) -> impl Iterator<Item = (Promise, Flood, String)> {
    Flood::all().flat_map(|flood| {
        let spec = if flood.ecn == Ecn::NotEct { spec.clone() } else { with_ecn(spec.clone()) };
        let outcome = flood.run(&spec);
        PROMISES
            .map(|promise| Some((promise, flood, broken(&spec, promise, &flood, &outcome)?)))
            .into_iter()
            .flatten()
    })
}

#[test]
fn a_flood_neither_locks_the_link_out_nor_fills_the_queue_beyond_what_the_law_promises() {
    let mut failures = Vec::new();
    for spec in specs() {
        for (promise, flood, how) in all_broken(&spec) {
            if !EXCEPTIONS.iter().any(|one| one.covers(&spec, promise, flood.load)) {
                failures.push(format!("{spec}: {promise:?} under {flood}: {how}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_exception_from_the_promises_under_a_flood_is_needed() {
    for exception in EXCEPTIONS {
        let needs = |spec: &Spec| {
            let about = |load| exception.covers(spec, exception.promise, load);
            about(LOADS[2])
                && all_broken(spec)
                    .any(|(promise, flood, _)| promise == exception.promise && about(flood.load))
        };
        let (of, promise, reason) = (exception.of, exception.promise, exception.reason);
        assert!(
            every_preset().any(|spec| needs(&spec)),
            "{of} needs no exception from {promise:?}: {reason}"
        );
    }
}
