//! One direction of the link as a machine without a clock: discipline, device and wire.
//!
//! It lives in *link time*. Packets are given to it with the time at which the kernel received them, and whatever was due
//! before is done first, at the time at which it was due. So rate, sojourn times and every decision of the discipline are
//! those of a machine that is never late; how late packets really leave is measured at the end of the wire.

use crate::config::{Line, LinkError};
use crate::in_flight::{InFlight, InFlightQueue};
use crate::log::Log;
use crate::meter::Meter;
use crate::samples::{Sample, Samples};
use crate::slab::{LARGEST_FRAME, Slab};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::qdisc::Qdisc;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::units::{Bytes, Rate, Span, Time};
use aqm_io::capture::{ETHERNET_HEADER_BYTES, metadata, set_ce};
use aqm_io::link_trace::{LinkTrace, OPPORTUNITY_BYTES};
use aqm_path::device::opportunities::Opportunities;
use aqm_path::wire::{Passage, Wire};
use std::fs::File;
use std::io::BufWriter;

/// A discipline that is due now is woken again no sooner: far below the time of a packet.
const SHORTEST_WAIT: Span = Span::from_micros(1);

/// One direction.
pub(crate) struct Direction {
    qdisc: Qdisc,
    wakes: bool,
    device: Device,
    /// When the device is free again, or has its next opportunity; `None` while it has nothing to send.
    ready: Option<Time>,
    /// When the discipline wants to be woken.
    wake: Option<Time>,
    wire: Wire,
    in_flight: InFlightQueue,
    host: Host,
    overhead: u32,
    classes: Vec<u8>,
    arrived: u32,
    /// The time of the last event.
    now: Time,
}

/// What serialises.
enum Device {
    Rate(Rate),
    /// Recorded opportunities, and where they stand.
    Trace(LinkTrace, Opportunities<Packet>),
}

/// What the discipline's decisions are reported to.
struct Host {
    slab: Slab,
    meter: Meter,
    samples: Samples,
    log: Option<Log<BufWriter<File>>>,
    now: Time,
}

impl Observer for Host {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, _point: DropPoint) {
        if let Some(log) = &mut self.log {
            log.dropped(&packet, reason, self.now);
        }
        self.meter.queue.drop(packet.arrival, reason);
        self.samples.drop(reason);
        self.slab.free(slot(&packet));
    }

    fn on_mark(&mut self, packet: &Packet, reason: MarkReason) {
        if let Some(log) = &mut self.log {
            log.marked(packet, reason, self.now);
        }
        self.meter.queue.mark(packet.arrival);
        self.samples.mark();
    }

    // No discipline of the registry sends packets of its own.
    fn on_emit(&mut self, _emission: Emission) {}
}

/// The slot of a packet: the lower half of its cookie.
fn slot(packet: &Packet) -> u32 {
    packet.cookie as u32
}

/// The class of a code point: its place among those that have one, or one more than they have.
fn class_of(dscp: u8, classes: &[u8]) -> u16 {
    classes.iter().position(|one| *one == dscp).unwrap_or(classes.len()) as u16
}

impl Direction {
    /// The direction `name` of a link, with a sample each `period`.
    pub(crate) fn new(line: &Line, name: &str, seed: u64, period: Span) -> Result<Direction, LinkError> {
        let qdisc = line.discipline(name, seed)?;
        let log = match &line.log {
            None => None,
            Some(path) => Some(
                Log::create(path).map_err(|error| LinkError::machine(&path.display().to_string(), &error))?,
            ),
        };
        let device = match line.link_trace()? {
            None => Device::Rate(line.rate()),
            Some(trace) => {
                let opportunities = Opportunities::new(&trace);
                Device::Trace(trace, opportunities)
            }
        };
        let wire = Wire::new(line.delay(), line.wire, seed, name);
        let samples = Samples::every(period);
        Ok(Direction {
            wakes: qdisc.wakes(),
            qdisc,
            device,
            ready: None,
            wake: None,
            wire,
            in_flight: InFlightQueue::default(),
            host: Host { slab: Slab::default(), meter: Meter::default(), samples, log, now: Time::ZERO },
            overhead: line.overhead,
            classes: line.classes.clone(),
            arrived: 0,
            now: Time::ZERO,
        })
    }

    /// A frame arrives.
    pub(crate) fn arrive(&mut self, frame: &[u8], at: Time) {
        if frame.len() > LARGEST_FRAME || frame.len() < ETHERNET_HEADER_BYTES {
            self.host.meter.oversized += 1;
            return;
        }
        // Stamps of the kernel are not in order when two cores send.
        let at = at.max(self.now);
        self.advance(at);
        self.settle(at);
        let slot = self.host.slab.store(frame);
        let length = (frame.len() - ETHERNET_HEADER_BYTES) as u32 + self.overhead;
        let mut packet = metadata(frame, u64::from(self.arrived) << 32 | u64::from(slot), length);
        packet.class = class_of(packet.dscp, &self.classes);
        self.arrived = self.arrived.wrapping_add(1);
        if let Some(log) = &mut self.host.log {
            log.arrive(&packet, at);
        }
        self.host.meter.queue.arrive();
        self.qdisc.enqueue(packet, at, &mut self.host);
        self.host.meter.queue.queue.reach(self.qdisc.backlog());
        if self.ready.is_none() {
            self.serve(at);
        }
        self.arm();
    }

    /// Does what is due by `to`, in the order of time.
    pub(crate) fn advance(&mut self, to: Time) {
        loop {
            let (ready, wake) = (self.ready.unwrap_or(Time::MAX), self.wake.unwrap_or(Time::MAX));
            let at = ready.min(wake);
            if at > to || at == Time::MAX {
                return;
            }
            self.settle(at);
            if wake < ready {
                self.wake = None;
                self.qdisc.wake(at, &mut self.host);
                if let Some(log) = &mut self.host.log {
                    log.woken(at);
                }
                if self.ready.is_none() && self.qdisc.backlog().packets > 0 {
                    self.serve(at);
                }
            } else {
                self.serve(at);
            }
            self.arm();
        }
    }

    /// When it has to be looked at next.
    pub(crate) fn next(&self) -> Time {
        self.in_flight.next().min(self.ready.unwrap_or(Time::MAX)).min(self.wake.unwrap_or(Time::MAX))
    }

    /// Moves up to `most` packets that are due by `now` from the wire into `left`.
    pub(crate) fn leave(&mut self, now: Time, most: usize, left: &mut Vec<InFlight>) {
        while left.len() < most
            && let Some(first) = self.in_flight.take(now)
        {
            left.push(first);
        }
    }

    /// The bytes of a packet that has left.
    pub(crate) fn frame(&self, left: InFlight) -> &[u8] {
        self.host.slab.frame(left.slot)
    }

    /// A packet that has left was sent at `now`, or could not be.
    pub(crate) fn sent(&mut self, left: InFlight, now: Time, is_sent: bool) {
        if is_sent {
            self.host.meter.deliver(left.arrival, left.due, now);
        } else {
            self.host.meter.refused += 1;
        }
        self.host.slab.free(left.slot);
    }

    /// The warm-up is over: everything is counted from zero again.
    pub(crate) fn restart(&mut self, now: Time) {
        self.advance(now);
        self.settle(now);
        self.host.meter = Meter::since(now, self.qdisc.backlog());
    }

    /// When the next sample is due.
    pub(crate) fn next_sample(&self) -> Time {
        self.host.samples.next()
    }

    /// The samples since the last call, up to `now`.
    pub(crate) fn samples(&mut self, now: Time) -> impl Iterator<Item = Sample> + '_ {
        if self.host.samples.next() <= now {
            self.settle(now);
        }
        self.host.samples.rows()
    }

    /// The end of the run.
    pub(crate) fn finish(&mut self, now: Time) {
        self.advance(now);
        self.settle(now);
        if let Some(log) = &mut self.host.log {
            log.finish();
        }
    }

    /// The discipline.
    pub(crate) fn qdisc(&self) -> &Qdisc {
        &self.qdisc
    }

    /// What was counted.
    pub(crate) fn meter(&self) -> &Meter {
        &self.host.meter
    }

    /// Rows in the log, and why it ends early.
    pub(crate) fn log(&self) -> Option<(u64, Option<String>)> {
        let log = self.host.log.as_ref()?;
        Some((log.rows, log.failed.as_ref().map(ToString::to_string)))
    }

    /// Bytes that could have been sent by `now`, since measuring began; IP bytes where opportunities decide, as [`Meter::sent_ip_bytes`].
    pub(crate) fn offered(&self, now: Time) -> f64 {
        let since = self.host.meter.began();
        match &self.device {
            Device::Rate(rate) => rate.as_bytes_per_sec_f64() * now.since(since).as_secs_f64(),
            Device::Trace(trace, _) => (trace.count_between(since, now) * OPPORTUNITY_BYTES.as_u64()) as f64,
        }
    }

    /// Bytes that were sent, of those that [`offered`](Direction::offered) counts.
    pub(crate) fn used(&self) -> f64 {
        match &self.device {
            Device::Rate(_) => self.host.meter.sent_bytes as f64,
            Device::Trace(..) => self.host.meter.sent_ip_bytes as f64,
        }
    }

    /// Something happens at `at`: the queue was as it is until then.
    fn settle(&mut self, at: Time) {
        (self.now, self.host.now) = (at, at);
        self.host.samples.advance(self.qdisc.backlog(), at);
        self.host.meter.queue.queue.advance(self.qdisc.backlog(), at);
    }

    /// Asks the discipline when it wants to be woken.
    fn arm(&mut self) {
        if self.wakes {
            self.wake = self.qdisc.next_wakeup().map(|at| at.max(self.now + SHORTEST_WAIT));
        }
    }

    /// The device can send a packet.
    fn serve(&mut self, at: Time) {
        match &mut self.device {
            Device::Rate(rate) => {
                let rate = *rate;
                self.ready = self.dequeue(at).map(|packet| {
                    let out = at + rate.time_for(Bytes::new(u64::from(packet.length)));
                    self.depart(&packet, out);
                    out
                });
            }
            Device::Trace(_, opportunities) if self.ready.is_none() => {
                self.ready = Some(opportunities.wait(at));
            }
            Device::Trace(..) => {
                // Out of the direction while it sends: the device neither asks for itself nor is asked.
                let device = std::mem::replace(&mut self.device, Device::Rate(Rate::from_bits_per_sec(0)));
                if let Device::Trace(trace, mut opportunities) = device {
                    let pull = |this: &mut Direction| {
                        let packet = this.dequeue(at)?;
                        let bytes = u64::from(packet.length - this.overhead);
                        Some((packet, bytes))
                    };
                    self.ready = opportunities.serve(self, pull, |this, packet| this.depart(&packet, at));
                    self.device = Device::Trace(trace, opportunities);
                }
            }
        }
    }

    fn dequeue(&mut self, at: Time) -> Option<Packet> {
        let packet = self.qdisc.dequeue(at, &mut self.host);
        if let Some(log) = &mut self.host.log {
            log.dequeued(packet.as_ref(), at);
        }
        if let Some(packet) = &packet {
            let sojourn = at.since(packet.arrival);
            self.host.meter.queue.depart(packet.length.into(), sojourn);
            self.host.samples.depart(packet.length, sojourn);
        }
        packet
    }

    /// The last bit of a packet leaves the device at `out`.
    fn depart(&mut self, packet: &Packet, out: Time) {
        let (slot, meter) = (slot(packet), &mut self.host.meter);
        meter.sent_bytes += u64::from(packet.length);
        meter.sent_ip_bytes += u64::from(packet.length - self.overhead);
        let passage = self.wire.pass(out, packet.length);
        if passage == Passage::Lost {
            meter.lost += 1;
            return self.host.slab.free(slot);
        }
        if packet.ecn == Ecn::Ce {
            set_ce(self.host.slab.frame_mut(slot));
        }
        let arrival = packet.arrival;
        let due = match passage {
            Passage::Lost => return,
            Passage::Arrives(due) => due,
            Passage::Twice([first, due]) => {
                meter.duplicated += 1;
                let copy = self.host.slab.copy(slot);
                self.in_flight.put(InFlight { due: first, arrival, slot: copy });
                due
            }
        };
        self.in_flight.put(InFlight { due, arrival, slot });
    }
}

#[cfg(test)]
mod meter_tests;
#[cfg(test)]
mod tests;
