//! A host for tests: it calls a discipline and records what happens to each packet. `aqm-papers` includes this file, so it
//! names the core as another crate would.
#![allow(dead_code, reason = "each crate uses it in part")]

extern crate alloc;

use self::alloc::vec::Vec;
use aqm_core::link::Link;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Time};

/// The fate of packets, by cookie.
#[derive(Default)]
pub(super) struct Log {
    pub(super) dropped: Vec<(u64, DropReason)>,
    pub(super) marked: Vec<(u64, MarkReason)>,
}

impl Observer for Log {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, _point: DropPoint) {
        self.dropped.push((packet.cookie, reason));
    }

    fn on_mark(&mut self, packet: &Packet, reason: MarkReason) {
        self.marked.push((packet.cookie, reason));
    }

    fn on_emit(&mut self, emission: Emission) {
        panic!("a discipline of these tests sends {emission:?}");
    }
}

/// A discipline and its log.
pub(super) struct Host {
    pub(super) qdisc: Qdisc,
    pub(super) log: Log,
}

/// Milliseconds as an instant.
pub(super) const fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// `uniforms` as random numbers, repeated.
pub(super) fn script(uniforms: &[f64]) -> Random {
    Random::script(uniforms.iter().map(|u| ((u * 9_007_199_254_740_992.0) as u64) << 11).collect())
}

impl Host {
    /// Builds `spec` for a link of 10 Mbit/s with a fixed stream of random numbers.
    pub(super) fn new(spec: &str) -> Host {
        Host::of(&Spec::parse(spec).unwrap(), Random::seeded(1))
    }

    /// Builds `spec` with `uniforms` as random numbers, repeated.
    pub(super) fn scripted(spec: &str, uniforms: &[f64]) -> Host {
        Host::of(&Spec::parse(spec).unwrap(), script(uniforms))
    }

    /// Builds `spec` for a link of 10 Mbit/s; for disciplines that [`Spec::parse`] does not know.
    pub(super) fn of(spec: &Spec, random: Random) -> Host {
        let link = Link::new(Rate::from_mbit(10));
        Host { qdisc: spec.build(link, random).unwrap(), log: Log::default() }
    }

    /// Enqueues a plain packet of flow `flow`.
    pub(super) fn put(&mut self, now: Time, cookie: u64, flow: u64, length: u32) {
        self.enqueue(now, Packet::new(cookie, flow, length));
    }

    /// Enqueues an ECN-capable packet.
    pub(super) fn put_ect(&mut self, now: Time, cookie: u64, flow: u64, length: u32) {
        let mut packet = Packet::new(cookie, flow, length);
        packet.ecn = Ecn::Ect0;
        self.enqueue(now, packet);
    }

    pub(super) fn enqueue(&mut self, now: Time, packet: Packet) {
        self.wake_until(now);
        self.qdisc.enqueue(packet, now, &mut self.log);
    }

    /// Dequeues; the cookie of the packet that left.
    pub(super) fn get(&mut self, now: Time) -> Option<u64> {
        self.wake_until(now);
        let packet = self.qdisc.dequeue(now, &mut self.log)?;
        Some(packet.cookie)
    }

    /// Delivers every wake-up that is due by `now`, at its own time.
    pub(super) fn wake_until(&mut self, now: Time) {
        while let Some(due) = self.qdisc.next_wakeup().filter(|due| *due <= now) {
            self.qdisc.wake(due, &mut self.log);
        }
    }

    /// The cookies of dropped packets.
    pub(super) fn dropped(&self) -> Vec<u64> {
        self.log.dropped.iter().map(|(cookie, _)| *cookie).collect()
    }

    /// The cookies of marked packets.
    pub(super) fn marked(&self) -> Vec<u64> {
        self.log.marked.iter().map(|(cookie, _)| *cookie).collect()
    }

    /// The value of one probe.
    pub(super) fn probe(&self, name: &str) -> f64 {
        let mut found = None;
        self.qdisc.probe(Time::ZERO, &mut |probe, value| {
            if probe == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no probe '{name}'"))
    }
}

/// Enqueues a packet of class `class` at the start of the run.
pub(super) fn put_class(host: &mut Host, cookie: u64, class: u16, length: u32) {
    let mut packet = Packet::new(cookie, u64::from(class), length);
    packet.class = class;
    host.enqueue(Time::ZERO, packet);
}

/// The cookies of all queued packets, in the order in which they leave.
pub(super) fn rest(host: &mut Host) -> Vec<u64> {
    core::iter::from_fn(|| host.get(ms(1))).collect()
}
