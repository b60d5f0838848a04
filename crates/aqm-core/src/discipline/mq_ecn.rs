//! # What it does
//! Queues under deficit round robin, each with its own marking threshold: the data that the queue can send in a
//! round, as a share of the threshold of the whole port.
//!
//! # Reference
//! Bai, Chen, Chen and Wu, "Enabling ECN in Multi-Service Multi-Queue Data Centers" (MQ-ECN), NSDI 2016;
//! the authors' code (HKUST-SING/MQ-ECN-NS2 `queue/dwrr.cc`) for constants.
//!
//! # Parameters
//! See `aqmlab aqm show mq_ecn`.
//!
//! # Deviations
//! The paper's body was not available: thresholds and the estimate of a round are those of the authors' code. A queue is
//! compared without the arriving packet. Not-ECT packets are dropped beyond the
//! threshold (RFC 3168 section 5), unless `unmarkable` is `pass`, as it is in the authors' code.
//!
//! # Promises
//! Order kept within a class; signals on arrival only; none for a packet that finds its queue empty; no random numbers.
//! A class that holds no more than its part of the limit loses no packet to another, except in the authors' presets.

use super::classful::{CLASSES, per_class};
use super::sharing::{SHARING, Sharing, longer, longest, pushes_out};
use super::step::{Marker, UNMARKABLE};
use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};
use crate::paused::PausedClasses;
use crate::queue::Fifo;
use crate::scheduler::{Drr, Scheduler};
use crate::signal::DropReason;
use crate::units::{Bytes, Rate, Size, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "mq_ecn",
    group: Group::Class,
    summary: "Deficit round robin with a marking threshold per queue from the time of a round",
    reference: "Bai, Chen, Chen and Wu 2016",
    params: &[
        LIMIT.with_help("Limit of all classes together, in packets or bytes"),
        SHARING,
        CLASSES,
        ParamSpec::new(
            "quantum",
            Kind::PerClass(Each::Bytes),
            Value::PerClass(PerClass::of(Each::Bytes, &[1500])),
            (64.0, 1e6),
            "Bytes of each class in one round",
            "HKUST-SING/MQ-ECN-NS2: 1500 bytes",
        ),
        ParamSpec::new(
            "threshold",
            Kind::Bytes,
            Value::Bytes(Bytes::new(65 * 1500)),
            (0.0, 1e12),
            "Queue of the whole port above which packets are marked (rate times round-trip time times a factor)",
            "HKUST-SING/MQ-ECN-NS2: 65 packets of 1500 bytes at 10 Gbit/s",
        ),
        ParamSpec::new(
            "weight",
            Kind::Fraction,
            Value::Fraction(0.75),
            (0.0, 0.999),
            "Weight of the estimate of a round against a new sample",
            "HKUST-SING/MQ-ECN-NS2: 0.75",
        ),
        UNMARKABLE,
    ],
    presets: &[
        Preset {
            name: "protected",
            source: "as ns2, but a class that fills the buffer gives way to shorter ones",
            values: &[],
        },
        Preset {
            name: "ns2",
            source: "HKUST-SING/MQ-ECN-NS2 queue/dwrr.cc, 10 Gbit/s: one buffer, which drops what arrives when full",
            values: &[COMPLETE],
        },
        Preset {
            name: "linux",
            source: "HKUST-SING's Linux prototype, 1 Gbit/s: 32 KB",
            values: &[COMPLETE, ("threshold", Value::Bytes(Bytes::new(32 * 1024)))],
        },
    ],
    probes: &[
        ProbeSpec { name: "round_time", unit: "s", help: "Estimate of the time that a round takes" },
        ProbeSpec { name: "busy_classes", unit: "classes", help: "Classes in which packets wait" },
    ],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "written from the authors' code; Not-ECT packets are dropped unless 'unmarkable' is 'pass'",
    build,
};

/// The authors' buffer: it is full for all classes or for none.
const COMPLETE: (&str, Value) = ("sharing", Value::Choice(Sharing::Complete.word()));

/// Idle time is counted in slots of one packet of this size.
const SLOT: Bytes = Bytes::new(1500);
/// After this many slots no estimate remains with any allowed weight: 0.999^40000 is below 10^-17.
const LONG_SILENCE: u64 = 40_000;

struct Settings {
    limit: Size,
    pushout: bool,
    quanta: Vec<u32>,
    threshold: f64,
    weight: f64,
    marker: Marker,
}

struct MqEcn {
    classes: Vec<Class>,
    scheduler: Drr,
    settings: Settings,
    rate: Rate,
    backlog: Backlog,
    /// T_round in seconds.
    round: f64,
    idle_since: Time,
    /// A class was paused when its turn came.
    held_back: bool,
}

#[derive(Default)]
struct Class {
    queue: Fifo,
    /// When its part in the current round started: it became active, or its last turn ended.
    start: Time,
    /// It was paused when its turn came, and is inactive in the scheduler.
    held_back: bool,
}

fn settings(params: &Params) -> Settings {
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        pushout: pushes_out(params),
        quanta: per_class(params, params.per_class("quantum")),
        threshold: params.bytes("threshold").expect("threshold has no auto").as_u64() as f64,
        weight: params.number("weight"),
        marker: Marker::new(params),
    }
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params);
    Ok(Box::new(MqEcn {
        classes: settings.quanta.iter().map(|_| Class::default()).collect(),
        scheduler: Drr::new(settings.quanta.clone()),
        settings,
        rate: link.rate,
        backlog: Backlog::default(),
        round: 0.0,
        idle_since: Time::ZERO,
        held_back: false,
    }))
}

impl MqEcn {
    /// K_i: the port's threshold, times the share of the link that the quantum is per round, at most one.
    fn threshold(&self, class: usize) -> f64 {
        let sent_per_round = self.round * self.rate.as_bytes_per_sec_f64();
        let quantum = f64::from(self.settings.quanta[class]);
        if quantum < sent_per_round {
            self.settings.threshold * quantum / sent_per_round
        } else {
            self.settings.threshold
        }
    }

    /// Classes that were paused are active again. Their part in the round starts again: a round is the time in which
    /// the others send, without pauses.
    #[cold]
    fn resume(&mut self, now: Time) {
        self.held_back = false;
        for (number, class) in self.classes.iter_mut().enumerate() {
            if core::mem::take(&mut class.held_back) {
                class.start = now;
                self.scheduler.activate(number);
            }
        }
    }

    /// The class to serve. Every turn that ends meanwhile is a sample of the duration of a round.
    #[inline]
    fn select(&mut self, now: Time) -> Option<usize> {
        let (weight, round) = (self.settings.weight, &mut self.round);
        // Two closures need the classes: turns that end are recorded where both can reach them.
        let classes = core::cell::RefCell::new(&mut self.classes);
        self.scheduler.select_and_tell(
            &mut |class| classes.borrow()[class].queue.head().map(|packet| packet.length),
            &mut |class| {
                let start = core::mem::replace(&mut classes.borrow_mut()[class].start, now);
                average(round, weight, now.since(start).as_secs_f64());
            },
        )
    }

    /// The same, among those that are not paused.
    #[cold]
    fn select_unpaused(&mut self, paused: PausedClasses, now: Time) -> Option<usize> {
        let (weight, round, held_back) = (self.settings.weight, &mut self.round, &mut self.held_back);
        let classes = core::cell::RefCell::new(&mut self.classes);
        self.scheduler.select_and_tell(
            &mut |number| {
                let class = &mut classes.borrow_mut()[number];
                let head = class.queue.head()?;
                class.held_back = paused.contains(head.class);
                *held_back |= class.held_back;
                (!class.held_back).then_some(head.length)
            },
            &mut |class| {
                let start = core::mem::replace(&mut classes.borrow_mut()[class].start, now);
                average(round, weight, now.since(start).as_secs_f64());
            },
        )
    }

    /// Drops packets of longer classes for one of `length` in class `number`; returns whether there is room now.
    #[cold]
    fn make_room(&mut self, number: usize, length: u32, cx: &mut Cx<'_>) -> bool {
        let limit = self.settings.limit;
        let fits = self.settings.pushout && !Backlog::default().would_exceed(limit, length);
        while fits && self.backlog.would_exceed(limit, length) {
            let backlogs = self.classes.iter().map(|class| class.queue.backlog());
            let Some(longer) = longer(backlogs, number, length, limit) else { return false };
            let oldest = self.take(longer).expect("a longer class is not empty");
            cx.drop(oldest, DropReason::Overlimit);
        }
        fits
    }

    /// Takes the oldest packet of a class.
    #[inline]
    fn take(&mut self, number: usize) -> Option<Packet> {
        let packet = self.classes[number].queue.pop()?;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.length);
        Some(packet)
    }

    /// The port was idle: rounds took no time, once per slot.
    fn wake(&mut self, now: Time) {
        let slot = self.rate.time_for(SLOT).as_nanos().max(1);
        let slots = now.since(self.idle_since).as_nanos() / slot;
        for _ in 0..slots.min(LONG_SILENCE) {
            self.round *= self.settings.weight;
        }
    }
}

/// Adds a sample of the duration of a round.
fn average(round: &mut f64, weight: f64, sample: f64) {
    *round = weight * *round + (1.0 - weight) * sample;
}

impl Discipline for MqEcn {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        let number = usize::from(packet.class).min(self.classes.len() - 1);
        let full = self.backlog.would_exceed(self.settings.limit, packet.length);
        if full && !self.make_room(number, packet.length, cx) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        if self.backlog.packets == 0 {
            self.wake(cx.now);
            self.idle_since = cx.now;
        }
        if self.classes[number].queue.is_empty() {
            self.classes[number].start = cx.now;
        } else if self.classes[number].queue.backlog().bytes as f64 > self.threshold(number) {
            match self.settings.marker.hit(packet, cx) {
                Some(kept) => packet = kept,
                None => return,
            }
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.length);
        self.classes[number].queue.push(packet);
        self.scheduler.activate(number);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        if self.held_back {
            self.resume(cx.now);
        }
        let (weight, now) = (self.settings.weight, cx.now);
        let number =
            if cx.paused().is_empty() { self.select(now)? } else { self.select_unpaused(cx.paused(), now)? };
        let packet = self.take(number).expect("only classes with a head are selected");
        let class = &self.classes[number];
        let sending = self.rate.time_for(Bytes::new(u64::from(packet.length)));
        if class.queue.is_empty() {
            let sample = (now + sending).since(class.start).as_secs_f64();
            average(&mut self.round, weight, sample);
        }
        if self.backlog.packets == 0 {
            self.idle_since = now + sending;
        }
        self.scheduler.sent(number, packet.length, self.classes[number].queue.is_empty());
        Some(packet)
    }

    /// From the longest class.
    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        let longest = longest(self.classes.iter().map(|class| class.queue.backlog()), self.settings.limit)?;
        self.take(longest)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let settings = settings(params);
        if settings.quanta.len() != self.classes.len() {
            return Err(ParamError::while_packets_wait("classes", settings.quanta.len()));
        }
        self.scheduler.set_quanta(&settings.quanta);
        self.settings = settings;
        // The first classes keep their packets, and the last are trimmed.
        let limit = self.settings.limit;
        let mut room = limit.count();
        self.backlog = Backlog::default();
        for class in &mut self.classes {
            class.queue.trim(limit.with_count(room), cx);
            let left = class.queue.backlog();
            room -= left.in_unit_of(limit);
            self.backlog.packets += left.packets;
            self.backlog.bytes += left.bytes;
        }
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        for class in &mut self.classes {
            class.queue.purge(cx);
            class.held_back = false;
        }
        self.held_back = false;
        self.backlog = Backlog::default();
        self.scheduler.clear();
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("round_time", self.round);
        sink("busy_classes", self.classes.iter().filter(|class| !class.queue.is_empty()).count() as f64);
    }

    fn state_bytes(&self) -> usize {
        let per_class = size_of::<Class>() + size_of::<u32>();
        size_of::<MqEcn>() + self.classes.len() * per_class + self.scheduler.state_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use crate::packet::Ecn;

    fn put(host: &mut Host, at: u64, cookie: u64, class: u16) {
        let mut packet = Packet::new(cookie, u64::from(class), 1250);
        (packet.class, packet.ecn) = (class, Ecn::Ect0);
        host.enqueue(ms(at), packet);
    }

    #[test]
    fn a_round_is_measured_when_a_turn_ends_and_when_a_queue_empties() {
        // 1250 bytes take 1 ms at 10 Mbit/s; a quantum is one packet.
        let mut host = Host::new("mq_ecn quantum 1250b weight 0.5");
        for cookie in 0..4 {
            put(&mut host, 0, cookie, (cookie % 2) as u16);
        }
        assert_eq!(host.get(ms(0)), Some(0));
        assert_eq!(host.probe("round_time"), 0.0);
        assert_eq!(host.get(ms(1)), Some(1)); // the turn of class 0 is over, 1 ms after its start: 0.5 ms
        assert_eq!(host.probe("round_time"), 0.0005);
        assert_eq!(host.get(ms(2)), Some(2)); // of class 1: 2 ms, 1.25 ms. Class 0 is dry at 3 ms, begun at 1: 1.625 ms
        assert!((host.probe("round_time") - 0.001_625).abs() < 1e-12);
        // Class 1 is dry at 4 ms, begun at 2: 1.8125 ms.
        assert_eq!(host.get(ms(3)), Some(3));
        assert!((host.probe("round_time") - 0.001_812_5).abs() < 1e-12);
        // Idle from 4 ms; a slot of 1500 bytes is 1.2 ms, of which 3.6 ms are three.
        host.wake_until(ms(7));
        put(&mut host, 8, 9, 0);
        assert!((host.probe("round_time") - 0.001_812_5 / 8.0).abs() < 1e-12);
    }

    #[test]
    fn a_queue_is_marked_beyond_its_share_of_the_threshold() {
        // T_round = 4 ms, in which the link sends 5000 bytes: a quantum of 1250 is a quarter of it.
        let mut host = Host::new("mq_ecn quantum 1250b,2500b weight 0 threshold 10000b");
        put(&mut host, 0, 0, 0);
        put(&mut host, 0, 1, 0);
        host.get(ms(0));
        put(&mut host, 0, 2, 1);
        host.get(ms(4)); // turn of class 0 over after 4 ms
        assert_eq!(host.probe("round_time"), 0.005); // and class 1 is dry at 5 ms, begun at 0
        // 6250 bytes per round: K_0 = 2000 bytes, K_1 = 4000.
        (10..13).for_each(|cookie| put(&mut host, 4, cookie, 0)); // they find 1250, 2500, 3750
        (20..26).for_each(|cookie| put(&mut host, 4, cookie, 1)); // the fifth finds 5000
        assert_eq!(host.marked(), [11, 12, 24, 25]);
    }

    #[test]
    fn without_an_estimate_the_threshold_is_that_of_the_port() {
        let mut host = Host::new("mq_ecn threshold 2500b");
        (0..5).for_each(|cookie| put(&mut host, 0, cookie, 3));
        assert_eq!(host.marked(), [3, 4]);
    }
}
