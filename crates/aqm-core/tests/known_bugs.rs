//! Bugs that ns-3's traffic control once had, as tests of every discipline here. Numbers are ns-3's: `Bug` of its
//! Bugzilla, `#` and `!` of issues and merge requests on GitLab; its release notes list them.

mod common;

use aqm_core::packet::Ecn;
use aqm_core::params::{ParamSpec, Value};
use aqm_core::signal::{DropPoint, DropReason};
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Span};
use common::rig::{Event, LONGEST_ACK, Rig, What};
use common::workload::{EVERYTHING, Op, Phase, Workload};
use common::{every_preset, parse, values, with_ecn};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The actions of `spec` under `ops`; `None` if its parameters exclude each other.
fn events(spec: &Spec, ops: &[Op]) -> Option<Vec<Event>> {
    let mut rig = Rig::try_new(spec, 1).ok()?;
    rig.run(ops).drain();
    Some(rig.events().to_vec())
}

/// Three seconds of overload with this ECN field only.
fn overload(ecn: &'static [Ecn]) -> Vec<Op> {
    const PHASES: &[Phase] = &[(Span::from_secs(3), 1.3)];
    Workload { name: "overload", phases: PHASES, flows: 8, ecn }.ops(2)
}

fn without_marks(events: Vec<Event>) -> Vec<Event> {
    events.into_iter().filter(|event| !matches!(event.what, What::Marked(..))).collect()
}

// Bug 2485: RED updated its average first, and so counted, marked or "dropped early" packets for which the queue was
// full.
#[test]
fn a_packet_that_finds_a_full_queue_is_dropped_as_overlimit_and_never_marked() {
    let mut with_refusals = 0;
    for mut spec in every_preset().map(with_ecn) {
        // Flow queues drop queued packets, which may have been marked on arrival.
        if spec.info.traits.drops_queued || spec.set_text("limit", "5p").is_err() {
            continue;
        }
        let Some(events) = events(&spec, &overload(&[Ecn::Ect0])) else { continue };
        let packets = |pick: fn(&What) -> Option<u64>| -> BTreeSet<u64> {
            events.iter().filter_map(|event| pick(&event.what)).collect()
        };
        let refused = packets(|what| match what {
            What::Dropped(packet, DropReason::Overlimit, DropPoint::Enqueue) => Some(*packet),
            _ => None,
        });
        let marked = packets(|what| if let What::Marked(packet, _) = what { Some(*packet) } else { None });
        assert!(refused.is_disjoint(&marked), "{spec}: marked and then refused");
        with_refusals += usize::from(!refused.is_empty());
    }
    // Some laws keep the queue from filling up.
    assert!(with_refusals > 15, "{with_refusals}");
}

#[test]
fn red_counts_a_full_queue_before_its_thresholds() {
    // Weight 1: from the third packet on RED would drop all, but from the fifth on the queue is full.
    let mut rig = Rig::new(&parse("red limit 4p min 1p max 5p probability 0 w 1 nogentle"), 1);
    for _ in 0..6 {
        rig.arrive(0, 1000, Ecn::Ect0);
    }
    let reasons: Vec<_> = rig.events().iter().map(|event| event.what).collect();
    let full = |packet| What::Dropped(packet, DropReason::Overlimit, DropPoint::Enqueue);
    assert_eq!(reasons, [full(4), full(5)]);
}

// Bug 2931: a packet that already carried CE could not be marked, and so was dropped.
#[test]
fn packets_with_ce_are_treated_like_marked_ones() {
    for spec in every_preset().map(with_ecn).filter(|spec| spec.info.traits.ecn) {
        let fate = |ecn| without_marks(events(&spec, &overload(ecn)).expect("presets can be built"));
        let ce = fate(&[Ecn::Ce]);
        // L4S treats CE as ECT(1) (RFC 9331 section 5.1), everybody else as ECT(0).
        let alike = ce == fate(&[Ecn::Ect0]) || ce == fate(&[Ecn::Ect1]);
        assert!(alike, "{spec}: CE changes what happens");
    }
}

// Bug 2924: a queue disc that drops at dequeue must still return the next packet, and peek must decide like dequeue.
#[test]
fn a_dequeue_that_drops_gives_the_next_packet() {
    // Delay of a second for a long time: CoDel drops several packets in one call.
    let mut rig = Rig::new(&parse("codel interval 10ms limit 1000p"), 1);
    for _ in 0..200 {
        rig.arrive(0, 1000, Ecn::NotEct);
    }
    rig.advance(Span::from_secs(1));
    assert_eq!(rig.serve(), Some(0));
    rig.advance(Span::from_millis(10));
    assert_eq!(rig.serve(), Some(2));
    rig.advance(Span::from_millis(100));
    let sent = rig.peek().expect("the queue is long");
    assert_eq!(rig.serve(), Some(sent));
    let dropped = rig.qdisc().counters().dropped_total();
    // All but 0 and 2 before it are gone.
    assert!(sent > 8 && dropped == sent - 2, "{sent} is sent after {dropped} drops");
}

// Bug 2751: a packet was counted as queued, or stamped, in an order in which statistics could become negative.
#[test]
fn counts_balance_when_an_arriving_packet_is_itself_dropped() {
    for name in ["fq_codel", "fq_cobalt"] {
        let mut rig = Rig::new(&parse(&format!("{name} limit 1p")), 1);
        rig.arrive(0, 100, Ecn::NotEct);
        rig.arrive(1, 1500, Ecn::NotEct); // now the flow with the most bytes
        let counters = rig.qdisc().counters();
        assert_eq!((counters.arrived, counters.dropped_total()), (2, 1), "{name}");
        assert_eq!(rig.qdisc().backlog().bytes, 100, "{name}");
        assert_eq!(rig.serve(), Some(0), "{name}");
    }
}

// Bug 2819: packets that no filter could classify, such as ARP, were dropped by FqCoDel.
#[test]
fn packets_without_a_flow_share_a_queue_and_are_served() {
    for spec in every_preset() {
        let mut rig = Rig::new(&spec, 1);
        for _ in 0..200 {
            rig.arrive(0, 60, Ecn::NotEct);
            rig.advance(Span::from_millis(1));
            rig.serve();
        }
        rig.drain();
        assert_eq!(rig.qdisc().counters().dropped_total(), 0, "{spec}");
    }
}

// #225: with CeThreshold a packet was marked, and counted, twice.
#[test]
fn no_packet_is_marked_twice() {
    for text in ["codel ecn ce_threshold 0s", "fq_codel ce_threshold 0s target 1ms interval 10ms"] {
        let mut rig = Rig::new(&parse(text), 1);
        rig.run(&overload(&[Ecn::Ect0])).drain();
        let marks: Vec<u64> = rig
            .events()
            .iter()
            .filter_map(|event| if let What::Marked(packet, _) = event.what { Some(packet) } else { None })
            .collect();
        assert_eq!(marks.iter().collect::<BTreeSet<_>>().len(), marks.len(), "{text}");
        assert_eq!(rig.qdisc().counters().marked, marks.len() as u64, "{text}");
        assert!(marks.len() > 1000, "{text}: {} marks", marks.len());
    }
}

// #258: TbfQueueDisc overflowed, and divided by zero, with large and small rates.
#[test]
fn a_link_computes_with_any_rate_and_size() {
    let (slowest, fastest) = (Rate::from_bits_per_sec(1), Rate::from_bits_per_sec(u64::MAX));
    assert_eq!(slowest.time_for(Bytes::new(1000)), Span::from_secs(8000));
    assert_eq!(fastest.time_for(Bytes::new(1500)), Span::from_nanos(1));
    assert_eq!(slowest.time_for(Bytes::new(u64::MAX)), Span::MAX);
    assert_eq!(Rate::from_mbit(0).time_for(Bytes::new(1)), Span::MAX);
    assert_eq!(fastest.bytes_in(Span::MAX), Bytes::new(u64::MAX));
}

// !844: PIE's MaxBurstAllowance had another default than RFC 8033.
#[test]
fn a_burst_passes_pie_for_the_time_in_the_rfc() {
    let spec = parse("pie:rfc8033");
    assert_eq!(spec.params.get("max_burst"), &Value::Span(Span::from_millis(150))); // RFC 8033 section 4.4
}

/// Parameters without an effect of their own, and why.
const WITHOUT_EFFECT: &[(&str, &str, &str)] = &[
    ("cake", "via_ethernet", "tc-cake(8) takes the word, and changes nothing by it"),
    (
        "fq_codel",
        "ce_threshold_selector",
        "needs two others, ce_threshold and ce_threshold_mask: a unit test has all three",
    ),
    ("prio", "bands", "says which bands priomap may name: nothing comes to another one"),
];

// !706: FqPIE ignored its attributes.
#[test]
fn every_parameter_of_every_discipline_changes_something() {
    let full = EVERYTHING.ops(8);
    // Some parameters distinguish small packets from full ones, or acknowledgments from others.
    let acks = full.iter().cloned().map(|op| match op {
        Op::Arrive { flow, length, ecn } => Op::Arrive { flow, length: length.min(LONGEST_ACK), ecn },
        other => other,
    });
    let traffic = [full.clone(), acks.collect()];
    let every = aqm_core::registry::DISCIPLINES
        .iter()
        .flat_map(|info| info.params.iter().map(move |one| (info, one)))
        .filter(|(info, one)| {
            !WITHOUT_EFFECT.iter().any(|(of, name, _)| (*of, *name) == (info.name, one.name))
        });
    let waiting = Mutex::new(every.collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("a parameter that changes nothing ends the test").pop();
                    let Some((info, declared)) = next else { break };
                    let presets =
                        || info.presets.iter().map(|one| parse(&format!("{}:{}", info.name, one.name)));
                    let alone = presets().flat_map(|spec| bases(&spec, declared));
                    let paired = presets().flat_map(|spec| pairs(&spec, declared));
                    assert!(
                        alone
                            .chain(paired)
                            .any(|spec| traffic.iter().any(|ops| changes_something(&spec, declared, ops))),
                        "{}: no value of '{}' changes anything, alone or with one other parameter",
                        info.name,
                        declared.name
                    );
                }
            });
        }
    });
}

/// `spec` with and without marks, with its own limit and a small one.
fn bases(spec: &Spec, declared: &ParamSpec) -> Vec<Spec> {
    let mut bases = vec![spec.clone(), with_ecn(spec.clone())];
    for mut spec in bases.clone() {
        if declared.name != "limit" && values::limit(&spec.params).is_some() {
            spec.set_text("limit", "20p").expect("every limit can be in packets");
            bases.push(spec);
        }
    }
    bases
}

/// The same with each other parameter at each of its values, since many matter only in combination.
fn pairs(spec: &Spec, declared: &ParamSpec) -> Vec<Spec> {
    let place = |one: &ParamSpec| spec.info.params.iter().position(|other| other.name == one.name);
    let here = place(declared).expect("it is declared");
    let mut others: Vec<_> = spec.info.params.iter().filter(|other| other.name != declared.name).collect();
    // Those that are declared beside it belong to it; of the others most often a switch must be on.
    others.sort_by_key(|other| {
        let distance = place(other).expect("it is declared").abs_diff(here);
        (distance > 2, !values::is_switch(other), distance)
    });
    let bases = bases(spec, declared);
    let mut found = Vec::new();
    for other in others {
        for value in values::allowed(other) {
            for mut spec in bases.iter().cloned() {
                spec.params.set(other.name, value.clone()).expect("it is allowed");
                found.push(spec);
            }
        }
    }
    found
}

/// Whether two values of a parameter lead to different decisions.
fn changes_something(spec: &Spec, declared: &ParamSpec, ops: &[Op]) -> bool {
    let mut seen: Option<Vec<Event>> = None;
    values::allowed(declared).into_iter().any(|value| {
        let mut spec = spec.clone();
        spec.params.set(declared.name, value).expect("it is allowed");
        let Some(now) = events(&spec, ops) else { return false };
        let differs = seen.as_ref().is_some_and(|seen| *seen != now);
        seen = Some(now);
        differs
    })
}
