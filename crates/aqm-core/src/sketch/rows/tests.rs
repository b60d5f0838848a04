//! The quality of the hashing: nothing here is random, so a bound of five standard deviations holds or does not.

use super::*;
use alloc::vec;
use alloc::vec::Vec;

/// Kinds of keys: consecutive, hashes, and packed addresses and ports.
type Keys = (&'static str, fn(u64) -> u64);
const KEYS: [Keys; 6] = [
    ("sequential", |n| n),
    ("hashed", |n| mix(n ^ 0x5555_aaaa)),
    ("multiples of 2^32", |n| n << 32),
    ("multiples of 1024", |n| n * 1024),
    ("addresses and ports", |n| ((0x0a00_0000 + n % 251) << 32) | (40_000 + n / 251) << 16 | 443),
    ("steps of SplitMix64", |n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
];
const WIDTHS: [u32; 7] = [2, 3, 16, 50, 64, 1000, 1024];

fn places(rows: Rows, key: u64) -> Vec<Place> {
    let mut places = Vec::new();
    rows.visit(key, |place| places.push(place));
    places
}

fn columns(rows: Rows, key: u64) -> Vec<usize> {
    (0..).zip(places(rows, key)).map(|(row, place)| place.index - row * rows.width as usize).collect()
}

/// Whether `count` hits in `trials` agree with a probability of `p`, within five standard deviations.
fn as_likely_as(count: u64, trials: u64, p: f64) -> bool {
    let (mean, variance) = (trials as f64 * p, trials as f64 * p * (1.0 - p));
    let off = count as f64 - mean;
    off * off <= 25.0 * variance
}

#[test]
fn every_row_has_its_own_counters() {
    let rows = Rows::new(7, 3);
    for key in 0..100 {
        let indices: Vec<usize> = places(rows, key).iter().map(|place| place.index).collect();
        assert_eq!(indices.iter().map(|index| index / 7).collect::<Vec<_>>(), [0, 1, 2]);
    }
    assert_eq!((rows.size(), rows.count()), ((7, 3), 21));
    assert_eq!((Rows::new(0, 0).size(), Rows::new(1, 99).size()), ((1, 1), (1, MAX_DEPTH)));
}

#[test]
fn keys_of_every_kind_spread_evenly_over_the_columns_of_every_row() {
    for (kind, key) in KEYS {
        for width in WIDTHS {
            let rows = Rows::new(width, MAX_DEPTH);
            let count = 50 * u64::from(width).max(200);
            let mut hits = vec![0u64; rows.count()];
            (0..count).for_each(|n| rows.visit(key(n), |place| hits[place.index] += 1));
            for (row, hits) in hits.chunks(width as usize).enumerate() {
                let expected = count as f64 / f64::from(width);
                let square = |hits: &u64| (*hits as f64 - expected) * (*hits as f64 - expected);
                let chi: f64 = hits.iter().map(|hits| square(hits) / expected).sum();
                // Mean and variance of chi-square; with few columns its tail is longer than the normal one.
                let freedom = f64::from(width - 1);
                let off = chi - freedom;
                assert!(
                    off < 15.0 || off * off < 25.0 * 2.0 * freedom,
                    "{kind}, width {width}, row {row}: chi-square {chi} with {freedom} degrees"
                );
            }
        }
    }
}

#[test]
fn pairs_that_collide_in_some_rows_collide_in_the_next_as_often_as_by_chance() {
    for (kind, key) in KEYS {
        for width in [2u32, 3, 16, 50] {
            let rows = Rows::new(width, MAX_DEPTH);
            let all: Vec<Vec<usize>> = (0..1200).map(|n| columns(rows, key(n))).collect();
            // [row][number of rows before it, nearest first, in which a pair collided too]
            let mut pairs = vec![[0u64; 3]; MAX_DEPTH as usize];
            let mut again = pairs.clone();
            for (n, left) in all.iter().enumerate() {
                for right in &all[n + 1..] {
                    let same: Vec<bool> = left.iter().zip(right).map(|(left, right)| left == right).collect();
                    for row in 0..same.len() {
                        for before in 0..=row.min(2) {
                            if same[row - before..row].iter().all(|same| *same) {
                                pairs[row][before] += 1;
                                again[row][before] += u64::from(same[row]);
                            }
                        }
                    }
                }
            }
            for (row, (pairs, again)) in pairs.iter().zip(&again).enumerate() {
                for before in 0..=row.min(2) {
                    // Pairs are not independent trials where a column holds many keys: hence a quarter of the pairs.
                    let (again, pairs) = (again[before] / 4, pairs[before] / 4);
                    assert!(
                        as_likely_as(again, pairs, 1.0 / f64::from(width)),
                        "{kind}, width {width}: of {pairs} pairs in one column of {before} rows {again} are so in row {row}"
                    );
                }
            }
        }
    }
}

#[test]
fn signs_are_balanced_and_independent_of_columns_and_of_each_other() {
    for (kind, key) in KEYS {
        let rows = Rows::new(16, MAX_DEPTH);
        let mut by_column = vec![[0u64; 2]; rows.count()];
        let mut alike = [0u64; MAX_DEPTH as usize * MAX_DEPTH as usize];
        for n in 0..20_000 {
            let places: Vec<Place> = places(rows, key(n));
            for (row, place) in places.iter().enumerate() {
                by_column[place.index][usize::from(place.negative)] += 1;
                for (other, earlier) in places[..row].iter().enumerate() {
                    alike[row * MAX_DEPTH as usize + other] += u64::from(place.negative == earlier.negative);
                }
            }
        }
        for (index, [up, down]) in by_column.iter().enumerate() {
            assert!(as_likely_as(*down, up + down, 0.5), "{kind}, counter {index}: {up} up, {down} down");
        }
        for row in 0..MAX_DEPTH as usize {
            for other in 0..row {
                let alike = alike[row * MAX_DEPTH as usize + other];
                assert!(
                    as_likely_as(alike, 20_000, 0.5),
                    "{kind}, rows {other} and {row}: {alike} of 20000 alike"
                );
            }
        }
    }
}
