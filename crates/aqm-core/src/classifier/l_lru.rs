//! Landmark LRU: a list whose upper part only flows reach that were met again.
//!
//! L. Che and B. Qiu, "Landmark LRU: An Efficient Scheme for the Detection of Elephant Flows at Internet Routers", IEEE
//! Communications Letters 10(7), 2006. Its text was not available: that new flows enter at a landmark inside the list, that
//! a hit moves a flow to the top, and that flows leave at the bottom is taken from its abstract and from those who cite
//! it. The upper part has a fixed size here: the flow that no longer fits there comes below the landmark.
//!
//! Random numbers: none.

use super::cache::{BOTTOM, Cache, MARK, TOP};
use super::{Classifier, FlowKind};
use crate::random::Random;

/// The flows met last, those that were met again before the others.
pub struct LandmarkLru {
    cache: Cache,
    capacity: u32,
    upper: u32,
    threshold: u32,
}

impl LandmarkLru {
    /// A list of `capacity` flows, at least two, of which a share `landmark` is above the landmark, and at least one on
    /// either side; flows with more than `threshold` counted packets are reported.
    pub fn new(capacity: u32, landmark: f64, threshold: u32) -> LandmarkLru {
        let capacity = capacity.max(2);
        let upper = ((f64::from(capacity) * landmark) as u32).clamp(1, capacity - 1);
        LandmarkLru { cache: Cache::new(capacity), capacity, upper, threshold }
    }
}

impl Classifier for LandmarkLru {
    #[inline]
    fn observe(&mut self, flow: u64, random: &mut Random) -> FlowKind {
        let Some(slot) = self.cache.find(flow) else {
            if self.cache.upper() + self.cache.lower() == self.capacity {
                self.cache.drop_above(BOTTOM);
            }
            self.cache.insert_below(MARK, flow, random);
            return FlowKind::ltf_if(1 > self.threshold);
        };
        self.cache.move_below(TOP, slot);
        if self.cache.upper() > self.upper {
            self.cache.raise_mark();
        }
        FlowKind::ltf_if(self.cache.count(slot) > self.threshold)
    }

    #[inline]
    fn records_read(&self) -> u64 {
        self.cache.records_read()
    }

    fn flows(&self) -> (usize, usize) {
        let reported = self.cache.iter().filter(|(_, count, _)| *count > self.threshold);
        ((self.cache.upper() + self.cache.lower()) as usize, reported.count())
    }

    fn bytes(&self) -> usize {
        self.cache.bytes()
    }
}
