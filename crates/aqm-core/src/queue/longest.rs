//! Which of many queues is the longest: a heap for full buffers.

use alloc::vec::Vec;

/// Not in the heap.
const NOWHERE: u32 = u32::MAX;

/// Children of a member of the heap: four make it half as high as two, and lie beside each other.
const CHILDREN: usize = 4;

/// A queue's length, in packets or bytes, over its turn: of equally long queues the first in turn is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u64);

impl Rank {
    /// The rank of a queue of this length and turn, which no other queue has. Lengths from 2^32 on count as equal.
    #[inline]
    pub fn new(length: u64, turn: u32) -> Rank {
        Rank(length.min(u64::from(u32::MAX)) << 32 | u64::from(!turn))
    }

    #[inline]
    const fn is_empty(self) -> bool {
        self.0 >> 32 == 0
    }
}

/// A member of the heap.
#[derive(Clone, Copy, Debug)]
struct Member {
    rank: Rank,
    queue: u32,
}

/// Queues by rank. It is empty, and costs nothing, until a full buffer [asks](Longest::find) for the first time.
///
/// It is for disciplines that drop one packet at a time. FQ-CoDel and those that share its queues drop up to 64 at a time, or
/// the arriving one: they search all queues then, which is rare, and would pay here for every packet that arrives. What CAKE's
/// congestion costs is turning its round by shares of a quantum; the search is a small part.
///
/// It is notified of queues that have become longer. A queue that has become shorter, or whose turn has passed, ranks
/// too high until it is the first; so nothing is done for packets that leave.
#[derive(Debug, Default)]
pub struct Longest {
    heap: Vec<Member>,
    /// Where each queue is in the heap.
    places: Vec<u32>,
}

impl Longest {
    /// A packet was appended to `queue`, which has `rank` now.
    #[inline]
    pub fn lengthen(&mut self, queue: usize, rank: impl FnOnce() -> Rank) {
        if !self.heap.is_empty() {
            self.raise(queue, rank());
        }
    }

    /// The first of `count` queues; none if all are empty. `rank` is that of a queue by its number.
    pub fn find(&mut self, count: usize, rank: impl Fn(usize) -> Rank) -> Option<usize> {
        if self.heap.is_empty() {
            self.fill(count, &rank);
        }
        loop {
            let Member { rank: known, queue } = *self.heap.first()?;
            let now = rank(queue as usize);
            if now == known {
                return Some(queue as usize);
            }
            if !now.is_empty() {
                self.lower(Member { rank: now, queue });
                continue;
            }
            self.places[queue as usize] = NOWHERE;
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
        self.heap.capacity() * size_of::<Member>() + self.places.capacity() * size_of::<u32>()
    }

    /// Adds all queues that are not empty.
    #[cold]
    fn fill(&mut self, count: usize, rank: &impl Fn(usize) -> Rank) {
        self.places.clear();
        self.places.resize(count, NOWHERE);
        (0..count).filter(|queue| !rank(*queue).is_empty()).for_each(|queue| self.raise(queue, rank(queue)));
    }

    /// Adds a queue that is not empty, or lets it rise to its rank.
    #[inline]
    fn raise(&mut self, queue: usize, rank: Rank) {
        let place = self.places[queue];
        if self.heap.get(place as usize).is_none_or(|known| known.rank < rank) {
            self.lift(place, Member { rank, queue: queue as u32 });
        }
    }

    fn lift(&mut self, place: u32, member: Member) {
        let mut place = place as usize;
        if place >= self.heap.len() {
            place = self.heap.len();
            self.heap.push(member);
        }
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            let above = self.heap[parent];
            if member.rank < above.rank {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, member);
    }

    /// Puts a queue in the place of the first, and lets it sink to its rank.
    #[inline]
    fn lower(&mut self, member: Member) {
        let mut place = 0;
        loop {
            let first = CHILDREN * place + 1;
            let below = self.heap.get(first..).unwrap_or_default();
            let highest =
                below.first_chunk::<CHILDREN>().map_or_else(|| highest(below), |four| highest(four));
            let Some((child, highest)) = highest.filter(|(_, highest)| highest.rank > member.rank) else {
                break;
            };
            self.put(place, highest);
            place = first + child;
        }
        self.put(place, member);
    }

    #[inline]
    fn put(&mut self, place: usize, member: Member) {
        self.heap[place] = member;
        self.places[member.queue as usize] = place as u32;
    }
}

/// The member with the highest rank, and its index.
#[inline]
fn highest(members: &[Member]) -> Option<(usize, Member)> {
    let (first, others) = members.split_first()?;
    let mut highest = (0, first.rank);
    for (index, member) in others.iter().enumerate() {
        if member.rank > highest.1 {
            highest = (index + 1, member.rank);
        }
    }
    Some((highest.0, members[highest.0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn it_finds_what_a_search_of_all_queues_finds() {
        let mut random = Random::stream(1, "longest");
        let (mut longest, mut turn) = (Longest::default(), 20);
        let mut queues: [(u64, u32); 20] = core::array::from_fn(|number| (0, number as u32));
        let rank = |queue: (u64, u32)| Rank::new(queue.0, queue.1);
        for _ in 0..20_000 {
            let number = random.below(20) as usize;
            let queue = &mut queues[number];
            turn += 1;
            match random.below(5) {
                // Mostly short, so that many are equally long, and now and then all are empty.
                0 | 1 if queue.0 < 3 => {
                    *queue = (queue.0 + 1, if queue.0 == 0 { turn } else { queue.1 });
                    longest.lengthen(number, || rank(*queue));
                }
                0..=2 => queue.0 = queue.0.saturating_sub(1),
                3 => queue.1 = turn,
                _ => {
                    let searched = (0..20).max_by_key(|number| rank(queues[*number]));
                    let expected = searched.filter(|number| queues[*number].0 > 0);
                    assert_eq!(longest.find(20, |number| rank(queues[number])), expected);
                }
            }
        }
        queues = [(0, 0); 20];
        assert_eq!(longest.find(20, |number| rank(queues[number])), None);
        assert!(longest.heap.is_empty());
    }
}
