//! One queue: a discipline, the events of its last call, and the time that was reached.

use crate::packet::{Counters, Departure, Event, EventKind};
use crate::status::{Failure, Status};
use aqm_core::link::Link;
use aqm_core::packet::Packet;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::units::{Bytes, Time};
use aqm_scenario::options::Options;
use aqm_scenario::resolve::{self, FULL_IP_PACKET};
use std::collections::VecDeque;

pub(crate) struct Queue {
    qdisc: Qdisc,
    events: Events,
    reached: Time,
}

impl Queue {
    pub(crate) fn new(discipline: &str, rate: &str, overhead: u32, seed: u64) -> Result<Queue, Failure> {
        let mut options = Options::default();
        let overhead_text = Bytes::new(u64::from(overhead)).to_string();
        for (name, text) in [("aqm", discipline), ("rate", rate), ("overhead", &overhead_text)] {
            options.give(name, text).map_err(Failure::input)?;
        }
        let (spec, rate) = resolve::queue(&options).map_err(Failure::input)?;
        let mtu = FULL_IP_PACKET + overhead;
        // The numbers that the simulator's bottleneck draws.
        let random = Random::stream(seed, "bottleneck");
        let qdisc = spec.build(Link { rate, mtu, overhead }, random).map_err(Failure::input)?;
        Ok(Queue { qdisc, events: Events::default(), reached: Time::ZERO })
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, packet: Packet, now: u64) -> Result<Status, Failure> {
        let now = self.at(now)?;
        self.qdisc.enqueue(packet, now, &mut self.events);
        Ok(Status::AqmlabOk)
    }

    #[inline]
    pub(crate) fn dequeue(&mut self, now: u64) -> Result<Option<Departure>, Failure> {
        let now = self.at(now)?;
        let taken = self.qdisc.dequeue(now, &mut self.events);
        Ok(taken.map(|packet| Departure {
            cookie: packet.cookie,
            sojourn_ns: now.since(packet.arrival).as_nanos(),
            ecn: packet.ecn as u8,
        }))
    }

    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.events.0.pop_front()
    }

    pub(crate) fn next_wakeup(&self) -> Option<u64> {
        self.qdisc.next_wakeup().map(Time::as_nanos)
    }

    pub(crate) fn wake(&mut self, now: u64) -> Result<Status, Failure> {
        let now = self.at(now)?;
        self.qdisc.wake(now, &mut self.events);
        Ok(Status::AqmlabOk)
    }

    pub(crate) fn change(&mut self, name: &str, value: &str, now: u64) -> Result<Status, Failure> {
        let before = self.reached;
        let now = self.at(now)?;
        let discipline = self.qdisc.info().name;
        let changed = self.qdisc.change(&[(name, value)], now, &mut self.events);
        changed.map_err(|error| {
            self.reached = before;
            Failure::input(error.of(discipline))
        })?;
        Ok(Status::AqmlabOk)
    }

    pub(crate) fn reset(&mut self, now: u64) -> Result<Status, Failure> {
        let now = self.at(now)?;
        self.qdisc.reset(now, &mut self.events);
        self.reached = Time::ZERO;
        Ok(Status::AqmlabOk)
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters::of(self.qdisc.counters(), self.qdisc.backlog())
    }

    /// The time of a call, which may be made.
    #[inline]
    fn at(&mut self, now: u64) -> Result<Time, Failure> {
        let now = Time::from_nanos(now);
        if now < self.reached {
            return Err(self.backwards(now));
        }
        if !self.events.0.is_empty() {
            return Err(self.unfetched());
        }
        self.reached = now;
        Ok(now)
    }

    #[cold]
    fn backwards(&self, now: Time) -> Failure {
        let (now, reached) = (now.as_nanos(), self.reached.as_nanos());
        Failure::new(
            Status::AqmlabTime,
            format!("{now} ns is before {reached} ns, the time of an earlier call"),
        )
    }

    #[cold]
    fn unfetched(&self) -> Failure {
        let count = self.events.0.len();
        let text = format!(
            "{count} events of the last call were not fetched: call aqmlab_next_event until there is none"
        );
        Failure::new(Status::AqmlabUnfetched, text)
    }
}

/// What the last call did to packets, in order.
#[derive(Default)]
struct Events(VecDeque<Event>);

impl Observer for Events {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, _point: DropPoint) {
        self.0.push_back(Event {
            cookie: packet.cookie,
            kind: EventKind::AqmlabDropped,
            reason: reason as u8,
        });
    }

    fn on_mark(&mut self, packet: &Packet, reason: MarkReason) {
        self.0.push_back(Event {
            cookie: packet.cookie,
            kind: EventKind::AqmlabMarked,
            reason: reason as u8,
        });
    }

    fn on_emit(&mut self, _emission: Emission) {
        unreachable!("no discipline sends packets");
    }
}
