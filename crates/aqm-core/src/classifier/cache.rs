//! A list of flows from the most recent down, found by hash: what all LRU classifiers are made of.
//!
//! The list runs between empty nodes, as in figure 7 of the SQM-LRU paper: TOP at its head, BOTTOM at its end and, for
//! those that need one, MARK between an upper and a lower part.

use super::table::{Slot, Table};
use crate::random::Random;

/// The empty nodes.
pub(super) const TOP: Slot = 0;
pub(super) const MARK: Slot = 1;
pub(super) const BOTTOM: Slot = 2;
const MARKS: u32 = 3;

/// What is kept of a flow.
#[derive(Clone, Copy, Default)]
struct Node {
    up: Slot,
    down: Slot,
    /// Packets counted.
    count: u32,
    /// Whether it stands above MARK.
    upper: bool,
}

/// Flows in order, in two parts.
pub(super) struct Cache {
    table: Table<Node>,
    upper: u32,
    lower: u32,
}

impl Cache {
    /// Room for `capacity` flows.
    pub(super) fn new(capacity: u32) -> Cache {
        let mut table: Table<Node> = Table::new(MARKS, capacity);
        for (up, down) in [(TOP, MARK), (MARK, BOTTOM)] {
            table.get_mut(up).down = down;
            table.get_mut(down).up = up;
        }
        Cache { table, upper: 0, lower: 0 }
    }

    #[inline]
    pub(super) fn find(&self, flow: u64) -> Option<Slot> {
        self.table.find(flow)
    }

    /// Counts a packet of a flow; how many there were.
    #[inline]
    pub(super) fn count(&mut self, slot: Slot) -> u32 {
        let node = self.table.get_mut(slot);
        node.count = node.count.saturating_add(1);
        node.count
    }

    /// Whether a flow stands above MARK.
    #[inline]
    pub(super) fn is_upper(&self, slot: Slot) -> bool {
        self.table.get(slot).upper
    }

    /// Flows above MARK.
    #[inline]
    pub(super) fn upper(&self) -> u32 {
        self.upper
    }

    /// Flows below MARK.
    #[inline]
    pub(super) fn lower(&self) -> u32 {
        self.lower
    }

    /// Enters a flow, which was not there and has one packet, right below `mark`. There must be room.
    #[inline]
    pub(super) fn insert_below(&mut self, mark: Slot, flow: u64, random: &Random) {
        if self.upper + self.lower == 0 {
            self.table.seed(random);
        }
        let slot = self.table.insert(flow, Node { count: 1, ..Node::default() });
        self.link_below(mark, slot);
    }

    /// Moves a flow right below `mark`.
    #[inline]
    pub(super) fn move_below(&mut self, mark: Slot, slot: Slot) {
        self.unlink(slot);
        self.link_below(mark, slot);
    }

    /// Forgets the flow right above `mark`; the part above it must not be empty.
    #[inline]
    pub(super) fn drop_above(&mut self, mark: Slot) {
        let last = self.table.get(mark).up;
        self.unlink(last);
        self.table.remove(last);
    }

    /// Moves MARK up by one flow, which so comes to the lower part.
    #[inline]
    pub(super) fn raise_mark(&mut self) {
        let last = self.table.get(MARK).up;
        self.move_below(MARK, last);
    }

    #[inline]
    fn link_below(&mut self, mark: Slot, slot: Slot) {
        let below = self.table.get(mark).down;
        let upper = mark == TOP;
        let node = self.table.get_mut(slot);
        (node.up, node.down, node.upper) = (mark, below, upper);
        self.table.get_mut(mark).down = slot;
        self.table.get_mut(below).up = slot;
        *self.part(upper) += 1;
    }

    #[inline]
    fn unlink(&mut self, slot: Slot) {
        let Node { up, down, upper, .. } = *self.table.get(slot);
        self.table.get_mut(up).down = down;
        self.table.get_mut(down).up = up;
        *self.part(upper) -= 1;
    }

    #[inline]
    fn part(&mut self, upper: bool) -> &mut u32 {
        if upper { &mut self.upper } else { &mut self.lower }
    }

    /// Flows from the top down with their counts and whether they stand above MARK.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u32, bool)> + '_ {
        let below = |slot: &Slot| (*slot != BOTTOM).then(|| self.table.get(*slot).down);
        let slots = core::iter::successors(Some(self.table.get(TOP).down), below);
        slots.filter(|slot| *slot >= MARKS).map(|slot| {
            let node = self.table.get(slot);
            (self.table.flow(slot), node.count, node.upper)
        })
    }

    /// Records read since the start to find, enter and forget flows.
    #[inline]
    pub(super) fn records_read(&self) -> u64 {
        self.table.records_read()
    }

    /// Bytes of its tables.
    pub(super) fn bytes(&self) -> usize {
        self.table.bytes()
    }
}
