//! The scheduler between the two queues.

use crate::choices;
use crate::params::{Params, PerClass};
use crate::scheduler::{Drr, Heads, Qfq, Rr, Scfq, Scheduler, Sp};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

choices! {
    /// Who goes next.
    pub(super) enum Order {
        Wrr = "wrr",
        Rr = "rr",
        Sp = "sp",
        Drr = "drr",
        Wfq = "wfq",
        Qfq = "qfq",
    }
}

/// Bytes of a round for each unit of weight, and the largest packet that fair queueing starts from: a full frame.
const FRAME: u32 = 1514;

/// One of the schedulers, over two classes.
pub(super) struct Turns {
    scheduler: Box<dyn Scheduler + Send>,
    made_of: (Order, PerClass),
}

impl Turns {
    /// The scheduler that parameters ask for; no class has packets.
    pub(super) fn new(params: &Params) -> Turns {
        let made_of = (params.choice::<Order>("scheduler"), params.per_class("weight").clone());
        let weights: Vec<u32> = (0..2).map(|class| made_of.1.of_class(class) as u32).collect();
        let scheduler: Box<dyn Scheduler + Send> = match made_of.0 {
            Order::Rr => Box::new(Rr::new(vec![1, 1])),
            Order::Sp => Box::new(Sp::new(2)),
            Order::Drr => Box::new(Drr::new(weights.iter().map(|weight| weight * FRAME).collect())),
            Order::Wfq => Box::new(Scfq::new(&weights)),
            Order::Qfq => Box::new(Qfq::new(&weights, &[FRAME; 2])),
            Order::Wrr => Box::new(Rr::new(weights)),
        };
        Turns { scheduler, made_of }
    }

    /// Restarts if parameters ask for another scheduler, or other weights.
    pub(super) fn adopt(&mut self, params: &Params) {
        let (scheduler, weight) = &self.made_of;
        if (*scheduler, weight) != (params.choice::<Order>("scheduler"), params.per_class("weight")) {
            *self = Turns::new(params);
        }
    }

    /// Bytes of the scheduler itself.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.scheduler)
    }
}

impl Scheduler for Turns {
    #[inline]
    fn activate(&mut self, class: usize) {
        self.scheduler.activate(class);
    }

    #[inline]
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        self.scheduler.select(heads)
    }

    #[inline]
    fn sent(&mut self, class: usize, length: u32, emptied: bool) {
        self.scheduler.sent(class, length, emptied);
    }

    fn clear(&mut self) {
        self.scheduler.clear();
    }
}
