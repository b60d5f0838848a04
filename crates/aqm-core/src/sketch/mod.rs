//! Counting structures that are algorithms in their own right, usable without a discipline.

mod count_min;

pub use count_min::CountMin;

/// Counts how often keys were added, in a fixed amount of memory and with an error.
pub trait Sketch {
    /// How often `key` was added, as far as the sketch can tell.
    fn query(&self, key: u64) -> u64;

    /// Adds `key` once; returns what [`query`](Sketch::query) said before.
    fn add(&mut self, key: u64) -> u64;

    /// Forgets everything.
    fn clear(&mut self);

    /// Bytes of counters.
    fn bytes(&self) -> usize;
}

/// Spreads the bits of a key, which may be a plain number (the finalizer of SplitMix64).
#[inline]
pub const fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_spread_over_the_range() {
        let mut hits = [0u32; 64];
        (0..6400u64).for_each(|key| hits[(mix(key) >> 58) as usize] += 1);
        // 100 expected in each; five standard deviations are 50.
        assert!(hits.iter().all(|hits| (50..150).contains(hits)), "{hits:?}");
    }
}
