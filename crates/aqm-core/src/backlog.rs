//! What waits, counted in packets and in bytes.

use crate::packet::Packet;
use crate::units::Size;

/// Packets and bytes that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Counts `packet` in.
    pub(crate) const fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.length as u64;
    }

    /// The backlog counted in the unit of `size`.
    pub const fn in_unit_of(self, size: Size) -> u64 {
        match size {
            Size::Packets(_) => self.packets,
            Size::Bytes(_) => self.bytes,
        }
    }

    /// Whether a packet of `length` bytes would go beyond `limit`.
    pub const fn would_exceed(self, limit: Size, length: u32) -> bool {
        match limit {
            Size::Packets(packets) => self.packets + 1 > packets,
            Size::Bytes(bytes) => self.bytes + length as u64 > bytes,
        }
    }

    /// Whether the backlog is beyond `limit` as it stands.
    pub const fn exceeds(self, limit: Size) -> bool {
        self.in_unit_of(limit) > limit.count()
    }
}
