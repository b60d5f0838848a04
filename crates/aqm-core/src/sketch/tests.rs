//! The properties of each kind: exact without collisions, and the error bounds of the papers with them.

use super::*;
use crate::params::Choice;
use crate::random::Random;
use alloc::vec;
use alloc::vec::Vec;

fn each() -> impl Iterator<Item = (SketchKind, Box<dyn Sketch>)> {
    SketchKind::ALL.iter().map(|kind| (*kind, of_kind(*kind, 1024, 4)))
}

/// A stream in which few keys are frequent: `arrivals` keys below `keys`, and how often each occurs.
fn skewed(seed: u64, arrivals: usize, keys: u64) -> (Vec<u64>, Vec<u64>) {
    let mut random = Random::seeded(seed);
    let stream: Vec<u64> =
        (0..arrivals).map(|_| random.below(keys).min(random.below(keys)).min(random.below(keys))).collect();
    let mut exact = vec![0; keys as usize];
    stream.iter().for_each(|key| exact[*key as usize] += 1);
    (stream, exact)
}

fn fed<S: Sketch>(mut sketch: S, stream: &[u64]) -> S {
    stream.iter().for_each(|key| {
        sketch.add(*key, 1);
    });
    sketch
}

#[test]
fn plain_numbers_spread_over_the_range() {
    let mut hits = [0u32; 64];
    (0..6400u64).for_each(|key| hits[(mix(key) >> 58) as usize] += 1);
    // 100 expected in each; five standard deviations are 50.
    assert!(hits.iter().all(|hits| (50..150).contains(hits)), "{hits:?}");
}

#[test]
fn a_key_alone_is_counted_exactly() {
    for (kind, mut sketch) in each() {
        assert_eq!((0..5).map(|_| sketch.add(7, 3)).collect::<Vec<_>>(), [0, 3, 6, 9, 12], "{kind:?}");
        assert_eq!((sketch.query(7), sketch.query(8), sketch.bytes()), (15, 0, 16_384), "{kind:?}");
        assert_eq!(sketch.size(), (1024, 4), "{kind:?}");
        sketch.clear();
        assert!((0..100).all(|key| sketch.query(key) == 0), "{kind:?}");
    }
}

#[test]
fn adding_returns_the_previous_estimate() {
    for (kind, depth) in
        SketchKind::ALL.iter().flat_map(|kind| (1..=MAX_DEPTH).map(move |depth| (*kind, depth)))
    {
        let mut sketch = of_kind(kind, 16, depth);
        for key in skewed(1, 2000, 200).0 {
            let count = sketch.query(key);
            assert_eq!(sketch.add(key, 1), count, "{kind:?}, depth {depth}");
        }
    }
}

#[test]
fn counters_saturate_instead_of_wrapping() {
    for (kind, mut sketch) in each() {
        let most = if kind == SketchKind::CountSketch { i32::MAX as u64 } else { u64::from(u32::MAX) };
        for key in 0..20 {
            sketch.add(key, u32::MAX - 1);
            sketch.add(key, 9);
            assert_eq!(sketch.query(key), most, "{kind:?}");
        }
    }
}

#[test]
fn count_min_is_never_low_and_seldom_more_than_e_n_over_w_high() {
    for (width, depth) in [(32, 1), (64, 2), (256, 3), (1024, 4)] {
        let (mut high, mut keys, mut wrong) = (0, 0, 0);
        for seed in 0..10 {
            let (stream, exact) = skewed(seed, 10_000, 2000);
            let sketch = fed(CountMin::new(width, depth), &stream);
            let bound = (core::f64::consts::E * 10_000.0 / f64::from(width)) as u64;
            for (key, count) in (0..).zip(&exact) {
                let error = sketch.query(key).checked_sub(*count).expect("never low");
                high += u32::from(error > bound);
                wrong += u32::from(error > 0);
                keys += 1;
            }
        }
        // Probability at most e^-depth: 0.37, 0.14, 0.050, 0.018.
        let most = f64::from(keys) * [0.368, 0.136, 0.0498, 0.0184][depth as usize - 1];
        assert!(f64::from(high) <= most, "{width} x {depth}: {high} of {keys} beyond the bound");
        assert!(wrong > 0, "{width} x {depth}: 2000 keys cannot all be alone");
    }
}

#[test]
fn deeper_sketches_have_the_error_rate_of_independent_rows() {
    // 40 keys, 16 columns: in one row a key is alone with probability (15/16)^39 = 0.081, and is overestimated in all
    // four rows with 0.919^4 = 0.71. With identical rows it would be 0.92.
    let (mut wrong, mut keys) = (0u32, 0u32);
    for block in 0..200u64 {
        let stream: Vec<u64> = (0..40).map(|n| mix(block * 40 + n)).collect();
        let sketch = fed(CountMin::new(16, 4), &stream);
        wrong += stream.iter().map(|key| u32::from(sketch.query(*key) > 1)).sum::<u32>();
        keys += 40;
    }
    let share = f64::from(wrong) / f64::from(keys);
    assert!((0.68..0.75).contains(&share), "{share}");
}

#[test]
fn conservative_update_never_underestimates_and_never_exceeds_count_min() {
    for (width, depth) in [(64, 2), (256, 3), (128, 4)] {
        let (stream, exact) = skewed(3, 10_000, 2000);
        let (plain, careful) =
            (fed(CountMin::new(width, depth), &stream), fed(Conservative::new(width, depth), &stream));
        let (mut plain_error, mut careful_error) = (0, 0);
        for (key, count) in (0..).zip(&exact) {
            let (more, less) = (plain.query(key), careful.query(key));
            assert!(*count <= less && less <= more, "{key}: {count}, {less}, {more}");
            plain_error += more - count;
            careful_error += less - count;
        }
        assert!(careful_error * 10 < plain_error * 8, "{careful_error} against {plain_error}");
    }
}

#[test]
fn the_count_sketch_is_unbiased_with_an_error_by_the_norm_of_the_rest() {
    for (width, depth) in [(64, 1), (64, 3), (256, 5), (64, 4)] {
        let (mut high, mut keys, mut sum, mut squares) = (0, 0, 0i64, 0.0);
        for seed in 0..20 {
            let (stream, exact) = skewed(seed, 10_000, 2000);
            // Different keys in each run, so that their positions differ.
            let named = |key: u64| mix(key + 1_000_000 * seed);
            let stream: Vec<u64> = stream.into_iter().map(named).collect();
            let sketch = fed(CountSketch::new(width, depth), &stream);
            let norm: u64 = exact.iter().map(|count| count * count).sum();
            // One row has an error above sqrt(3 norm / width) with probability at most 1/3 (Chebyshev), the median of
            // more rows with less.
            for (key, count) in (0..).zip(&exact) {
                let error = sketch.estimate(named(key)) - *count as i64;
                high += u32::from((error * error) as f64 > 3.0 * norm as f64 / f64::from(width));
                sum += error;
                squares += (error * error) as f64;
                keys += 1;
            }
        }
        let most = [1.0 / 3.0, 1.0 / 3.0, 7.0 / 27.0, 7.0 / 27.0, 17.0 / 81.0][depth as usize - 1];
        assert!(f64::from(high) <= most * f64::from(keys), "{width} x {depth}: {high} of {keys}");
        // Keys in the same column have the same error: runs and columns are the independent trials.
        let mean = sum as f64 / f64::from(keys);
        let trials = 20.0 * f64::from(width) / 5.0;
        let bound = 25.0 * squares / f64::from(keys) / trials;
        assert!(mean * mean < bound, "{width} x {depth}: mean error {mean}, square of the bound {bound}");
    }
}

#[test]
fn the_median_of_an_even_number_of_rows_is_the_mean_of_the_middle_two() {
    // Two keys in two rows of one column: key a gets count(a) +- count(b) in each.
    let (mut sums, mut kinds) = (Vec::new(), [false; 3]);
    for b in 1..50u64 {
        let mut sketch = CountSketch::new(1, 2);
        sketch.add(0, 10);
        sketch.add(b, 4);
        sums.push(sketch.estimate(0));
        assert_eq!(sketch.query(0) as i64, sketch.estimate(0));
    }
    for sum in sums {
        // Both against, one with and one against, both with.
        kinds[[6, 10, 14].iter().position(|known| *known == sum).unwrap()] = true;
    }
    assert_eq!(kinds, [true; 3]);
}

#[test]
fn a_negative_estimate_counts_as_zero() {
    let mut sketch = CountSketch::new(1, 1);
    sketch.add(0, 10);
    let negative = (1..50).find(|key| sketch.estimate(*key) < 0).unwrap();
    assert_eq!((sketch.estimate(negative), sketch.query(negative)), (-10, 0));
    assert_eq!(sketch.add(negative, 3), 0);
    assert_eq!((sketch.estimate(negative), sketch.estimate(0)), (-7, 7));
}
