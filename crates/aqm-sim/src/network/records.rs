//! What few packets carry: a packet has the number of its record, and stays one cache line.

use crate::switch::pause::PauseFrame;
use aqm_core::units::Time;
use std::num::NonZeroU32;
use std::ops::Index;

/// Number of a record, from one: a packet without one takes no more room.
pub(crate) type RecordId = NonZeroU32;

/// What a packet carries beside its headers. Another kind (telemetry, a congestion notification) is
/// another variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// What a discipline tells an endpoint.
    Feedback(Feedback),
    /// What a PAUSE frame says.
    Pause(PauseFrame),
}

/// What a discipline tells an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// Traffic class that it travels in.
    pub(crate) class: u16,
    /// What it says; the discipline documents the meaning.
    pub(crate) values: [u64; 3],
    /// When propagation alone lets it arrive.
    pub(crate) earliest: Time,
}

/// The records of all packets. Freed places are used again.
#[derive(Debug, Default)]
pub(crate) struct Records {
    records: Vec<Record>,
    free: Vec<RecordId>,
}

impl Records {
    pub(crate) fn insert(&mut self, record: Record) -> RecordId {
        if let Some(id) = self.free.pop() {
            self.records[place(id)] = record;
            return id;
        }
        self.records.push(record);
        RecordId::MIN.saturating_add(self.records.len() as u32 - 1)
    }

    #[cold]
    pub(crate) fn remove(&mut self, id: RecordId) {
        self.free.push(id);
    }

    /// How many records are in use.
    pub(crate) fn alive(&self) -> usize {
        self.records.len() - self.free.len()
    }
}

fn place(id: RecordId) -> usize {
    id.get() as usize - 1
}

impl Index<RecordId> for Records {
    type Output = Record;

    fn index(&self, id: RecordId) -> &Record {
        &self.records[place(id)]
    }
}
