//! Schedulers keep their promises under a flood in any class: strict priority, shares, and room for the others.

use crate::common::workload::LINK_RATE;
use crate::common::{link, parse};
use aqm_core::discipline::Group;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::Value;
use aqm_core::random::Random;
use aqm_core::registry::{DISCIPLINES, Promise, SCHEDULERS, SchedulerInfo};
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Span, Time};

const CLASSES: usize = 3;
/// Code points that Linux puts into its first, second and third band (tc-prio(8)): minimize delay, none, maximize
/// throughput.
const CODE_POINTS: [u8; CLASSES] = [0x10 >> 2, 0, 0x08 >> 2];
const DURATION: Span = Span::from_secs(2);

/// Buffers of other sizes than the preset's.
const LIMITS: [&str; 4] = ["", "limit 24p", "limit 100p", "limit 150kb"];

/// Presets that promise nothing under a flood, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("pfifo_fast:ns3", "ns-3.27 drops what arrives when all bands together are full"),
    ("mq_ecn:ns2", "the authors' buffer drops what arrives when it is full"),
    ("mq_ecn:linux", "as the authors' ns-2 code"),
];

/// What the sources of the classes send: a multiple of the link's rate, and a length.
type Load = [(f64, u32); CLASSES];

/// What became of the packets of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    arrived: u64,
    packets: u64,
    bytes: u64,
    longest: Span,
}

/// Evenly spaced packets of three classes on a link that is never idle while something waits.
fn run(spec: &Spec, load: Load, ecn: Ecn) -> [Fate; CLASSES] {
    let mut qdisc = spec.build(link(), Random::seeded(1)).unwrap_or_else(|error| panic!("{spec}: {error}"));
    let mut fates = [Fate::default(); CLASSES];
    let end = Time::ZERO + DURATION;
    let gaps = load.map(|(rate, length)| {
        LINK_RATE.time_for(Bytes::new(u64::from(length))).as_secs_f64() / rate.max(1e-9)
    });
    // Sources begin a little apart.
    let mut sent = [0u64; CLASSES];
    let at = |class: usize, sent: u64| {
        Time::ZERO + Span::from_secs_f64(gaps[class] * (sent as f64 + 0.1 + 0.3 * class as f64))
    };
    let mut free = Time::ZERO;
    let mut cookie = 0;
    loop {
        let arriving = (0..CLASSES).min_by_key(|class| at(*class, sent[*class])).unwrap();
        let arrival = at(arriving, sent[arriving]);
        while free < arrival {
            let Some(packet) = qdisc.dequeue(free, &mut Unobserved) else { break };
            let fate = &mut fates[usize::from(packet.class)];
            fate.packets += 1;
            fate.bytes += u64::from(packet.length);
            fate.longest = fate.longest.max(free.since(packet.arrival));
            free += LINK_RATE.time_for(Bytes::new(u64::from(packet.length)));
        }
        if arrival >= end {
            return fates;
        }
        free = free.max(arrival);
        let mut packet = Packet::new(cookie, arriving as u64, load[arriving].1);
        (packet.class, packet.dscp, packet.ecn) = (arriving as u16, CODE_POINTS[arriving], ecn);
        qdisc.enqueue(packet, arrival, &mut Unobserved);
        fates[arriving].arrived += 1;
        sent[arriving] += 1;
        cookie += 1;
    }
}

/// The shares of the first classes under `spec`, in the unit of the promise.
fn weights(spec: &Spec, parameter: Option<&str>) -> [f64; CLASSES] {
    let Some(parameter) = parameter else { return [1.0; CLASSES] };
    std::array::from_fn(|class| spec.params.per_class(parameter).of_class(class) as f64)
}

/// Every scheduler with every preset, under several buffers, weights and children.
fn settings(scheduler: &SchedulerInfo) -> Vec<Spec> {
    let info = scheduler.discipline;
    let mut texts = Vec::new();
    for preset in info.presets {
        let name = format!("{}:{}", info.name, preset.name);
        if !is_exception(&name) {
            texts.extend(LIMITS.map(|limit| format!("{name} {limit}")));
        }
    }
    if info.params.iter().any(|param| param.name == "child") {
        texts.push(format!("{} limit 100p child [codel ecn] child [fq_codel] child [red]", info.name));
    }
    match scheduler.promise {
        Promise::Packets(Some(name)) => texts.push(format!("{} limit 100p {name} 1,4,2", info.name)),
        Promise::Bytes(name @ ("quantum" | "quanta")) => {
            texts.push(format!("{} limit 100p {name} 1514b,3000b,6000b", info.name));
        }
        Promise::Bytes(name) => texts.push(format!("{} limit 100p {name} 1,4,2", info.name)),
        _ => {}
    }
    // Where parameters choose among promises, strict priority is asked for.
    if scheduler.promise == Promise::Priority && info.params.iter().any(|param| param.name == "strict") {
        for text in &mut texts {
            *text += " strict 8";
            if parse(text).params.get("priority").to_string() == "tos" {
                // The priorities of the code points are 6, 0 and 2.
                *text += " priomap 1,1,2,1,1,1,0";
            }
        }
    }
    texts.iter().map(|text| parse(text)).collect()
}

fn is_exception(name: &str) -> bool {
    EXCEPTIONS.iter().any(|(exception, _)| *exception == name)
}

fn each(check: impl Fn(&SchedulerInfo, &Spec, Ecn)) {
    for scheduler in SCHEDULERS {
        for spec in settings(scheduler) {
            for ecn in [Ecn::NotEct, Ecn::Ect0] {
                check(scheduler, &spec, ecn);
            }
        }
    }
}

#[test]
fn every_scheduler_over_classes_is_listed_with_its_promise() {
    for info in DISCIPLINES.iter().filter(|info| info.group == Group::Class) {
        assert!(
            SCHEDULERS.iter().any(|scheduler| scheduler.discipline.name == info.name),
            "{} has no entry in SCHEDULERS of registry.rs",
            info.name
        );
    }
}

#[test]
fn a_flood_takes_nothing_from_classes_before_it_and_leaves_nothing_to_those_after_it() {
    each(|scheduler, spec, ecn| {
        if scheduler.promise != Promise::Priority {
            return;
        }
        for flooded in 0..CLASSES {
            for other in (0..CLASSES).filter(|other| *other != flooded) {
                for flood in [1.2, 10.0] {
                    let mut load = [(0.0, 1000); CLASSES];
                    (load[flooded], load[other]) = ((flood, 1514), (0.6, 500));
                    let fates = run(spec, load, ecn);
                    let case = format!("{spec}: {flood} times the rate in class {flooded}: {fates:?}");
                    if other < flooded {
                        let lost = fates[other].arrived - fates[other].packets;
                        assert!(lost <= 1, "class {other} loses {lost}: {case}");
                        // It waits for the packet in service.
                        assert!(fates[other].longest <= Span::from_millis(2), "{case}");
                    } else {
                        let most = LINK_RATE.as_bytes_per_sec_f64() * DURATION.as_secs_f64();
                        assert!(fates[flooded].bytes as f64 > 0.99 * most, "{case}");
                        assert!(fates[other].packets <= 2, "{case}");
                    }
                }
            }
        }
    });
}

#[test]
fn classes_share_as_promised_whichever_is_flooded() {
    each(|scheduler, spec, ecn| {
        let (parameter, in_bytes) = match scheduler.promise {
            Promise::Priority => return,
            Promise::Packets(parameter) => (parameter, false),
            Promise::Bytes(parameter) => (Some(parameter), true),
        };
        let weights = weights(spec, parameter);
        for flooded in 0..CLASSES {
            // Every class offers more than the link has, and one ten times as much.
            let mut load = [(1.3, 1000), (1.2, 700), (1.1, 1400)];
            load[flooded].0 = 10.0;
            let fates = run(spec, load, ecn);
            let sent = fates.map(|fate| if in_bytes { fate.bytes } else { fate.packets } as f64);
            let (all, total): (f64, f64) = (sent.iter().sum(), weights.iter().sum());
            for class in 0..CLASSES {
                let (share, due) = (sent[class] / all, weights[class] / total);
                let case = format!("{spec}: class {flooded} is flooded: {fates:?}");
                assert!((share - due).abs() < 0.02, "class {class} has {share} instead of {due}: {case}");
            }
        }
    });
}

#[test]
fn a_class_that_sends_less_than_its_share_loses_nothing_to_a_flood() {
    each(|scheduler, spec, ecn| {
        let (parameter, in_bytes) = match scheduler.promise {
            Promise::Priority => return,
            Promise::Packets(parameter) => (parameter, false),
            Promise::Bytes(parameter) => (Some(parameter), true),
        };
        let weights = weights(spec, parameter);
        // A law in a child may drop by itself.
        if spec.params.all_children().any(|child| child.name != "fifo") {
            return;
        }
        for flooded in 0..CLASSES {
            for other in (0..CLASSES).filter(|other| *other != flooded) {
                // Packets of one length, so that shares of packets are those of bytes.
                let length = if in_bytes { 500 } else { 1514 };
                let due = weights[other] / (weights[other] + weights[flooded]);
                let mut load = [(0.0, 1000); CLASSES];
                (load[flooded], load[other]) = ((10.0, 1514), (0.7 * due, length));
                let fates = run(spec, load, ecn);
                let lost = fates[other].arrived - fates[other].packets;
                assert!(
                    lost <= waiting(spec),
                    "class {other} loses {lost} of a flood in {flooded}: {spec}: {fates:?}"
                );
            }
        }
    });
}

/// Packets that may wait at the end of a run in a class that sends less than its share: those of a round.
fn waiting(spec: &Spec) -> u64 {
    let rounds = spec.params.iter().filter_map(|(param, value)| match value {
        Value::PerClass(list) if matches!(param.name, "weight" | "quantum") => {
            Some(list.as_slice().iter().sum::<u64>() / list.as_slice().iter().min().unwrap())
        }
        _ => None,
    });
    2 + rounds.max().unwrap_or(1)
}

#[test]
fn what_is_excepted_breaks_a_promise() {
    for (name, reason) in EXCEPTIONS {
        assert!(!reason.is_empty());
        let spec = parse(&format!("{name} limit 24p"));
        let fates = run(&spec, [(0.3, 500), (0.0, 500), (10.0, 1514)], Ecn::Ect0);
        let lost = fates[0].arrived - fates[0].packets;
        assert!(lost * 2 > fates[0].arrived, "{name} protects its classes: it is no exception");
    }
}
