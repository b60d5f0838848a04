//! First in, first out, with a count of bytes.

use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::Head;
use crate::packet::Packet;
use crate::signal::DropReason;
use crate::units::Size;
use alloc::collections::VecDeque;

/// A queue of packets in order of arrival.
#[derive(Debug, Default)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Fifo {
    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.length);
        self.packets.push_back(packet);
    }

    /// Removes the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }

    /// Removes the packet at `index`, counted from the oldest; the order of the others stays.
    pub fn remove(&mut self, index: usize) -> Option<Packet> {
        let packet = self.packets.remove(index)?;
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }

    /// The oldest packet.
    pub fn head(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// The packet at `index`, counted from the oldest.
    pub fn get(&self, index: usize) -> Option<&Packet> {
        self.packets.get(index)
    }

    /// Queued packets.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether no packet is queued.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Queued packets and bytes.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    /// Drops the newest packets until `limit` is met, after a limit was lowered.
    pub fn trim(&mut self, limit: Size, cx: &mut Cx<'_>) {
        while self.backlog().exceeds(limit) {
            let newest = self.remove(self.len() - 1).expect("a queue beyond its limit is not empty");
            cx.drop(newest, DropReason::Reconfigured);
        }
    }

    /// Drops everything.
    pub fn purge(&mut self, cx: &mut Cx<'_>) {
        while let Some(packet) = self.pop() {
            cx.drop(packet, DropReason::Reconfigured);
        }
    }
}

impl Head for Fifo {
    #[inline]
    fn peek(&mut self) -> Option<&mut Packet> {
        self.packets.front_mut()
    }

    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        Fifo::pop(self)
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
