//! The shadow queue: the flows of the last packets, and whether a sample of them holds the flow of the next one.
//!
//! P. Li, X. Jiang, G. Jin, J. Zhong: "SQM-LRU: A Harmony Dual-Queue Management Algorithm Based on Shadow Queue and
//! Improved LRU in Wide Area Network", Sensors 21(10):3568 (2021), section 3.3.
//!
//! A sample of the queue need not be taken: whether it holds a flow depends only on how many entries are of that flow. So
//! a count for each flow in the queue and a table of chances by that count answer with one random number, in the same
//! distribution. Entries that were never filled match no flow.
//!
//! Random numbers: one for each packet.

use super::table::{NONE, Slot, Table};
use crate::choices;
use crate::random::Random;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

choices! {
    /// How a packet is compared with the queue.
    pub enum Sampling {
        /// With a set of `p_samp |SQ|` different entries, as algorithm 1 has it.
        Set = "set",
        /// With probability `p_samp`, with one entry: equation 1, `p_samp b_n / |SQ|`.
        Single = "single",
    }
}

/// The flows of the last packets.
pub struct ShadowQueue {
    /// The count of the flow of each entry, oldest first from `head` on.
    ring: Box<[Slot]>,
    head: usize,
    counts: Table<u32>,
    /// The chance of a match, by how many entries are of the flow.
    chances: Box<[f64]>,
}

impl ShadowQueue {
    /// A queue of `length` entries, at least one, of which a share `p_samp` is compared.
    pub fn new(length: u32, p_samp: f64, sampling: Sampling) -> ShadowQueue {
        let length = length.max(1);
        let chances = match sampling {
            Sampling::Set => of_set(length, p_samp),
            Sampling::Single => (0..=length).map(|b| p_samp * f64::from(b) / f64::from(length)).collect(),
        };
        // While a packet enters, the flow of the one that leaves is still there.
        let counts = Table::new(0, length + 1);
        let ring = vec![NONE; length as usize].into();
        ShadowQueue { ring, head: 0, counts, chances: chances.into() }
    }

    /// Whether the sample holds `flow`, whose packet then enters the queue in place of the oldest.
    #[inline]
    pub fn observe(&mut self, flow: u64, random: &mut Random) -> bool {
        let known = self.counts.find(flow);
        let entries = known.map_or(0, |slot| *self.counts.get(slot));
        let matched = random.uniform() < self.chances[entries as usize];
        if self.head == 0 && self.ring[0] == NONE {
            self.counts.seed(random);
        }
        self.enter(flow, known);
        matched
    }

    #[inline]
    fn enter(&mut self, flow: u64, known: Option<Slot>) {
        let slot = match known {
            Some(slot) => {
                *self.counts.get_mut(slot) += 1;
                slot
            }
            None => self.counts.insert(flow, 1),
        };
        let oldest = core::mem::replace(&mut self.ring[self.head], slot);
        self.head = if self.head + 1 == self.ring.len() { 0 } else { self.head + 1 };
        if oldest != NONE {
            let left = self.counts.get_mut(oldest);
            *left -= 1;
            if *left == 0 {
                self.counts.remove(oldest);
            }
        }
    }

    /// Entries of `flow`.
    pub fn entries_of(&self, flow: u64) -> u32 {
        self.counts.find(flow).map_or(0, |slot| *self.counts.get(slot))
    }

    /// The chance that a packet of `flow` is matched.
    pub fn chance_of(&self, flow: u64) -> f64 {
        self.chances[self.entries_of(flow) as usize]
    }

    /// Records read since the start to find, enter and forget flows.
    #[inline]
    pub fn records_read(&self) -> u64 {
        self.counts.records_read()
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.ring) + self.counts.bytes() + size_of_val(&*self.chances)
    }
}

/// The chance that m of n entries, drawn without putting back, hold one of b: 1 - C(n - b, m) / C(n, m), for each b.
fn of_set(length: u32, p_samp: f64) -> Vec<f64> {
    let (n, m) = (f64::from(length), (p_samp * f64::from(length) + 0.5) as u32);
    let mut none = 1.0;
    let mut chances = vec![0.0];
    for b in 0..length {
        // One more entry of the flow: none of the m is that one either.
        none *= f64::from((length - b).saturating_sub(m)) / (n - f64::from(b));
        chances.push(1.0 - none);
    }
    chances
}
