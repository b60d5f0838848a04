//! A host for tests: it calls the discipline and records what happens to each packet.

use super::INFO;
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
        panic!("the discipline sends {emission:?}");
    }
}

/// The discipline and its log.
pub(super) struct Host {
    pub(super) qdisc: Qdisc,
    pub(super) log: Log,
}

/// Milliseconds as an instant.
pub(super) const fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// Reads `[:PRESET] [PARAMETER VALUE]...`.
pub(super) fn spec(text: &str) -> Spec {
    let (preset, params) = text.split_once(' ').unwrap_or((text, ""));
    let preset = preset.strip_prefix(':').map_or(&INFO.presets[0], |name| INFO.preset(name).unwrap());
    Spec::parse_as(&INFO, preset, params).unwrap_or_else(|error| panic!("{text}: {error}"))
}

impl Host {
    /// Builds it for a link of 10 Mbit/s with a fixed stream of random numbers.
    pub(super) fn new(text: &str) -> Host {
        Host::of(&spec(text), Random::seeded(1))
    }

    /// The same with `uniforms` as random numbers, repeated.
    pub(super) fn scripted(text: &str, uniforms: &[f64]) -> Host {
        let numbers = uniforms.iter().map(|u| ((u * 9_007_199_254_740_992.0) as u64) << 11).collect();
        Host::of(&spec(text), Random::script(numbers))
    }

    pub(super) fn of(spec: &Spec, random: Random) -> Host {
        let link = Link::new(Rate::from_mbit(10));
        Host { qdisc: spec.build(link, random).unwrap(), log: Log::default() }
    }

    /// Enqueues a plain packet.
    pub(super) fn put(&mut self, now: Time, cookie: u64, flow: u64, length: u32) {
        self.qdisc.enqueue(Packet::new(cookie, flow, length), now, &mut self.log);
    }

    /// Enqueues an ECN-capable packet.
    pub(super) fn put_ect(&mut self, now: Time, cookie: u64, flow: u64, length: u32) {
        let mut packet = Packet::new(cookie, flow, length);
        packet.ecn = Ecn::Ect0;
        self.qdisc.enqueue(packet, now, &mut self.log);
    }

    /// Dequeues; the cookie of the packet that left.
    pub(super) fn get(&mut self, now: Time) -> Option<u64> {
        self.qdisc.dequeue(now, &mut self.log).map(|packet| packet.cookie)
    }

    /// The cookies of dropped packets.
    pub(super) fn dropped(&self) -> Vec<u64> {
        self.log.dropped.iter().map(|(cookie, _)| *cookie).collect()
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
