//! A link at work: the serialiser, packets in flight, and where there is a discipline, its device.

use crate::link_trace::Cursor;
use crate::network::Capacity;
use crate::packet::PacketId;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::collections::VecDeque;

/// Stands for no link and for no packet.
pub(crate) const NONE: u32 = u32::MAX;

/// A link: one cache line.
#[repr(align(64))]
pub(crate) struct Link {
    /// The lane that its packets share with those of like links.
    pub(crate) lane: u32,
    pub(crate) delay: Span,
    busy_until: Time,
    /// Lengths repeat: the last one and its serialisation time.
    last_length: u32,
    /// The only link that feeds this one, if both can become one event; else [`NONE`].
    pub(crate) fed_by: u32,
    last_span: Span,
    /// Packets that went in, less those that came out at the far end or were lost on the way.
    pub(crate) balance: u64,
    rate: Rate,
    /// What plain links do not have.
    pub(crate) special: Option<Box<Special>>,
}

/// What only some links have.
#[derive(Default)]
pub(crate) struct Special {
    /// The discipline and its device.
    pub(crate) device: Option<Device>,
    pub(crate) impairment: Option<Impairment>,
}

/// Random loss and jitter behind the queue.
pub(crate) struct Impairment {
    pub(crate) loss: f64,
    pub(crate) jitter: Span,
    pub(crate) random: Random,
    /// Packets in flight that have an event of their own.
    pub(crate) alone: u64,
}

/// What lies between a discipline and the wire.
pub(crate) struct Device {
    pub(crate) qdisc: Qdisc,
    /// Whether the discipline asks for wake-ups, and the one that stands in the event queue.
    pub(crate) wakes: bool,
    pub(crate) wake_at: Time,
    /// Packets taken from the discipline that wait for the wire.
    pub(crate) ring: VecDeque<PacketId>,
    /// Most packets below the discipline, the one being sent included.
    pub(crate) ring_packets: u32,
    /// Whether an event stands for the end of the current transmission (or the next opportunity).
    pub(crate) busy: bool,
    /// Whether the metrics look at this queue.
    pub(crate) measured: bool,
    pub(crate) trace: Option<TraceDevice>,
    /// The medium that it shares with other links.
    pub(crate) medium: Option<u32>,
}

/// What several links send on in turns.
#[derive(Debug, Default)]
pub(crate) struct Medium {
    /// Whether one of them is sending.
    pub(crate) taken: bool,
    /// Who waits for it, in the order of asking.
    pub(crate) waiting: VecDeque<u32>,
}

/// Serialisation by delivery opportunities.
pub(crate) struct TraceDevice {
    pub(crate) cursor: Cursor,
    /// Bytes of opportunities that are not used up.
    pub(crate) budget: u64,
    /// The packet on the wire and the bytes of it that are still to go.
    pub(crate) sending: Option<(PacketId, u64)>,
}

impl Link {
    pub(crate) fn new(capacity: &Capacity, delay: Span) -> Link {
        Link {
            lane: NONE,
            delay,
            busy_until: Time::ZERO,
            last_length: 0,
            fed_by: NONE,
            last_span: Span::ZERO,
            balance: 0,
            rate: capacity.mean_rate(),
            special: None,
        }
    }

    /// How long `length` bytes take.
    #[inline]
    pub(crate) fn serialisation(&mut self, length: u32) -> Span {
        if self.last_length != length {
            self.last_length = length;
            self.last_span = self.rate.time_for(Bytes::new(u64::from(length)));
        }
        self.last_span
    }

    /// Puts `length` bytes behind what a plain link already has to send; answers when the last bit is out.
    #[inline]
    pub(crate) fn serialise(&mut self, length: u32, now: Time) -> Time {
        let start = self.busy_until.max(now);
        self.busy_until = start + self.serialisation(length);
        self.busy_until
    }

    /// The discipline and its device, if there is one.
    #[inline]
    pub(crate) fn device(&self) -> Option<&Device> {
        self.special.as_ref()?.device.as_ref()
    }

    /// The same, to work with.
    #[inline]
    pub(crate) fn device_mut(&mut self) -> Option<&mut Device> {
        self.special.as_mut()?.device.as_mut()
    }

    /// Random loss and jitter, if there are any.
    #[inline]
    pub(crate) fn impairment_mut(&mut self) -> Option<&mut Impairment> {
        self.special.as_mut()?.impairment.as_mut()
    }

    /// What links must have in common to share a lane with profit.
    pub(crate) fn likeness(&self, to: usize) -> (u32, usize, Span, Rate) {
        let end = if self.fed_by == NONE { to } else { 0 };
        (self.fed_by, end, self.delay, self.rate)
    }
}

/// Packets in flight in the order of their arrival: the engine has one event for the first.
///
/// A link sends its packets along a lane shared with like links as long as that keeps the order of arrivals, and along
/// one of its own otherwise. A dumbbell of any number of equal hosts so has a handful of pending events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    flight: VecDeque<InFlight>,
    last_arrival: Time,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) at: Time,
    pub(crate) id: PacketId,
    /// The link that it is on.
    pub(crate) link: u32,
}

impl Lane {
    /// Whether a packet that arrives at `at` would keep the order.
    #[inline]
    pub(crate) fn admits(&self, at: Time) -> bool {
        at >= self.last_arrival
    }

    /// Puts a packet in flight; answers whether it is the first there.
    #[inline]
    pub(crate) fn launch(&mut self, packet: InFlight) -> bool {
        self.last_arrival = packet.at;
        self.flight.push_back(packet);
        self.flight.len() == 1
    }

    /// Takes the first packet in flight, and answers when the next one arrives.
    #[inline]
    pub(crate) fn land(&mut self) -> Option<(InFlight, Option<Time>)> {
        let packet = self.flight.pop_front()?;
        Some((packet, self.flight.front().map(|next| next.at)))
    }

    /// Packets in flight in order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &InFlight> + '_ {
        self.flight.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fits_one_cache_line() {
        assert_eq!(size_of::<Link>(), 64);
    }
}
