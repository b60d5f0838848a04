//! Deficit round robin: in each round a class sends at most its quantum of bytes plus the remainder of earlier
//! rounds.
//!
//! Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM ToN 4(3), 1996, section III.

use super::{Heads, Scheduler};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Serves active classes in turn, each for its quantum in bytes.
#[derive(Clone, Debug)]
pub struct Drr {
    classes: Vec<Class>,
    /// The paper's ActiveList.
    active: VecDeque<usize>,
    /// Whether the first of the list already got its quantum in this round.
    served: bool,
}

#[derive(Clone, Debug, Default)]
struct Class {
    quantum: u32,
    /// The paper's DC_i.
    deficit: u64,
    active: bool,
}

impl Drr {
    /// One class per quantum, which is at least one byte.
    pub fn new(quanta: Vec<u32>) -> Drr {
        let mut drr = Drr {
            active: VecDeque::with_capacity(quanta.len()),
            classes: vec![Class::default(); quanta.len()],
            served: false,
        };
        drr.set_quanta(&quanta);
        drr
    }

    /// New quanta, as many as before, from each class's next turn on.
    pub fn set_quanta(&mut self, quanta: &[u32]) {
        self.classes.iter_mut().zip(quanta).for_each(|(class, quantum)| class.quantum = *quantum);
    }

    /// [Selects](Scheduler::select), and reports every turn that ends because its quantum is used up.
    // Called twice, so that a hint is not enough: as a separate function it would call its closures by pointer.
    #[inline(always)]
    pub fn select_and_tell(
        &mut self,
        heads: &mut Heads<'_>,
        turn_over: &mut dyn FnMut(usize),
    ) -> Option<usize> {
        loop {
            let first = *self.active.front()?;
            let Some(length) = heads(first) else {
                self.retire();
                continue;
            };
            let class = &mut self.classes[first];
            if !self.served {
                class.deficit += u64::from(class.quantum);
                self.served = true;
            }
            if u64::from(length) <= class.deficit {
                return Some(first);
            }
            self.active.rotate_left(1);
            self.served = false;
            turn_over(first);
        }
    }

    /// Bytes of state beyond the scheduler itself.
    pub fn state_bytes(&self) -> usize {
        self.classes.len() * (size_of::<Class>() + size_of::<usize>())
    }

    /// The first class of the list has nothing to send: it leaves, without its credit.
    fn retire(&mut self) {
        let class = self.active.pop_front().expect("only listed classes retire");
        self.classes[class].deficit = 0;
        self.classes[class].active = false;
        self.served = false;
    }
}

impl Scheduler for Drr {
    #[inline]
    fn activate(&mut self, class: usize) {
        if !self.classes[class].active {
            self.classes[class].active = true;
            self.active.push_back(class);
        }
    }

    #[inline(always)]
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        self.select_and_tell(heads, &mut |_| {})
    }

    #[inline]
    fn sent(&mut self, class: usize, length: u32, emptied: bool) {
        self.classes[class].deficit -= u64::from(length);
        if emptied {
            self.retire();
        }
    }

    fn clear(&mut self) {
        while !self.active.is_empty() {
            self.retire();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Queues;
    use super::*;

    #[test]
    fn the_remainder_of_a_quantum_counts_in_the_next_round() {
        // Quantum 500; class 0 has 200, 750, 20, 750, class 1 has 500, 500.
        let mut queues = Queues::new(Drr::new(vec![500; 4]));
        queues.put(0, &[200, 750, 20, 750]);
        queues.put(1, &[500, 500]);
        // 0: 500 - 200 = 300 < 750. 1: 500 - 500 = 0. 0: 800 - 750 = 50, - 20 = 30 < 750. 1: 500. 0: 530, 1030.
        assert_eq!(queues.order(9), [0, 1, 0, 0, 1, 0]);
    }

    #[test]
    fn shares_follow_the_quanta_in_bytes() {
        let mut queues = Queues::new(Drr::new(vec![3000, 1000]));
        queues.put(0, &[1000; 9]);
        queues.put(1, &[250; 12]);
        let bytes = queues.order(7);
        assert_eq!(bytes, [0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(queues.order(14), [0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn a_class_that_was_empty_starts_without_credit_at_the_end_of_the_round() {
        let mut queues = Queues::new(Drr::new(vec![1000; 3]));
        queues.put(0, &[400]);
        queues.put(1, &[1000, 1000]);
        assert_eq!(queues.serve(), Some(0)); // leaves with 600 bytes of credit, which are lost
        queues.put(0, &[1000, 1000]);
        queues.put(2, &[1000]);
        assert_eq!(queues.order(9), [1, 0, 2, 1, 0]);
    }

    #[test]
    fn the_end_of_a_turn_is_reported() {
        let mut drr = Drr::new(vec![500, 2000]);
        (0..2).for_each(|class| drr.activate(class));
        let mut over = Vec::new();
        let selected = drr.select_and_tell(&mut |_| Some(1200), &mut |class| over.push(class));
        assert_eq!((selected, over), (Some(1), vec![0]));
        drr.sent(1, 1200, false);
        let mut over = Vec::new();
        // Class 1 has 800 left, class 0 saves 500 + 500, class 1 comes to 2800.
        let selected = drr.select_and_tell(&mut |_| Some(1200), &mut |class| over.push(class));
        assert_eq!((selected, over), (Some(1), vec![1, 0]));
    }

    #[test]
    fn quanta_below_a_packet_accumulate() {
        let mut queues = Queues::new(Drr::new(vec![100, 1000]));
        queues.put(0, &[250, 250]);
        queues.put(1, &[1000; 6]);
        // Class 0 has 100, 200, then 300 of which 50 stay; 150, then 250.
        assert_eq!(queues.order(9), [1, 1, 0, 1, 1, 0, 1, 1]);
    }
}
