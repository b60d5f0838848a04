//! SP-PIFO's mapping of ranks to strict-priority queues, by bounds that adapt to the packets.
//!
//! Gran Alcoz, Dietmüller and Vanbever, "SP-PIFO: Approximating Push-In First-Out Behaviors using Strict-Priority
//! Queues", NSDI 2020, algorithm 1.

use alloc::vec;
use alloc::vec::Vec;

/// The smallest rank that each queue accepts, in order of priority (q_i).
#[derive(Clone, Debug)]
pub struct Bounds {
    bounds: Vec<u64>,
}

impl Bounds {
    /// Bounds of `queues` queues, which is at least one.
    pub fn new(queues: usize) -> Bounds {
        Bounds { bounds: vec![0; queues] }
    }

    /// The queue for a packet of `rank`: the last whose bound is at most that, else the first.
    #[inline]
    pub fn map(&self, rank: u64) -> usize {
        self.bounds.iter().rposition(|bound| *bound <= rank).unwrap_or(0)
    }

    /// A packet of `rank` has joined the queue that it maps to.
    #[inline]
    pub fn adapt(&mut self, queue: usize, rank: u64) {
        // Push-down: the packet ranks below all bounds, and all are lowered by the difference.
        let cost = self.bounds[queue].saturating_sub(rank);
        self.bounds.iter_mut().for_each(|bound| *bound -= cost);
        // Push-up.
        self.bounds[queue] = rank;
    }

    /// The bounds, in order of priority. They never decrease from one to the next.
    pub fn as_slice(&self) -> &[u64] {
        &self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_rise_to_accepted_ranks_and_fall_for_ranks_below_all() {
        let mut bounds = Bounds::new(3);
        let mut join = |rank| {
            let queue = bounds.map(rank);
            bounds.adapt(queue, rank);
            (queue, [bounds.as_slice()[0], bounds.as_slice()[1], bounds.as_slice()[2]])
        };
        assert_eq!(join(9), (2, [0, 0, 9]));
        assert_eq!(join(6), (1, [0, 6, 9]));
        assert_eq!(join(4), (0, [4, 6, 9]));
        assert_eq!(join(4), (0, [4, 6, 9])); // equal is not below
        assert_eq!(join(7), (1, [4, 7, 9]));
        assert_eq!(join(9), (2, [4, 7, 9]));
        assert_eq!(join(1), (0, [1, 4, 6])); // three less each
        assert_eq!(join(5), (1, [1, 5, 6]));
        assert_eq!(join(30), (2, [1, 5, 30]));
    }
}
