//! Records: what only few packets carry. A packet holds the number of its record, and stays one cache line.

use super::payloads::{Payload, PayloadId, Payloads};
use crate::switch::pause::PauseFrame;
use crate::switch::pipeline::{Hops, Telemetry};
use aqm_core::units::Time;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// Number of a record, from one: so the number of a packet without one takes no more space.
pub(crate) type RecordId = NonZeroU32;

/// What a packet carries beside its headers. Another kind is another variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A discipline's message to an endpoint.
    Feedback(Feedback),
    /// The content of a PAUSE frame.
    Pause(PauseFrame),
    /// What the switches behind it say about their queues.
    Telemetry(Hops),
    /// The bytes of a datagram of a real transport.
    Payload(PayloadId),
}

/// A discipline's message to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// Traffic class that it travels in.
    pub(crate) class: u16,
    /// The content; the discipline documents the meaning.
    pub(crate) values: [u64; 3],
    /// Arrival after propagation alone: it can arrive no earlier.
    pub(crate) earliest: Time,
}

/// The records of all packets. Free slots are used again.
#[derive(Debug, Default)]
pub(crate) struct Records {
    records: Vec<Record>,
    free: Vec<RecordId>,
    pub(crate) payloads: Payloads,
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

    /// A second record like this one.
    pub(crate) fn copy(&mut self, id: RecordId) -> RecordId {
        let record = match self[id] {
            Record::Payload(payload) => Record::Payload(self.payloads.copy(payload)),
            other => other,
        };
        self.insert(record)
    }

    #[cold]
    pub(crate) fn remove(&mut self, id: RecordId) {
        if let Record::Payload(payload) = self[id] {
            self.payloads.discard(payload);
        }
        self.free.push(id);
    }

    /// Takes the payload out of a record, which is gone then; of another it takes nothing.
    #[cold]
    pub(crate) fn take_payload(&mut self, id: RecordId) -> Option<Payload> {
        let Record::Payload(payload) = self[id] else { return None };
        self.free.push(id);
        Some(self.payloads.take(payload))
    }

    /// Adds an entry to what a packet with `record` says about its hops; answers by how many bytes the packet grows. A
    /// packet that carries something else says nothing.
    pub(crate) fn add_telemetry(&mut self, record: &mut Option<RecordId>, entry: Telemetry) -> u32 {
        let id = *record.get_or_insert_with(|| self.insert(Record::Telemetry(Hops::default())));
        match &mut self[id] {
            Record::Telemetry(hops) => hops.push(entry),
            Record::Feedback(_) | Record::Pause(_) | Record::Payload(_) => 0,
        }
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

impl IndexMut<RecordId> for Records {
    fn index_mut(&mut self, id: RecordId) -> &mut Record {
        &mut self.records[place(id)]
    }
}
