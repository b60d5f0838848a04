//! Packets between the device of a direction and its far end.

use aqm_core::units::Time;
use std::collections::VecDeque;

/// Packets on the wire, by the time at which they are due.
#[derive(Default)]
pub(crate) struct InFlightQueue(VecDeque<InFlight>);

/// A packet on the wire, or at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) due: Time,
    pub(crate) arrival: Time,
    pub(crate) slot: u32,
}

impl InFlightQueue {
    /// A packet goes behind all that are due at the same time.
    pub(crate) fn put(&mut self, packet: InFlight) {
        let place = self.0.partition_point(|other| other.due <= packet.due);
        self.0.insert(place, packet);
    }

    /// When the first packet is due.
    pub(crate) fn next(&self) -> Time {
        self.0.front().map_or(Time::MAX, |first| first.due)
    }

    /// Takes the first packet, if it is due by `now`.
    pub(crate) fn take(&mut self, now: Time) -> Option<InFlight> {
        self.0.pop_front_if(|first| first.due <= now)
    }

    /// The packets in order.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &InFlight> {
        self.0.iter()
    }
}
