//! FIFO lines of events with the same gap from now to when they are due: they need no heap.

use super::target::{Entry, NEVER};
use aqm_core::units::Span;
use std::collections::VecDeque;
use std::hint::select_unpredictable;

/// Events that come after a time that many have in common, in lines: in each, one that is added later is due later.
#[derive(Debug)]
pub(super) struct Lines {
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
    pub(super) fn first(&self) -> Entry {
        self.firsts[self.front()]
    }

    /// The line with the first of all.
    #[inline]
    fn front(&self) -> usize {
        usize::from(self.winners[1]) % LINES
    }

    /// The line of a gap. One that is asked for again gets a line, if any is free.
    #[inline]
    pub(super) fn with_gap(&mut self, gap: Span) -> Option<usize> {
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

    pub(super) fn push(&mut self, line: usize, entry: Entry) {
        self.lines[line].push_back(entry);
        if self.firsts[line] == NEVER {
            self.set_first(line, entry);
        }
    }

    pub(super) fn pop(&mut self) {
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
