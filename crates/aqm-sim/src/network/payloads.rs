//! The bytes of datagrams under way, beside their packets: queues move numbers, and nothing is copied.

/// So many bytes may be under way: as much as the packets of a run may take.
pub(crate) const MOST_BYTES: u64 = 2 << 30;

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
    /// Bytes under way.
    bytes: u64,
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
        self.bytes += payload.bytes.len() as u64;
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

    /// A second payload like this one, as if it had been sent too.
    pub(crate) fn copy(&mut self, id: PayloadId) -> PayloadId {
        let mut bytes = self.buffer();
        let Payload { flow, bytes: copied } = &self.slots[id as usize];
        let flow = *flow;
        bytes.extend_from_slice(copied);
        self.insert(Payload { flow, bytes })
    }

    /// The receiver takes a payload.
    pub(crate) fn take(&mut self, id: PayloadId) -> Payload {
        self.taken += 1;
        self.remove(id)
    }

    /// The packet of a payload is gone.
    pub(crate) fn discard(&mut self, id: PayloadId) {
        self.dropped += 1;
        let Payload { bytes, .. } = self.remove(id);
        self.give_back(bytes);
    }

    fn remove(&mut self, id: PayloadId) -> Payload {
        self.free.push(id);
        let payload = std::mem::take(&mut self.slots[id as usize]);
        self.bytes -= payload.bytes.len() as u64;
        payload
    }

    /// Whether there are more bytes than there may be at once.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// How many are under way.
    pub(crate) fn alive(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_under_way_are_bounded() {
        let mut payloads = Payloads::default();
        let mut ids = Vec::new();
        // Not touched: such memory is not taken.
        for _ in 0..=2 {
            ids.push(payloads.insert(Payload { flow: 0, bytes: vec![0; 1 << 30] }));
        }
        assert!(payloads.is_exceeded());
        payloads.discard(ids[0]);
        assert!(!payloads.is_exceeded());
        payloads.take(ids[1]);
        payloads.take(ids[2]);
        assert_eq!((payloads.bytes, payloads.alive()), (0, 0));
    }
}
