//! Packets of the simulator, kept in a slab: links and queues pass numbers around.

use crate::transport::flags;
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

/// One packet: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Packet {
    /// Sequence number of the first payload byte; of an acknowledgment, what it acknowledges.
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
    /// Payload bytes; of an acknowledgment, what the receiver notes.
    pub(crate) payload: u32,
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

impl Packet {
    /// Whether its receiver counts it as delivered: datagrams and TCP data, not what opens or acknowledges.
    pub(crate) fn is_counted(&self) -> bool {
        match self.role {
            Role::Data => self.flags & flags::SYN == 0,
            Role::Ack => false,
            Role::Datagram => true,
        }
    }
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
