//! M-LRU behind a shadow queue: the classifier of SQM-LRU, algorithm 1 of Li et al. (Sensors 21(10):3568, 2021).
//!
//! The list has two parts, LTF flows between TOP and MARK and responsive ones between MARK and BOTTOM. Only packets that
//! the shadow queue's sample matched count; a flow comes above MARK when its count exceeds `p_lth`, and only then, so that
//! no number of short flows pushes a reported one out.
//!
//! Algorithm 1 as its text has it: a new entry is responsive (line 21 says LTF, line 22 counts it as responsive); evictions
//! are counted (lines 14 and 25 forget to); a packet that was not matched is LTF if its flow is above MARK, and then
//! moves it to TOP (section 3.5); a flow that is not in the list is responsive. A reported flow stays so until it is pushed
//! out by newer ones.
//!
//! Random numbers: one for each packet, the shadow queue's.

use super::cache::{BOTTOM, Cache, MARK, TOP};
use super::{Classifier, FlowKind, Sampling, ShadowQueue};
use crate::random::Random;

/// What algorithm 1 and Table 1 leave to the user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Entries of the shadow queue (`|SQ|`).
    pub sq: u32,
    /// Share of them that is sampled (`p_samp`).
    pub p_samp: f64,
    /// How they are sampled.
    pub sampling: Sampling,
    /// Matched packets beyond which a flow is reported (`p_lth`).
    pub p_lth: u32,
    /// Flows in the LTF unit, at least one.
    pub ltf_unit: u32,
    /// Flows in the responsive unit, at least one.
    pub responsive_unit: u32,
}

/// A shadow queue and a list with a mark.
pub struct MLru {
    shadow: ShadowQueue,
    cache: Cache,
    p_lth: u32,
    ltf_unit: u32,
    responsive_unit: u32,
}

impl MLru {
    /// With nothing in it.
    pub fn new(settings: &Settings) -> MLru {
        let (ltf_unit, responsive_unit) = (settings.ltf_unit.max(1), settings.responsive_unit.max(1));
        MLru {
            shadow: ShadowQueue::new(settings.sq, settings.p_samp, settings.sampling),
            cache: Cache::new(ltf_unit + responsive_unit),
            p_lth: settings.p_lth,
            ltf_unit,
            responsive_unit,
        }
    }
}

impl Classifier for MLru {
    #[inline]
    fn observe(&mut self, flow: u64, random: &mut Random) -> FlowKind {
        let matched = self.shadow.observe(flow, random);
        let Some(slot) = self.cache.find(flow) else {
            if matched {
                if self.cache.lower() == self.responsive_unit {
                    self.cache.drop_above(BOTTOM);
                }
                self.cache.insert_below(MARK, flow, random);
            }
            return FlowKind::Responsive;
        };
        let is_ltf = self.cache.is_upper(slot);
        let reported = if matched { self.cache.count(slot) > self.p_lth } else { is_ltf };
        if reported {
            if !is_ltf && self.cache.upper() == self.ltf_unit {
                self.cache.drop_above(MARK);
            }
            self.cache.move_below(TOP, slot);
        } else if matched {
            self.cache.move_below(MARK, slot);
        }
        FlowKind::ltf_if(reported)
    }

    #[inline]
    fn records_read(&self) -> u64 {
        self.shadow.records_read() + self.cache.records_read()
    }

    fn flows(&self) -> (usize, usize) {
        ((self.cache.upper() + self.cache.lower()) as usize, self.cache.upper() as usize)
    }

    fn bytes(&self) -> usize {
        self.shadow.bytes() + self.cache.bytes()
    }
}
