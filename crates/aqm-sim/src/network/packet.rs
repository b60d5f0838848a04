//! Packets of the simulator, kept in a slab: links and queues hold their numbers.

use super::payloads::Payload;
use super::records::{RecordId, Records};
use crate::switch::pipeline::Telemetry;
use crate::transport::{MAX_SACK_BLOCKS, flags};
use aqm_core::packet::Ecn;
use aqm_core::units::Time;

/// Number of a packet in the slab.
pub(crate) type PacketId = u32;

/// What a packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// TCP data.
    #[default]
    Data,
    /// What comes back: a TCP acknowledgment, or a datagram of a real transport's server.
    Ack,
    /// A datagram of an open-loop source, of a rate-based sender, or of a real transport's client.
    Datagram,
    /// A discipline's message to an endpoint; it has a [`Record`](super::records::Record).
    Feedback,
    /// A PAUSE frame; it has a record.
    Pause,
}

/// One packet: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Packet {
    /// Sequence number of the first payload byte; of an acknowledgment, the acknowledgment number.
    pub(crate) number: u64,
    /// When data was sent; of an acknowledgment, the timestamp that it echoes (RFC 7323).
    pub(crate) stamp: Time,
    /// SACK blocks as offsets from `number`: start and end.
    pub(crate) sack: [(u32, u32); MAX_SACK_BLOCKS],
    /// Flow that it belongs to.
    pub(crate) flow: u32,
    /// Index of the next link in the table of routes.
    pub(crate) next: u32,
    /// Bytes on the link.
    pub(crate) length: u32,
    /// Payload bytes; of an acknowledgment, the receiver's report.
    pub(crate) payload: u32,
    /// How many SACK blocks.
    pub(crate) sack_count: u8,
    /// TCP flags as on the wire.
    pub(crate) flags: u8,
    /// Its role.
    pub(crate) role: Role,
    /// ECN field.
    pub(crate) ecn: Ecn,
    /// Its record, if it has one.
    pub(crate) record: Option<RecordId>,
}

impl Packet {
    /// Whether its receiver counts it as delivered: datagrams and TCP data, but not SYNs or acknowledgments.
    pub(crate) fn is_counted(&self) -> bool {
        match self.role {
            Role::Data => self.flags & flags::SYN == 0,
            Role::Ack | Role::Feedback | Role::Pause => false,
            Role::Datagram => true,
        }
    }
}

/// Most packets that exist at once: with their queues they take about 3 GB. That is 200 ms at 1 Tbit/s. WebAssembly has
/// less memory.
const MOST_PACKETS: usize = if cfg!(target_pointer_width = "32") { 1 << 22 } else { 1 << 24 };

const NO_SLOT: PacketId = PacketId::MAX;

/// All packets in memory. In steady state nothing is allocated: free slots are used again.
#[derive(Debug)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    /// How many there may be at once.
    pub(crate) most: usize,
    /// The slot that was freed last, or [`NO_SLOT`]: most packets that end are followed by another at once.
    freed_last: PacketId,
    /// Those that were freed before.
    free: Vec<PacketId>,
    pub(crate) records: Records,
}

impl Default for Slab {
    fn default() -> Slab {
        Slab {
            packets: Vec::new(),
            most: MOST_PACKETS,
            freed_last: NO_SLOT,
            free: Vec::new(),
            records: Records::default(),
        }
    }
}

impl Slab {
    #[inline(always)]
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        let id = self.claim();
        self.packets[id as usize] = packet;
        id
    }

    /// A slot that is free.
    #[inline(always)]
    fn claim(&mut self) -> PacketId {
        match std::mem::replace(&mut self.freed_last, NO_SLOT) {
            NO_SLOT => self.claim_any(),
            id => id,
        }
    }

    /// The same if none was freed since the last packet.
    #[inline(never)]
    fn claim_any(&mut self) -> PacketId {
        self.free.pop().unwrap_or_else(|| {
            self.packets.push(Packet::default());
            (self.packets.len() - 1) as PacketId
        })
    }

    /// A second packet like this one, with a record of its own where it has one.
    #[cold]
    pub(crate) fn copy(&mut self, id: PacketId) -> PacketId {
        let mut packet = self[id];
        packet.record = packet.record.map(|record| self.records.copy(record));
        self.insert(packet)
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) {
        if let Some(record) = self.packets[id as usize].record.take() {
            self.records.remove(record);
        }
        self.remove_plain(id);
    }

    /// Removes a packet that has no record.
    #[inline]
    pub(crate) fn remove_plain(&mut self, id: PacketId) {
        let before = std::mem::replace(&mut self.freed_last, id);
        if before != NO_SLOT {
            self.free.push(before);
        }
    }

    /// Takes the payload of a packet, if it has one.
    #[cold]
    pub(crate) fn take_payload(&mut self, id: PacketId) -> Option<Payload> {
        let record = &mut self.packets[id as usize].record;
        let payload = self.records.take_payload((*record)?)?;
        *record = None;
        Some(payload)
    }

    /// A packet says one thing more about a hop; answers by how many bytes it has grown.
    pub(crate) fn add_telemetry(&mut self, id: PacketId, entry: Telemetry) -> u32 {
        let packet = &mut self.packets[id as usize];
        let grown = self.records.add_telemetry(&mut packet.record, entry);
        packet.length += grown;
        grown
    }

    /// Whether every record belongs to a packet.
    pub(crate) fn owns_records(&self) -> bool {
        self.packets.iter().filter(|packet| packet.record.is_some()).count() == self.records.alive()
    }

    /// The packets that are alive, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        let mut alive = vec![true; self.packets.len()];
        let freed = self.free.iter().copied().chain(self.last_freed());
        freed.for_each(|id| alive[id as usize] = false);
        self.packets.iter().zip(alive).filter_map(|(packet, alive)| alive.then_some(packet))
    }

    /// Whether there are more packets or payloads than there may be at once. The run ends soon: senders need not go on.
    #[inline]
    pub(crate) fn is_exceeded(&self) -> bool {
        self.packets.len() > self.most || self.records.payloads.is_exceeded()
    }

    /// How many packets were there at once.
    pub(crate) fn slots(&self) -> usize {
        self.packets.len()
    }

    /// How many packets are alive.
    pub(crate) fn alive(&self) -> usize {
        self.packets.len() - self.free.len() - self.last_freed().iter().count()
    }

    fn last_freed(&self) -> Option<PacketId> {
        Some(self.freed_last).filter(|id| *id != NO_SLOT)
    }
}

impl std::ops::Index<PacketId> for Slab {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }
}

impl std::ops::IndexMut<PacketId> for Slab {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::{Feedback, Record};
    use super::*;

    #[test]
    fn a_packet_fits_one_cache_line() {
        assert_eq!(size_of::<Packet>(), 64);
    }

    #[test]
    fn a_record_is_freed_with_its_packet_and_its_slot_is_used_again() {
        let mut slab = Slab::default();
        let feedback =
            |value| Record::Feedback(Feedback { class: 0, values: [value, 0, 0], earliest: Time::ZERO });
        let mut carry = |value| {
            let record = Some(slab.records.insert(feedback(value)));
            slab.insert(Packet { record, ..Packet::default() })
        };
        let [first, second] = [carry(1), carry(2)];
        assert_eq!(slab.records.alive(), 2);
        slab.remove(first);
        let third = slab.records.insert(feedback(3));
        assert_eq!(slab.records[third], feedback(3));
        assert_eq!(slab.records[slab[second].record.unwrap()], feedback(2));
        slab.remove(second);
        assert_eq!(slab.records.alive(), 1);
    }
}
