//! `adaptive-red-queue-disc`: weights and thresholds that follow from the link, and a probability that moves. LinkBandwidth
//! is `bandwidth`, 1.5 Mbit/s unless set; C below is its packets of MeanPktSize in a second.

use super::played::{Do, Plan, Unit, at_once, early, probe, rig, units};
use aqm_core::packet::Ecn;

const LENGTH: u32 = 500;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const DEFAULT: u32 = 1500;
const LESSER: u32 = 15;

/// Drops of 300 packets at once by `name` with the thresholds of tests 1 to 6, on a link of so many kbit/s.
fn burst(name: &str, unit: Unit, weight: &str, kbit: u32, seed: u64) -> usize {
    let [limit, min, max] = [300, 70, 150].map(|packets| unit.of(packets));
    let spec =
        format!("{name} limit {limit} min {min} max {max} avpkt {LENGTH}b w {weight} bandwidth {kbit}kbit");
    let mut rig = rig(&spec, seed);
    at_once(&mut rig, 300, 0, LENGTH, Ecn::NotEct);
    early(&rig)
}

/// QW 0: 1 - e^(-1/C), which is `w auto` of Adaptive RED; within a burst its probability does not move.
fn automatic(kbit: u32, is_dropped: bool) {
    for unit in units(LENGTH) {
        for seed in SEEDS {
            let found = burst("ared:ns3", unit, "auto", kbit, seed);
            assert_eq!(found > 0, is_dropped, "{kbit} kbit/s, seed {seed}: {found}");
        }
    }
}

pub(crate) fn automatic_weight() {
    automatic(DEFAULT, false);
}

pub(crate) fn automatic_weight_of_a_slow_link() {
    automatic(LESSER, true);
}

/// Packets in a second.
fn capacity(kbit: u32) -> f64 {
    f64::from(kbit) * 1000.0 / 8.0 / f64::from(LENGTH)
}

/// QW -1: the weight of a round-trip time, 1 - e^(-1/(10 R C)), R three times the link's delay (LinkDelay, 20 ms) and a
/// packet, 100 ms at least.
fn of_a_round_trip(kbit: u32) -> String {
    let capacity = capacity(kbit);
    let round_trip = (3.0 * (0.020 + 1.0 / capacity)).max(0.1);
    format!("{:.9}", 1.0 - (-1.0 / (10.0 * round_trip * capacity)).exp())
}

/// QW -2: ten times as fast as QW 0, 1 - e^(-10/C).
fn tenfold(kbit: u32) -> String {
    format!("{:.9}", 1.0 - (-10.0 / capacity(kbit)).exp())
}

pub(crate) fn weight_of_a_round_trip() {
    for unit in units(LENGTH) {
        SEEDS
            .for_each(|seed| assert_eq!(burst("red:ns3", unit, &of_a_round_trip(DEFAULT), DEFAULT, seed), 0));
    }
}

pub(crate) fn weight_of_a_round_trip_on_a_slow_link() {
    for unit in units(LENGTH) {
        SEEDS.for_each(|seed| assert_ne!(burst("red:ns3", unit, &of_a_round_trip(LESSER), LESSER, seed), 0));
    }
}

pub(crate) fn tenfold_weight() {
    for unit in units(LENGTH) {
        SEEDS.for_each(|seed| assert_ne!(burst("red:ns3", unit, &tenfold(DEFAULT), DEFAULT, seed), 0));
    }
}

pub(crate) fn tenfold_weight_on_a_slow_link() {
    for unit in units(LENGTH) {
        for seed in SEEDS {
            let [usual, slow] =
                [DEFAULT, LESSER].map(|kbit| burst("red:ns3", unit, &tenfold(kbit), kbit, seed));
            assert!(slow > usual, "seed {seed}: {slow} against {usual}");
        }
    }
}

/// Thresholds of 0 are derived from the link: on this one, is anything dropped of 300 packets?
fn automatic_thresholds(kbit: u32, is_dropped: bool) {
    for unit in units(LENGTH) {
        for seed in SEEDS {
            let limit = unit.of(300);
            let spec = format!("ared:ns3 limit {limit} w 0.002 avpkt {LENGTH}b bandwidth {kbit}kbit");
            let mut rig = rig(&spec, seed);
            at_once(&mut rig, 300, 0, LENGTH, Ecn::NotEct);
            assert_eq!(early(&rig) > 0, is_dropped, "{spec}, seed {seed}");
        }
    }
}

pub(crate) fn thresholds_of_the_link() {
    automatic_thresholds(DEFAULT, true);
}

pub(crate) fn thresholds_of_a_fast_link() {
    automatic_thresholds(150_000, false);
}

/// Drops by chance of 300 packets, 10 ms apart, of which none leaves.
fn adapted(spec: &str, unit: Unit, seed: u64) -> usize {
    let spec = format!("{spec} limit {} avpkt {LENGTH}b bandwidth {DEFAULT}kbit", unit.of(300));
    let certain_from = if unit.of(1) == "1p" { 30.0 } else { 30.0 * f64::from(LENGTH) };
    let mut rig = rig(&spec, seed);
    let (mut before, mut found) = (0, 0);
    let mut plan = Plan::default();
    plan.every(0, 10_000, 300, Do::Arrive(0, LENGTH, Ecn::NotEct)).play(&mut rig, |rig, _| {
        if early(rig) > before && probe(rig, "average_queue") < certain_from {
            found += 1;
        }
        before = early(rig);
    });
    found
}

fn red(unit: Unit) -> String {
    format!("red:ns3 min {} max {} w 0.002 probability 0.5", unit.of(5), unit.of(15))
}

pub(crate) fn red_drops() {
    for unit in units(LENGTH) {
        SEEDS.for_each(|seed| assert_ne!(adapted(&red(unit), unit, seed), 0));
    }
}

/// ns-3 has one seed, where ten are added here.
pub(crate) fn adaptive_red_drops_less() {
    for unit in units(LENGTH) {
        let total = |spec: &str| -> usize { SEEDS.map(|seed| adapted(spec, unit, seed)).sum() };
        let (adaptive, usual) = (total("ared:ns3 probability 0.5"), total(&red(unit)));
        assert!(adaptive < usual, "{adaptive} against {usual}");
    }
}
