//! A heap of four: four children lie side by side, and it is half as deep as one of two.

use super::target::{Entry, NEVER};

/// A 4-ary heap, smallest first. It is padded with entries that never come, so that every group of children is
/// complete.
#[derive(Debug)]
pub(super) struct Heap {
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
    pub(super) fn first(&self) -> Entry {
        self.entries[0]
    }

    /// Adds an entry.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
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
    pub(super) fn pop(&mut self) {
        self.len -= 1;
        let last = std::mem::replace(&mut self.entries[self.len], NEVER);
        if self.len > 0 {
            self.replace(last);
        }
    }

    /// Replaces the first entry with `entry` and sifts it down.
    #[inline]
    pub(super) fn replace(&mut self, entry: Entry) {
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
