//! Self-clocked fair queueing, the practical form of weighted fair queueing: the packet with the earliest finish tag
//! goes first, and virtual time is the tag of the packet in service.
//!
//! Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994, section 3. A packet
//! gets its tag when it reaches the head of its class: within a backlog the tag follows from the previous one, F_k =
//! F_(k-1) + L_k / r, whenever the packet arrived.

use super::{Heads, Scheduler};
use alloc::vec;
use alloc::vec::Vec;

/// Virtual time is in bytes for weight one, in units of this fraction.
const SCALE: u64 = 1 << 16;

/// Shares bytes in proportion to weights.
#[derive(Clone, Debug)]
pub struct Scfq {
    classes: Vec<Class>,
    /// v(t): the finish tag of the packet sent last.
    now: u64,
}

#[derive(Clone, Debug, Default)]
struct Class {
    weight: u64,
    /// The tag from which that of the head is computed.
    start: u64,
    active: bool,
}

impl Class {
    fn finish(&self, length: u32) -> u64 {
        self.start + u64::from(length) * SCALE / self.weight
    }
}

impl Scfq {
    /// One class per weight, which is at least one.
    pub fn new(weights: &[u32]) -> Scfq {
        let mut scfq = Scfq { classes: vec![Class::default(); weights.len()], now: 0 };
        scfq.reweigh(weights);
        scfq
    }

    /// New weights, as many as before; they apply to the heads and later packets.
    pub fn reweigh(&mut self, weights: &[u32]) {
        self.classes.iter_mut().zip(weights).for_each(|(class, weight)| class.weight = u64::from(*weight));
    }

    /// Bytes of state beyond the scheduler itself.
    pub fn state_bytes(&self) -> usize {
        self.classes.len() * size_of::<Class>()
    }

    /// Virtual time in bytes of weight one.
    pub fn virtual_time(&self) -> f64 {
        self.now as f64 / SCALE as f64
    }
}

impl Scheduler for Scfq {
    #[inline]
    fn activate(&mut self, class: usize) {
        let class = &mut self.classes[class];
        if !class.active {
            class.active = true;
            class.start = class.start.max(self.now);
        }
    }

    #[inline]
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        let mut first = None;
        for (number, class) in self.classes.iter_mut().enumerate().filter(|(_, class)| class.active) {
            let Some(length) = heads(number) else {
                class.active = false;
                continue;
            };
            let finish = class.finish(length);
            if first.is_none_or(|(earliest, _)| finish < earliest) {
                first = Some((finish, number));
            }
        }
        if first.is_none() {
            self.clear(); // the busy period is over: tags restart at zero
        }
        first.map(|(_, class)| class)
    }

    #[inline]
    fn sent(&mut self, class: usize, length: u32, emptied: bool) {
        let class = &mut self.classes[class];
        self.now = class.finish(length);
        class.start = self.now;
        class.active = !emptied;
    }

    fn clear(&mut self) {
        self.now = 0;
        self.classes.iter_mut().for_each(|class| (class.start, class.active) = (0, false));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Queues;
    use super::*;

    #[test]
    fn packets_leave_in_the_order_of_their_finish_tags() {
        // Weights 2 and 1. Tags of class 0: 500, 1000, 1500; of class 1: 600, 900, 1600.
        let mut queues = Queues::new(Scfq::new(&[2, 1]));
        queues.put(0, &[1000, 1000, 1000]);
        queues.put(1, &[600, 300, 700]);
        assert_eq!(queues.order(9), [0, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn the_tags_of_a_new_class_start_at_virtual_time() {
        let mut queues = Queues::new(Scfq::new(&[1, 1]));
        queues.put(0, &[1000; 5]);
        assert_eq!(queues.order(3), [0, 0, 0]); // v = 3000
        assert_eq!(queues.scheduler.virtual_time(), 3000.0);
        queues.put(1, &[900, 900, 900]); // 3900, 4800, 5700 against 4000, 5000
        assert_eq!(queues.order(9), [1, 0, 1, 0, 1]);
    }

    #[test]
    fn a_class_that_paused_does_not_start_before_its_last_tag() {
        let mut queues = Queues::new(Scfq::new(&[1, 10]));
        queues.put(0, &[1000]);
        queues.put(1, &[1000, 1000]); // 100, 200
        assert_eq!(queues.order(2), [1, 1]);
        queues.put(1, &[1000; 9]); // from max(200, 200) on: 300 .. 1100, the eighth ties with 1000
        assert_eq!(queues.order(20), [1, 1, 1, 1, 1, 1, 1, 0, 1, 1]);
    }

    #[test]
    fn tags_restart_when_all_classes_are_empty() {
        let mut queues = Queues::new(Scfq::new(&[1, 1]));
        queues.put(0, &[1000, 1000]);
        assert_eq!(queues.order(9), [0, 0]);
        assert_eq!(queues.scheduler.virtual_time(), 0.0);
        queues.put(0, &[1000]); // 1000, not 3000
        queues.put(1, &[1100]);
        assert_eq!(queues.order(9), [0, 1]);
    }
}
