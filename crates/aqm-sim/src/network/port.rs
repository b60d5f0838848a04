//! A port in operation: the wire, and where there is a discipline, discipline and device. Who measures a port (`M`) is not
//! its business: it only has room for the measurements.

use super::graph::{Capacity, LinkSpec, Queue};
use super::packet::PacketId;
use crate::headers::FULL_IP_PACKET;
use aqm_core::backlog::Backlog;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::spec::SpecError;
use aqm_core::units::{Bytes, Rate, Span, Time};
use aqm_path::device::opportunities::Opportunities;
use aqm_path::wire::{Passage, Wire};
use std::collections::VecDeque;

/// Number of a port: that of the link behind it.
pub(crate) type PortId = usize;

/// No port.
pub(crate) const NONE: u32 = u32::MAX;

/// An output port and the wire behind it: one cache line.
#[repr(align(64))]
pub(crate) struct Port<M> {
    pub(crate) line: Line,
    busy_until: Time,
    /// The only port that packets come from, if both can share one event; else [`NONE`].
    pub(crate) upstream: u32,
    /// Where something is beside the wire: packets and bytes that came in, less those that went on to it or were lost on it.
    inside_packets: u32,
    inside_bytes: u64,
    /// What only some ports have.
    pub(crate) extras: Option<Box<Extras<M>>>,
}

/// What a packet needs to know that leaves for the other end of a wire.
pub(crate) struct Line {
    /// The queue of packets in flight that it shares with those of the same rate and delay.
    pub(crate) in_flight: u32,
    pub(crate) delay: Span,
    rate: Rate,
    /// Lengths repeat: the last one and its serialisation time.
    last_span: Span,
    last_length: u32,
}

impl Line {
    /// Serialisation time of `length` bytes.
    #[inline]
    pub(crate) fn serialisation(&mut self, length: u32) -> Span {
        if self.last_length != length {
            self.change_length(length);
        }
        self.last_span
    }

    #[cold]
    #[inline(never)]
    fn change_length(&mut self, length: u32) {
        self.last_length = length;
        self.last_span = self.rate.time_for(Bytes::new(u64::from(length)));
    }
}

/// What only some ports have.
pub(crate) struct Extras<M> {
    /// The discipline and its device.
    pub(crate) device: Option<Device<M>>,
    pub(crate) impaired: Option<Impaired>,
}

/// The wire where it does more than delay packets, and what has become of them.
pub(crate) struct Impaired {
    pub(crate) wire: Wire,
    /// The same before its first packet.
    fresh: Wire,
    /// Packets that came by, and those of them that were lost or doubled.
    pub(crate) passed: u64,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// How many packets in flight have an event of their own.
    pub(crate) with_event: u64,
}

impl Impaired {
    fn new(wire: Wire) -> Impaired {
        Impaired { fresh: wire.clone(), wire, passed: 0, lost: 0, doubled: 0, with_event: 0 }
    }

    /// How many packets a wire with these impairments was to lose and to double by its random numbers, which do not depend on
    /// when packets came.
    pub(crate) fn drawn(&self) -> (u64, u64) {
        let mut wire = self.fresh.clone();
        let (mut lost, mut doubled) = (0, 0);
        for _ in 0..self.passed {
            match wire.pass(Time::ZERO, 0) {
                Passage::Lost => lost += 1,
                Passage::Twice(_) => doubled += 1,
                Passage::Arrives(_) => {}
            }
        }
        (lost, doubled)
    }
}

/// A discipline and the device between it and the wire.
pub(crate) struct Device<M> {
    pub(crate) qdisc: Qdisc,
    pub(crate) observed: Observed<M>,
    /// The largest backlog after an arrival.
    pub(crate) longest: Backlog,
    /// Whether the discipline asks for wake-ups, and the one that is scheduled.
    pub(crate) wakes: bool,
    pub(crate) wake_at: Time,
    /// Packets taken from the discipline that wait for the wire.
    pub(crate) ring: VecDeque<PacketId>,
    /// Most packets in the device, the one being sent included.
    pub(crate) ring_packets: u32,
    /// When the last bit of the packet on the wire leaves.
    pub(crate) until: Time,
    /// Whether an event is scheduled for the end of the current transmission (or the next opportunity).
    pub(crate) busy: bool,
    pub(crate) trace: Option<Opportunities<PacketId>>,
    /// Whether nothing but the discipline says what is sent when, and what is sent arrives, settled as the run begins.
    pub(crate) is_direct: bool,
    /// Whether besides nothing observes packets, and no switch has anything to do with them.
    pub(crate) is_straight: bool,
    /// The medium that it shares with other ports.
    pub(crate) medium: Option<u32>,
    /// The device that serves it in place of its own, if one does.
    pub(crate) channel: Option<u32>,
    /// How long a packet occupies it beyond its serialisation.
    pub(crate) hold: Span,
}

/// A discipline's backlog and metrics, observed from outside.
pub(crate) struct Observed<M> {
    /// Its backlog.
    pub(crate) queued: Backlog,
    /// Packets of it for each station of a shared medium; empty elsewhere.
    pub(crate) of_station: Vec<u32>,
    /// Bytes by which packets have grown at their departure.
    pub(crate) grown: u64,
    /// The metrics of its port, if that is measured.
    pub(crate) metrics: Option<Box<M>>,
}

impl<M> Device<M> {
    /// Whether there is nothing between discipline and wire that could decide what is sent when.
    pub(crate) fn is_bare(&self) -> bool {
        let is_shared = self.medium.is_some() || self.channel.is_some() || self.hold > Span::ZERO;
        !self.wakes && !is_shared && self.ring_packets == 1 && self.trace.is_none()
    }

    /// Packets that it could send: those of its ring, and those of the discipline.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.ring.len() as u64 + self.observed.queued.packets
    }

    /// Updates the largest backlog, after an arrival was handled.
    #[inline]
    pub(crate) fn update_longest(&mut self) {
        // Most arrivals set no record: comparing costs less than storing.
        if self.observed.queued.packets > self.longest.packets {
            self.longest.packets = self.observed.queued.packets;
        }
        if self.observed.queued.bytes > self.longest.bytes {
            self.longest.bytes = self.observed.queued.bytes;
        }
    }
}

impl<M> Port<M> {
    /// The port in front of a link called `name`.
    pub(crate) fn new(link: &LinkSpec, name: &str, overhead: u32, seed: u64) -> Result<Port<M>, SpecError> {
        let mut extras = Extras { device: None, impaired: None };
        if !link.wire.is_plain() {
            extras.impaired = Some(Impaired::new(Wire::new(link.delay, link.wire, seed, name)));
        }
        let rate = link.capacity.mean_rate();
        if let Queue::Discipline { spec, ring_packets, random } = &link.queue {
            let served = aqm_core::link::Link { rate, mtu: FULL_IP_PACKET + overhead, overhead };
            let qdisc = spec.build(served, Random::stream(seed, random))?;
            let trace = match &link.capacity {
                Capacity::Rate(_) => None,
                Capacity::Trace(trace) => Some(Opportunities::new(trace)),
            };
            extras.device = Some(Device {
                wakes: qdisc.wakes(),
                qdisc,
                observed: Observed {
                    queued: Backlog::default(),
                    of_station: Vec::new(),
                    grown: 0,
                    metrics: None,
                },
                longest: Backlog::default(),
                ring: VecDeque::new(),
                ring_packets: *ring_packets,
                until: Time::ZERO,
                busy: false,
                wake_at: Time::MAX,
                is_direct: false,
                is_straight: false,
                trace,
                medium: None,
                channel: None,
                hold: Span::ZERO,
            });
        }
        let is_plain = extras.device.is_none() && extras.impaired.is_none();
        Ok(Port {
            line: Line { in_flight: NONE, delay: link.delay, rate, last_span: Span::ZERO, last_length: 0 },
            busy_until: Time::ZERO,
            upstream: NONE,
            inside_packets: 0,
            inside_bytes: 0,
            extras: (!is_plain).then(|| Box::new(extras)),
        })
    }

    /// A packet enters, where something is beside the wire.
    #[inline]
    pub(crate) fn enter(&mut self, length: u32) {
        self.inside_packets = self.inside_packets.wrapping_add(1);
        self.inside_bytes = self.inside_bytes.wrapping_add(u64::from(length));
    }

    /// A packet inside has become longer.
    pub(crate) fn grow(&mut self, bytes: u32) {
        self.inside_bytes = self.inside_bytes.wrapping_add(u64::from(bytes));
    }

    /// A packet goes on to the wire, or is lost on it.
    #[inline]
    pub(crate) fn leave(&mut self, length: u32) {
        self.inside_packets = self.inside_packets.wrapping_sub(1);
        self.inside_bytes = self.inside_bytes.wrapping_sub(u64::from(length));
    }

    /// Whether packets and bytes balance; `there` were dropped by the discipline or are still inside.
    pub(crate) fn balances(&self, there: Backlog) -> bool {
        (self.inside_packets, self.inside_bytes) == (there.packets as u32, there.bytes)
    }

    /// Packets and bytes that came in and did not come out.
    pub(crate) fn inside(&self) -> Backlog {
        Backlog { packets: self.inside_packets.into(), bytes: self.inside_bytes }
    }

    /// Gives the wire another rate than the network says.
    #[cfg(test)]
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.line.rate = rate;
    }

    /// Serialisation time of `length` bytes.
    #[inline]
    pub(crate) fn serialisation(&mut self, length: u32) -> Span {
        self.line.serialisation(length)
    }

    /// Bytes of the packet on the wire that are not yet sent at `now`, a share of it included.
    pub(crate) fn unsent(&self, now: Time) -> f64 {
        let left = self.device().map_or(Span::ZERO, |device| device.until.since(now));
        let of_packet = left.as_nanos() as f64 / self.line.last_span.as_nanos().max(1) as f64;
        f64::from(self.line.last_length) * of_packet
    }

    /// When a plain port has sent everything.
    pub(crate) fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Takes back what was serialised at a plain port since it was to be busy `until` then.
    pub(crate) fn take_back(&mut self, until: Time) {
        self.busy_until = until;
    }

    /// The rate of its wire.
    pub(crate) fn rate(&self) -> Rate {
        self.line.rate
    }

    /// Whether the last packet took another time than at `rate`.
    pub(crate) fn is_mistimed(&self, rate: Rate) -> bool {
        self.line.last_span != rate.time_for(Bytes::new(self.line.last_length.into()))
    }

    /// When the last bit of the packet leaves that was sent last; unknown where opportunities or bursts decide.
    pub(crate) fn last_out(&self) -> Option<Time> {
        match self.device() {
            Some(device) if device.channel.is_some() => None,
            Some(device) => device.trace.is_none().then_some(device.until),
            None => Some(self.busy_until),
        }
    }

    /// Queues `length` bytes at a plain port. Returns when their last bit is sent.
    #[inline]
    pub(crate) fn serialise(&mut self, length: u32, now: Time) -> Time {
        let start = self.busy_until.max(now);
        self.busy_until = start + self.serialisation(length);
        self.busy_until
    }

    /// The discipline and its device, if there is one.
    #[inline]
    pub(crate) fn device(&self) -> Option<&Device<M>> {
        self.extras.as_ref()?.device.as_ref()
    }

    /// The same, mutable.
    #[inline]
    pub(crate) fn device_mut(&mut self) -> Option<&mut Device<M>> {
        self.extras.as_mut()?.device.as_mut()
    }

    /// The same, and the line that it sends on.
    #[inline]
    pub(crate) fn device_and_line(&mut self) -> Option<(&mut Device<M>, &mut Line)> {
        Some((self.extras.as_mut()?.device.as_mut()?, &mut self.line))
    }

    /// The wire, if it does more than delay.
    #[inline]
    pub(crate) fn impaired_mut(&mut self) -> Option<&mut Impaired> {
        self.extras.as_mut()?.impaired.as_mut()
    }

    /// Ports share a queue of packets in flight if this is the same for both; `to` is where the wire ends.
    pub(crate) fn sharing_key(&self, to: usize) -> (u32, usize, Span, Rate) {
        let end = if self.upstream == NONE { to } else { 0 };
        (self.upstream, end, self.line.delay, self.line.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_fits_one_cache_line() {
        assert_eq!(size_of::<Port<()>>(), 64);
    }
}
