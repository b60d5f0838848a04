//! The count sketch: M. Charikar, K. Chen and M. Farach-Colton, "Finding frequent items in data streams", ICALP 2002.

use super::Sketch;
use super::rows::{MAX_DEPTH, Rows};
use alloc::vec::Vec;

/// A key counts upwards in some rows and downwards in others, so that other keys cancel out on average: the estimate,
/// the median over the rows, is too low as often as too high. Counters stop at 2^31 - 1.
#[derive(Clone, Debug)]
pub struct CountSketch {
    counters: Vec<i32>,
    rows: Rows,
}

impl CountSketch {
    /// The estimate, which may be negative.
    #[inline]
    pub fn estimate(&self, key: u64) -> i64 {
        let mut values = Values::new();
        self.rows.visit(key, |at| {
            values.push(signed(self.counters[at.index], at.negative));
        });
        values.median()
    }
}

impl Sketch for CountSketch {
    fn new(width: u32, depth: u32) -> CountSketch {
        let rows = Rows::new(width, depth);
        CountSketch { counters: alloc::vec![0; rows.count()], rows }
    }

    #[inline]
    fn query(&self, key: u64) -> u64 {
        // No flow has sent less than nothing.
        self.estimate(key).max(0) as u64
    }

    #[inline]
    fn add(&mut self, key: u64, value: u32) -> u64 {
        let value = i32::try_from(value).unwrap_or(i32::MAX);
        let mut values = Values::new();
        self.rows.visit(key, |at| {
            let counter = &mut self.counters[at.index];
            values.push(signed(*counter, at.negative));
            *counter = counter.saturating_add(if at.negative { -value } else { value }).max(-i32::MAX);
        });
        values.median().max(0) as u64
    }

    fn clear(&mut self) {
        self.counters.fill(0);
    }

    fn size(&self) -> (u32, u32) {
        self.rows.size()
    }
}

#[inline]
fn signed(counter: i32, negative: bool) -> i64 {
    let counter = i64::from(counter);
    if negative { -counter } else { counter }
}

/// The rows' values, with space for the most rows.
struct Values {
    values: [i64; MAX_DEPTH as usize],
    length: usize,
}

/// Pairs to compare so that four values are sorted, and eight that are sorted by fours (K. E. Batcher, "Sorting
/// networks and their applications", 1968): without branches that random values would mispredict.
const FOUR: [(usize, usize); 5] = [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)];
const MERGE: [(usize, usize); 9] = [(0, 4), (1, 5), (2, 6), (3, 7), (2, 4), (3, 5), (1, 2), (3, 4), (5, 6)];

impl Values {
    #[inline]
    fn new() -> Values {
        // Missing values are larger than all others.
        Values { values: [i64::MAX; MAX_DEPTH as usize], length: 0 }
    }

    #[inline]
    fn push(&mut self, value: i64) {
        self.values[self.length] = value;
        self.length += 1;
    }

    #[inline]
    fn order(&mut self, pairs: &[(usize, usize)], from: usize) {
        for (low, high) in pairs {
            let (low, high) = (from + low, from + high);
            let (left, right) = (self.values[low], self.values[high]);
            (self.values[low], self.values[high]) = (left.min(right), left.max(right));
        }
    }

    /// The median. With two middle values their mean: the lower alone would underestimate on average. Rounded down.
    #[inline]
    fn median(mut self) -> i64 {
        self.order(&FOUR, 0);
        if self.length > 4 {
            self.order(&FOUR, 4);
            self.order(&MERGE, 0);
        }
        let middle = self.length / 2;
        let upper = self.values[middle];
        if self.length % 2 == 1 { upper } else { (self.values[middle - 1] + upper) >> 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_median_is_that_of_the_values_in_order() {
        let mut random = Random::seeded(5);
        for round in 0..4000 {
            let length = 1 + round % MAX_DEPTH as usize;
            let mut plain: Vec<i64> = (0..length).map(|_| random.below(9) as i64 * 2 - 8).collect();
            let mut values = Values::new();
            plain.iter().for_each(|value| values.push(*value));
            plain.sort_unstable();
            let expected = (plain[(length - 1) / 2] + plain[length / 2]) / 2;
            assert_eq!(values.median(), expected, "{plain:?}");
        }
    }
}
