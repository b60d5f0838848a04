//! The backlog, in packets and in bytes.

use crate::packet::Packet;
use crate::units::Size;

/// Queued packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Adds `packet`.
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

    /// Whether another packet of `length` bytes would exceed `limit`.
    pub const fn would_exceed(self, limit: Size, length: u32) -> bool {
        match limit {
            Size::Packets(packets) => self.packets + 1 > packets,
            Size::Bytes(bytes) => self.bytes + length as u64 > bytes,
        }
    }

    /// Whether the backlog already exceeds `limit`.
    pub const fn exceeds(self, limit: Size) -> bool {
        self.in_unit_of(limit) > limit.count()
    }
}
