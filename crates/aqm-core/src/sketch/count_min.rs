//! The count-min sketch: G. Cormode and S. Muthukrishnan, "An improved data stream summary: the count-min sketch and
//! its applications" (2005).

use super::{Sketch, mix};
use alloc::vec::Vec;

/// Rows of counters, of which a key has one in each; the smallest is the estimate. It never tells too little.
#[derive(Clone, Debug)]
pub struct CountMin {
    /// Row by row.
    counters: Vec<u32>,
    width: u32,
    depth: u32,
}

impl CountMin {
    /// `depth` rows of `width` counters, both at least one.
    pub fn new(width: u32, depth: u32) -> CountMin {
        let (width, depth) = (width.max(1), depth.max(1));
        CountMin { counters: alloc::vec![0; width as usize * depth as usize], width, depth }
    }

    /// Counters per row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Where the counters of `key` are. One hash is split in two halves that stand for all rows (A. Kirsch and
    /// M. Mitzenmacher, "Less hashing, same performance", 2006).
    #[inline]
    fn places(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let (hash, width) = (mix(key), self.width);
        let (mut place, step) = (hash as u32, (hash >> 32) as u32 | 1);
        (0..self.depth).map(move |row| {
            let column = (u64::from(place) * u64::from(width)) >> 32;
            place = place.wrapping_add(step);
            row as usize * width as usize + column as usize
        })
    }
}

impl Sketch for CountMin {
    #[inline]
    fn query(&self, key: u64) -> u64 {
        let counts = self.places(key).map(|place| self.counters[place]);
        u64::from(counts.min().unwrap_or(0))
    }

    #[inline]
    fn add(&mut self, key: u64) -> u64 {
        let mut least = u32::MAX;
        for place in self.places(key) {
            let counter = &mut self.counters[place];
            least = least.min(*counter);
            *counter = counter.saturating_add(1);
        }
        u64::from(least)
    }

    fn clear(&mut self) {
        self.counters.fill(0);
    }

    fn bytes(&self) -> usize {
        self.counters.len() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_key_alone_is_counted_exactly() {
        let mut sketch = CountMin::new(1024, 4);
        assert_eq!((0..5).map(|_| sketch.add(7)).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!((sketch.query(7), sketch.query(8), sketch.bytes()), (5, 0, 16_384));
        sketch.clear();
        assert_eq!(sketch.query(7), 0);
    }

    #[test]
    fn estimates_are_never_low_and_seldom_high() {
        // e * 10 000 / 1024 = 26.5: with four rows, more than that happens to a key with probability e^-4 = 0.018.
        let (mut sketch, mut random) = (CountMin::new(1024, 4), Random::seeded(1));
        let mut exact = alloc::vec![0u64; 2000];
        for _ in 0..10_000 {
            let key = random.below(2000);
            sketch.add(key);
            exact[key as usize] += 1;
        }
        let errors: Vec<u64> = exact.iter().zip(0..).map(|(count, key)| sketch.query(key) - count).collect();
        let high = errors.iter().filter(|error| **error > 26).count();
        assert!(high <= 36, "{high} of 2000 estimates are high by more than 26");
        assert!(errors.iter().any(|error| *error > 0), "2000 keys cannot all be alone in 1024 columns");
    }

    #[test]
    fn rows_place_a_pair_of_keys_apart() {
        // In one row 1 of 16 pairs shares a column; in all four rows 1 of 65 536 would, were they independent.
        let sketch = CountMin::new(16, 4);
        let places = |key| sketch.places(key).collect::<Vec<_>>();
        let same = (0..10_000u64).filter(|key| places(2 * key) == places(2 * key + 1)).count();
        assert!(same < 100, "{same}");
    }
}
