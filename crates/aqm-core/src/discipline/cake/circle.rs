//! The old list of DRR++ as a circle in arrays: queues of busy hosts have small shares and come by many times before
//! they may send, so they are passed eight at a time.

use alloc::vec::Vec;

/// Queues passed at a time.
const ABREAST: usize = 8;

/// Queues in the order in which they come by, what each may still send, and what it gets when it comes by.
#[derive(Debug, Default)]
pub(super) struct Circle {
    queues: Vec<u16>,
    deficits: Vec<i32>,
    shares: Vec<i32>,
    /// Where the first one is; the last one is before it.
    first: usize,
    /// So many, the first one on, have shares that may hold no longer.
    stale: usize,
}

impl Circle {
    /// Bytes of an entry.
    pub(super) const ENTRY: usize = size_of::<u16>() + 2 * size_of::<i32>();

    /// Bytes that it takes.
    pub(super) fn state_bytes(&self) -> usize {
        self.queues.capacity() * Self::ENTRY
    }

    /// The queues, the first one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let (last, first) = self.queues.split_at(self.first);
        first.iter().chain(last).map(|queue| usize::from(*queue))
    }

    /// Puts a queue at the end.
    pub(super) fn append(&mut self, queue: usize, deficit: i32, share: i32) {
        // Before the first one is also after the last one of the array.
        let place = if self.first == 0 { self.queues.len() } else { self.first };
        self.queues.insert(place, queue as u16);
        self.deficits.insert(place, deficit);
        self.shares.insert(place, share);
        self.first += usize::from(self.first != 0);
    }

    /// Takes the first queue off.
    pub(super) fn remove_first(&mut self) {
        self.queues.remove(self.first);
        self.deficits.remove(self.first);
        self.shares.remove(self.first);
        self.stale = self.stale.saturating_sub(1);
        if self.first == self.queues.len() {
            self.first = 0;
        }
    }

    /// The first queue has sent so much.
    #[inline]
    pub(super) fn charge(&mut self, spent: i32) {
        let deficit = &mut self.deficits[self.first];
        *deficit = deficit.saturating_sub(spent);
    }

    /// Shares may have changed: each is asked for again when its queue comes by.
    #[inline]
    pub(super) fn renew(&mut self) {
        self.stale = self.queues.len();
    }

    /// Gives the first queue its share and makes it the last, until one may send; returns that one.
    #[inline]
    pub(super) fn turn(&mut self, mut share: impl FnMut(usize) -> i32) -> Option<usize> {
        while self.stale > 0 {
            let queue = usize::from(*self.queues.get(self.first)?);
            if self.deficits[self.first] > 0 {
                return Some(queue);
            }
            self.stale -= 1;
            self.shares[self.first] = share(queue);
            self.deficits[self.first] += self.shares[self.first];
            self.first += 1;
            if self.first == self.queues.len() {
                self.first = 0;
            }
        }
        loop {
            self.first += pass(&mut self.deficits[self.first..], &self.shares[self.first..]);
            if let Some(queue) = self.queues.get(self.first) {
                return Some(usize::from(*queue));
            }
            if self.queues.is_empty() {
                return None;
            }
            self.first = 0;
        }
    }
}

/// Adds shares to deficits up to the first that is positive, and says how many that were.
#[inline]
fn pass(deficits: &mut [i32], shares: &[i32]) -> usize {
    let mut passed = 0;
    let rows = deficits.as_chunks_mut::<ABREAST>().0.iter_mut().zip(shares.as_chunks::<ABREAST>().0);
    for (deficits, shares) in rows {
        // All of a row are looked at, which is quicker than to stop at one.
        if deficits.iter().fold(false, |any, deficit| any | (*deficit > 0)) {
            break;
        }
        deficits.iter_mut().zip(shares).for_each(|(deficit, share)| *deficit += share);
        passed += ABREAST;
    }
    for (deficit, share) in deficits[passed..].iter_mut().zip(&shares[passed..]) {
        if *deficit > 0 {
            break;
        }
        *deficit += share;
        passed += 1;
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    /// One step of what `Flows` does with a circle.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A queue comes, with this deficit.
        Come(i32),
        /// The selected queue sends so much.
        Send(i32),
        /// The selected queue goes.
        Go,
        /// Shares are divided by another number.
        Divide(i32),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            2 => (-500..50_i32).prop_map(Step::Come),
            6 => (1..2000_i32).prop_map(Step::Send),
            1 => Just(Step::Go),
            1 => (1..40_i32).prop_map(Step::Divide),
        ]
    }

    /// What a queue gets under a division.
    fn share(queue: usize, divisor: i32) -> i32 {
        (300 + queue as i32 % 7) / divisor
    }

    /// The plain list: queue and deficit, the first one at the front.
    fn selected(list: &mut VecDeque<(usize, i32)>, divisor: i32) -> Option<usize> {
        loop {
            let (queue, deficit) = list.pop_front()?;
            if deficit > 0 {
                list.push_front((queue, deficit));
                return Some(queue);
            }
            list.push_back((queue, deficit + share(queue, divisor)));
        }
    }

    proptest! {
        #[test]
        fn it_turns_as_a_list_does(steps in proptest::collection::vec(step(), 1..200)) {
            let (mut circle, mut list) = (Circle::default(), VecDeque::new());
            let mut divisor = 1;
            let mut next = 0;
            for step in steps {
                match step {
                    Step::Come(deficit) => {
                        circle.append(next, deficit, share(next, divisor));
                        list.push_back((next, deficit));
                        next += 1;
                    }
                    Step::Divide(by) => {
                        divisor = by;
                        circle.renew();
                    }
                    Step::Send(_) | Step::Go if list.is_empty() => {}
                    Step::Send(spent) => {
                        circle.charge(spent);
                        list[0].1 -= spent;
                    }
                    Step::Go => {
                        circle.remove_first();
                        list.pop_front();
                    }
                }
                let next = circle.turn(|queue| share(queue, divisor));
                prop_assert_eq!(next, selected(&mut list, divisor));
                prop_assert!(circle.iter().eq(list.iter().map(|(queue, _)| *queue)));
            }
        }
    }
}
