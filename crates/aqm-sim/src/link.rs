//! A link at work: the serialiser, packets in flight, and where there is a discipline, its device.

use crate::link_trace::Cursor;
use crate::network::Capacity;
use crate::packet::{PacketId, Slab};
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::collections::VecDeque;

/// Stands for no link and for no packet.
pub(crate) const NONE: u32 = u32::MAX;

/// A link. What every packet touches fits one cache line.
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
    /// Packets that went in, and those that came out at the far end or were lost on the way.
    pub(crate) entered: u64,
    pub(crate) left: u64,
    /// The discipline and its device; plain links have none.
    pub(crate) device: Option<Box<Device>>,
    pub(crate) impairment: Option<Box<Impairment>>,
    rate: Rate,
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
            entered: 0,
            left: 0,
            device: None,
            impairment: None,
            rate: capacity.mean_rate(),
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

    /// What links must have in common to share a lane with profit.
    pub(crate) fn likeness(&self, to: usize) -> (u32, usize, Span, Rate) {
        let end = if self.fed_by == NONE { to } else { 0 };
        (self.fed_by, end, self.delay, self.rate)
    }
}

/// Packets in flight in the order of their arrival, chained through the packets: the engine has one event for the first.
///
/// A link sends its packets along a lane shared with like links as long as that keeps the order of arrivals, and along
/// one of its own otherwise. A dumbbell of any number of equal hosts so has a handful of pending events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    first: PacketId,
    last: PacketId,
    last_arrival: Time,
}

impl Default for Lane {
    fn default() -> Lane {
        Lane { first: NONE, last: NONE, last_arrival: Time::ZERO }
    }
}

impl Lane {
    /// Whether a packet that arrives at `at` would keep the order.
    #[inline]
    pub(crate) fn admits(&self, at: Time) -> bool {
        at >= self.last_arrival
    }

    /// Puts a packet in flight, to arrive at `at`; answers whether it is the first there.
    #[inline]
    pub(crate) fn launch(&mut self, slab: &mut Slab, id: PacketId, at: Time) -> bool {
        let packet = &mut slab[id];
        (packet.arrival, packet.behind) = (at, NONE);
        let alone = self.first == NONE;
        if alone {
            self.first = id;
        } else {
            slab[self.last].behind = id;
        }
        (self.last, self.last_arrival) = (id, at);
        alone
    }

    /// Takes the first packet in flight, and answers when the next one arrives.
    #[inline]
    pub(crate) fn land(&mut self, slab: &Slab) -> (PacketId, Option<Time>) {
        let id = self.first;
        self.first = slab[id].behind;
        let next = (self.first != NONE).then(|| slab[self.first].arrival);
        (id, next)
    }

    /// Packets in flight in order.
    pub(crate) fn packets<'a>(&self, slab: &'a Slab) -> impl Iterator<Item = PacketId> + use<'a> {
        let mut id = self.first;
        std::iter::from_fn(move || {
            let this = (id != NONE).then_some(id)?;
            id = slab[this].behind;
            Some(this)
        })
    }
}
