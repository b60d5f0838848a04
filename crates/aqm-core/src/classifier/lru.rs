//! LRU: a list of the flows that were met last, each with a counter.
//!
//! Smitha and A. L. N. Reddy, "LRU-RED: An Active Queue Management Scheme to Contain High Bandwidth Flows at Congested
//! Routers", GLOBECOM 2001, as Li et al. describe it (Sensors 21(10):3568, 2021, section 1): a hit counts and goes to the top, a
//! miss enters at the top and pushes the flow out that was not met for longest; a flow beyond the threshold is reported.
//! With an insertion probability below one, most flows of few packets never enter.
//!
//! Random numbers: one for each miss if the insertion probability is below one.

use super::cache::{Cache, MARK, TOP};
use super::{Classifier, FlowKind};
use crate::random::Random;

/// The flows met last. All of them stand above the cache's MARK.
pub struct Lru {
    cache: Cache,
    capacity: u32,
    threshold: u32,
    insertion: f64,
}

impl Lru {
    /// A list of `capacity` flows, at least one; flows with more than `threshold` counted packets are reported, and one
    /// that is not in the list enters it with probability `insertion`.
    pub fn new(capacity: u32, threshold: u32, insertion: f64) -> Lru {
        let capacity = capacity.max(1);
        Lru { cache: Cache::new(capacity), capacity, threshold, insertion }
    }
}

impl Classifier for Lru {
    #[inline]
    fn observe(&mut self, flow: u64, random: &mut Random) -> FlowKind {
        let count = if let Some(slot) = self.cache.find(flow) {
            self.cache.move_below(TOP, slot);
            self.cache.count(slot)
        } else {
            if self.insertion < 1.0 && random.uniform() >= self.insertion {
                return FlowKind::Responsive;
            }
            if self.cache.upper() == self.capacity {
                self.cache.drop_above(MARK);
            }
            self.cache.insert_below(TOP, flow, random);
            1
        };
        FlowKind::ltf_if(count > self.threshold)
    }

    #[inline]
    fn records_read(&self) -> u64 {
        self.cache.records_read()
    }

    fn flows(&self) -> (usize, usize) {
        let reported = self.cache.iter().filter(|(_, count, _)| *count > self.threshold);
        (self.cache.upper() as usize, reported.count())
    }

    fn bytes(&self) -> usize {
        self.cache.bytes()
    }
}
