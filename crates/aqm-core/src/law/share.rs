//! The share test of S-PIE: does a flow have more than its share of the packets?
//!
//! The share of flow k is G_k = m_k / m_count (eq. 8), the threshold the packet-weighted mean of the shares
//! (eq. 9): sum m_i G_i / sum m_i = S2 / m_count^2 with S2 = sum m_i^2. For n equal flows it is 1 / n. No random
//! numbers.

use core::cmp::Ordering;

/// Sums over all flows since the last clearing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    count: u64,
    squares: u128,
}

impl Shares {
    /// Packets counted (`m_count`).
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The threshold; zero before the first packet.
    pub fn threshold(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.squares as f64 / self.count as f64 / self.count as f64 }
    }

    /// How the share of a flow with `m` packets stands to the threshold; equal while nothing is counted.
    #[inline]
    pub fn compare(&self, m: u64) -> Ordering {
        // m / count against S2 / count^2, both times count^2: whole numbers, no rounding.
        (u128::from(m) * u128::from(self.count)).cmp(&self.squares)
    }

    /// Counts one more packet of a flow that had `m`: (m + 1)^2 - m^2 = 2 m + 1.
    #[inline]
    pub fn add(&mut self, m: u64) {
        self.count += 1;
        self.squares += 2 * u128::from(m) + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_packet_weighted_mean_share() {
        // Flow A has 3 packets, flow B one: S2 = 9 + 1, m_count = 4, threshold 10 / 16; shares 3 / 4 and 1 / 4.
        let mut shares = Shares::default();
        for m in [0, 1, 2, 0] {
            shares.add(m);
        }
        assert_eq!((shares.count(), shares.squares, shares.threshold()), (4, 10, 0.625));
        assert_eq!((shares.compare(3), shares.compare(1)), (Ordering::Greater, Ordering::Less));
    }

    #[test]
    fn equal_flows_are_at_the_threshold() {
        let mut shares = Shares::default();
        assert_eq!(shares.compare(0), Ordering::Equal);
        for m in [0, 0, 1, 1, 2, 2] {
            shares.add(m);
        }
        assert_eq!((shares.threshold(), shares.compare(3)), (0.5, Ordering::Equal));
    }
}
