//! What ns-3's own tests of its queue discs expect, as facts: packets in, and what becomes of them. The suites are
//! `src/traffic-control/test/*-queue-disc-test-suite.cc` and `src/test/ns3tc/*`; numbers of tests are theirs.

mod common;

use aqm_core::packet::Ecn;
use aqm_core::signal::{DropReason, MarkReason};
use aqm_core::units::{Span, Time};
use common::parse;
use common::rig::{Rig, What};

/// A discipline with the random numbers of its seed.
fn rig(spec: &str, seed: u64) -> Rig {
    Rig::new(&parse(spec), seed)
}

fn early(rig: &Rig) -> usize {
    rig.events()
        .iter()
        .filter(|event| matches!(event.what, What::Dropped(_, DropReason::Congestion, _)))
        .count()
}

fn overflow(rig: &Rig) -> usize {
    rig.events()
        .iter()
        .filter(|event| matches!(event.what, What::Dropped(_, DropReason::Overlimit, _)))
        .count()
}

fn marks(rig: &Rig) -> usize {
    rig.events().iter().filter(|event| matches!(event.what, What::Marked(..))).count()
}

fn waiting(rig: &Rig) -> u64 {
    rig.qdisc().backlog().packets
}

/// Eight packets in, all out in order, and nothing more.
fn check_order(spec: &str, length: u32) {
    let mut rig = rig(spec, 1);
    for count in 1..=8 {
        rig.arrive(0, length, Ecn::NotEct);
        assert_eq!(
            (waiting(&rig), rig.qdisc().backlog().bytes),
            (count, count * u64::from(length)),
            "{spec}"
        );
    }
    let out: Vec<_> = (0..9).map(|_| rig.serve()).collect();
    assert_eq!(out, [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(7), None], "{spec}");
}

#[test]
fn packets_leave_in_order() {
    for spec in
        ["fifo limit 8p", "fifo limit 4000b", "red:ns3 limit 8p min 2p max 5p", "codel:linux limit 1500p"]
    {
        check_order(spec, 500);
    }
    check_order("pie:ns3.27 limit 300p", 500);
    check_order("cobalt:ns3 limit 1500p", 500);
    check_order("red:ns3 limit 4000b min 1000b max 2500b", 500);
}

/// RED: `count` packets at once. Forced drops and those by chance are both early; ns-3's attributes as parameters.
fn burst(spec: &str, ecn: Ecn, seed: u64) -> Rig {
    let mut rig = rig(spec, seed);
    for _ in 0..300 {
        rig.arrive(0, 500, ecn);
    }
    rig
}

#[test]
fn red() {
    for (unit, scale) in [("p", 1), ("b", 500)] {
        let with = |min: u32, max: u32, rest: &str| {
            let [min, max, limit] = [min, max, 300].map(|count| format!("{}{unit}", count * scale));
            format!("red:ns3 limit {limit} min {min} max {max} avpkt 500b {rest}")
        };
        let drops = |spec: &str, seed| {
            let rig = burst(spec, Ecn::NotEct, seed);
            early(&rig) + overflow(&rig)
        };
        for seed in 1..=10 {
            // Test 2: the average stays below the thresholds.
            assert_eq!(drops(&with(70, 150, ""), seed), 0);
            // Test 3: a larger weight. Tests 4 to 7 change one setting of it, and each drops more.
            let third = drops(&with(70, 150, "w 0.02"), seed);
            assert_ne!(third, 0);
            let changed = [
                with(70, 100, "w 0.02"),
                with(70, 150, "w 0.02 probability 0.2"),
                with(70, 150, "w 0.02 nogentle"),
                with(70, 150, "w 0.02 nowait"),
            ];
            for spec in changed {
                let found = drops(&spec, seed);
                assert!(found > third, "{spec}, seed {seed}: {found} drops, {third} in test 3");
            }
            // Tests 8 to 10: marks where packets and discipline have ECN, else drops.
            for (ecn, rest, is_marked) in
                [(Ecn::NotEct, "ecn", false), (Ecn::Ect0, "noecn", false), (Ecn::Ect0, "ecn", true)]
            {
                let rig = burst(&with(30, 90, &format!("probability 0.5 {rest}")), ecn, seed);
                assert_eq!((early(&rig) > 0, marks(&rig) > 0), (!is_marked, is_marked), "{rest}");
            }
        }
        // Tests 11 to 13: Feng's adaptive RED and nonlinear RED drop less than RED (by chance alone: over seeds).
        let total = |name: &str| -> usize {
            let spec = with(30, 90, "probability 0.5").replace("red:ns3", name);
            (1..=40).map(|seed| early(&burst(&spec, Ecn::NotEct, seed))).sum()
        };
        let linear = total("red:ns3");
        assert!(linear > 0);
        assert!(total("nlred:ns3") < linear);
        assert!(total("feng_ared:ns3") < linear, "{} of {linear}", total("feng_ared:ns3"));
    }
}

/// CoDel: twenty packets at once, served at these milliseconds; what was dropped and marked after each.
fn served(spec: &str, ecn: &[(u32, Ecn)], at_ms: &[u64]) -> Vec<(usize, usize, usize)> {
    let mut rig = rig(spec, 1);
    for (count, ecn) in ecn {
        (0..*count).for_each(|_| {
            rig.arrive(0, 1000, *ecn);
        });
    }
    let mut found = Vec::new();
    for ms in at_ms {
        rig.skip_to(Time::from_nanos(ms * 1_000_000));
        rig.serve();
        let by = |reason| {
            rig.events()
                .iter()
                .filter(|one| matches!(one.what, What::Marked(_, why) if why == reason))
                .count()
        };
        found.push((early(&rig), by(MarkReason::Congestion), by(MarkReason::Threshold)));
    }
    found
}

#[test]
fn codel_drops_and_marks() {
    for limit in ["500p", "500kb"] {
        let mut full = rig(&format!("codel:linux limit {limit}"), 1);
        let length = if limit == "500p" { 1000 } else { 1024 };
        (0..503).for_each(|_| {
            full.arrive(0, length, Ecn::NotEct);
        });
        assert_eq!((waiting(&full), overflow(&full)), (500, 3));
        // Above the target at 10 ms, for more than an interval at 210 ms: the first drop. No other at the same moment; at
        // 420 ms those that are due since then.
        let spec = format!("codel:linux limit {limit} ecn");
        let times = [10, 210, 210, 420];
        let found = served(&spec, &[(20, Ecn::NotEct)], &times);
        assert_eq!(found[..3], [(0, 0, 0), (1, 0, 0), (1, 0, 0)]);
        assert!(found[3].0 > 1);
        // Marks in place of drops: one packet leaves at each moment.
        let found = served(&spec, &[(20, Ecn::Ect0)], &times);
        assert_eq!(found, [(0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 2, 0)]);
        // Test 4: marks by the threshold of 2 ms, from the second of these times on.
        let found = served(&format!("{spec} ce_threshold 2ms"), &[(20, Ecn::Ect0)], &[1, 3, 10, 10]);
        assert_eq!(found, [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3)]);
    }
}

/// PIE: 400 packets, one each 10 ms, and as many served one each `gap`.
fn pie(rest: &str, ecn: Ecn, count: u32, gap: Span, seed: u64) -> (usize, usize, f64) {
    let mut rig = rig(&format!("pie:ns3.27 limit 300p {rest}"), seed);
    let (mut arrivals, mut services) = (0, 0);
    let mut highest: f64 = 0.0;
    let at = |number: u32, gap: Span| Time::ZERO + Span::from_nanos(u64::from(number + 1) * gap.as_nanos());
    let apart = Span::from_millis(10);
    while services < count {
        let is_arrival = arrivals < count && at(arrivals, apart) <= at(services, gap);
        let due = if is_arrival { at(arrivals, apart) } else { at(services, gap) };
        rig.advance(due.since(rig.now()));
        if is_arrival {
            rig.arrive(0, 1000, ecn);
            arrivals += 1;
        } else {
            rig.serve();
            services += 1;
        }
        let mut probability = 0.0;
        rig.qdisc().probe(rig.now(), &mut |name, value| {
            if name == "drop_probability" {
                probability = value;
            }
        });
        highest = highest.max(probability);
    }
    assert_eq!(overflow(&rig), 0);
    (early(&rig), marks(&rig), highest)
}

#[test]
fn pie_drops_and_marks() {
    let usual = "tupdate 30ms target 20ms max_burst 100ms";
    for seed in 1..=5 {
        let drops = |rest: &str, micros| pie(rest, Ecn::NotEct, 400, Span::from_micros(micros), seed).0;
        // Test 2; less with a higher target (3), more with a slower link (4), less again with a longer period (5).
        let second = drops(usual, 12_000);
        assert_ne!(second, 0);
        let third = drops("tupdate 30ms target 80ms max_burst 100ms", 12_000);
        assert!(third < second, "{third} {second}");
        let fourth = drops(usual, 15_000);
        assert!(fourth > second, "{fourth} {second}");
        let fifth = drops("tupdate 90ms target 20ms max_burst 100ms", 15_000);
        assert!(fifth < fourth, "{fifth} {fourth}");
        // Test 6: with the estimator of the departure rate.
        assert_ne!(drops("dq_rate_estimator", 14_000), 0);
        // Tests 9 and 10: no marks unless packets and discipline have ECN.
        for (ecn, rest) in [(Ecn::NotEct, "ecn"), (Ecn::Ect0, "noecn")] {
            let (drops, marks, _) =
                pie(&format!("{rest} mark_threshold 0.3"), ecn, 400, Span::from_millis(14), seed);
            assert!(drops > 0 && marks == 0, "{rest}: {drops} {marks}");
        }
        // Test 11: marks up to the threshold, drops above.
        let (drops_above, marks, highest) =
            pie("ecn mark_threshold 0.3", Ecn::Ect0, 400, Span::from_millis(14), seed);
        assert!(marks > 0 && drops_above > 0 && highest > 0.3, "{marks} {drops_above} {highest}");
    }
}

/// Flow queues: packets of 100 bytes and an IPv4 header.
const OF_A_FLOW: u32 = 120;

#[test]
fn fq_pie_drops_from_the_fat_flow() {
    let mut rig = rig("fq_pie:ns3 limit 4p quantum 1500b", 1);
    for flow in [1, 1, 1, 2, 2] {
        rig.arrive(flow, OF_A_FLOW, Ecn::NotEct);
    }
    // Two of the fat flow's three, whose half they are: the fifth packet stays.
    let dropped: Vec<u64> = rig
        .events()
        .iter()
        .filter_map(|event| if let What::Dropped(packet, ..) = event.what { Some(packet) } else { None })
        .collect();
    assert_eq!(dropped, [0, 1]);
    assert_eq!(waiting(&rig), 3);
}

#[test]
fn flows_are_served_by_their_deficits() {
    for spec in ["fq_pie:ns3 quantum 90b", "fq_codel:rfc8290 quantum 90b"] {
        let mut rig = rig(spec, 1);
        rig.arrive(1, OF_A_FLOW, Ecn::NotEct);
        assert_eq!(rig.serve(), Some(0));
        // The first flow owes 30 bytes now, so that the second goes before it, and both in turn from then on.
        for flow in [1, 1, 2, 2] {
            rig.arrive(flow, OF_A_FLOW, Ecn::NotEct);
        }
        let out: Vec<_> = (0..5).map(|_| rig.serve()).collect();
        assert_eq!(out, [Some(3), Some(1), Some(4), Some(2), None], "{spec}");
    }
}
