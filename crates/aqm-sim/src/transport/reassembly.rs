//! The reassembly queue of a receiver: ranges of bytes beyond a gap, disjoint, in order and by their last change.

use std::collections::VecDeque;

/// The ranges. A burst of losses leaves thousands of them, so that none is looked for one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// In their order.
    ranges: VecDeque<Range>,
    /// The same ranges, the most recently changed last.
    changed: VecDeque<Range>,
    changes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
    /// The number of its last change.
    change: u64,
}

impl Reassembly {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges in their order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.ranges.iter().map(|range| (range.start, range.end))
    }

    /// The ranges, the most recently changed first.
    #[inline]
    pub(crate) fn recent(&self) -> impl Iterator<Item = (u64, u64)> {
        self.changed.iter().rev().map(|range| (range.start, range.end))
    }

    /// Adds `start..end`, as one range with those that it touches.
    pub(crate) fn store(&mut self, start: u64, end: u64) {
        // Most follow what came last.
        if let (Some(last), Some(changed)) = (self.ranges.back_mut(), self.changed.back_mut())
            && last.end == start
            && last.change == changed.change
        {
            (last.end, changed.end) = (end, end);
            return;
        }
        self.changes += 1;
        let mut new = Range { start, end, change: self.changes };
        // Most come behind all others.
        let is_last = self.ranges.back().is_none_or(|last| last.end < start);
        let place =
            if is_last { self.ranges.len() } else { self.ranges.partition_point(|range| range.end < start) };
        while let Some(&touched) = self.ranges.get(place)
            && touched.start <= end
        {
            self.ranges.remove(place);
            self.forget_change(touched.change);
            (new.start, new.end) = (new.start.min(touched.start), new.end.max(touched.end));
        }
        self.ranges.insert(place, new);
        self.changed.push_back(new);
    }

    /// Removes the ranges that what has arrived in order, up to `next`, has reached; returns up to where it now has.
    pub(crate) fn absorb(&mut self, mut next: u64) -> u64 {
        while let Some(first) = self.ranges.pop_front_if(|first| first.start <= next) {
            self.forget_change(first.change);
            next = next.max(first.end);
        }
        next
    }

    fn forget_change(&mut self, change: u64) {
        if let Ok(place) = self.changed.binary_search_by_key(&change, |range| range.change) {
            self.changed.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same as a plain list, the most recently changed first.
    fn store(list: &mut Vec<(u64, u64)>, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        while let Some(place) = list.iter().position(|&(low, high)| low <= end && high >= start) {
            let (low, high) = list.remove(place);
            (start, end) = (start.min(low), end.max(high));
        }
        list.insert(0, (start, end));
    }

    proptest! {
        #[test]
        fn it_holds_what_a_list_does(steps in proptest::collection::vec((1..60_u64, 1..6_u64, 0..8_u8), 1..200)) {
            let (mut beyond, mut list, mut next) = (Reassembly::default(), Vec::new(), 0);
            for (gap, length, rest) in steps {
                if rest > 0 {
                    let start = next + gap;
                    beyond.store(start, start + length);
                    store(&mut list, start, start + length);
                } else {
                    next = beyond.absorb(next + length);
                    list.retain(|&(start, end)| start > next || end > next);
                    prop_assert!(list.iter().all(|&(start, _)| start > next), "{} {:?}", next, list);
                }
                prop_assert!(beyond.recent().eq(list.iter().copied()));
                prop_assert_eq!(beyond.is_empty(), list.is_empty());
                let mut ordered = list.clone();
                ordered.sort_unstable();
                prop_assert!(beyond.iter().eq(ordered));
            }
        }
    }
}
