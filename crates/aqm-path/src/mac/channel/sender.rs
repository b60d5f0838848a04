//! One queue of a node: what it has taken from the host, and the aggregates that it builds of it.

use super::super::ampdu::Aggregate;
use super::super::aql;
use super::super::block_ack::{Mpdu, Originator, Recipient};
use super::super::edca::ContenderId;
use super::super::rates::Mode;
use super::config::{Config, DriverOrder, Station, is_group};
use super::host::{ACCESS_POINT, DropCause, Dropped, Queue, Source};
use aqm_core::stations::Stations;
use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// A packet that the host has handed over, before it is an MPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) id: u64,
    pub(super) octets: u32,
    pub(super) taken: Time,
}

/// What a sender looks at when it builds.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) config: &'a Config,
    pub(super) stations: &'a [Station],
    pub(super) now: Time,
    /// Its PPDU on the air.
    pub(super) on_air: Option<&'a Ppdu>,
    /// The airtime that other queues of its node hold, if that is limited.
    pub(super) elsewhere: Span,
}

/// The airtime that a node holds for its receivers, as estimated.
#[derive(Debug)]
struct Pending<'a> {
    limits: aql::Limits,
    stations: &'a [Station],
    of: Vec<(u8, Span)>,
    total: Span,
}

impl Pending<'_> {
    fn add(&mut self, to: u8, airtime: Span) {
        self.total += airtime;
        match self.of.iter_mut().find(|(station, _)| *station == to) {
            Some((_, pending)) => *pending += airtime,
            None => self.of.push((to, airtime)),
        }
    }

    /// Multicast has no limit.
    fn may_release(&self, to: u8) -> bool {
        let of = self.of.iter().find(|(station, _)| *station == to);
        of.is_none_or(|(_, pending)| {
            is_group(self.stations, to) || self.limits.may_release(*pending, self.total)
        })
    }

    /// Those that may not be given another packet: all of them hold some.
    fn limited(&self) -> Stations {
        let held = self.of.iter().map(|(to, _)| *to);
        held.filter(|to| !self.may_release(*to)).fold(Stations::NONE, Stations::with)
    }
}

/// What is on its way to one receiver.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) to: u8,
    pub(super) originator: Originator,
    pub(super) recipient: Recipient,
    /// Of the driver's queue; without one, what was taken but did not fit into the last aggregate.
    pub(super) packets: VecDeque<Held>,
    /// Sequence numbers that were given up, of which the receiver does not know.
    pub(super) given_up: Vec<u32>,
    /// A request stands ready.
    pub(super) asked: bool,
    /// Sent, but the block ACK was missed.
    pub(super) unknown: Vec<Mpdu>,
    /// When it was last built for, counted in aggregates.
    built: u64,
}

/// A PPDU that stands ready.
#[derive(Clone, Debug)]
pub(super) struct Ppdu {
    pub(super) to: u8,
    pub(super) aggregate: Aggregate,
    /// None, if it only asks for a block ACK.
    pub(super) mpdus: Vec<Mpdu>,
    /// A block ACK request goes before it.
    pub(super) asks: bool,
    /// How often it was sent.
    pub(super) attempts: u8,
}

#[derive(Debug)]
pub(super) struct Sender {
    pub(super) queue: Queue,
    pub(super) contender: ContenderId,
    pub(super) sessions: Vec<Session>,
    /// Ready to be sent, the next first.
    pub(super) hardware: VecDeque<Ppdu>,
    built: u64,
    /// Packets that it has taken so far.
    pub(super) taken: u64,
    /// Packets that became too old.
    expired: u64,
    /// When its TXOP ends; only while it has one.
    pub(super) txop_end: Option<Time>,
}

impl Sender {
    pub(super) fn new(queue: Queue, contender: ContenderId) -> Sender {
        Sender {
            queue,
            contender,
            sessions: Vec::new(),
            hardware: VecDeque::new(),
            built: 0,
            taken: 0,
            expired: 0,
            txop_end: None,
        }
    }

    pub(super) fn session(&mut self, to: u8, window: u16) -> &mut Session {
        let place = self.sessions.iter().position(|session| session.to == to).unwrap_or_else(|| {
            self.sessions.push(Session {
                to,
                originator: Originator::new(window),
                recipient: Recipient::new(window),
                packets: VecDeque::new(),
                given_up: Vec::new(),
                asked: false,
                unknown: Vec::new(),
                built: 0,
            });
            self.sessions.len() - 1
        });
        &mut self.sessions[place]
    }

    /// Whether it holds anything to send.
    fn holds_work(&self) -> bool {
        !self.hardware.is_empty() || self.sessions.iter().any(Session::has_work)
    }

    /// Whether it has anything to send, or the host has for it.
    pub(super) fn has_work(&self, view: View<'_>, source: &mut impl Source) -> bool {
        let pending = self.pending(view);
        self.holds_work() || source.peek(self.queue, view.now, limited(&pending)).is_some()
    }

    /// Takes packets into the driver's queues, and builds aggregates until `count` stand ready or nothing is left.
    pub(super) fn fill(
        &mut self,
        count: usize,
        view: View<'_>,
        source: &mut impl Source,
        dropped: &mut Vec<Dropped>,
    ) {
        let mut pending = self.pending(view);
        loop {
            self.fill_driver(view, &mut pending, source);
            if self.hardware.len() >= count {
                return;
            }
            let before = self.expired;
            match self.build(view, &mut pending, source, dropped) {
                Some(ppdu) => self.hardware.push_back(ppdu),
                // All that the driver held had expired: there is room for more.
                None if self.expired > before => pending = self.pending(view),
                None => return,
            }
        }
    }

    /// The airtime that it holds for each receiver, if there are limits; only the access point has them.
    fn pending<'a>(&self, view: View<'a>) -> Option<Pending<'a>> {
        let limits = view.config.aql.filter(|_| self.queue.node == ACCESS_POINT)?;
        // The limit of a station is that of a category, the limit of all is that of all categories.
        let mut pending = Pending { limits, stations: view.stations, of: Vec::new(), total: view.elsewhere };
        // As estimated when it was handed over: a rate that has changed since does not matter (`tx_time_est`).
        let mut add =
            |to: u8, octets: u32, taken: Time| pending.add(to, self.estimate(to, octets, taken, view));
        for ppdu in self.hardware.iter().chain(view.on_air) {
            ppdu.mpdus.iter().for_each(|mpdu| add(ppdu.to, mpdu.octets, mpdu.taken));
        }
        for session in &self.sessions {
            let sent = session.originator.waiting().chain(&session.unknown);
            sent.for_each(|mpdu| add(session.to, mpdu.octets, mpdu.taken));
            session.packets.iter().for_each(|held| add(session.to, held.octets, held.taken));
        }
        Some(pending)
    }

    /// The airtime that it holds, as estimated; of a node without limits nothing.
    pub(super) fn held_airtime(&self, view: View<'_>) -> Span {
        self.pending(view).map_or(Span::ZERO, |pending| pending.total)
    }

    /// Takes packets from the host into the driver's queues, up to its limit.
    fn fill_driver(&mut self, view: View<'_>, pending: &mut Option<Pending<'_>>, source: &mut impl Source) {
        let (config, now) = (view.config, view.now);
        let mut in_driver: usize = self.sessions.iter().map(|session| session.packets.len()).sum();
        while in_driver < config.driver as usize
            && let Some(to) = source.peek(self.queue, now, limited(pending))
        {
            let Some(msdu) = source.take(self.queue, to, now) else { break };
            if let Some(pending) = pending {
                pending.add(to, self.estimate(to, msdu.octets, now, view));
            }
            let held = Held { id: msdu.id, octets: msdu.octets, taken: now };
            self.session(to, config.window).packets.push_back(held);
            in_driver += 1;
            self.taken += 1;
        }
    }

    /// For whom the next aggregate is, and whether it may take packets from the host. With packets in the driver's queues
    /// its receivers take turns. Otherwise the host's queue says whose turn it is, and what the MAC holds for a receiver
    /// goes with it; alone only if the host has nothing for it, after those who were served longer ago.
    fn next_receiver(
        &self,
        view: View<'_>,
        pending: &Option<Pending<'_>>,
        source: &mut impl Source,
    ) -> Option<(u8, bool)> {
        let (queue, has_driver) = (self.queue, view.config.driver > 0);
        let by_age = has_driver && view.config.order == DriverOrder::Oldest;
        let mut waiting: Option<(u64, u8)> = None;
        let mut any: Option<(u64, u8)> = None;
        for session in self.sessions.iter().filter(|session| session.has_work()) {
            let key = if by_age { session.oldest().as_nanos() } else { session.built };
            let is_longer = |than: Option<(u64, u8)>| than.is_none_or(|(longest, _)| key < longest);
            if is_longer(any) {
                any = Some((key, session.to));
            }
            if is_longer(waiting) && (has_driver || !source.waits(queue, session.to)) {
                waiting = Some((key, session.to));
            }
        }
        let held = waiting.map(|(_, to)| (to, false));
        if has_driver {
            return held;
        }
        let of = |to: u8| self.sessions.iter().find(|session| session.to == to);
        // A receiver whose window is full must acknowledge first.
        let blocked = self.sessions.iter().filter(|one| !one.originator.has_room() && !one.has_work());
        let except = blocked.map(|one| one.to).fold(limited(pending), Stations::with);
        // What is held may be what keeps a receiver from getting more.
        let Some(turn) = source.peek(queue, view.now, except) else { return any.map(|(_, to)| (to, false)) };
        let served = of(turn).map_or(0, |session| session.built);
        match waiting {
            Some((built, _)) if built < served => held,
            _ => Some((turn, true)),
        }
    }

    fn build(
        &mut self,
        view: View<'_>,
        pending: &mut Option<Pending<'_>>,
        source: &mut impl Source,
        dropped: &mut Vec<Dropped>,
    ) -> Option<Ppdu> {
        let View { config, now, .. } = view;
        loop {
            let (to, may_take) = self.next_receiver(view, pending, source)?;
            let mode = *self.mode(to, now, view);
            let limits = config.limits_of(self.queue, &mode);
            self.built += 1;
            let (built, queue) = (self.built, self.queue);
            let session = self.session(to, config.window);
            session.built = built;
            // One that was received, but not acknowledged, expires without being dropped.
            let expired = session.expire(config, queue, now, dropped);
            let mut aggregate = Aggregate::new(&config.timing, &mode, &limits);
            let mut mpdus = Vec::new();
            let mut fits = |octets| aggregate.push(limits.mpdu_octets(&mode, octets));
            while let Some(retry) = session.originator.first_retry()
                && fits(retry.octets)
            {
                mpdus.extend(session.originator.take_retry());
            }
            let mut taken = 0;
            // A retry that does not fit goes before what is new.
            while session.originator.retries() == 0 && session.originator.has_room() {
                if session.packets.is_empty() && may_take && may_release(pending, to) {
                    let Some(msdu) = source.take(queue, to, now) else { break };
                    if let Some(pending) = pending {
                        pending.add(to, aql::estimate(&mode, msdu.octets, queue.category));
                    }
                    session.packets.push_back(Held { id: msdu.id, octets: msdu.octets, taken: now });
                    taken += 1;
                }
                let Some(held) = session.packets.front().copied() else { break };
                if !fits(held.octets) {
                    break;
                }
                session.packets.pop_front();
                mpdus.push(session.originator.assign(held.id, held.octets, held.taken));
            }
            let asks = session.wants_request();
            session.asked |= asks;
            self.taken += taken;
            self.expired += expired;
            if asks || !mpdus.is_empty() {
                return Some(Ppdu { to, aggregate, mpdus, asks, attempts: 0 });
            }
            // Everything for it had expired: the next.
            if expired == 0 {
                return None;
            }
        }
    }

    /// The airtime that is expected of a packet, handed over at this time.
    fn estimate(&self, to: u8, octets: u32, taken: Time, view: View<'_>) -> Span {
        aql::estimate(self.mode(to, taken, view), octets, self.queue.category)
    }

    /// The mode of a transmission to `to` at this time.
    fn mode<'a>(&self, to: u8, time: Time, view: View<'a>) -> &'a Mode {
        let stations = view.stations;
        let station = if self.queue.node == ACCESS_POINT { to } else { self.queue.node };
        stations[usize::from(station)].modes.at(time)
    }

    /// Packets that it holds and that have not been received, by a walk over all.
    pub(super) fn held(&self) -> u64 {
        let missing = |mpdus: &[Mpdu]| mpdus.iter().filter(|mpdu| !mpdu.received).count();
        let ready: usize = self.hardware.iter().map(|ppdu| missing(&ppdu.mpdus)).sum();
        let of_session = |session: &Session| {
            let again = session.originator.waiting().filter(|mpdu| !mpdu.received).count();
            session.packets.len() + again + missing(&session.unknown) + session.recipient.waiting() as usize
        };
        (ready + self.sessions.iter().map(of_session).sum::<usize>()) as u64
    }

    /// Gives up all that it holds, at either end, for one receiver or for all.
    pub(super) fn clear(&mut self, only: Option<u8>, dropped: &mut Vec<Dropped>) {
        let queue = self.queue;
        let is_meant = |to: u8| only.is_none_or(|only| only == to);
        let mut drop = |id: u64| dropped.push(Dropped { queue, id, cause: DropCause::Left });
        for ppdu in self.hardware.iter().filter(|ppdu| is_meant(ppdu.to)) {
            ppdu.mpdus.iter().filter(|mpdu| !mpdu.received).for_each(|mpdu| drop(mpdu.id));
        }
        for session in self.sessions.iter().filter(|session| is_meant(session.to)) {
            let sent = session.originator.waiting().chain(&session.unknown);
            sent.filter(|mpdu| !mpdu.received).for_each(|mpdu| drop(mpdu.id));
            session.packets.iter().for_each(|held| drop(held.id));
            // What waits for earlier ones at the receiver goes with it.
            session.recipient.held().for_each(|arrived| drop(arrived.mpdu.id));
        }
        self.hardware.retain(|ppdu| !is_meant(ppdu.to));
        self.sessions.retain(|session| !is_meant(session.to));
    }
}

/// The receivers that may not be given another packet.
fn limited(pending: &Option<Pending<'_>>) -> Stations {
    pending.as_ref().map_or(Stations::NONE, Pending::limited)
}

/// Whether a receiver may be given another packet.
fn may_release(pending: &Option<Pending<'_>>, to: u8) -> bool {
    pending.as_ref().is_none_or(|pending| pending.may_release(to))
}

impl Session {
    /// Whether something can be sent: new packets only within the window.
    fn has_work(&self) -> bool {
        let has_new = !self.packets.is_empty() && self.originator.has_room();
        self.wants_request() || self.originator.retries() > 0 || has_new
    }

    /// When the first that it would send was taken from the queue.
    fn oldest(&self) -> Time {
        let again = self.originator.first_retry().map(|mpdu| mpdu.taken);
        again.or(self.packets.front().map(|held| held.taken)).unwrap_or(Time::ZERO)
    }

    /// Whether a block ACK request is to be sent, as the window has moved over what was given up.
    fn wants_request(&self) -> bool {
        let start = self.originator.start();
        !self.asked && self.given_up.iter().any(|sequence| *sequence < start)
    }

    /// Gives up what is older than its lifetime; answers how many packets that are.
    fn expire(&mut self, config: &Config, queue: Queue, now: Time, dropped: &mut Vec<Dropped>) -> u64 {
        let mut expired = 0;
        let is_over = |taken: Time| now.since(taken) > config.lifetime;
        let cause = DropCause::Lifetime;
        while let Some(mpdu) = self.originator.first_retry().copied()
            && is_over(mpdu.taken)
        {
            self.originator.take_retry();
            self.give_up(&mpdu, queue, cause, dropped);
            expired += 1;
        }
        while let Some(held) = self.packets.front().copied()
            && is_over(held.taken)
        {
            self.packets.pop_front();
            dropped.push(Dropped { queue, id: held.id, cause });
            expired += 1;
        }
        expired
    }

    /// An MPDU is not sent again: the receiver must learn it.
    pub(super) fn give_up(
        &mut self,
        mpdu: &Mpdu,
        queue: Queue,
        cause: DropCause,
        dropped: &mut Vec<Dropped>,
    ) {
        self.originator.resolve(mpdu.sequence);
        if !mpdu.received {
            dropped.push(Dropped { queue, id: mpdu.id, cause });
            self.given_up.push(mpdu.sequence);
        }
    }
}
