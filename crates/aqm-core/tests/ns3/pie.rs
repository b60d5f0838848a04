//! `pie-queue-disc`: 400 packets, one each 10 ms, served more slowly. ns-3's PIE of today is RFC 8033's, whose code is judged
//! by all tests. Those that are older than its options are also for the code of ns-3.27, which lets the probability rise
//! by 0.02 more where the delay is above 0.2 s, and has neither drops spaced nor an inactive state.

use super::common::rig::Rig;
use super::played::{Do, Plan, Unit, check_order, early, marks, overflow, probe, rig, units};
use aqm_core::packet::Ecn;
use aqm_core::signal::MarkReason;

const LENGTH: u32 = 1000;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Tests 2 to 5.
const OLD: &str = "tupdate 30ms max_burst 100ms dq_threshold 10000b";
/// ns-3's attributes of today, but for those that a test sets.
const DEFAULTS: &str = "tupdate 15ms target 15ms max_burst 150ms nodq_rate_estimator dq_threshold 16384b";

/// ns-3's PIE of today.
const TODAY: &str = "pie:rfc8033 noderandomize";

/// What a test is run with.
#[derive(Clone, Copy)]
struct Case {
    law: &'static str,
    unit: Unit,
    seed: u64,
}

/// What became of the packets.
struct Run {
    drops: usize,
    marks: usize,
    /// The highest probability.
    highest: f64,
    /// The largest rise from an arrival to the next, above 0.1.
    rise: f64,
}

/// `count` packets, as many services `gap` microseconds apart.
fn run(case: Case, rest: &str, ecn: Ecn, count: u64, gap: u64) -> Run {
    let mut rig = case.rig(300, rest);
    let (mut highest, mut rise, mut before) = (0.0_f64, 0.0_f64, 0.0);
    let mut plan = Plan::default();
    plan.every(0, 10_000, count, Do::Arrive(0, LENGTH, ecn)).every(0, gap, count, Do::Serve);
    plan.play(&mut rig, |rig, what| {
        if matches!(what, Do::Serve) {
            return;
        }
        let probability = probe(rig, "drop_probability");
        highest = highest.max(probability);
        if before > 0.1 {
            rise = rise.max(probability - before);
        }
        before = probability;
    });
    assert_eq!(overflow(&rig), 0, "no drop is forced in any of the tests");
    Run { drops: early(&rig), marks: marks(&rig, MarkReason::Congestion), highest, rise }
}

impl Case {
    fn rig(self, limit: u32, rest: &str) -> Rig {
        rig(&format!("{} limit {} {rest}", self.law, self.unit.of(limit)), self.seed)
    }
}

/// Drops of the tests without ECN.
fn drops(case: Case, rest: &str, gap: u64) -> usize {
    run(case, rest, Ecn::NotEct, 400, gap).drops
}

/// For these laws, sizes in packets and in bytes, and some seeds.
fn each(laws: &[&'static str], check: impl Fn(Case)) {
    for law in laws {
        for unit in units(LENGTH) {
            SEEDS.for_each(|seed| check(Case { law, unit, seed }));
        }
    }
}

/// For both.
fn each_law(check: impl Fn(Case)) {
    each(&[TODAY, "pie:ns3.27"], check);
}

pub(crate) fn order() {
    units(LENGTH)
        .into_iter()
        .for_each(|unit| check_order(&format!("pie:ns3.27 limit {}", unit.of(300)), 8, LENGTH));
}

fn second(case: Case) -> usize {
    drops(case, &format!("{OLD} target 20ms"), 12_000)
}

pub(crate) fn drops_under_load() {
    each_law(|case| assert_ne!(second(case), 0));
}

pub(crate) fn fewer_drops_with_a_higher_target() {
    each_law(|case| assert!(drops(case, &format!("{OLD} target 80ms"), 12_000) < second(case)));
}

fn fourth(case: Case) -> usize {
    drops(case, &format!("{OLD} target 20ms"), 15_000)
}

pub(crate) fn more_drops_on_a_slower_link() {
    each_law(|case| assert!(fourth(case) > second(case)));
}

pub(crate) fn fewer_drops_with_a_longer_period() {
    let rest = format!("{OLD} target 20ms").replace("tupdate 30ms", "tupdate 90ms");
    each_law(|case| assert!(drops(case, &rest, 15_000) < fourth(case)));
}

pub(crate) fn drops_with_the_estimator() {
    let rest = DEFAULTS.replace("nodq_rate_estimator", "dq_rate_estimator");
    each_law(|case| assert_ne!(drops(case, &rest, 14_000), 0));
}

/// Whether the probability rises by at most 0.02 in a period once it is 0.1 (RFC 8033 section 5.5).
fn cap(flag: &str, is_capped: bool) {
    each(&[TODAY], |case| {
        let found = run(case, &format!("{DEFAULTS} {flag}"), Ecn::NotEct, 400, 14_000);
        assert_ne!(found.drops, 0);
        assert_eq!(found.rise < 0.020_000_000_000_000_1, is_capped, "seed {}: {}", case.seed, found.rise);
    });
}

pub(crate) fn steep_without_the_cap() {
    cap("nocap", false);
}

pub(crate) fn not_steep_with_the_cap() {
    cap("cap", true);
}

/// Drops, and no marks.
fn unmarked(ecn: Ecn, flag: &str) {
    each_law(|case| {
        let found = run(case, &format!("{DEFAULTS} mark_threshold 0.3 {flag}"), ecn, 400, 14_000);
        assert!(found.drops > 0 && found.marks == 0, "{flag}: {} {}", found.drops, found.marks);
    });
}

pub(crate) fn drops_without_ecn_in_packets() {
    unmarked(Ecn::NotEct, "ecn");
}

pub(crate) fn drops_without_ecn_in_the_queue() {
    unmarked(Ecn::Ect0, "noecn");
}

pub(crate) fn marks_up_to_the_threshold() {
    each_law(|case| {
        let found = run(case, &format!("{DEFAULTS} mark_threshold 0.3 ecn"), Ecn::Ect0, 400, 14_000);
        assert!(found.marks > 0 && found.drops > 0 && found.highest > 0.3, "{}", found.highest);
    });
}

/// RFC 8033 section 5.4: a drop comes when the probabilities since the last one add up to 0.85 at the earliest. ns-3 looks at
/// that sum itself; packets that a safeguard lets pass are part of the one here and not of the law's.
pub(crate) fn drops_are_spaced() {
    each(&[TODAY], |case| {
        let mut rig = case.rig(300, &format!("{DEFAULTS} derandomize"));
        let (mut sum, mut before) = (0.0, 0);
        let mut plan = Plan::default();
        plan.every(0, 10_000, 400, Do::Arrive(0, LENGTH, Ecn::NotEct)).every(0, 14_000, 400, Do::Serve);
        plan.play(&mut rig, |rig, what| {
            if matches!(what, Do::Serve) {
                return;
            }
            sum += probe(rig, "drop_probability");
            if early(rig) > before {
                assert!(sum >= 0.85, "seed {}: a drop at {sum}", case.seed);
                (sum, before) = (0.0, early(rig));
            }
        });
        assert!(before > 0 && overflow(&rig) == 0);
    });
}

/// Drops and marks of 100 packets, served one each 20 ms, if PIE becomes active at a third of this limit. ns-3 has a delay
/// for that (ActiveThreshold).
fn active_from(limit: u32, is_dropped: bool) {
    each(&[TODAY], |case| {
        let mut rig = case.rig(limit, &format!("{DEFAULTS} activate"));
        let mut plan = Plan::default();
        plan.every(0, 10_000, 100, Do::Arrive(0, LENGTH, Ecn::NotEct)).every(0, 20_000, 100, Do::Serve);
        plan.play(&mut rig, |_, _| ());
        assert_eq!((early(&rig) > 0, marks(&rig, MarkReason::Congestion)), (is_dropped, 0));
    });
}

pub(crate) fn rests_below_its_threshold() {
    // A second of delay, which 50 packets left do not reach, as they do not reach a third of 300.
    active_from(300, false);
}

pub(crate) fn starts_at_its_threshold() {
    // A millisecond of delay: reached at once, as three packets are.
    active_from(9, true);
}
