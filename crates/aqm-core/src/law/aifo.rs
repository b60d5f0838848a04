//! AIFO's admission: is the rank of an arriving packet small enough, compared with recent ones, for the space left?
//!
//! Yu et al., "Programmable Packet Scheduling with a Single Queue", SIGCOMM 2021, algorithm 1 and section 4.

use alloc::vec::Vec;

/// A sliding window over the ranks of arriving packets, of which one in `sample` is used.
#[derive(Clone, Debug)]
pub struct Window {
    ranks: Vec<u64>,
    size: usize,
    /// The oldest entry, which is overwritten next once the window is full.
    oldest: usize,
    sample: u64,
    arrivals: u64,
}

impl Window {
    /// A window of `size` ranks, of every `sample`th packet; both are at least one.
    pub fn new(size: usize, sample: u64) -> Window {
        Window { ranks: Vec::with_capacity(size), size, oldest: 0, sample, arrivals: 0 }
    }

    /// Whether a packet of `rank` may join a queue with `waiting` of at most `limit`, of which the fraction
    /// `headroom` is open to all: `c <= k C` or `quantile(rank) <= (C - c) / (C (1 - k))`. Apart from rounding, the
    /// former implies the latter.
    #[inline]
    pub fn admits(&self, rank: u64, waiting: u64, limit: u64, headroom: f64) -> bool {
        let (waiting, limit) = (waiting as f64, limit as f64);
        waiting <= headroom * limit
            || self.below(rank) * limit * (1.0 - headroom) <= (limit - waiting) * self.len()
    }

    /// The fraction of recent ranks that are smaller; zero without any.
    pub fn quantile(&self, rank: u64) -> f64 {
        self.below(rank) / self.len().max(1.0)
    }

    /// A packet of `rank` has arrived, dropped or not: the first is used, then every `sample`th.
    #[inline]
    pub fn observe(&mut self, rank: u64) {
        if self.arrivals.is_multiple_of(self.sample) {
            if self.ranks.len() < self.size {
                self.ranks.push(rank);
            } else {
                self.ranks[self.oldest] = rank;
                self.oldest = (self.oldest + 1) % self.size;
            }
        }
        self.arrivals += 1;
    }

    /// Changes the sampling rate. Returns `false` for another size, which cannot change.
    pub fn change(&mut self, size: usize, sample: u64) -> bool {
        if size == self.size {
            self.sample = sample;
        }
        size == self.size
    }

    /// Bytes of the window.
    pub fn bytes(&self) -> usize {
        self.ranks.capacity() * size_of::<u64>()
    }

    fn below(&self, rank: u64) -> f64 {
        self.ranks.iter().filter(|other| **other < rank).count() as f64
    }

    fn len(&self) -> f64 {
        self.ranks.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(ranks: &[u64]) -> Window {
        let mut window = Window::new(4, 1);
        ranks.iter().for_each(|rank| window.observe(*rank));
        window
    }

    #[test]
    fn the_quantile_counts_smaller_ranks_in_the_window() {
        assert_eq!(window(&[]).quantile(5), 0.0);
        let window = window(&[1, 99, 10, 20, 30, 20]); // the last four: 10, 20, 30, 20
        assert_eq!([10, 11, 20, 21, 31].map(|rank| window.quantile(rank)), [0.0, 0.25, 0.25, 0.75, 1.0]);
    }

    #[test]
    fn one_packet_in_sample_is_used() {
        let mut window = Window::new(4, 2);
        (0..8).for_each(|rank| window.observe(rank)); // 0, 2, 4, 6
        assert_eq!([2, 3, 7].map(|rank| window.quantile(rank)), [0.25, 0.5, 1.0]);
        assert!(!window.change(5, 1)); // which changes nothing
        (8..10).for_each(|rank| window.observe(rank)); // 2, 4, 6, 8
        assert_eq!([7, 9].map(|rank| window.quantile(rank)), [0.75, 1.0]);
        assert!(window.change(4, 1));
        (11..13).for_each(|rank| window.observe(rank)); // 6, 8, 11, 12
        assert_eq!([7, 12].map(|rank| window.quantile(rank)), [0.25, 0.75]);
    }

    #[test]
    fn the_fuller_the_queue_the_smaller_a_rank_must_be() {
        let window = window(&[10, 20, 30, 40]);
        // C = 100, k = 0.2: up to 20 everyone; then a quantile of (100 - c) / 80.
        let admitted = |waiting| [5, 15, 25, 35, 45].map(|rank| window.admits(rank, waiting, 100, 0.2));
        assert_eq!(admitted(20), [true; 5]);
        assert_eq!(admitted(21), [true, true, true, true, false]);
        assert_eq!(admitted(40), [true, true, true, true, false]);
        assert_eq!(admitted(41), [true, true, true, false, false]);
        assert_eq!(admitted(80), [true, true, false, false, false]);
        assert_eq!(admitted(99), [true, false, false, false, false]);
    }
}
