//! Push in, first out: packets are inserted by rank and leave from the front.

use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::signal::DropReason;
use crate::units::Size;
use alloc::collections::VecDeque;

/// A queue of packets in order of rank; packets of equal rank are in order of arrival.
#[derive(Debug, Default)]
pub struct Pifo {
    packets: VecDeque<(u64, Packet)>,
    bytes: u64,
}

impl Pifo {
    /// Inserts a packet behind all others of its rank.
    #[inline]
    pub fn push(&mut self, rank: u64, packet: Packet) {
        self.bytes += u64::from(packet.length);
        match self.last_rank() {
            Some(last) if last > rank => {
                let place = self.packets.partition_point(|(other, _)| *other <= rank);
                self.packets.insert(place, (rank, packet));
            }
            _ => self.packets.push_back((rank, packet)),
        }
    }

    /// Removes the packet with the smallest rank, and returns that rank.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Packet)> {
        let (rank, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.length);
        Some((rank, packet))
    }

    /// Removes the packet with the largest rank.
    pub fn pop_last(&mut self) -> Option<Packet> {
        let (_, packet) = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }

    /// The largest rank.
    #[inline]
    pub fn last_rank(&self) -> Option<u64> {
        self.packets.back().map(|(rank, _)| *rank)
    }

    /// Queued packets and bytes.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    /// Drops the packets with the largest ranks until `limit` is met.
    pub fn trim(&mut self, limit: Size, cx: &mut Cx<'_>) {
        while self.backlog().exceeds(limit) {
            let last = self.pop_last().expect("a queue beyond its limit is not empty");
            cx.drop(last, DropReason::Reconfigured);
        }
    }

    /// Drops everything.
    pub fn purge(&mut self, cx: &mut Cx<'_>) {
        while let Some((_, packet)) = self.pop() {
            cx.drop(packet, DropReason::Reconfigured);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn packets_leave_by_rank_and_within_a_rank_in_order_of_arrival() {
        let mut queue = Pifo::default();
        for (cookie, rank) in [5, 3, 5, 1, 3, 9, 3].into_iter().enumerate() {
            queue.push(rank, Packet::new(cookie as u64, 0, 100 + cookie as u32));
        }
        assert_eq!((queue.last_rank(), queue.backlog()), (Some(9), Backlog { packets: 7, bytes: 721 }));
        assert_eq!(queue.pop_last().map(|packet| packet.cookie), Some(5));
        assert_eq!(queue.backlog().bytes, 616);
        let order: Vec<_> =
            core::iter::from_fn(|| queue.pop()).map(|(rank, packet)| (rank, packet.cookie)).collect();
        assert_eq!(order, [(1, 3), (3, 1), (3, 4), (3, 6), (5, 0), (5, 2)]);
        assert_eq!((queue.last_rank(), queue.backlog()), (None, Backlog::default()));
    }
}
