//! Which of many queues is the longest: a heap for full buffers.

use alloc::vec::Vec;

/// Not in the heap.
const NOWHERE: u32 = u32::MAX;

/// The length of a queue, in packets or bytes, over its turn: of equally long queues the first in turn is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u128);

impl Rank {
    /// The rank of a queue of this length and turn.
    #[inline]
    pub const fn new(length: u64, turn: u64) -> Rank {
        Rank((length as u128) << 64 | !turn as u128)
    }

    #[inline]
    const fn is_empty(self) -> bool {
        self.0 >> 64 == 0
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
    heap: Vec<Member>,
    /// Where each queue is in the heap.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    rank: Rank,
    queue: u32,
}

impl Longest {
    /// A packet was appended to `queue`.
    #[inline]
    pub fn lengthen(&mut self, queue: usize, rank: impl FnOnce() -> Rank) {
        if !self.heap.is_empty() {
            self.raise(Member { rank: rank(), queue: queue as u32 });
        }
    }

    /// The first of `count` queues; none if all are empty. `rank` is that of a queue by its number.
    pub fn find(&mut self, count: usize, rank: impl Fn(usize) -> Rank) -> Option<usize> {
        if self.heap.is_empty() {
            self.places.clear();
            self.places.resize(count, NOWHERE);
            (0..count)
                .map(|queue| Member { rank: rank(queue), queue: queue as u32 })
                .filter(|member| !member.rank.is_empty())
                .for_each(|member| self.raise(member));
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

    /// Adds `member`, or lets it rise to its rank.
    fn raise(&mut self, member: Member) {
        let mut place = self.places[member.queue as usize] as usize;
        if place == NOWHERE as usize {
            place = self.heap.len();
            self.heap.push(member);
        } else if member.rank <= self.heap[place].rank {
            return;
        }
        while place > 0 {
            let parent = (place - 1) / 2;
            if member.rank < self.heap[parent].rank {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, member);
    }

    /// Puts `member` in the place of the first, and lets it sink to its rank.
    fn lower(&mut self, member: Member) {
        let mut place = 0;
        while let Some(&left) = self.heap.get(2 * place + 1) {
            let (mut child, mut at) = (left, 2 * place + 1);
            if let Some(&right) = self.heap.get(at + 1)
                && right.rank > left.rank
            {
                (child, at) = (right, at + 1);
            }
            if member.rank > child.rank {
                break;
            }
            self.put(place, child);
            place = at;
        }
        self.put(place, member);
    }

    #[inline]
    fn put(&mut self, place: usize, member: Member) {
        self.heap[place] = member;
        self.places[member.queue as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn it_finds_what_a_search_of_all_queues_finds() {
        let mut random = Random::stream(1, "longest");
        let (mut longest, mut turn) = (Longest::default(), 0);
        let mut queues = [(0, 0); 20];
        let rank = |queue: (u64, u64)| Rank::new(queue.0, queue.1);
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
