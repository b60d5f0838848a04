//! Counting structures that are algorithms in their own right, usable without a discipline.
//!
//! A sketch holds `depth` rows of `width` counters; a key has one counter in each row, which it shares with other
//! keys. The kinds differ in how an arrival updates them and how an estimate is computed.

mod conservative;
mod count_min;
mod count_sketch;
mod rows;

pub use conservative::Conservative;
pub use count_min::CountMin;
pub use count_sketch::CountSketch;
pub use rows::MAX_DEPTH;

use crate::choices;
use alloc::boxed::Box;

choices! {
    /// The kinds, for hosts that choose at run time.
    pub enum SketchKind {
        /// [`CountMin`].
        CountMin = "count_min",
        /// [`Conservative`].
        Conservative = "conservative",
        /// [`CountSketch`].
        CountSketch = "count_sketch",
    }
}

/// Counts how often keys were added, in a fixed amount of memory and with an error.
pub trait Sketch: Send {
    /// `depth` rows of `width` counters, at least one of each and at most [`MAX_DEPTH`] rows.
    fn new(width: u32, depth: u32) -> Self
    where
        Self: Sized;

    /// The estimate of what was added under `key`.
    fn query(&self, key: u64) -> u64;

    /// Adds `value` under `key`; returns the previous [`query`](Sketch::query).
    fn add(&mut self, key: u64, value: u32) -> u64;

    /// Resets all counters.
    fn clear(&mut self);

    /// Counters per row, and rows.
    fn size(&self) -> (u32, u32);

    /// Bytes of counters.
    fn bytes(&self) -> usize {
        let (width, depth) = self.size();
        width as usize * depth as usize * size_of::<u32>()
    }
}

/// A sketch of this kind.
pub fn of_kind(kind: SketchKind, width: u32, depth: u32) -> Box<dyn Sketch> {
    match kind {
        SketchKind::CountMin => Box::new(CountMin::new(width, depth)),
        SketchKind::Conservative => Box::new(Conservative::new(width, depth)),
        SketchKind::CountSketch => Box::new(CountSketch::new(width, depth)),
    }
}

/// Mixes the bits of a key, which may be a small number (the finalizer of SplitMix64).
#[inline]
pub const fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod tests;
