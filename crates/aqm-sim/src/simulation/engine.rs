//! The event queue: a tournament and 4-ary heaps over (time, insertion number).
//!
//! Events at the same time leave in the order of insertion, so runs repeat. Four children lie side by side, and
//! a heap of four is half as deep as one of two.

use aqm_core::units::Time;

/// What an event is for: a kind, and the number of its port, sender or source in 25 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target(u32);

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum EventKind {
    /// The first packet of a queue of packets in flight arrives.
    Arrival = 0,
    /// A port can send the next packet.
    PortReady = 1,
    /// A sender's timer.
    SenderTimer = 2,
    /// A receiver's delayed-ACK timer.
    ReceiverTimer = 3,
    /// A source has something to send.
    Source = 4,
    /// A discipline asked to be woken.
    QdiscWake = 5,
    /// A packet arrives from a wire that may reorder: it is in no queue.
    JitteredArrival = 6,
    /// Samples, warm-up and end.
    Clock = 7,
    /// A sender that spaces its segments may send the next.
    Pace = 8,
    /// Disciplines or programs have asked for packets to be sent.
    Emission = 9,
    /// A switch has to repeat a pause, or its control plane has work to do.
    SwitchTimer = 10,
    /// The pause of a port expires.
    PauseEnd = 11,
    /// A packet at its host has waited long enough for an address: it is in no queue.
    Resolved = 12,
}

const INDEX_BITS: u32 = 21;
const KINDS: [EventKind; 13] = [
    EventKind::Arrival,
    EventKind::PortReady,
    EventKind::SenderTimer,
    EventKind::ReceiverTimer,
    EventKind::Source,
    EventKind::QdiscWake,
    EventKind::JitteredArrival,
    EventKind::Clock,
    EventKind::Pace,
    EventKind::Emission,
    EventKind::SwitchTimer,
    EventKind::PauseEnd,
    EventKind::Resolved,
];

impl Target {
    /// Largest number of ports, senders or sources of one kind.
    pub(crate) const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

    pub(crate) fn new(kind: EventKind, index: u32) -> Target {
        debug_assert!(index as usize <= Target::MAX_INDEX);
        Target((kind as u32) << INDEX_BITS | index)
    }

    pub(crate) fn kind(self) -> EventKind {
        KINDS[(self.0 >> INDEX_BITS & 15) as usize]
    }

    pub(crate) fn index(self) -> usize {
        (self.0 & Target::MAX_INDEX as u32) as usize
    }
}

/// Time over insertion number (39 bits) over target (25 bits): one number, one comparison.
type Entry = u128;

const TARGET_BITS: u32 = 25;
/// Later than every event.
const NEVER: Entry = Entry::MAX;

/// Pending events.
///
/// Most timers are set far ahead and never needed, while packets arrive by the million. So timers have a heap of their
/// own, and the few events that follow each other all the time, those of busy wires, need no heap: they meet its first
/// in a tournament.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    next: Tournament,
    timers: Heap,
    others: Heap,
    /// The places of the tournament that are free, one bit each.
    free: Free,
    inserted: u64,
}

/// The places of the heaps in the tournament; the others are for one event each.
const TIMERS: usize = 0;
const OTHERS: usize = 1;

impl EventQueue {
    /// Puts an event in.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, target: Target) {
        let entry = self.entry(time, target);
        match target.kind() {
            EventKind::SenderTimer | EventKind::ReceiverTimer => {
                if self.timers.push(entry) {
                    self.next.set(TIMERS, entry);
                }
            }
            EventKind::Arrival | EventKind::PortReady if self.free.any() => {
                self.next.set(self.free.take(), entry);
            }
            _ => {
                if self.others.push(entry) {
                    self.next.set(OTHERS, entry);
                }
            }
        }
    }

    /// The next event. It stays in place until [`pop`](Self::pop) or [`replace`](Self::replace): events added
    /// meanwhile are not earlier.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Time, Target)> {
        let entry = self.next.first();
        let target = Target(entry as u32 & ((1 << TARGET_BITS) - 1));
        (entry != NEVER).then(|| (Time::from_nanos((entry >> 64) as u64), target))
    }

    /// Removes the next event.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let place = self.next.winner();
        let then = match place {
            TIMERS => self.timers.pop(),
            OTHERS => self.others.pop(),
            _ => {
                self.free.give(place);
                NEVER
            }
        };
        self.next.set(place, then);
    }

    /// Removes the next event and adds another of the same target: cheaper than doing both.
    #[inline]
    pub(crate) fn replace(&mut self, time: Time, target: Target) {
        let entry = self.entry(time, target);
        let place = self.next.winner();
        let then = match place {
            TIMERS => self.timers.replace(entry),
            // What goes on and on leaves the heap as soon as it can.
            OTHERS if self.free.any() && target.kind() == EventKind::Arrival => {
                self.next.set(self.free.take(), entry);
                self.others.pop()
            }
            OTHERS => self.others.replace(entry),
            _ => entry,
        };
        self.next.set(place, then);
    }

    #[inline]
    fn entry(&mut self, time: Time, target: Target) -> Entry {
        self.inserted += 1;
        u128::from(time.as_nanos()) << 64 | u128::from(self.inserted << TARGET_BITS | u64::from(target.0))
    }
}

/// Players of the tournament.
const PLACES: usize = 8;

/// Free places of the tournament.
#[derive(Debug)]
struct Free(u8);

impl Default for Free {
    fn default() -> Free {
        Free(!(1 << TIMERS | 1 << OTHERS))
    }
}

impl Free {
    #[inline]
    fn any(&self) -> bool {
        self.0 != 0
    }

    #[inline]
    fn take(&mut self) -> usize {
        let place = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        place as usize
    }

    #[inline]
    fn give(&mut self, place: usize) {
        self.0 |= 1 << place;
    }
}

/// The smallest of a few entries, each at its place: whoever changes plays against three others.
#[derive(Debug)]
struct Tournament {
    entries: [Entry; PLACES],
    /// Who won at each node; node 1 is the final, and nodes 2 n and 2 n + 1 lead to node n.
    winners: [u8; 2 * PLACES],
}

impl Default for Tournament {
    fn default() -> Tournament {
        // Nobody has an event: of those below a node, any may be its winner.
        let below = |node: usize| std::iter::successors(Some(node.max(1)), |node| Some(2 * node));
        let place = |node| below(node).find(|node| *node >= PLACES).unwrap_or(PLACES) - PLACES;
        Tournament { entries: [NEVER; PLACES], winners: std::array::from_fn(|node| place(node) as u8) }
    }
}

impl Tournament {
    #[inline]
    fn winner(&self) -> usize {
        usize::from(self.winners[1]) % PLACES
    }

    #[inline]
    fn first(&self) -> Entry {
        self.entries[self.winner()]
    }

    #[inline]
    fn set(&mut self, place: usize, entry: Entry) {
        self.entries[place % PLACES] = entry;
        let (mut node, mut winner, mut least) = (PLACES + place % PLACES, place as u8, entry);
        while node > 1 {
            let rival = self.winners[node ^ 1];
            let other = self.entries[usize::from(rival) % PLACES];
            if other < least {
                (winner, least) = (rival, other);
            }
            node /= 2;
            self.winners[node] = winner;
        }
    }
}

/// A 4-ary heap, smallest first. It is padded with entries that never come, so that every group of children is
/// complete.
#[derive(Debug)]
struct Heap {
    entries: Vec<Entry>,
    len: usize,
}

const CHILDREN: usize = 4;

impl Default for Heap {
    fn default() -> Heap {
        Heap { entries: vec![NEVER; CHILDREN + 1], len: 0 }
    }
}

impl Heap {
    /// Adds an entry; answers whether it is the first.
    #[inline]
    fn push(&mut self, entry: Entry) -> bool {
        let mut hole = self.len;
        self.len += 1;
        if self.entries.len() < self.len + CHILDREN {
            self.entries.resize(2 * self.len + CHILDREN, NEVER);
        }
        while hole > 0 {
            let parent = (hole - 1) / CHILDREN;
            if entry > self.entries[parent] {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
        hole == 0
    }

    /// Removes the first entry; answers with the next.
    #[inline]
    fn pop(&mut self) -> Entry {
        self.len -= 1;
        let last = std::mem::replace(&mut self.entries[self.len], NEVER);
        if self.len > 0 { self.replace(last) } else { NEVER }
    }

    /// Replaces the first entry with `entry` and sifts it down; answers with the first.
    #[inline]
    fn replace(&mut self, entry: Entry) -> Entry {
        let (len, entries) = (self.len, self.entries.as_mut_slice());
        let mut hole = 0;
        let mut first = 1;
        while first < len
            && let Some(&[a, b, c, d]) = entries.get(first..first + CHILDREN)
        {
            let (left, at_left) = if b < a { (b, first + 1) } else { (a, first) };
            let (right, at_right) = if d < c { (d, first + 3) } else { (c, first + 2) };
            let (smallest, at) = if right < left { (right, at_right) } else { (left, at_left) };
            if entry < smallest {
                break;
            }
            entries[hole] = smallest;
            hole = at;
            first = CHILDREN * hole + 1;
        }
        entries[hole] = entry;
        entries[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, usize)> {
        let mut out = Vec::new();
        while let Some((time, target)) = queue.peek() {
            out.push((time.as_nanos(), target.index()));
            queue.pop();
        }
        out
    }

    #[test]
    fn events_leave_by_time_and_equal_times_in_order_of_insertion() {
        let mut queue = EventQueue::default();
        let times: Vec<u64> = (0..1000).map(|i| i * 7919 % 97).collect();
        for (index, time) in times.iter().enumerate() {
            queue.push(Time::from_nanos(*time), Target::new(EventKind::Source, index as u32));
        }
        let mut expected: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
        expected.sort();
        assert_eq!(drain(&mut queue), expected);
    }

    #[test]
    fn replacing_the_next_event_equals_removing_it_and_adding_another() {
        let (mut left, mut right) = (EventQueue::default(), EventQueue::default());
        for index in 0..50 {
            for queue in [&mut left, &mut right] {
                queue.push(
                    Time::from_nanos(u64::from(index) * 13 % 31),
                    Target::new(EventKind::PortReady, index),
                );
            }
        }
        for step in 0..200 {
            let (time, target) = left.peek().unwrap();
            assert_eq!(right.peek().unwrap(), (time, target));
            let later = Time::from_nanos(time.as_nanos() + step % 11);
            left.replace(later, target);
            right.pop();
            right.push(later, target);
        }
        assert_eq!(drain(&mut left), drain(&mut right));
    }

    #[derive(Clone, Debug)]
    enum Op {
        Push(u64, usize),
        Pop,
        Replace(u64),
    }

    /// Few different times, so that many events fall together; both heaps; sometimes the last instant that there is.
    fn op() -> impl Strategy<Value = Op> {
        let later = prop_oneof![8 => 0..8u64, 1 => any::<u64>()];
        prop_oneof![
            4 => (later.clone(), 0..KINDS.len()).prop_map(|(later, kind)| Op::Push(later, kind)),
            2 => Just(Op::Pop),
            2 => later.prop_map(Op::Replace),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_sequence_of_calls_gives_the_events_of_a_sorted_list(ops in vec(op(), 1..600)) {
            let (mut queue, mut list) = (EventQueue::default(), BTreeMap::new());
            let mut now = 0u64;
            for (number, op) in (0u32..).zip(ops) {
                let next = list.first_key_value().map(|((time, _), target)| (Time::from_nanos(*time), *target));
                prop_assert_eq!(queue.peek(), next);
                now = next.map_or(now, |(time, _)| time.as_nanos());
                match op {
                    Op::Push(later, kind) => {
                        let (time, target) = (now.saturating_add(later), Target::new(KINDS[kind], number));
                        queue.push(Time::from_nanos(time), target);
                        list.insert((time, number), target);
                    }
                    Op::Pop if next.is_some() => {
                        queue.pop();
                        list.pop_first();
                    }
                    Op::Replace(later) => {
                        if let Some((_, target)) = next {
                            let time = now.saturating_add(later);
                            let target = Target::new(target.kind(), number);
                            queue.replace(Time::from_nanos(time), target);
                            list.pop_first();
                            list.insert((time, number), target);
                        }
                    }
                    Op::Pop => {}
                }
            }
            let rest: Vec<_> = list.into_iter().map(|((time, _), target)| (time, target.index())).collect();
            prop_assert_eq!(drain(&mut queue), rest);
        }
    }

    #[test]
    fn targets_keep_kind_and_index() {
        for kind in KINDS {
            let target = Target::new(kind, Target::MAX_INDEX as u32);
            assert_eq!((target.kind(), target.index()), (kind, Target::MAX_INDEX));
        }
    }
}
