//! The count sketch: M. Charikar, K. Chen and M. Farach-Colton, "Finding frequent items in data streams", ICALP 2002.

use super::Sketch;
use super::rows::{MAX_DEPTH, Rows};
use alloc::vec::Vec;

/// A key counts upwards in some rows and downwards in others, so that strangers cancel out on average: the estimate,
/// the median over the rows, is as often low as high. Counters stop at 2^31 - 1.
#[derive(Clone, Debug)]
pub struct CountSketch {
    counters: Vec<i32>,
    rows: Rows,
}

impl CountSketch {
    /// The estimate as it is, which may be negative.
    #[inline]
    pub fn estimate(&self, key: u64) -> i64 {
        let mut sorted = Sorted::default();
        for at in self.rows.places(key) {
            sorted.insert(signed(self.counters[at.index], at.negative));
        }
        sorted.median()
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
        let mut sorted = Sorted::default();
        for at in self.rows.places(key) {
            let counter = &mut self.counters[at.index];
            sorted.insert(signed(*counter, at.negative));
            *counter = counter.saturating_add(if at.negative { -value } else { value }).max(-i32::MAX);
        }
        sorted.median().max(0) as u64
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

/// The rows' values in ascending order: there are few.
#[derive(Default)]
struct Sorted {
    values: [i64; MAX_DEPTH as usize],
    length: usize,
}

impl Sorted {
    /// Each in its way is exchanged where it is larger: minimum and maximum, no branch that noise would mislead.
    #[inline]
    fn insert(&mut self, mut value: i64) {
        for held in &mut self.values[..self.length] {
            (*held, value) = (value.min(*held), value.max(*held));
        }
        self.values[self.length] = value;
        self.length += 1;
    }

    /// The middle one. Of two in the middle the mean: the lower alone would tell too little on average. Halves are
    /// rounded down.
    #[inline]
    fn median(&self) -> i64 {
        let middle = self.length / 2;
        let upper = self.values[middle];
        if self.length % 2 == 1 { upper } else { (self.values[middle - 1] + upper) >> 1 }
    }
}
