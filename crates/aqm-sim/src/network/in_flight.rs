//! Packets between the ends of a wire.

use super::packet::PacketId;
use aqm_core::units::Time;
use std::collections::VecDeque;

/// Packets in flight in the order of their arrival: the engine has one event for the first.
///
/// Ports of the same rate and delay share a queue while that keeps the order of arrivals; a packet that would break
/// the order goes into its port's own. So a dumbbell of any number of equal hosts has few pending events. In a large network
/// most wires have a packet at most, which lies in the queue itself: one cache line.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(crate) struct InFlightQueue {
    first: Option<InFlight>,
    last_arrival: Time,
    behind: VecDeque<InFlight>,
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
        let is_first = self.first.is_none();
        if is_first {
            self.first = Some(packet);
        } else {
            self.behind.push_back(packet);
        }
        is_first
    }

    /// Removes the first packet. Also returns when the next one arrives.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(InFlight, Option<Time>)> {
        let packet = self.first?;
        self.first = self.behind.pop_front();
        Some((packet, self.first.map(|next| next.at)))
    }

    /// The packets behind the first in order, as far as they lie side by side: where the ring wraps, there are fewer.
    #[inline]
    pub(crate) fn behind(&self) -> &[InFlight] {
        self.behind.as_slices().0
    }

    /// Removes the last packet that is wanted; not the first of several, for which an event stands.
    #[cfg(test)]
    pub(crate) fn remove_last(&mut self, wanted: impl Fn(&InFlight) -> bool) -> Option<InFlight> {
        if self.behind.is_empty() {
            return self.first.take_if(|first| wanted(first));
        }
        let place = self.behind.iter().rposition(wanted)?;
        self.behind.remove(place)
    }

    /// The packets in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &InFlight> + '_ {
        self.first.iter().chain(&self.behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_fits_one_cache_line() {
        assert_eq!(size_of::<InFlightQueue>(), 64);
    }
}
