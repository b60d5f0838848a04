//! Which of many queues is the longest: a heap for full buffers.

use alloc::vec::Vec;

/// Not in the heap.
const NOWHERE: u32 = u32::MAX;

/// Children of a member of the heap: four make it half as high as two, and lie beside each other.
const CHILDREN: usize = 4;

/// A queue's length, in packets or bytes, over its turn, over its number: of equally long queues the first in turn is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u128);

impl Rank {
    /// The rank of a queue of this length, below 2^48, and turn, which no other queue has.
    #[inline]
    pub const fn new(length: u64, turn: u64, queue: u16) -> Rank {
        Rank((length as u128) << 80 | (!turn as u128) << 16 | queue as u128)
    }

    #[inline]
    const fn queue(self) -> usize {
        self.0 as u16 as usize
    }

    #[inline]
    const fn is_empty(self) -> bool {
        self.0 >> 80 == 0
    }
}

/// Queues by rank. It is empty, and costs nothing, until a full buffer [asks](Longest::find) for the first time.
///
/// It is for disciplines that drop one packet at a time. FQ-CoDel and those that share its queues drop up to 64 at a time, or
/// the arriving one: they search all queues then, which is rare, and would pay here for every packet that arrives. What CAKE's
/// congestion costs is turning its round by shares of a quantum; the search is a small part.
///
/// It is told of queues that have become longer. A queue that has become shorter, or whose turn has passed, ranks too
/// high until it is the first; so nothing is done for packets that leave.
#[derive(Debug, Default)]
pub struct Longest {
    heap: Vec<Rank>,
    /// Where each queue is in the heap.
    places: Vec<u32>,
}

impl Longest {
    /// A packet was appended to a queue, which has `rank` now.
    #[inline]
    pub fn lengthen(&mut self, rank: impl FnOnce() -> Rank) {
        if !self.heap.is_empty() {
            self.raise(rank());
        }
    }

    /// The first of `count` queues; none if all are empty. `rank` is that of a queue by its number.
    pub fn find(&mut self, count: usize, rank: impl Fn(usize) -> Rank) -> Option<usize> {
        if self.heap.is_empty() {
            self.places.clear();
            self.places.resize(count, NOWHERE);
            (0..count).map(&rank).filter(|rank| !rank.is_empty()).for_each(|rank| self.raise(rank));
        }
        loop {
            let known = *self.heap.first()?;
            let now = rank(known.queue());
            if now == known {
                return Some(now.queue());
            }
            if !now.is_empty() {
                self.lower(now);
                continue;
            }
            self.places[known.queue()] = NOWHERE;
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.lower(last);
            }
        }
    }

    /// Forgets all: ranks mean something else from now on.
    pub fn clear(&mut self) {
        self.heap.clear();
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        self.heap.capacity() * size_of::<Rank>() + self.places.capacity() * size_of::<u32>()
    }

    /// Adds a queue that is not empty, or lets it rise to its rank.
    #[inline]
    fn raise(&mut self, rank: Rank) {
        let mut place = self.places[rank.queue()] as usize;
        match self.heap.get(place) {
            Some(known) if rank <= *known => return,
            Some(_) => {}
            None => {
                place = self.heap.len();
                self.heap.push(rank);
            }
        }
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            let above = self.heap[parent];
            if rank < above {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, rank);
    }

    /// Puts a queue in the place of the first, and lets it sink to its rank.
    #[inline]
    fn lower(&mut self, rank: Rank) {
        let highest_of = |ranks: &[Rank]| ranks.iter().copied().fold(rank, Rank::max);
        let mut place = 0;
        loop {
            let below = self.heap.get(CHILDREN * place + 1..).unwrap_or_default();
            let highest =
                below.first_chunk::<CHILDREN>().map_or_else(|| highest_of(below), |four| highest_of(four));
            if highest == rank {
                break;
            }
            let child = self.places[highest.queue()] as usize;
            self.put(place, highest);
            place = child;
        }
        self.put(place, rank);
    }

    #[inline]
    fn put(&mut self, place: usize, rank: Rank) {
        self.heap[place] = rank;
        self.places[rank.queue()] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn it_finds_what_a_search_of_all_queues_finds() {
        let mut random = Random::stream(1, "longest");
        let (mut longest, mut turn) = (Longest::default(), 20);
        let mut queues: [(u64, u64); 20] = core::array::from_fn(|number| (0, number as u64));
        let rank = |number: usize, queue: (u64, u64)| Rank::new(queue.0, queue.1, number as u16);
        for _ in 0..20_000 {
            let number = random.below(20) as usize;
            let queue = &mut queues[number];
            turn += 1;
            match random.below(5) {
                // Mostly short, so that many are equally long, and now and then all are empty.
                0 | 1 if queue.0 < 3 => {
                    *queue = (queue.0 + 1, if queue.0 == 0 { turn } else { queue.1 });
                    longest.lengthen(|| rank(number, *queue));
                }
                0..=2 => queue.0 = queue.0.saturating_sub(1),
                3 => queue.1 = turn,
                _ => {
                    let searched = (0..20).max_by_key(|number| rank(*number, queues[*number]));
                    let expected = searched.filter(|number| queues[*number].0 > 0);
                    assert_eq!(longest.find(20, |number| rank(number, queues[number])), expected);
                }
            }
        }
        queues = [(0, 0); 20];
        assert_eq!(longest.find(20, |number| rank(number, queues[number])), None);
        assert!(longest.heap.is_empty());
    }
}
