//! The positions of a key's counters: one column in each row, by a separate hash per row.

use super::mix;

/// Most rows of a sketch: with these, an error above e N / width has a probability of e^-8, three in ten thousand.
pub const MAX_DEPTH: u32 = 8;

/// Rows of columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    width: u32,
    depth: u32,
}

/// One counter of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Index of the counter, row by row.
    pub(super) index: usize,
    /// Whether the key counts downwards there.
    pub(super) negative: bool,
}

impl Rows {
    /// `depth` rows of `width` columns, at least one of each and at most [`MAX_DEPTH`] rows.
    pub(super) fn new(width: u32, depth: u32) -> Rows {
        Rows { width: width.max(1), depth: depth.clamp(1, MAX_DEPTH) }
    }

    pub(super) fn size(self) -> (u32, u32) {
        (self.width, self.depth)
    }

    /// Counters in all.
    pub(super) fn count(self) -> usize {
        self.width as usize * self.depth as usize
    }

    /// Visits the counters of `key`, one per row.
    ///
    /// Each row has its own 32 bits of hash, two rows to a hash. Combining two hashes for all rows (A. Kirsch and M.
    /// Mitzenmacher, "Less hashing, same performance", 2006) would save multiplications, but then two keys that
    /// collide in two rows collide in nearly all of them.
    #[inline]
    pub(super) fn visit(self, key: u64, mut visit: impl FnMut(Place)) {
        let (mut seed, mut start) = (key, 0);
        let mut row = |bits: u32| {
            // The column is computed from the upper of the 32 bits; the sign is the lowest, on which no column
            // depends.
            let column = (u64::from(bits) * u64::from(self.width)) >> 32;
            visit(Place { index: start + column as usize, negative: bits & 1 == 1 });
            start += self.width as usize;
        };
        for _ in 0..self.depth / 2 {
            let hash = mix(seed);
            row(hash as u32);
            row((hash >> 32) as u32);
            // The step of SplitMix64, whose finalizer is `mix`.
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        if self.depth % 2 == 1 {
            row(mix(seed) as u32);
        }
    }
}

#[cfg(test)]
mod tests;
