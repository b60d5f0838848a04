//! A hash map from flows to records, of fixed size: no allocation after the first, a record stays in its place.

use crate::random::Random;
use crate::sketch::mix;
use alloc::boxed::Box;
use alloc::vec;
use core::cell::Cell;

/// The place of a record.
pub(super) type Slot = u32;

/// No record.
pub(super) const NONE: Slot = Slot::MAX;

#[derive(Clone, Copy)]
struct Record<T> {
    flow: u64,
    /// The next record of the same bucket, or the next free one.
    next: Slot,
    value: T,
}

/// Records by flow, some reserved ones without a flow before them. At most every second bucket is in use.
pub(super) struct Table<T> {
    records: Box<[Record<T>]>,
    buckets: Box<[Slot]>,
    free: Slot,
    /// Nobody outside can tell which flows share a bucket.
    salt: u64,
    /// Records read to find, enter and forget flows.
    read: Cell<u64>,
}

impl<T: Copy + Default> Table<T> {
    /// Room for `capacity` flows, behind `reserved` records that belong to none.
    pub(super) fn new(reserved: u32, capacity: u32) -> Table<T> {
        let count = reserved + capacity;
        let next = |slot: Slot| if slot + 1 < count { slot + 1 } else { NONE };
        let records = (0..count).map(|slot| Record { flow: 0, next: next(slot), value: T::default() });
        let buckets = vec![NONE; (2 * capacity as usize).next_power_of_two()];
        Table {
            records: records.collect(),
            buckets: buckets.into(),
            free: reserved,
            salt: 0,
            read: Cell::new(0),
        }
    }

    /// Hashes with the salt of `random` from now on. The table must be empty.
    #[cold]
    pub(super) fn seed(&mut self, random: &Random) {
        self.salt = random.salt();
    }

    #[inline]
    pub(super) fn bucket(&self, flow: u64) -> usize {
        mix(flow ^ self.salt) as usize & (self.buckets.len() - 1)
    }

    /// The record of `flow`.
    #[inline]
    pub(super) fn find(&self, flow: u64) -> Option<Slot> {
        let mut slot = self.buckets[self.bucket(flow)];
        while slot != NONE {
            self.count_read();
            let record = &self.records[slot as usize];
            if record.flow == flow {
                return Some(slot);
            }
            slot = record.next;
        }
        None
    }

    /// A record for `flow`, which has none. There must be room.
    #[inline]
    pub(super) fn insert(&mut self, flow: u64, value: T) -> Slot {
        self.count_read();
        let (slot, bucket) = (self.free, self.bucket(flow));
        let record = &mut self.records[slot as usize];
        self.free = record.next;
        *record = Record { flow, next: self.buckets[bucket], value };
        self.buckets[bucket] = slot;
        slot
    }

    /// Forgets the flow of `slot`.
    #[inline]
    pub(super) fn remove(&mut self, slot: Slot) {
        let Record { flow, next, .. } = self.records[slot as usize];
        let bucket = self.bucket(flow);
        if self.buckets[bucket] == slot {
            self.buckets[bucket] = next;
        } else {
            let mut before = self.buckets[bucket];
            self.count_read();
            while self.records[before as usize].next != slot {
                self.count_read();
                before = self.records[before as usize].next;
            }
            self.records[before as usize].next = next;
        }
        self.count_read();
        self.records[slot as usize].next = self.free;
        self.free = slot;
    }

    /// Records read since the start to find, enter and forget flows.
    #[inline]
    pub(super) fn records_read(&self) -> u64 {
        self.read.get()
    }

    #[inline]
    fn count_read(&self) {
        self.read.set(self.read.get() + 1);
    }

    #[inline]
    pub(super) fn get(&self, slot: Slot) -> &T {
        &self.records[slot as usize].value
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.records[slot as usize].value
    }

    /// The flow of a record.
    pub(super) fn flow(&self, slot: Slot) -> u64 {
        self.records[slot as usize].flow
    }

    /// Bytes of records and buckets.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.records) + size_of_val(&*self.buckets)
    }
}
