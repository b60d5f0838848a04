//! The bytes of datagrams under way, beside their packets: queues move numbers, and nothing is copied.

/// Number of a payload.
pub(crate) type PayloadId = u32;

/// The payload of a packet, and the flow that it belongs to.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub(crate) flow: u32,
    pub(crate) bytes: Vec<u8>,
}

/// All payloads under way. Free slots and buffers are used again.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    slots: Vec<Payload>,
    free: Vec<PayloadId>,
    spare: Vec<Vec<u8>>,
    /// Payloads sent, taken by their receivers, and gone with their packets; the whole run's.
    pub(crate) sent: u64,
    pub(crate) taken: u64,
    pub(crate) dropped: u64,
}

impl Payloads {
    /// An empty buffer.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub(crate) fn give_back(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        self.spare.push(bytes);
    }

    pub(crate) fn insert(&mut self, payload: Payload) -> PayloadId {
        self.sent += 1;
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = payload;
                id
            }
            None => {
                self.slots.push(payload);
                (self.slots.len() - 1) as PayloadId
            }
        }
    }

    /// The receiver takes a payload.
    pub(crate) fn take(&mut self, id: PayloadId) -> Payload {
        self.taken += 1;
        self.free.push(id);
        std::mem::take(&mut self.slots[id as usize])
    }

    /// The packet of a payload is gone.
    pub(crate) fn discard(&mut self, id: PayloadId) {
        self.dropped += 1;
        self.free.push(id);
        let Payload { bytes, .. } = std::mem::take(&mut self.slots[id as usize]);
        self.give_back(bytes);
    }

    /// How many are under way.
    pub(crate) fn alive(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
