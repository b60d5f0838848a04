//! Enhanced transmission selection (IEEE 802.1Qaz): strict priority among the first classes, and deficit round robin
//! among the others while those have nothing.
//!
//! The rules are those of `ets_qdisc_dequeue()` of Linux net/sched/sch_ets.c. It adds a quantum where a turn ends, and
//! [`Drr`] where the next begins, which is the same.

use super::{Drr, Heads, Scheduler, Sp};
use alloc::vec::Vec;

/// Serves the strict classes in their order, then the sharing ones in turn.
#[derive(Clone, Debug)]
pub struct Ets {
    strict: usize,
    first: Sp,
    others: Drr,
}

impl Ets {
    /// `strict` classes, and behind them one for each quantum.
    pub fn new(strict: usize, quanta: Vec<u32>) -> Ets {
        Ets { strict, first: Sp::new(strict), others: Drr::new(quanta) }
    }

    /// New quanta, as many as before, from each class's next turn on.
    pub fn set_quanta(&mut self, quanta: &[u32]) {
        self.others.set_quanta(quanta);
    }

    /// How many classes are strict.
    pub const fn strict(&self) -> usize {
        self.strict
    }
}

impl Scheduler for Ets {
    #[inline]
    fn activate(&mut self, class: usize) {
        if let Some(sharing) = class.checked_sub(self.strict) {
            self.others.activate(sharing);
        }
    }

    #[inline]
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        if let Some(class) = self.first.select(heads) {
            return Some(class);
        }
        let strict = self.strict;
        let sharing = self.others.select(&mut |class| heads(class + strict))?;
        Some(sharing + strict)
    }

    #[inline]
    fn sent(&mut self, class: usize, length: u32, emptied: bool) {
        if let Some(sharing) = class.checked_sub(self.strict) {
            self.others.sent(sharing, length, emptied);
        }
    }

    fn clear(&mut self) {
        self.others.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Queues;
    use super::*;

    #[test]
    fn strict_classes_go_first_and_interrupt_no_account() {
        let mut queues = Queues::new(Ets::new(1, alloc::vec![1000, 500]));
        queues.put(1, &[500; 4]);
        queues.put(2, &[500; 4]);
        assert_eq!(queues.order(2), [1, 1]); // 1000 bytes
        queues.put(0, &[1500, 1500]);
        assert_eq!(queues.order(3), [0, 0, 2]); // the turn of class 1 is over, as it was before
        queues.put(0, &[1500]);
        assert_eq!(queues.order(9), [0, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn without_strict_classes_it_is_deficit_round_robin() {
        let mut queues = Queues::new(Ets::new(0, alloc::vec![500; 4]));
        queues.put(0, &[200, 750, 20, 750]);
        queues.put(1, &[500, 500]);
        assert_eq!(queues.order(9), [0, 1, 0, 0, 1, 0]);
        let mut queues = Queues::new(Ets::new(3, Vec::new()));
        queues.put(2, &[100]);
        queues.put(1, &[100]);
        assert_eq!(queues.order(9), [1, 2]);
    }
}
