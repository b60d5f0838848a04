//! The event queue: a short row, lines and 4-ary heaps over (time, insertion number).
//!
//! Events at the same time leave in the order of insertion, so runs repeat.

mod heap;
mod lines;
mod row;
mod target;

use aqm_core::units::{Span, Time};
use heap::Heap;
use lines::Lines;
use row::Row;
use target::{Entry, NEVER, TARGET_BITS};
pub(crate) use target::{EventKind, Next, Target};

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
        target.entry(time, self.inserted)
    }
}

#[cfg(test)]
mod tests {
    use super::target::KINDS;
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
