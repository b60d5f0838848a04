//! Round robin, plain and weighted: in each round a class sends as many packets as its weight.
//!
//! Katevenis, Sidiropoulos and Courcoubetis, "Weighted round-robin cell multiplexing in a general-purpose ATM switch
//! chip", 1991; here the packets of a class in one round are sent together. With weights of one it is plain round
//! robin (RFC 970).

use super::{Heads, Scheduler};
use alloc::vec::Vec;

/// Serves classes in turn, each for its weight in packets.
#[derive(Clone, Debug)]
pub struct Rr {
    weights: Vec<u32>,
    /// The class whose turn it is, and how many packets it may still send.
    class: usize,
    left: u32,
}

impl Rr {
    /// One class per weight, which is at least one.
    pub fn new(weights: Vec<u32>) -> Rr {
        let left = weights[0];
        Rr { weights, class: 0, left }
    }

    /// New weights, as many as before; a lower weight shortens the current turn.
    pub fn reweigh(&mut self, weights: Vec<u32>) {
        self.left = self.left.min(weights[self.class]);
        self.weights = weights;
    }

    fn pass(&mut self) {
        self.class = (self.class + 1) % self.weights.len();
        self.left = self.weights[self.class];
    }
}

impl Scheduler for Rr {
    fn activate(&mut self, _class: usize) {}

    #[inline]
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        for _ in 0..self.weights.len() {
            if heads(self.class).is_some() {
                return Some(self.class);
            }
            self.pass();
        }
        None
    }

    #[inline]
    fn sent(&mut self, _class: usize, _length: u32, _emptied: bool) {
        self.left -= 1;
        if self.left == 0 {
            self.pass();
        }
    }

    fn clear(&mut self) {
        (self.class, self.left) = (0, self.weights[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Queues;
    use super::*;
    use alloc::vec;

    #[test]
    fn classes_take_turns_whatever_the_lengths_of_packets() {
        let mut queues = Queues::new(Rr::new(vec![1, 1, 1]));
        queues.put(0, &[1500, 1500, 1500]);
        queues.put(2, &[64, 64]);
        assert_eq!(queues.order(9), [0, 2, 0, 2, 0]);
    }

    #[test]
    fn a_turn_has_as_many_packets_as_the_weight() {
        let mut queues = Queues::new(Rr::new(vec![3, 1, 2]));
        (0..3).for_each(|class| queues.put(class, &[100; 5]));
        assert_eq!(queues.order(15), [0, 0, 0, 1, 2, 2, 0, 0, 1, 2, 2, 1, 2, 1, 1]);
    }

    #[test]
    fn an_empty_class_loses_the_rest_of_its_turn() {
        let mut queues = Queues::new(Rr::new(vec![3, 1]));
        queues.put(0, &[100]);
        queues.put(1, &[100; 3]);
        assert_eq!(queues.order(2), [0, 1]);
        queues.put(0, &[100; 4]);
        assert_eq!(queues.order(6), [0, 0, 0, 1, 0, 1]);
    }

    #[test]
    fn a_lower_weight_shortens_the_current_turn() {
        let mut queues = Queues::new(Rr::new(vec![3, 1]));
        (0..2).for_each(|class| queues.put(class, &[100; 5]));
        queues.scheduler.reweigh(vec![1, 2]);
        assert_eq!(queues.order(6), [0, 1, 1, 0, 1, 1]);
    }
}
