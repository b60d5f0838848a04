//! Packets between the ends of a wire.

use super::packet::PacketId;
use aqm_core::units::Time;

/// Packets in flight in the order of their arrival: the engine has one event for the first.
///
/// Ports of the same rate and delay share a queue while that keeps the order of arrivals; a packet that would break
/// the order goes into its port's own. So a dumbbell of any number of equal hosts has few pending events.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlightQueue {
    /// A ring in a power of two of slots, so that places are masked: wires take packets in and out more often than
    /// anything else does.
    slots: Vec<InFlight>,
    first: usize,
    len: usize,
    last_arrival: Time,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    pub(crate) at: Time,
    pub(crate) id: PacketId,
    /// The port that sent it.
    pub(crate) port: u32,
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
        if self.len == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.len);
        self.slots[slot] = packet;
        self.len += 1;
        self.len == 1
    }

    /// Removes the first packet. Also returns when the next one arrives.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(InFlight, Option<Time>)> {
        let packet = *self.get(0)?;
        self.first = self.slot(1);
        self.len -= 1;
        Some((packet, self.get(0).map(|next| next.at)))
    }

    /// A packet by its place, the first at 0.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&InFlight> {
        (place < self.len).then(|| &self.slots[self.slot(place)])
    }

    /// The packets in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &InFlight> + '_ {
        (0..self.len).map(|place| &self.slots[self.slot(place)])
    }

    #[inline]
    fn slot(&self, place: usize) -> usize {
        (self.first + place) & (self.slots.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        self.slots.resize((2 * self.len).max(4), InFlight::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn packets_leave_as_they_came_while_the_ring_turns_and_grows() {
        let (mut queue, mut expected) = (InFlightQueue::default(), VecDeque::new());
        for id in 0..1000 {
            let packet = InFlight { at: Time::from_nanos(id.into()), id, port: 0 };
            assert_eq!(queue.push(packet), expected.is_empty());
            expected.push_back(id);
            // Three come for two that leave; now and then all leave.
            let leaving = if id % 300 == 299 { expected.len() } else { usize::from(id % 3 != 0) };
            for _ in 0..leaving {
                let (left, next) = queue.pop().unwrap();
                assert_eq!(Some(left.id), expected.pop_front());
                assert_eq!(next.map(Time::as_nanos), expected.front().map(|id| u64::from(*id)));
            }
            assert!(queue.iter().map(|packet| packet.id).eq(expected.iter().copied()));
            assert_eq!(queue.get(1).map(|packet| packet.id), expected.get(1).copied());
        }
        assert!(expected.is_empty() || queue.get(expected.len()).is_none());
    }
}
