//! Packets of the simulator, kept in a slab: links and queues pass numbers around.

use aqm_core::packet::Ecn;
use aqm_core::units::Time;

/// Number of a packet in the slab.
pub(crate) type PacketId = u32;

/// Most SACK blocks beside a timestamp option (RFC 2018 section 3).
pub(crate) const MAX_SACK_BLOCKS: usize = 3;

/// What a packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// TCP data.
    #[default]
    Data,
    /// TCP acknowledgment.
    Ack,
    /// A datagram of an open-loop source.
    Datagram,
}

/// One packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet {
    /// Flow that it belongs to.
    pub(crate) flow: u32,
    /// Index of the next link in the table of routes.
    pub(crate) next: u32,
    /// Bytes on the link.
    pub(crate) length: u32,
    /// Payload bytes.
    pub(crate) payload: u32,
    /// When it reaches the end of the link that it is on, and the packet behind it there.
    pub(crate) arrival: Time,
    pub(crate) behind: PacketId,
    /// When it was sent.
    pub(crate) sent_at: Time,
    /// Sequence number of the first payload byte.
    pub(crate) seq: u64,
    /// Cumulative acknowledgment.
    pub(crate) ack: u64,
    /// Timestamp echoed (RFC 7323).
    pub(crate) echo: Time,
    /// SACK blocks as offsets from `ack`: start and end.
    pub(crate) sack: [(u32, u32); MAX_SACK_BLOCKS],
    /// How many SACK blocks.
    pub(crate) sack_count: u8,
    /// TCP flags as on the wire.
    pub(crate) flags: u8,
    /// What it is.
    pub(crate) role: Role,
    /// ECN field.
    pub(crate) ecn: Ecn,
    /// ECN-Echo on an acknowledgment, CWR on data (RFC 3168).
    pub(crate) ecn_flag: bool,
}

/// Packets in memory. Steady state allocates nothing: freed places are used again.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Slab {
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.packets[id as usize] = packet;
                id
            }
            None => {
                self.packets.push(packet);
                (self.packets.len() - 1) as PacketId
            }
        }
    }

    pub(crate) fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// How many packets are alive.
    pub(crate) fn alive(&self) -> usize {
        self.packets.len() - self.free.len()
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
