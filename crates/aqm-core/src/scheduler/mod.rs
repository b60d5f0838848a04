//! Schedulers choose among classes that have packets, and own none.
//!
//! A scheduler learns when an empty class gets a packet and what was sent, and names the class that is next. Classes
//! are numbered from zero. Packets stay with the caller, who reports the length of the head of a class; so the same
//! scheduler serves disciplines with children, queues of a switch, or numbers in a test.

mod airtime;
mod drr;
mod ets;
mod qfq;
mod rr;
mod scfq;
mod sp;

pub use airtime::{Airtime, Rules, Sparse};
pub use drr::Drr;
pub use ets::Ets;
pub use qfq::Qfq;
pub use rr::Rr;
pub use scfq::Scfq;
pub use sp::Sp;

use crate::units::Span;

/// Length in bytes of the packet at the head of a class, `None` if it has nothing to send now.
pub type Heads<'a> = dyn FnMut(usize) -> Option<u32> + 'a;

/// Chooses the class that sends next.
pub trait Scheduler {
    /// `class` has packets. Repeated calls change nothing.
    fn activate(&mut self, class: usize);

    /// The class to serve; `None` if no active class has a head. A class without one becomes inactive.
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize>;

    /// The scheduler of stations, if it is one: that can be asked for the next of some.
    fn of_stations(&mut self) -> Option<&mut Airtime> {
        None
    }

    /// The selected `class` has sent `length` bytes; `emptied` if that was its last packet.
    fn sent(&mut self, class: usize, length: u32, emptied: bool);

    /// A transmission to `class`, or one `received` from it, took `airtime`: for those that share the time of a medium.
    fn charge(&mut self, _class: usize, _airtime: Span, _received: bool) {}

    /// Resets all turns: no class has packets.
    fn clear(&mut self);
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Heads, Scheduler};
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;

    /// Queues of packet lengths under a scheduler.
    pub(crate) struct Queues<S> {
        pub(crate) scheduler: S,
        queues: [VecDeque<u32>; 4],
    }

    impl<S: Scheduler> Queues<S> {
        pub(crate) fn new(scheduler: S) -> Queues<S> {
            Queues { scheduler, queues: Default::default() }
        }

        pub(crate) fn put(&mut self, class: usize, lengths: &[u32]) {
            for length in lengths {
                self.queues[class].push_back(*length);
                self.scheduler.activate(class);
            }
        }

        /// The class that sends next.
        pub(crate) fn serve(&mut self) -> Option<usize> {
            let heads: &mut Heads<'_> = &mut |class| self.queues[class].front().copied();
            let class = self.scheduler.select(heads)?;
            let length = self.queues[class].pop_front().expect("only classes with a head are selected");
            self.scheduler.sent(class, length, self.queues[class].is_empty());
            Some(class)
        }

        /// The classes of the next packets.
        pub(crate) fn order(&mut self, packets: usize) -> Vec<usize> {
            (0..packets).map_while(|_| self.serve()).collect()
        }
    }
}
