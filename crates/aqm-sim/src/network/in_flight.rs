//! Packets between the ends of a wire.

use super::packet::PacketId;
use super::port::NONE;
use aqm_core::units::Time;
use std::collections::VecDeque;

/// Packets in flight in the order of their arrival: the engine has one event for the first.
///
/// Ports of the same rate and delay share a queue while that keeps the order of arrivals; a packet that would break
/// the order goes into its port's own. So a dumbbell of any number of equal hosts has few pending events. In a large network
/// most wires have a packet at most, which lies in the queue itself: one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct InFlightQueue {
    /// [`NOBODY`] if there is none.
    first: InFlight,
    /// The shared link that all of its packets go on over without an event of their own there, or [`NONE`].
    pub(crate) ack_path: u32,
    last_arrival: Time,
    behind: VecDeque<InFlight>,
}

impl Default for InFlightQueue {
    fn default() -> InFlightQueue {
        InFlightQueue { first: NOBODY, ack_path: NONE, last_arrival: Time::ZERO, behind: VecDeque::new() }
    }
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) at: Time,
    pub(crate) id: PacketId,
    /// The port that it comes to; none if the route ends there.
    pub(crate) next: u32,
}

/// No packet.
const NOBODY: InFlight = InFlight { at: Time::MAX, id: PacketId::MAX, next: NONE };

impl InFlight {
    fn is_somebody(&self) -> bool {
        self.id != NOBODY.id
    }
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
        let is_first = !self.first.is_somebody();
        if is_first {
            self.first = packet;
        } else {
            self.behind.push_back(packet);
        }
        is_first
    }

    /// When the first packet arrives; never if there is none.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.first.at
    }

    /// Removes the first packet, which is there if one is [`due`](Self::due).
    #[inline]
    pub(crate) fn pop(&mut self) -> InFlight {
        let packet = self.first;
        match self.behind.pop_front() {
            Some(next) => self.first = next,
            None => self.first = NOBODY,
        }
        packet
    }

    /// The first packet.
    #[inline]
    pub(crate) fn first(&self) -> Option<&InFlight> {
        self.first.is_somebody().then_some(&self.first)
    }

    /// The same, to say when and where it arrives.
    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut InFlight> {
        self.first.is_somebody().then_some(&mut self.first)
    }

    /// Adds a packet in front of those that arrive later than it, but not in front of the first.
    pub(crate) fn insert(&mut self, packet: InFlight) {
        let place = self.behind.partition_point(|other| other.at <= packet.at);
        self.behind.insert(place, packet);
    }

    /// Puts a packet in front of all.
    pub(crate) fn insert_first(&mut self, packet: InFlight) {
        self.behind.push_front(std::mem::replace(&mut self.first, packet));
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
            self.first().filter(|first| wanted(first))?;
            return Some(std::mem::replace(&mut self.first, NOBODY));
        }
        let place = self.behind.iter().rposition(wanted)?;
        self.behind.remove(place)
    }

    /// The packets in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &InFlight> + '_ {
        self.first().into_iter().chain(&self.behind)
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
