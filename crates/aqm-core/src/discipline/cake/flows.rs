//! The flow queues of a tin: an eight-way set-associative table under DRR++. New flows are served first, and flows of
//! hosts with many flows get small quanta.

use super::circle::Circle;
use super::isolation::Isolation;
use super::sets::{Key, WAYS};
use crate::cx::Cx;
use crate::law::Head;
use crate::law::cobalt::{Params as Law, State, Step};
use crate::packet::Packet;
use crate::queue::{Chain, Pool};
use crate::signal::DropReason;
use crate::units::{Span, Time};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Deficits are counted in 1/256 of a byte, so that small shares of a quantum are not rounded away.
const UNIT: u32 = 256;

/// Flow queues and their hosts.
#[derive(Debug)]
pub(super) struct Flows {
    queues: Vec<Queue>,
    /// Sources and destinations.
    hosts: [Vec<Host>; 2],
    /// Packets of all queues, which are in the pool that comes in with each call.
    waiting: usize,
    new: VecDeque<New>,
    old: Circle,
    decaying: Decaying,
    /// Queues on the lists, by whether they count as sparse or as bulk.
    sparse: u32,
    bulk: u32,
    collisions: u64,
    /// The whole quantum, in units.
    quantum: u32,
}

/// One flow queue: a cache line.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    cobalt: State,
    chain: Chain,
    /// Its source and destination among the hosts.
    hosts: [u16; 2],
    /// Hash bits of its flow, or its last flow.
    tag: u32,
    place: Place,
    /// A flow that found its set full has queued packets here.
    shared: bool,
}

/// A queue on the list of new ones, and the units that it may still send.
#[derive(Clone, Copy, Debug)]
struct New {
    queue: u16,
    deficit: i32,
}

/// State of a queue in DRR++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// On no list, and free for any flow.
    #[default]
    Nowhere,
    /// On the list of new flows.
    Sparse,
    /// On the list of old flows, but empty since before it was moved there.
    Waiting,
    /// On the list of old flows, with a backlog.
    Bulk,
    /// On no list, but the state of its law has not decayed yet.
    Decaying,
}

/// How many bulk flows a host has.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u32,
    bulk: u16,
}

/// Empty queues whose law has not decayed yet, visited in turn: one bit each.
#[derive(Debug)]
struct Decaying {
    words: Vec<u64>,
    cursor: usize,
    count: u32,
}

/// The head of one queue.
struct QueueHead<'a> {
    pool: &'a mut Pool,
    chain: &'a mut Chain,
    waiting: &'a mut usize,
}

impl Head for QueueHead<'_> {
    #[inline]
    fn peek(&mut self) -> Option<&mut Packet> {
        self.pool.peek(self.chain)
    }

    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        let packet = self.pool.pop(self.chain);
        *self.waiting -= usize::from(packet.is_some());
        packet
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.chain.bytes()
    }
}

impl Decaying {
    fn new(queues: usize) -> Decaying {
        Decaying { words: alloc::vec![0; queues.div_ceil(64)], cursor: 0, count: 0 }
    }

    fn insert(&mut self, queue: usize) {
        self.words[queue / 64] |= 1 << (queue % 64);
        self.count += 1;
    }

    fn remove(&mut self, queue: usize) {
        self.words[queue / 64] &= !(1 << (queue % 64));
        self.count -= 1;
    }

    /// The next queue after the previous one, in a circle.
    fn next(&mut self) -> Option<usize> {
        if self.count == 0 {
            return None;
        }
        let (mut word, bit) = (self.cursor / 64, self.cursor % 64);
        let mut bits = self.words[word] & (u64::MAX << bit);
        while bits == 0 {
            word = (word + 1) % self.words.len();
            bits = self.words[word];
        }
        let queue = word * 64 + bits.trailing_zeros() as usize;
        self.cursor = (queue + 1) % (self.words.len() * 64);
        Some(queue)
    }
}

impl Flows {
    /// `count` empty queues, a multiple of eight.
    pub(super) fn new(count: usize) -> Flows {
        Flows {
            queues: alloc::vec![Queue::default(); count],
            hosts: [alloc::vec![Host::default(); count], alloc::vec![Host::default(); count]],
            waiting: 0,
            new: VecDeque::new(),
            old: Circle::default(),
            decaying: Decaying::new(count),
            sparse: 0,
            bulk: 0,
            collisions: 0,
            quantum: 0,
        }
    }

    /// Whether no packet waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether a queue is on the lists.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Numbers of queues that count as sparse, count as bulk, and are decaying.
    pub(super) fn counts(&self) -> [u32; 3] {
        [self.sparse, self.bulk, self.decaying.count]
    }

    /// Packets queued for another flow's queue because all eight were taken.
    pub(super) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// Bytes of the tables.
    pub(super) fn state_bytes(&self) -> usize {
        let hosts = self.hosts[0].len() + self.hosts[1].len();
        self.queues.len() * size_of::<Queue>()
            + self.new.capacity() * size_of::<New>()
            + self.old.state_bytes()
            + hosts * size_of::<Host>()
            + self.decaying.words.len() * size_of::<u64>()
    }

    /// The queue of `packet`: its own, else a free one of its set, else its home, which is then shared.
    ///
    /// A flow that shares a queue keeps using it until it is empty, so that its packets stay in order.
    #[inline]
    pub(super) fn locate(&mut self, packet: &Packet, isolation: &Isolation) -> usize {
        let key = isolation.queue(packet, self.queues.len());
        let home = &self.queues[key.home];
        if home.tag == key.tag && home.place != Place::Nowhere {
            return key.home;
        }
        self.search(key, packet, isolation)
    }

    fn search(&mut self, key: Key, packet: &Packet, isolation: &Isolation) -> usize {
        let own = key.ways().find(|queue| self.queues[*queue].tag == key.tag);
        let free = || key.ways().find(|queue| self.queues[*queue].place == Place::Nowhere);
        let queue = match own {
            Some(own) => Some(own),
            None if self.queues[key.home].shared => None,
            None => free(),
        };
        let Some(queue) = queue else {
            self.collisions += 1;
            self.queues[key.home].shared = true;
            return key.home;
        };
        if self.queues[queue].place == Place::Nowhere {
            self.queues[queue].tag = key.tag;
            for side in [0, 1] {
                if isolation.shared[side] {
                    let host = isolation.host(side, packet, self.hosts[side].len());
                    self.queues[queue].hosts[side] = self.host(side, host) as u16;
                }
            }
        }
        queue
    }

    /// The record of a host: its own, else one without bulk flows, else its home, even if that is another host's.
    fn host(&mut self, side: usize, key: Key) -> usize {
        let hosts = &mut self.hosts[side];
        let own = key.ways().find(|host| hosts[*host].tag == key.tag);
        let host = own.or_else(|| key.ways().find(|host| hosts[*host].bulk == 0)).unwrap_or(key.home);
        hosts[host].tag = key.tag;
        host
    }

    /// Appends `packet` to `queue`, which starts with its share of `quantum` bytes if it was on no list.
    #[inline]
    pub(super) fn push(
        &mut self,
        queue: usize,
        packet: Packet,
        quantum: u32,
        isolation: &Isolation,
        pool: &mut Pool,
    ) {
        self.waiting += 1;
        let record = &mut self.queues[queue];
        pool.push(&mut record.chain, packet);
        match record.place {
            Place::Nowhere => self.begin(queue, quantum, isolation),
            Place::Decaying => {
                self.decaying.remove(queue);
                self.begin(queue, quantum, isolation);
            }
            Place::Waiting => {
                self.sparse -= 1;
                self.enter_bulk(queue);
            }
            Place::Sparse | Place::Bulk => {}
        }
    }

    /// `queue` comes to the list of new ones.
    fn begin(&mut self, queue: usize, quantum: u32, isolation: &Isolation) {
        self.queues[queue].place = Place::Sparse;
        self.sparse += 1;
        self.divide(quantum);
        let deficit = self.shares().of(queue, isolation);
        self.new.push_back(New { queue: queue as u16, deficit });
    }

    /// The packets of `queue`, the oldest first.
    pub(super) fn packets<'a>(&self, queue: usize, pool: &'a Pool) -> impl Iterator<Item = &'a Packet> {
        pool.iter(&self.queues[queue].chain)
    }

    /// Takes the packet at `index` of `queue`, without its law.
    pub(super) fn remove(&mut self, queue: usize, index: usize, pool: &mut Pool) -> Option<Packet> {
        let packet = pool.remove(&mut self.queues[queue].chain, index);
        self.waiting -= usize::from(packet.is_some());
        packet
    }

    /// The queue to serve: the first new one, else the first old one, that has not used up its quantum. A queue that
    /// has gets another quantum and moves to the end of the old list.
    #[inline]
    pub(super) fn select(&mut self, quantum: u32, isolation: &Isolation) -> Option<usize> {
        self.divide(quantum);
        while let Some(New { queue, deficit }) = self.new.front() {
            if *deficit > 0 {
                return Some(usize::from(*queue));
            }
            self.age(isolation);
        }
        let shares = Shares { queues: &self.queues, hosts: &self.hosts, quantum: self.quantum };
        self.old.turn(|queue| shares.of(queue, isolation))
    }

    /// The first new queue gets its share and moves to the end of the old list.
    fn age(&mut self, isolation: &Isolation) {
        let Some(New { queue, deficit }) = self.new.pop_front() else { return };
        let queue = usize::from(queue);
        if self.queues[queue].chain.is_empty() {
            self.queues[queue].place = Place::Waiting;
        } else {
            self.sparse -= 1;
            self.enter_bulk(queue);
        }
        let share = self.shares().of(queue, isolation);
        self.old.append(queue, deficit + share, share);
    }

    /// Has the law judge the oldest packet of the [selected](Flows::select) queue. A queue that is empty leaves the
    /// lists.
    #[inline]
    pub(super) fn step(
        &mut self,
        queue: usize,
        law: &Law,
        floor: Span,
        pool: &mut Pool,
        cx: &mut Cx<'_>,
    ) -> Step {
        let record = &mut self.queues[queue];
        let mut head = QueueHead { pool, chain: &mut record.chain, waiting: &mut self.waiting };
        let step = law.step(&mut record.cobalt, &mut head, floor, cx);
        if step == Step::Empty {
            self.retire(queue, cx.now);
        }
        step
    }

    /// The [selected](Flows::select) queue has sent `bytes`.
    #[inline]
    pub(super) fn charge(&mut self, bytes: u64) {
        let spent = i32::try_from(bytes.saturating_mul(u64::from(UNIT))).unwrap_or(i32::MAX);
        match self.new.front_mut() {
            Some(new) => new.deficit = new.deficit.saturating_sub(spent),
            None => self.old.charge(spent),
        }
    }

    /// Lets the law of the next decaying queue decay by a step.
    pub(super) fn decay(&mut self, law: &Law, now: Time) {
        let Some(queue) = self.decaying.next() else { return };
        let record = &mut self.queues[queue];
        law.emptied(&mut record.cobalt, now);
        if record.cobalt.at_rest(now) {
            record.place = Place::Nowhere;
            self.decaying.remove(queue);
        }
    }

    /// The queue with the most bytes, and how many: the first among equals, new ones before old ones. Looks at every
    /// queue on the lists: only for a full buffer.
    pub(super) fn fattest(&self) -> Option<(usize, u64)> {
        let mut fattest: Option<(usize, u64)> = None;
        for queue in self.new.iter().map(|new| usize::from(new.queue)).chain(self.old.iter()) {
            let bytes = self.queues[queue].chain.bytes();
            if fattest.is_none_or(|(_, most)| bytes > most) {
                fattest = Some((queue, bytes));
            }
        }
        fattest
    }

    /// The oldest packet of `queue`.
    #[inline]
    pub(super) fn peek<'a>(&self, queue: usize, pool: &'a mut Pool) -> Option<&'a mut Packet> {
        pool.peek(&self.queues[queue].chain)
    }

    /// Takes the oldest packet of `queue`, without its law.
    #[inline]
    pub(super) fn pop(&mut self, queue: usize, pool: &mut Pool) -> Option<Packet> {
        let packet = pool.pop(&mut self.queues[queue].chain);
        self.waiting -= usize::from(packet.is_some());
        packet
    }

    /// The state of the law of `queue`.
    pub(super) fn cobalt(&mut self, queue: usize) -> &mut State {
        &mut self.queues[queue].cobalt
    }

    /// Drops everything and removes all flows and hosts.
    pub(super) fn purge(&mut self, pool: &mut Pool, cx: &mut Cx<'_>) {
        for queue in &mut self.queues {
            while let Some(packet) = pool.pop(&mut queue.chain) {
                cx.drop(packet, DropReason::Reconfigured);
            }
        }
        *self = Flows::new(self.queues.len());
    }

    /// Takes another quantum of bytes.
    #[inline]
    fn divide(&mut self, quantum: u32) {
        if self.quantum != quantum * UNIT {
            self.quantum = quantum * UNIT;
            self.old.renew();
        }
    }

    fn shares(&self) -> Shares<'_> {
        Shares { queues: &self.queues, hosts: &self.hosts, quantum: self.quantum }
    }

    fn enter_bulk(&mut self, queue: usize) {
        self.queues[queue].place = Place::Bulk;
        self.bulk += 1;
        for side in [0, 1] {
            self.hosts[side][usize::from(self.queues[queue].hosts[side])].bulk += 1;
        }
        self.old.renew();
    }

    /// The selected queue is empty: it leaves its list, and stays reserved until its law has decayed.
    fn retire(&mut self, queue: usize, now: Time) {
        let record = &mut self.queues[queue];
        if record.place == Place::Bulk {
            self.bulk -= 1;
            for side in [0, 1] {
                self.hosts[side][usize::from(record.hosts[side])].bulk -= 1;
            }
            self.old.renew();
        } else {
            self.sparse -= 1;
        }
        if self.new.pop_front().is_none() {
            self.old.remove_first();
        }
        record.shared = false;
        if record.cobalt.at_rest(now) {
            record.place = Place::Nowhere;
        } else {
            record.place = Place::Decaying;
            self.decaying.insert(queue);
        }
    }
}

/// What decides how the quantum is shared.
struct Shares<'a> {
    queues: &'a [Queue],
    hosts: &'a [Vec<Host>; 2],
    quantum: u32,
}

impl Shares<'_> {
    /// The share of the quantum that `queue` gets: divided by the number of bulk flows of its host, the busier one of
    /// source and destination.
    fn of(&self, queue: usize, isolation: &Isolation) -> i32 {
        let hosts = self.queues[queue].hosts;
        let mut load = 1;
        for side in [0, 1] {
            if isolation.shared[side] {
                load = load.max(self.hosts[side][usize::from(hosts[side])].bulk);
            }
        }
        (self.quantum / u32::from(load)) as i32
    }
}

const _: () = assert!(WAYS == 8 && size_of::<Queue>() <= 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decaying_queues_are_visited_in_turn_from_the_first_to_the_last() {
        let mut decaying = Decaying::new(130);
        assert_eq!(decaying.next(), None);
        [129, 0, 64, 63].iter().for_each(|queue| decaying.insert(*queue));
        let visits: Vec<_> = (0..6).filter_map(|_| decaying.next()).collect();
        assert_eq!(visits, [0, 63, 64, 129, 0, 63]);
        decaying.remove(64);
        assert_eq!([decaying.next(), decaying.next(), decaying.next()], [Some(129), Some(0), Some(63)]);
        [129, 0, 63].iter().for_each(|queue| decaying.remove(*queue));
        assert_eq!((decaying.next(), decaying.count), (None, 0));
        decaying.insert(191); // the last bit of the last word
        assert_eq!([decaying.next(), decaying.next()], [Some(191), Some(191)]);
    }

    #[test]
    fn the_tables_are_counted() {
        // 64 bytes for each queue, 8 for each source and each destination, 8 for 64 bits.
        assert_eq!(Flows::new(64).state_bytes(), 64 * 64 + 2 * 64 * size_of::<Host>() + 8);
        assert!(size_of::<Host>() <= 8);
    }
}
