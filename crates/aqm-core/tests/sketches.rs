//! Random streams into the sketches and the share test, shrunk when one breaks a promise.
#![allow(unreachable_pub, reason = "proptest's macros write public functions")]

use aqm_core::law::Shares;
use aqm_core::params::Choice;
use aqm_core::random::Random;
use aqm_core::sketch::{Conservative, CountMin, CountSketch, MAX_DEPTH, Sketch, SketchKind, of_kind};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Keys, few enough to repeat, and values.
fn stream() -> impl Strategy<Value = Vec<(u64, u32)>> {
    vec((prop_oneof![0..20u64, any::<u64>()], prop_oneof![Just(1), 0..1515u32]), 0..400)
}

/// Equation 9, computed directly: the sum of m_i G_i over the sum of m_i.
fn equation_9(exact: &BTreeMap<u64, u64>) -> f64 {
    let count: u64 = exact.values().sum();
    if count == 0 {
        return 0.0;
    }
    let weighted: f64 = exact.values().map(|m| *m as f64 * (*m as f64 / count as f64)).sum();
    weighted / count as f64
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn count_min_never_underestimates_and_conservative_update_is_between(
        stream in stream(),
        width in 1..40u32,
        depth in 1..=MAX_DEPTH,
    ) {
        let (mut plain, mut careful) = (CountMin::new(width, depth), Conservative::new(width, depth));
        let mut exact = BTreeMap::new();
        for (key, value) in stream {
            plain.add(key, value);
            careful.add(key, value);
            *exact.entry(key).or_insert(0) += u64::from(value);
            for (key, count) in &exact {
                prop_assert!(*count <= careful.query(*key) && careful.query(*key) <= plain.query(*key));
            }
        }
    }

    #[test]
    fn adding_returns_the_previous_estimate_and_raises_it_by_the_value(
        stream in stream(),
        width in 1..40u32,
        depth in 1..=MAX_DEPTH,
    ) {
        for kind in SketchKind::ALL.iter().copied() {
            let mut sketch = of_kind(kind, width, depth);
            for (key, value) in &stream {
                let before = sketch.query(*key);
                prop_assert_eq!(sketch.add(*key, *value), before);
                if kind != SketchKind::CountSketch {
                    prop_assert_eq!(sketch.query(*key), before + u64::from(*value));
                }
            }
            sketch.clear();
            prop_assert!(stream.iter().all(|(key, _)| sketch.query(*key) == 0));
        }
    }

    #[test]
    fn a_count_sketch_grows_by_the_value_and_ignores_the_order(
        stream in stream(),
        width in 1..40u32,
        depth in 1..=MAX_DEPTH,
    ) {
        let (mut forth, mut back) = (CountSketch::new(width, depth), CountSketch::new(width, depth));
        for (key, value) in &stream {
            let before = forth.estimate(*key);
            forth.add(*key, *value);
            prop_assert_eq!(forth.estimate(*key), before + i64::from(*value));
        }
        for (key, value) in stream.iter().rev() {
            back.add(*key, *value);
        }
        prop_assert!(stream.iter().all(|(key, _)| forth.estimate(*key) == back.estimate(*key)));
    }

    #[test]
    fn the_running_threshold_is_equation_9_where_counts_are_exact(stream in stream()) {
        let (mut shares, mut exact) = (Shares::default(), BTreeMap::new());
        for (flow, value) in stream {
            let count = exact.entry(flow).or_insert(0u64);
            shares.add(*count, value);
            *count += u64::from(value);
            let slow = equation_9(&exact);
            prop_assert!((shares.threshold() - slow).abs() <= 1e-12, "{} against {slow}", shares.threshold());
        }
    }

    #[test]
    fn sketches_that_never_underestimate_give_thresholds_above_equation_9_within_their_error(
        stream in stream(),
        width in 1..40u32,
        depth in 1..=MAX_DEPTH,
    ) {
        for kind in [SketchKind::CountMin, SketchKind::Conservative] {
            let mut sketch = of_kind(kind, width, depth);
            let (mut shares, mut exact, mut errors) = (Shares::default(), BTreeMap::new(), 0.0);
            for (flow, value) in &stream {
                let count = exact.entry(*flow).or_insert(0u64);
                let before = sketch.add(*flow, *value);
                shares.add(before, *value);
                // S2 grows by v (2 m + v): an estimate that is too high by e adds 2 v e too much.
                errors += 2.0 * f64::from(*value) * (before - *count) as f64;
                *count += u64::from(*value);
                let (slow, total) = (equation_9(&exact), shares.count().max(1) as f64);
                let off = shares.threshold() - slow;
                prop_assert!(off >= -1e-12, "{kind:?}: {off}");
                prop_assert!((off - errors / total / total).abs() <= 1e-9, "{kind:?}: {off}");
            }
        }
    }
}

/// 20 000 packets of 500 flows, few of them large: the final relative error of the running threshold.
fn threshold_error(kind: SketchKind, width: u32, depth: u32) -> f64 {
    let mut random = Random::seeded(7);
    let mut sketch = of_kind(kind, width, depth);
    let (mut shares, mut exact) = (Shares::default(), BTreeMap::new());
    for _ in 0..20_000 {
        let flow = random.below(500).min(random.below(500)).min(random.below(500));
        shares.add(sketch.add(flow, 1), 1);
        *exact.entry(flow).or_insert(0) += 1;
    }
    shares.threshold() / equation_9(&exact) - 1.0
}

#[test]
fn the_default_size_keeps_the_threshold_of_500_flows_within_a_percent_and_with_signs_within_three() {
    let errors = [SketchKind::CountMin, SketchKind::Conservative, SketchKind::CountSketch]
        .map(|kind| threshold_error(kind, 1024, 4));
    println!("count-min, conservative update, count sketch at 1024 x 4: {errors:?}");
    let [plain, careful, signed] = errors;
    assert!(plain.abs() < 0.01 && careful.abs() < 0.01 && signed.abs() < 0.03, "{errors:?}");
}

#[test]
fn a_narrow_sketch_raises_the_threshold_of_500_flows_least_with_signs() {
    let errors = [SketchKind::CountMin, SketchKind::Conservative, SketchKind::CountSketch]
        .map(|kind| threshold_error(kind, 64, 4));
    println!("count-min, conservative update, count sketch at 64 x 4: {errors:?}");
    let [plain, careful, signed] = errors;
    assert!(plain > careful && careful > 0.3 && signed.abs() < careful, "{errors:?}");
}
