//! Packets between the ends of a wire.

use super::packet::PacketId;
use aqm_core::units::Time;
use std::collections::VecDeque;

/// Packets in flight in the order of their arrival: the engine has one event for the first.
///
/// Ports of the same rate and delay share a queue while that keeps the order of arrivals; a packet that would break
/// the order goes into its port's own. So a dumbbell of any number of equal hosts has few pending events.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlightQueue {
    packets: VecDeque<InFlight>,
    last_arrival: Time,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) at: Time,
    pub(crate) id: PacketId,
    /// The port that it comes to; none if the route ends there.
    pub(crate) next: u32,
}

impl InFlightQueue {
    /// Whether a packet that arrives at `at` would keep the order.
    #[inline]
    pub(crate) fn keeps_order(&self, at: Time) -> bool {
        at >= self.last_arrival
    }

    /// Adds a packet. Returns whether it is the first.
    #[inline]
    pub(crate) fn push(&mut self, packet: InFlight) -> bool {
        self.last_arrival = packet.at;
        self.packets.push_back(packet);
        self.packets.len() == 1
    }

    /// Removes the first packet. Also returns when the next one arrives.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(InFlight, Option<Time>)> {
        let packet = self.packets.pop_front()?;
        Some((packet, self.packets.front().map(|next| next.at)))
    }

    /// The packets in order, as far as they lie side by side: where the ring begins anew, there are fewer.
    #[inline]
    pub(crate) fn first(&self) -> &[InFlight] {
        self.packets.as_slices().0
    }

    /// The packets in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &InFlight> + ExactSizeIterator + '_ {
        self.packets.iter()
    }
}
