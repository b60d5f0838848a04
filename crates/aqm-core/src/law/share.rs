//! The share test of S-PIE: does a flow have more than its share of the packets?
//!
//! The share of flow k is G_k = m_k / m_count (eq. 8), the threshold the packet-weighted mean of the shares
//! (eq. 9): sum m_i G_i / sum m_i = S2 / m_count^2 with S2 = sum m_i^2. For n equal flows it is 1 / n. No random
//! numbers.

use core::cmp::Ordering;

/// Sums over all flows since the last clearing, in packets or in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    count: u64,
    squares: u128,
}

impl Shares {
    /// The amount counted (`m_count`).
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The threshold; zero while nothing is counted.
    pub fn threshold(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.squares as f64 / self.count as f64 / self.count as f64 }
    }

    /// How the share of a flow with `m` compares with the threshold; equal while nothing is counted.
    #[inline]
    pub fn compare(&self, m: u64) -> Ordering {
        // Compares m / count with S2 / count^2, both times count^2: integers, no rounding.
        (u128::from(m) * u128::from(self.count)).cmp(&self.squares)
    }

    /// Adds `value` to a flow that had `m`, less than 2^63: (m + v)^2 - m^2 = v (2 m + v).
    #[inline]
    pub fn add(&mut self, m: u64, value: u32) {
        self.count += u64::from(value);
        self.squares += u128::from(value) * u128::from(2 * m + u64::from(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use alloc::vec;

    #[test]
    fn the_threshold_is_the_packet_weighted_mean_share() {
        // Flow A has 3 packets, flow B one: S2 = 9 + 1, m_count = 4, threshold 10 / 16; shares 3 / 4 and 1 / 4.
        let mut shares = Shares::default();
        for m in [0, 1, 2, 0] {
            shares.add(m, 1);
        }
        assert_eq!((shares.count(), shares.squares, shares.threshold()), (4, 10, 0.625));
        assert_eq!((shares.compare(3), shares.compare(1)), (Ordering::Greater, Ordering::Less));
    }

    #[test]
    fn bytes_count_like_as_many_packets() {
        // Flow A has 300 + 100 bytes, flow B 100: 400^2 + 100^2 over 500^2.
        let mut shares = Shares::default();
        [(0, 300), (0, 100), (300, 100)].into_iter().for_each(|(m, value)| shares.add(m, value));
        assert_eq!((shares.count(), shares.squares, shares.threshold()), (500, 170_000, 0.68));
    }

    #[test]
    fn equal_flows_are_at_the_threshold() {
        let mut shares = Shares::default();
        assert_eq!((shares.compare(0), shares.threshold()), (Ordering::Equal, 0.0));
        for m in [0, 0, 1, 1, 2, 2] {
            shares.add(m, 1);
        }
        assert_eq!((shares.threshold(), shares.compare(3)), (0.5, Ordering::Equal));
    }

    #[test]
    fn the_running_sum_is_equation_9_over_all_flows() {
        let (mut shares, mut random) = (Shares::default(), Random::seeded(9));
        let mut exact = vec![0u64; 50];
        for _ in 0..20_000 {
            let (flow, value) = (random.below(50).min(random.below(50)) as usize, random.below(1515) as u32);
            shares.add(exact[flow], value);
            exact[flow] += u64::from(value);
            let count: u64 = exact.iter().sum();
            // The fraction whole: sum m_i G_i / sum m_i = (sum m_i^2) / m_count^2.
            let squares: u128 = exact.iter().map(|m| u128::from(*m) * u128::from(*m)).sum();
            assert_eq!((shares.count, shares.squares), (count, squares));
        }
    }
}
