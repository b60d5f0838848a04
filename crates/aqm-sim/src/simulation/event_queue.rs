//! The event queue: a short row and 4-ary heaps over (time, insertion number).
//!
//! Events at the same time leave in the order of insertion, so runs repeat. Four children lie side by side, and
//! a heap of four is half as deep as one of two.

use aqm_core::units::{Span, Time};
use std::collections::VecDeque;
use std::hint::select_unpredictable;

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
    IrregularArrival = 6,
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
    EventKind::IrregularArrival,
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

    #[inline]
    pub(crate) fn kind(self) -> EventKind {
        KINDS[(self.0 >> INDEX_BITS & 15) as usize]
    }

    /// Whether it is of this kind; less work than to ask which.
    #[inline]
    pub(crate) fn is(self, kind: EventKind) -> bool {
        self.0 >> INDEX_BITS == kind as u32
    }

    /// Whether many come again after the same time: packets of the same length at the same rate, and sources.
    #[inline]
    fn is_regular(self) -> bool {
        const REGULAR: u32 =
            1 << EventKind::Arrival as u32 | 1 << EventKind::PortReady as u32 | 1 << EventKind::Source as u32;
        REGULAR >> (self.0 >> INDEX_BITS & 15) & 1 == 1
    }

    pub(crate) fn index(self) -> usize {
        (self.0 & Target::MAX_INDEX as u32) as usize
    }

    /// That of an entry, by its lower half.
    #[inline]
    fn of(rest: u64) -> Target {
        Target(rest as u32 & ((1 << TARGET_BITS) - 1))
    }
}

/// Time over insertion number (39 bits) over target (25 bits): one number, one comparison.
type Entry = u128;

const TARGET_BITS: u32 = 25;
/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) time: Time,
    pub(crate) target: Target,
}

impl Next {
    #[inline]
    fn of(entry: Entry) -> Next {
        Next { time: Time::from_nanos((entry >> 64) as u64), target: Target::of(entry as u64) }
    }
}

/// Later than every event.
const NEVER: Entry = Entry::MAX;

/// Pending events.
///
/// Most timers are set far ahead and never needed, while packets arrive by the million. So timers have a heap of their
/// own, and the few events that follow each other all the time, those of busy wires, need no heap: they are in a short
/// sorted row, where most of them belong to the end. Nor do those of sources at the same rate, however many they are: they
/// stand in line.
#[derive(Debug)]
pub(crate) struct EventQueue {
    row: Row,
    timers: Heap,
    others: Heap,
    lines: Lines,
    /// The first of both heaps and of the lines.
    first_of_heaps: Entry,
    /// The insertion number of the last event, in its place in an entry.
    inserted: u64,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        let (row, timers, others) = (Row::default(), Heap::default(), Heap::default());
        EventQueue { row, timers, others, lines: Lines::default(), first_of_heaps: NEVER, inserted: 0 }
    }
}

impl EventQueue {
    /// Puts an event in that is of no wire.
    #[inline(never)]
    pub(crate) fn push(&mut self, time: Time, target: Target) {
        let entry = self.entry(time, target);
        let is_timer = matches!(target.kind(), EventKind::SenderTimer | EventKind::ReceiverTimer);
        let heap = if is_timer { &mut self.timers } else { &mut self.others };
        heap.push(entry);
        self.first_of_heaps = self.first_of_heaps.min(entry);
    }

    /// Puts in one of a wire, an arrival or the end of a transmission.
    #[inline]
    pub(crate) fn push_of_wire(&mut self, now: Time, time: Time, target: Target) {
        let entry = self.entry(time, target);
        if self.row.has_room() {
            return self.row.insert(entry);
        }
        self.push_behind_row(time.since(now), entry);
    }

    #[inline(never)]
    fn push_behind_row(&mut self, gap: Span, entry: Entry) {
        match self.lines.with_gap(gap) {
            Some(line) => self.lines.push(line, entry),
            None => self.others.push(entry),
        }
        self.first_of_heaps = self.first_of_heaps.min(entry);
    }

    /// Takes the next event if it is in the row, of a wire that is, and due by `until`. Until another is taken, its place is
    /// kept for [`repeat`](Self::repeat).
    #[inline]
    pub(crate) fn take_of_wire(&mut self, until: Time) -> Option<Next> {
        // Times alone decide but for events at one instant.
        let time = self.row.first_time();
        let others = (self.first_of_heaps >> 64) as u64;
        if time > until.as_nanos() || (time >= others && self.heaps_are_first()) {
            return None;
        }
        Some(self.row.take_first())
    }

    #[cold]
    #[inline(never)]
    fn heaps_are_first(&self) -> bool {
        self.row.first() >= self.first_of_heaps
    }

    /// The wire whose event was taken has another.
    #[inline]
    pub(crate) fn repeat(&mut self, time: Time, target: Target) {
        let entry = self.entry(time, target);
        self.row.insert(entry);
    }

    /// When the next event is due.
    pub(crate) fn first(&self) -> Option<Time> {
        let first = self.row.first().min(self.first_of_heaps);
        (first != NEVER).then(|| Next::of(first).time)
    }

    /// The next event, if it is in a heap or in line and due by `until`. It stays in place until it is done: events added
    /// meanwhile are not earlier.
    #[inline]
    pub(crate) fn peek_heaps(&self, until: Time) -> Option<Next> {
        let first = self.first_of_heaps;
        (first < self.row.first()).then(|| Next::of(first)).filter(|next| next.time <= until)
    }

    /// The next event, which was in a heap or in line, is done; or its target has another at once, which costs less than to
    /// remove the one and to add the other.
    pub(crate) fn finish(&mut self, target: Target, again: Option<Time>) {
        let due = self.first_of_heaps;
        let again = again.map(|time| self.entry(time, target));
        let line = match again {
            // What goes on and on goes to the row as soon as it can.
            Some(entry) if target.is(EventKind::Arrival) && self.row.has_room() => {
                self.remove_first();
                self.update_first();
                return self.row.insert(entry);
            }
            Some(entry) if target.is_regular() => {
                self.lines.with_gap(Next::of(entry).time.since(Next::of(due).time))
            }
            _ => None,
        };
        match (again, line) {
            (Some(entry), Some(line)) => {
                self.remove_first();
                self.lines.push(line, entry);
            }
            (Some(entry), None) if self.lines.first() == due => {
                self.lines.pop();
                self.others.push(entry);
            }
            (Some(entry), None) => self.heap_of_first().replace(entry),
            (None, _) => self.remove_first(),
        }
        self.update_first();
    }

    /// Removes all timers of TCP.
    #[cfg(test)]
    pub(crate) fn forget_timers(&mut self) {
        self.timers = Heap::default();
        self.update_first();
    }

    fn remove_first(&mut self) {
        if self.lines.first() == self.first_of_heaps {
            self.lines.pop();
        } else {
            self.heap_of_first().pop();
        }
    }

    fn heap_of_first(&mut self) -> &mut Heap {
        if self.timers.first() == self.first_of_heaps { &mut self.timers } else { &mut self.others }
    }

    #[inline]
    fn update_first(&mut self) {
        self.first_of_heaps = self.timers.first().min(self.others.first()).min(self.lines.first());
    }

    #[inline]
    fn entry(&mut self, time: Time, target: Target) -> Entry {
        self.inserted += 1 << TARGET_BITS;
        u128::from(time.as_nanos()) << 64 | u128::from(self.inserted | u64::from(target.0))
    }
}

/// A few entries in order, in a ring: their times, and the rest of them. A new one looks for its place from the end.
#[derive(Debug)]
struct Row {
    /// Where the first is, and where there is room behind the last; of these indices only the last bits count.
    begin: usize,
    end: usize,
    /// In front of the first is one that has left, which is not later than any to come; behind the last is a time that never
    /// comes.
    times: [u64; RING],
    rests: [u64; RING],
}

const RING: usize = 8;
/// Most entries of the row.
const PLACES: usize = RING - 2;

impl Default for Row {
    fn default() -> Row {
        let mut times = [u64::MAX; RING];
        times[0] = 0;
        Row { begin: 1, end: 1, times, rests: [u64::MAX; RING] }
    }
}

impl Row {
    /// Whether there is room beside that of an event that was taken.
    #[inline]
    fn has_room(&self) -> bool {
        self.end.wrapping_sub(self.begin) < PLACES - 1
    }

    /// The first entry; [`NEVER`] if there is none.
    #[inline]
    fn first(&self) -> Entry {
        let first = self.begin % RING;
        let rest = if self.begin == self.end { u64::MAX } else { self.rests[first] };
        u128::from(self.times[first]) << 64 | u128::from(rest)
    }

    /// Its time.
    #[inline]
    fn first_time(&self) -> u64 {
        self.times[self.begin % RING]
    }

    /// Takes the first entry, which is there.
    #[inline]
    fn take_first(&mut self) -> Next {
        let first = self.begin % RING;
        self.begin = self.begin.wrapping_add(1);
        Next { time: Time::from_nanos(self.times[first]), target: Target::of(self.rests[first]) }
    }

    /// Adds an entry that was made after all others: of those at its time it is the last.
    #[inline]
    fn insert(&mut self, entry: Entry) {
        debug_assert!(self.end.wrapping_sub(self.begin) < PLACES);
        let (time, mut place) = ((entry >> 64) as u64, self.end);
        self.end = place.wrapping_add(1);
        self.times[self.end % RING] = u64::MAX;
        loop {
            let before = place.wrapping_sub(1);
            if self.times[before % RING] <= time {
                break;
            }
            self.times[place % RING] = self.times[before % RING];
            self.rests[place % RING] = self.rests[before % RING];
            place = before;
        }
        (self.times[place % RING], self.rests[place % RING]) = (time, entry as u64);
    }
}

/// Events that come after a time that many have in common, in lines: in each, one that is added later is due later.
#[derive(Debug)]
struct Lines {
    lines: [VecDeque<Entry>; LINES],
    /// The gap of each line, from now to when the event is due.
    gaps: [Span; LINES],
    firsts: [Entry; LINES],
    /// A tournament of the lines: below a place, at twice its number and behind, are those of which it has the one whose
    /// first is due first. Place 0 is unused.
    winners: [u8; LINES],
    /// Gaps that were asked for, at places that follow from them, and their lines.
    asked: [(Span, usize); ASKED],
}

const LINES: usize = 8;
const ASKED: usize = 32;

impl Default for Lines {
    fn default() -> Lines {
        Lines {
            lines: Default::default(),
            gaps: [Span::MAX; LINES],
            firsts: [NEVER; LINES],
            // The first of those below each place.
            winners: [0, 0, 0, 4, 0, 2, 4, 6],
            asked: [(Span::MAX, 0); ASKED],
        }
    }
}

impl Lines {
    #[inline]
    fn first(&self) -> Entry {
        self.firsts[self.front()]
    }

    /// The line with the first of all.
    #[inline]
    fn front(&self) -> usize {
        usize::from(self.winners[1]) % LINES
    }

    /// The line of a gap. One that is asked for again gets a line, if any is free.
    #[inline]
    fn with_gap(&mut self, gap: Span) -> Option<usize> {
        // Fibonacci hashing.
        let place = gap.as_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - ASKED.ilog2());
        let (known, line) = &mut self.asked[place as usize];
        if *known != gap {
            (*known, *line) = (gap, 0);
        } else if self.gaps[*line] == gap {
            return Some(*line);
        } else if let Some(free) = self.firsts.iter().position(|first| *first == NEVER) {
            (*line, self.gaps[free]) = (free, gap);
            return Some(free);
        }
        None
    }

    fn push(&mut self, line: usize, entry: Entry) {
        self.lines[line].push_back(entry);
        if self.firsts[line] == NEVER {
            self.set_first(line, entry);
        }
    }

    fn pop(&mut self) {
        let front = self.front();
        self.lines[front].pop_front();
        self.set_first(front, self.lines[front].front().copied().unwrap_or(NEVER));
    }

    #[inline]
    fn set_first(&mut self, line: usize, entry: Entry) {
        self.firsts[line] = entry;
        let (mut place, mut winner, mut other) = ((LINES + line) / 2, line, line ^ 1);
        for _ in 0..LINES.ilog2() {
            winner = select_unpredictable(self.firsts[other] < self.firsts[winner], other, winner);
            self.winners[place] = winner as u8;
            other = usize::from(self.winners[place ^ 1]) % LINES;
            place /= 2;
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
    /// The first entry.
    #[inline]
    fn first(&self) -> Entry {
        self.entries[0]
    }

    /// Adds an entry.
    #[inline]
    fn push(&mut self, entry: Entry) {
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
    }

    /// Removes the first entry.
    #[inline]
    fn pop(&mut self) {
        self.len -= 1;
        let last = std::mem::replace(&mut self.entries[self.len], NEVER);
        if self.len > 0 {
            self.replace(last);
        }
    }

    /// Replaces the first entry with `entry` and sifts it down.
    #[inline]
    fn replace(&mut self, entry: Entry) {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, usize)> {
        let mut out = Vec::new();
        while let Some(next) = take(queue, Time::MAX, |_| None) {
            out.push((next.time.as_nanos(), next.target.index()));
        }
        out
    }

    /// Handles the next event as the loop of a run does; `handle` says when its target has another.
    fn take(
        queue: &mut EventQueue,
        until: Time,
        handle: impl FnOnce(&mut EventQueue) -> Option<Time>,
    ) -> Option<Next> {
        if let Some(next) = queue.take_of_wire(until) {
            if let Some(time) = handle(queue) {
                queue.repeat(time, next.target);
            }
            return Some(next);
        }
        let next = queue.peek_heaps(until)?;
        let again = handle(queue);
        queue.finish(next.target, again);
        Some(next)
    }

    /// Puts an event in, the way its kind goes.
    fn push_event(queue: &mut EventQueue, now: Time, time: Time, target: Target) {
        if matches!(target.kind(), EventKind::Arrival | EventKind::PortReady) {
            queue.push_of_wire(now, time, target);
        } else {
            queue.push(time, target);
        }
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
    fn an_event_that_comes_again_equals_one_that_is_done_and_another() {
        let (mut left, mut right) = (EventQueue::default(), EventQueue::default());
        for index in 0..50 {
            for queue in [&mut left, &mut right] {
                let time = Time::from_nanos(u64::from(index) * 13 % 31);
                queue.push_of_wire(Time::ZERO, time, Target::new(EventKind::PortReady, index));
            }
        }
        for step in 0..200 {
            let same = take(&mut right, Time::MAX, |_| None).unwrap();
            let later = same.time + Span::from_nanos(step % 11);
            right.push_of_wire(same.time, later, same.target);
            assert_eq!(take(&mut left, Time::MAX, |_| Some(later)), Some(same));
        }
        assert_eq!(drain(&mut left), drain(&mut right));
    }

    #[derive(Clone, Debug)]
    enum Op {
        Push(u64, usize),
        /// Take the next event, push others while it is handled, and finish it.
        Handle(Vec<(u64, usize)>, Option<u64>),
    }

    /// Few different times, so that many events fall together; both heaps; sometimes the last instant that there is.
    fn op() -> impl Strategy<Value = Op> {
        let later = prop_oneof![8 => 0..8u64, 1 => any::<u64>()];
        let pushes = vec((later.clone(), 0..KINDS.len()), 0..3);
        prop_oneof![
            2 => (later.clone(), 0..KINDS.len()).prop_map(|(later, kind)| Op::Push(later, kind)),
            4 => (pushes, option::of(later)).prop_map(|(pushes, again)| Op::Handle(pushes, again)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_sequence_of_calls_gives_the_events_of_a_sorted_list(ops in vec(op(), 1..600)) {
            let (mut queue, mut list) = (EventQueue::default(), BTreeMap::new());
            let (mut now, mut number) = (0u64, 0u32);
            for op in ops {
                let mut push = |queue: &mut EventQueue, list: &mut BTreeMap<_, _>, now: u64, later: u64, kind: usize| {
                    let (time, target) = (now.saturating_add(later), Target::new(KINDS[kind], number));
                    push_event(queue, Time::from_nanos(now), Time::from_nanos(time), target);
                    list.insert((time, number), target);
                    number += 1;
                };
                match op {
                    Op::Push(later, kind) => push(&mut queue, &mut list, now, later, kind),
                    Op::Handle(pushes, again) => {
                        let first = list.pop_first().map(|((time, _), target)| (time, target));
                        if let Some((time, _)) = first.filter(|(time, _)| *time > 0) {
                            prop_assert_eq!(take(&mut queue, Time::from_nanos(time - 1), |_| None), None);
                        }
                        let Some((time, target)) = first else { continue };
                        now = time;
                        let again = again.map(|later| now.saturating_add(later));
                        let next = take(&mut queue, Time::MAX, |queue| {
                            pushes.iter().for_each(|&(later, kind)| push(queue, &mut list, now, later, kind));
                            again.map(Time::from_nanos)
                        });
                        prop_assert_eq!(next, Some(Next { time: Time::from_nanos(time), target }));
                        if let Some(time) = again {
                            list.insert((time, number), target);
                            number += 1;
                        }
                    }
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
