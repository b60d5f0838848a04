//! The shell around every discipline: it stamps arrivals, counts, and checks conservation.

use crate::backlog::Backlog;
use crate::counters::Counters;
use crate::cx::{Cx, Shell};
use crate::discipline::{self, Discipline, Info};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{ParamError, Params};
use crate::paused::PausedClasses;
use crate::random::Random;
use crate::registry;
use crate::sent::Sent;
use crate::signal::{DropPoint, DropReason, Observer};
use crate::spec::{Spec, SpecError, read_child};
use crate::stations::{NextHop, Stations};
use crate::units::{Size, Time};
use alloc::boxed::Box;
use core::fmt;

/// A discipline lost, invented or changed a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The discipline.
    pub discipline: &'static str,
    /// The counters at that time.
    pub counters: Counters,
    /// The backlog reported by the discipline.
    pub backlog: Backlog,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = &self.counters;
        write!(
            f,
            "{} breaks conservation: {} packets ({} B) arrived, but {} ({} B) departed, {} ({} B) were dropped and {} ({} B) wait",
            self.discipline,
            c.arrived,
            c.arrived_bytes,
            c.departed,
            c.departed_bytes,
            c.dropped_total(),
            c.dropped_bytes,
            self.backlog.packets,
            self.backlog.bytes
        )
    }
}

impl core::error::Error for Violation {}

impl Spec {
    /// Builds the discipline in its shell, with its own stream of random numbers.
    pub fn build(&self, link: Link, random: Random) -> Result<Qdisc, SpecError> {
        Qdisc::new(self, link, random).map_err(|error| SpecError::Param { name: self.info.name, error })
    }
}

/// A discipline in its shell, for hosts.
pub struct Qdisc {
    discipline: Box<dyn Discipline>,
    info: &'static Info,
    params: Params,
    wakes: bool,
    link: Link,
    shell: Shell,
    /// A peeked packet: it has left the discipline but not the shell.
    held: Option<Packet>,
}

impl Qdisc {
    /// Builds `spec` for `link`.
    pub fn new(spec: &Spec, link: Link, random: Random) -> Result<Qdisc, ParamError> {
        let discipline = registry::build(spec.info, &spec.params, &link)?;
        let (info, params, wakes) = (spec.info, spec.params.clone(), spec.wakes());
        let shell = Shell {
            random,
            counters: Counters::default(),
            paused: PausedClasses::NONE,
            next_hop: NextHop::Any,
            restricted: false,
        };
        Ok(Qdisc { discipline, info, params, wakes, link, shell, held: None })
    }

    /// A packet arrives.
    #[inline]
    pub fn enqueue(&mut self, mut packet: Packet, now: Time, observer: &mut dyn Observer) {
        packet.arrival = now;
        self.shell.counters.arrived += 1;
        self.shell.counters.arrived_bytes += u64::from(packet.length);
        let mut cx = Cx { now, point: DropPoint::Enqueue, observer, shell: &mut self.shell };
        self.discipline.enqueue(packet, &mut cx);
        debug_assert!(self.check().is_ok(), "{}", self.check().unwrap_err());
    }

    /// The link is free: the packet that goes next. `None` with a backlog means: ask again at
    /// [`next_wakeup`](Qdisc::next_wakeup).
    #[inline]
    pub fn dequeue(&mut self, now: Time, observer: &mut dyn Observer) -> Option<Packet> {
        // Hosts rarely peek, and packets are not moved without need: both save time per packet.
        let taken = if self.held.is_some() { self.held.take() } else { self.take(now, observer) };
        if let Some(packet) = &taken {
            let sojourn = now.since(packet.arrival);
            self.shell.counters.departed += 1;
            self.shell.counters.departed_bytes += u64::from(packet.length);
            self.shell.counters.sojourn_sum += sojourn;
            self.shell.counters.sojourn_max = self.shell.counters.sojourn_max.max(sojourn);
            debug_assert!(self.check().is_ok(), "{}", self.check().unwrap_err());
        }
        taken
    }

    /// The same while the classes of `paused` may not send (IEEE 802.1Qbb). `None` with a backlog means: ask again
    /// when a pause ends, or at [`next_wakeup`](Qdisc::next_wakeup).
    ///
    /// Disciplines that serve classes skip the paused ones. Any other has a single queue: if its next packet is of a
    /// paused class, the shell holds it and the rest waits behind it (head-of-line blocking, as in a switch without a
    /// queue for each priority). The discipline has decided about this packet already, as with [`peek`](Qdisc::peek).
    pub fn dequeue_unpaused(
        &mut self,
        now: Time,
        paused: PausedClasses,
        observer: &mut dyn Observer,
    ) -> Option<Packet> {
        if self.held.is_none() {
            (self.shell.paused, self.shell.restricted) = (paused, !paused.is_empty());
            self.held = self.take(now, observer);
            (self.shell.paused, self.shell.restricted) = (PausedClasses::NONE, false);
        }
        if paused.contains(self.held.as_ref()?.class) {
            return None;
        }
        self.dequeue(now, observer)
    }

    /// The same for one station of a shared medium, which fills an aggregate: `None` if it has nothing to send now.
    ///
    /// A discipline with a queue for each station takes that one's next packet. Any other has a single queue: if its next
    /// packet is for another station, the shell holds it, and the rest waits behind it. So a driver that aggregates from
    /// a plain queue gets the packets of one station that lie behind each other, and no more.
    pub fn dequeue_for(&mut self, station: u8, now: Time, observer: &mut dyn Observer) -> Option<Packet> {
        self.hold_for(NextHop::Station(station), now, observer);
        if self.held.as_ref()?.station != station {
            return None;
        }
        self.dequeue(now, observer)
    }

    /// The packet that goes next to one of these stations; see [`peek`](Qdisc::peek) for what is decided with it.
    ///
    /// A discipline with a queue for each station passes over the others. From any other there is none while its next
    /// packet, which the shell holds, is for a station that may not have it.
    pub fn peek_among(
        &mut self,
        stations: Stations,
        now: Time,
        observer: &mut dyn Observer,
    ) -> Option<&Packet> {
        self.hold_for(NextHop::Among(stations), now, observer);
        self.held.as_ref().filter(|packet| stations.contains(packet.station))
    }

    /// Holds the packet that goes next to one of these, if none is held that the discipline does not take back.
    fn hold_for(&mut self, next_hop: NextHop, now: Time, observer: &mut dyn Observer) {
        if let Some(other) = self.held.take_if(|packet| !next_hop.contains(packet.station)) {
            self.held = self.discipline.put_back(other);
        }
        if self.held.is_none() {
            (self.shell.next_hop, self.shell.restricted) = (next_hop, true);
            self.held = self.take(now, observer);
            (self.shell.next_hop, self.shell.restricted) = (NextHop::Any, false);
        }
    }

    /// Tells the discipline what became of a transmission of packets that it released, or of one that was received.
    pub fn sent(&mut self, sent: &Sent, now: Time, observer: &mut dyn Observer) {
        self.with_cx(now, observer, |discipline, cx| discipline.sent(sent, cx));
    }

    /// The packet that [`dequeue`](Qdisc::dequeue) will return next.
    ///
    /// A discipline that drops at dequeue must decide to know its next packet: peeking dequeues and holds it, so the
    /// decision is made now (as in Linux and ns-3).
    pub fn peek(&mut self, now: Time, observer: &mut dyn Observer) -> Option<&Packet> {
        if self.held.is_none() {
            self.held = self.take(now, observer);
        }
        self.held.as_ref()
    }

    #[inline]
    fn take(&mut self, now: Time, observer: &mut dyn Observer) -> Option<Packet> {
        let mut cx = Cx { now, point: DropPoint::Dequeue, observer, shell: &mut self.shell };
        self.discipline.dequeue(&mut cx)
    }

    /// When to call [`wake`](Qdisc::wake) next; ask after every other call if the discipline [wakes](Qdisc::wakes).
    pub fn next_wakeup(&self) -> Option<Time> {
        self.discipline.next_wakeup()
    }

    /// Whether the discipline, or a child, ever asks for wake-ups.
    pub fn wakes(&self) -> bool {
        self.wakes
    }

    /// Whether packets of one flow may leave the discipline, or a child, in another order than they came.
    pub fn reorders(&self) -> bool {
        self.info.traits.reorders_within_flow || self.params.all_children().any(registry::reorders)
    }

    /// Whether the discipline, or a child, ever asks for packets to be sent.
    pub fn emits(&self) -> bool {
        emits(&*self.discipline)
    }

    /// Lets the discipline do the work that is due by now; extra calls are harmless.
    pub fn wake(&mut self, now: Time, observer: &mut dyn Observer) {
        self.with_cx(now, observer, |discipline, cx| discipline.on_wakeup(cx));
    }

    /// Changes parameters while running. On an error nothing has changed.
    pub fn change(
        &mut self,
        settings: &[(&str, &str)],
        now: Time,
        observer: &mut dyn Observer,
    ) -> Result<(), ParamError> {
        let mut params = self.params.clone();
        for (name, text) in settings {
            params.set_text(name, text, read_child)?;
        }
        self.with_cx(now, observer, |discipline, cx| discipline.change(&params, cx))?;
        self.params = params;
        Ok(())
    }

    /// Replaces the random numbers from now on: for tests that compare two implementations.
    pub fn set_random(&mut self, random: Random) {
        self.shell.random = random;
    }

    /// Drops the backlog, at the end of a run; [`Qdisc::reset`] begins another.
    pub fn purge(&mut self, now: Time, observer: &mut dyn Observer) {
        let held = self.held.take();
        self.with_cx(now, observer, |discipline, cx| {
            discipline.purge(cx);
            if let Some(packet) = held {
                cx.drop(packet, DropReason::Reconfigured);
            }
        });
    }

    /// Drops the backlog and starts again: parameters stay, counters and random numbers are reset.
    pub fn reset(&mut self, now: Time, observer: &mut dyn Observer) {
        self.purge(now, observer);
        self.discipline =
            registry::build(self.info, &self.params, &self.link).expect("parameters were accepted before");
        self.shell.random.restart();
        self.shell.counters = Counters::default();
    }

    fn with_cx<R>(
        &mut self,
        now: Time,
        observer: &mut dyn Observer,
        call: impl FnOnce(&mut dyn Discipline, &mut Cx<'_>) -> R,
    ) -> R {
        let mut cx = Cx { now, point: DropPoint::Other, observer, shell: &mut self.shell };
        call(&mut *self.discipline, &mut cx)
    }

    /// The backlog, a peeked packet included.
    pub fn backlog(&self) -> Backlog {
        let mut backlog = self.discipline.backlog();
        if let Some(packet) = &self.held {
            backlog.packets += 1;
            backlog.bytes += u64::from(packet.length);
        }
        backlog
    }

    /// The counts since the start.
    pub fn counters(&self) -> &Counters {
        &self.shell.counters
    }

    /// The current parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The declaration of the discipline.
    pub fn info(&self) -> &'static Info {
        self.info
    }

    /// The most that it holds: its limit, or that of its parts together if that is less. `None` if it has none.
    pub fn total(&self) -> Option<Size> {
        discipline::total(&self.params, &*self.discipline)
    }

    /// The discipline itself, for access to its children and the size of its state.
    pub fn discipline(&self) -> &dyn Discipline {
        &*self.discipline
    }

    /// Reports the law's own variables.
    pub fn probe(&self, now: Time, sink: &mut dyn FnMut(&str, f64)) {
        self.discipline.probe(now, sink);
    }

    /// Checks that every packet and byte that arrived has departed, was dropped or is queued.
    pub fn check(&self) -> Result<(), Box<Violation>> {
        let (c, backlog) = (&self.shell.counters, self.backlog());
        let packets = c.departed + c.dropped_total() + backlog.packets;
        let bytes = c.departed_bytes + c.dropped_bytes + backlog.bytes;
        if (packets, bytes) == (c.arrived, c.arrived_bytes) {
            return Ok(());
        }
        Err(Box::new(Violation { discipline: self.info.name, counters: c.clone(), backlog }))
    }
}

fn emits(discipline: &dyn Discipline) -> bool {
    let mut any = discipline.emits();
    discipline.children(&mut |_, child| any |= emits(child));
    any
}
