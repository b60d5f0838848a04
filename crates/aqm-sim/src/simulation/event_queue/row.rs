//! The few events of busy wires: a short sorted row.

use super::target::{Entry, Next, Target};
use aqm_core::units::Time;

/// A few entries in order, in a ring: their times, and the rest of them. A new one finds its place from the end.
#[derive(Debug)]
pub(super) struct Row {
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
    pub(super) fn has_room(&self) -> bool {
        self.end.wrapping_sub(self.begin) < PLACES - 1
    }

    /// The first entry; [`NEVER`](super::target::NEVER) if there is none.
    #[inline]
    pub(super) fn first(&self) -> Entry {
        let first = self.begin % RING;
        let rest = if self.begin == self.end { u64::MAX } else { self.rests[first] };
        u128::from(self.times[first]) << 64 | u128::from(rest)
    }

    /// Its time.
    #[inline]
    pub(super) fn first_time(&self) -> u64 {
        self.times[self.begin % RING]
    }

    /// Takes the first entry, which is there.
    #[inline]
    pub(super) fn take_first(&mut self) -> Next {
        let first = self.begin % RING;
        self.begin = self.begin.wrapping_add(1);
        Next { time: Time::from_nanos(self.times[first]), target: Target::of(self.rests[first]) }
    }

    /// Adds an entry that was made after all others: of those at its time it is the last.
    #[inline]
    pub(super) fn insert(&mut self, entry: Entry) {
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
