//! A suspicious host: it drives one discipline and keeps its own counts.
//!
//! After every call it compares the discipline's counts with its own: each packet leaves once, unchanged, in order,
//! marked only if allowed, and within the limit.

use super::values;
use super::workload::{LINK_RATE, Op};
use aqm_core::backlog::Backlog;
use aqm_core::link::Link;
use aqm_core::packet::{Ecn, Packet, TcpView};
use aqm_core::params::{ParamError, Value};
use aqm_core::paused::PausedClasses;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::sent::Sent;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::collections::BTreeMap;

/// Packets up to this many bytes are TCP acknowledgments.
pub(crate) const LONGEST_ACK: u32 = 66;

/// One action of a discipline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Event {
    /// When.
    pub(crate) at: Time,
    /// What.
    pub(crate) what: What,
}

/// Actions of a discipline; packets are identified by their number of arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    Departed(u64),
    Dropped(u64, DropReason, DropPoint),
    Marked(u64, MarkReason),
    Emitted(Emission),
}

/// The host's knowledge of a packet that it enqueued.
struct Entry {
    flow: u64,
    length: u32,
    ecn: Ecn,
    /// Carried ECT(1) or CE on arrival, or, with `any_ect`, ECT(0): L4S puts such packets in a queue of their own (RFC
    /// 9331 section 5.1).
    scalable: bool,
    arrived: Time,
    waits: bool,
}

/// The host's own counts.
#[derive(Default)]
struct Ledger {
    /// The discipline's name in panics.
    label: String,
    now: Time,
    point: Option<DropPoint>,
    packets: Vec<Entry>,
    events: Vec<Event>,
    waiting: Backlog,
    arriving: Option<u64>,
    keeps_queued: bool,
}

impl Ledger {
    /// The packet leaves or is dropped: it must be queued and unchanged.
    fn settle(&mut self, packet: &Packet) {
        let entry = &mut self.packets[packet.cookie as usize];
        assert!(entry.waits, "{}: packet {} comes out twice", self.label, packet.cookie);
        entry.waits = false;
        let was = (entry.flow, entry.length, entry.ecn, entry.arrived);
        let is = (packet.flow, packet.length, packet.ecn, packet.arrival);
        assert_eq!(is, was, "{}: packet {}: (flow, length, ecn, arrival)", self.label, packet.cookie);
        self.waiting.packets -= 1;
        self.waiting.bytes -= u64::from(packet.length);
    }

    fn log(&mut self, what: What) {
        self.events.push(Event { at: self.now, what });
    }
}

impl Observer for Ledger {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, point: DropPoint) {
        assert_eq!(Some(point), self.point, "{}: the drop point names the call", self.label);
        assert_ne!(reason, DropReason::Unspecified, "{}: every drop has a reason", self.label);
        let reconfigured = reason == DropReason::Reconfigured;
        assert!(
            !self.keeps_queued || reconfigured || self.arriving == Some(packet.cookie),
            "{}: packet {} was queued and dropped: declare drops_queued, or drop on arrival only",
            self.label,
            packet.cookie
        );
        self.settle(&packet);
        self.log(What::Dropped(packet.cookie, reason, point));
    }

    fn on_mark(&mut self, packet: &Packet, reason: MarkReason) {
        let entry = &mut self.packets[packet.cookie as usize];
        assert!(entry.waits, "{}: packet {} is marked after it left", self.label, packet.cookie);
        assert!(
            matches!(entry.ecn, Ecn::Ect0 | Ecn::Ect1),
            "{}: {:?} must not be marked",
            self.label,
            entry.ecn
        );
        entry.ecn = Ecn::Ce;
        self.log(What::Marked(packet.cookie, reason));
    }

    fn on_emit(&mut self, emission: Emission) {
        self.log(What::Emitted(emission));
    }
}

/// One discipline under a suspicious host.
pub(crate) struct Rig {
    qdisc: Qdisc,
    ledger: Ledger,
    /// Newest departed packet of each stream.
    newest: BTreeMap<(u64, bool), u64>,
    newest_of_all: Option<u64>,
    /// Whether a packet may have left the discipline and wait in the shell.
    holds: bool,
    /// Whether ECT(0) identifies scalable traffic too.
    any_ect: bool,
}

impl Rig {
    /// `spec` on a link of [`LINK_RATE`], with random numbers from `seed`.
    pub(crate) fn new(spec: &Spec, seed: u64) -> Rig {
        Rig::try_new(spec, seed).unwrap_or_else(|error| panic!("{spec}: {error}"))
    }

    /// The same, if a relation between parameters may be broken.
    pub(crate) fn try_new(spec: &Spec, seed: u64) -> Result<Rig, ParamError> {
        let qdisc = Qdisc::new(spec, Link::new(LINK_RATE), Random::seeded(seed))?;
        let keeps_queued = !spec.info.traits.drops_queued;
        let ledger = Ledger { label: spec.to_string(), keeps_queued, ..Ledger::default() };
        let any_ect = spec.info.params.iter().any(|one| one.name == "l4s")
            && spec.params.get("l4s").to_string() == "any_ect";
        Ok(Rig { qdisc, ledger, newest: BTreeMap::new(), newest_of_all: None, holds: false, any_ect })
    }

    /// A packet arrives; returns its number.
    pub(crate) fn arrive(&mut self, flow: u64, length: u32, ecn: Ecn) -> u64 {
        self.arrive_with(flow, length, ecn, |_| ())
    }

    /// The same, with other fields than follow from the flow's number: they must stay the same within a flow.
    pub(crate) fn arrive_with(
        &mut self,
        flow: u64,
        length: u32,
        ecn: Ecn,
        edit: impl FnOnce(&mut Packet),
    ) -> u64 {
        let cookie = self.ledger.packets.len() as u64;
        self.ledger.packets.push(Entry {
            flow,
            length,
            ecn,
            scalable: matches!(ecn, Ecn::Ect1 | Ecn::Ce) || (self.any_ect && ecn == Ecn::Ect0),
            arrived: self.now(),
            waits: true,
        });
        self.ledger.waiting.packets += 1;
        self.ledger.waiting.bytes += u64::from(length);
        let mut packet = Packet::new(cookie, flow, length);
        packet.ecn = ecn;
        // Fields that stay the same within a flow follow from its number.
        packet.source = flow as u32;
        packet.destination = !flow as u32;
        packet.dscp = (flow % 64) as u8;
        packet.class = (flow % 3) as u16;
        packet.station = (flow % 4) as u8;
        // Small packets acknowledge everything before them.
        let ack = TcpView { seq: 0, ack: cookie as u32, payload: 0, flags: 16, has_sack: false };
        packet.tcp = (length <= LONGEST_ACK).then_some(ack);
        edit(&mut packet);
        self.ledger.arriving = Some(cookie);
        self.call(DropPoint::Enqueue, |qdisc, now, ledger| qdisc.enqueue(packet, now, ledger));
        self.ledger.arriving = None;
        cookie
    }

    /// The link is free; returns the number of the packet that it gets, if any.
    pub(crate) fn serve(&mut self) -> Option<u64> {
        self.holds = false;
        let sent = self.take(|qdisc, now, ledger| qdisc.dequeue(now, ledger));
        let waiting = self.qdisc.backlog().packets;
        assert!(
            sent.is_some() || waiting == 0 || self.qdisc.next_wakeup().is_some(),
            "{}: nothing to send, {waiting} packets wait and no wake-up is asked for",
            self.ledger.label
        );
        sent
    }

    /// The same while the first eight classes are paused as the bits of `paused` say.
    pub(crate) fn serve_others(&mut self, paused: u8) -> Option<u64> {
        let classes = (0..8_u16).filter(|class| paused >> class & 1 == 1);
        let classes = classes.fold(PausedClasses::NONE, PausedClasses::with);
        self.holds = true;
        self.take(|qdisc, now, ledger| {
            let packet = qdisc.dequeue_unpaused(now, classes, ledger)?;
            assert!(!classes.contains(packet.class), "{}: class {} is paused", ledger.label, packet.class);
            Some(packet)
        })
    }

    /// Takes a packet by `dequeue`; returns its number.
    fn take(&mut self, dequeue: impl FnOnce(&mut Qdisc, Time, &mut Ledger) -> Option<Packet>) -> Option<u64> {
        let before = self.ledger.events.len();
        // The packet is settled inside the call, so that the check after it sees it gone.
        let packet = self.call(DropPoint::Dequeue, |qdisc, now, ledger| {
            let packet = dequeue(qdisc, now, ledger);
            if let Some(packet) = &packet {
                ledger.settle(packet);
            }
            packet
        })?;
        self.check_order(&packet, before);
        self.ledger.log(What::Departed(packet.cookie));
        self.report(&packet);
        Some(packet.cookie)
    }

    /// Reports the transmission of a packet. Stations are the slower the higher their number; one in four packets brings
    /// something back.
    fn report(&mut self, packet: &Packet) {
        let rate = Rate::from_bits_per_sec(60_000_000 >> (2 * packet.station));
        let airtime = rate.time_for(Bytes::new(packet.length.into()));
        let expected = Some(rate);
        let sent = Sent {
            station: packet.station,
            class: packet.class,
            delivered: 1,
            attempts: 1,
            airtime,
            received: packet.cookie.is_multiple_of(4),
            expected,
        };
        self.call(DropPoint::Other, |qdisc, now, ledger| qdisc.sent(&sent, now, ledger));
    }

    /// A flow, or whatever must stay in order. If flows may overtake each other, flows of the workloads that carry
    /// several ECN identifiers, as no real one does, count as two.
    fn stream(&self, number: u64) -> (u64, bool) {
        let entry = &self.ledger.packets[number as usize];
        (entry.flow, entry.scalable && self.qdisc.info().traits.reorders_flows)
    }

    /// Packets of a flow leave in order, and dropped ones were older than the one that is sent.
    fn check_order(&mut self, packet: &Packet, before: usize) {
        if self.qdisc.info().traits.reorders_within_flow {
            return;
        }
        let stream = self.stream(packet.cookie);
        let previous = self.newest.insert(stream, packet.cookie);
        assert!(
            previous < Some(packet.cookie),
            "{}: packets {previous:?} and {} of flow {} leave in the wrong order",
            self.ledger.label,
            packet.cookie,
            packet.flow
        );
        if !self.qdisc.info().traits.reorders_flows {
            let previous = self.newest_of_all.replace(packet.cookie);
            assert!(
                previous < Some(packet.cookie),
                "{}: the queue is not first in, first out",
                self.ledger.label
            );
        }
        for event in &self.ledger.events[before..] {
            // A law that drops packets to look at them looks at any.
            if let What::Dropped(dropped, reason, _) = event.what
                && reason != DropReason::Other
            {
                assert!(
                    self.stream(dropped) != stream || dropped < packet.cookie,
                    "{}: packet {dropped} was dropped to send the older {}",
                    self.ledger.label,
                    packet.cookie
                );
            }
        }
    }

    /// The number of the packet that would leave next.
    pub(crate) fn peek(&mut self) -> Option<u64> {
        self.call(DropPoint::Dequeue, |qdisc, now, ledger| {
            qdisc.peek(now, ledger).map(|packet| packet.cookie)
        })
    }

    /// A wake-up, requested or not.
    pub(crate) fn wake(&mut self) {
        self.call(DropPoint::Other, |qdisc, now, ledger| qdisc.wake(now, ledger));
    }

    /// Time passes; wake-ups that become due are delivered on time.
    pub(crate) fn advance(&mut self, span: Span) {
        let until = self.now() + span;
        while let Some(due) = self.qdisc.next_wakeup().filter(|due| *due <= until) {
            self.ledger.now = self.now().max(due);
            self.wake();
            let next = self.qdisc.next_wakeup();
            assert!(
                next > Some(due) || next.is_none(),
                "{}: asks for the same wake-up again",
                self.ledger.label
            );
        }
        self.ledger.now = until;
    }

    /// Time passes, and the host is late: what fell due meanwhile is one wake-up, at the end.
    pub(crate) fn sleep(&mut self, span: Span) {
        self.ledger.now = self.now() + span;
        if self.qdisc.next_wakeup().is_some_and(|due| due <= self.now()) {
            self.wake();
        }
    }

    /// Time passes before the first call: no wake-up is due.
    pub(crate) fn skip_to(&mut self, now: Time) {
        self.ledger.now = now;
    }

    /// Changes one parameter; a refusal must name it or another one that is declared.
    pub(crate) fn change(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let before: Vec<Value> = self.qdisc.params().iter().map(|(_, value)| value.clone()).collect();
        let result =
            self.call(DropPoint::Other, |qdisc, now, ledger| qdisc.change(&[(name, text)], now, ledger));
        if let Err(error) = &result {
            let after: Vec<Value> = self.qdisc.params().iter().map(|(_, value)| value.clone()).collect();
            assert_eq!(before, after, "{}: a refused change of {name} changed something", self.ledger.label);
            assert!(
                self.qdisc.params().names().any(|declared| declared == error.param),
                "{}: the refusal '{error}' names no parameter",
                self.ledger.label
            );
        }
        result
    }

    /// Starts again, as [`Qdisc::reset`] does; the host's counts continue.
    pub(crate) fn reset(&mut self) {
        self.ledger.point = Some(DropPoint::Other);
        self.qdisc.reset(self.ledger.now, &mut self.ledger);
        assert_eq!(
            self.ledger.waiting,
            Backlog::default(),
            "{}: reset leaves packets behind",
            self.ledger.label
        );
    }

    /// Drops what waits, as [`Qdisc::purge`] does.
    pub(crate) fn purge(&mut self) {
        self.call(DropPoint::Other, |qdisc, now, ledger| qdisc.purge(now, ledger));
    }

    /// Executes `op`.
    pub(crate) fn apply(&mut self, op: &Op) {
        match *op {
            Op::Arrive { flow, length, ecn } => {
                self.arrive(flow, length, ecn);
            }
            Op::Serve => {
                self.serve();
            }
            Op::Advance(span) => self.advance(span),
            Op::Wake => self.wake(),
            Op::Change { param, value } => {
                let params = self.qdisc.info().params;
                if !params.is_empty() {
                    let spec = &params[param % params.len()];
                    let values = values::allowed(spec);
                    let text = values[value % values.len()].to_string();
                    // A relation between parameters may forbid it; `change` checks the refusal.
                    let _ = self.change(spec.name, &text);
                }
            }
        }
    }

    /// Executes all of `ops`.
    pub(crate) fn run(&mut self, ops: &[Op]) -> &mut Rig {
        for op in ops {
            self.apply(op);
        }
        self
    }

    /// Serves until the queue is empty, sleeping where the discipline asks for it.
    pub(crate) fn drain(&mut self) {
        while self.qdisc.backlog().packets > 0 {
            let before = self.qdisc.backlog().packets;
            if self.serve().is_none() && self.qdisc.backlog().packets == before {
                let due = self.qdisc.next_wakeup().expect("serve asked for a wake-up");
                let pause = due.since(self.now()).max(Span::from_nanos(1));
                self.advance(pause);
            }
        }
        assert!(
            self.ledger.packets.iter().all(|entry| !entry.waits),
            "{}: a packet is missing",
            self.ledger.label
        );
    }

    /// The time of the last call.
    pub(crate) fn now(&self) -> Time {
        self.ledger.now
    }

    /// All actions of the discipline so far.
    pub(crate) fn events(&self) -> &[Event] {
        &self.ledger.events
    }

    /// The discipline in its shell.
    pub(crate) fn qdisc(&self) -> &Qdisc {
        &self.qdisc
    }

    /// Makes one call and compares the counts after it.
    fn call<R>(&mut self, point: DropPoint, call: impl FnOnce(&mut Qdisc, Time, &mut Ledger) -> R) -> R {
        self.ledger.point = Some(point);
        let result = call(&mut self.qdisc, self.ledger.now, &mut self.ledger);
        self.check();
        result
    }

    fn check(&self) {
        if let Err(violation) = self.qdisc.check() {
            panic!("{}: {violation}", self.ledger.label);
        }
        let backlog = self.qdisc.backlog();
        assert_eq!(
            backlog, self.ledger.waiting,
            "{}: backlog against the host's own books",
            self.ledger.label
        );
        // The shell may hold a packet of a paused class beside what the limit is about.
        if let Some(limit) = values::limit(self.qdisc.params())
            && !self.holds
        {
            assert!(
                !backlog.exceeds(limit),
                "{}: {backlog:?} is beyond the limit {limit}",
                self.ledger.label
            );
        }
        if !self.qdisc.wakes() {
            assert_eq!(self.qdisc.next_wakeup(), None, "{}: wakes against its traits", self.ledger.label);
        }
    }
}
