//! `red-queue-disc`: bursts of 300 packets at an empty queue. "Unforced" drops are those by chance, "forced" those of an
//! average beyond the thresholds.

use super::common::rig::Rig;
use super::played::{Unit, at_once, check_order, early, marks, overflow, probe, rig, units};
use aqm_core::packet::Ecn;
use aqm_core::signal::MarkReason;

/// MeanPktSize.
const LENGTH: u32 = 500;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;

/// ns-3's attributes as parameters.
fn spec(unit: Unit, min: u32, max: u32, rest: &str) -> String {
    let [limit, min, max] = [300, min, max].map(|packets| unit.of(packets));
    format!("red:ns3 limit {limit} min {min} max {max} avpkt {LENGTH}b {rest}")
}

/// The queue after 300 packets.
fn burst(spec: &str, ecn: Ecn, seed: u64) -> Rig {
    let mut rig = rig(spec, seed);
    at_once(&mut rig, 300, 0, LENGTH, ecn);
    rig
}

/// Drops of any kind.
fn drops(spec: &str, seed: u64) -> usize {
    let rig = burst(spec, Ecn::NotEct, seed);
    early(&rig) + overflow(&rig)
}

/// Drops by chance: those at an average below twice the upper threshold, from where on all are dropped.
fn by_chance(spec: &str, certain_from: f64, seed: u64) -> usize {
    let mut rig = rig(spec, seed);
    let mut found = 0;
    for _ in 0..300 {
        let before = early(&rig);
        rig.arrive(0, LENGTH, Ecn::NotEct);
        if early(&rig) > before && probe(&rig, "average_queue") < certain_from {
            found += 1;
        }
    }
    found
}

pub(crate) fn order() {
    for unit in units(LENGTH) {
        check_order(
            &format!("red:ns3 limit {} min {} max {}", unit.of(8), unit.of(2), unit.of(5)),
            8,
            LENGTH,
        );
    }
}

pub(crate) fn no_drops_below_the_thresholds() {
    for unit in units(LENGTH) {
        SEEDS.for_each(|seed| assert_eq!(drops(&spec(unit, 70, 150, ""), seed), 0));
    }
}

pub(crate) fn drops_with_a_larger_weight() {
    for unit in units(LENGTH) {
        SEEDS.for_each(|seed| assert_ne!(drops(&spec(unit, 70, 150, "w 0.02"), seed), 0));
    }
}

/// More drops than in test 3.
fn more_than_test_3(max: u32, rest: &str) {
    for unit in units(LENGTH) {
        for seed in SEEDS {
            let third = drops(&spec(unit, 70, 150, "w 0.02"), seed);
            let changed = drops(&spec(unit, 70, max, &format!("w 0.02 {rest}")), seed);
            assert!(changed > third, "{rest}, seed {seed}: {changed} drops, {third} in test 3");
        }
    }
}

pub(crate) fn more_drops_with_a_lower_max() {
    more_than_test_3(100, "");
}

pub(crate) fn more_drops_with_a_higher_probability() {
    // LInterm 5 is its reciprocal.
    more_than_test_3(150, "probability 0.2");
}

pub(crate) fn more_drops_if_not_gentle() {
    more_than_test_3(150, "nogentle");
}

pub(crate) fn more_drops_without_wait() {
    more_than_test_3(150, "nowait");
}

/// Marks where packets and discipline have ECN, else drops.
fn ecn(ecn: Ecn, flag: &str, is_marked: bool) {
    for unit in units(LENGTH) {
        for seed in SEEDS {
            let rig = burst(&spec(unit, 30, 90, &format!("probability 0.5 {flag}")), ecn, seed);
            let found = (early(&rig) > 0, marks(&rig, MarkReason::Congestion) > 0);
            assert_eq!(found, (!is_marked, is_marked), "{flag}, seed {seed}");
        }
    }
}

pub(crate) fn drops_without_ecn_in_packets() {
    ecn(Ecn::NotEct, "ecn", false);
}

pub(crate) fn drops_without_ecn_in_the_queue() {
    ecn(Ecn::Ect0, "noecn", false);
}

pub(crate) fn marks_with_ecn() {
    ecn(Ecn::Ect0, "ecn", true);
}

/// Drops by chance of 40 seeds; ns-3 has one.
fn of_all_seeds(unit: Unit, name: &str) -> usize {
    let spec = spec(unit, 30, 90, "probability 0.5").replace("red:ns3", name);
    let certain_from = if unit.of(1) == "1p" { 180.0 } else { 180.0 * f64::from(LENGTH) };
    (1..=40).map(|seed| by_chance(&spec, certain_from, seed)).sum()
}

pub(crate) fn drops_by_chance() {
    units(LENGTH).into_iter().for_each(|unit| assert_ne!(of_all_seeds(unit, "red:ns3"), 0));
}

/// Fewer drops by chance than RED.
fn fewer_than_red(name: &str) {
    for unit in units(LENGTH) {
        let (found, linear) = (of_all_seeds(unit, name), of_all_seeds(unit, "red:ns3"));
        assert!(found < linear, "{name}: {found}, RED {linear}");
    }
}

pub(crate) fn feng_drops_less() {
    fewer_than_red("feng_ared:ns3");
}

pub(crate) fn nonlinear_drops_less() {
    fewer_than_red("nlred:ns3");
}
