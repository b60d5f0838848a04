//! One channel: an access point and its stations, which contend for it in both directions.
//!
//! The channel has no clock: at a given time it asks the host for packets, and answers what happens next: a burst that begins, with the
//! packets that it delivers and when; its end, with what became of each transmission; or until when there is nothing.
//!
//! What it leaves out: hidden stations, capture, OFDMA, several users at once, several links, roaming, fading, power save.

mod account;
mod config;
mod host;
mod invariants;
mod sender;

pub use crate::device::air::{MediumTotals, StationTotals};
pub use account::jain;
pub use config::{Config, DriverOrder, Missed, Station};
pub use host::{
    ACCESS_POINT, DropCause, Dropped, Msdu, Next, Outcome, Queue, Released, Source, Transmission,
};

use super::airtime::Control;
use super::block_ack::{Arrived, Mpdu};
use super::edca::{Contention, Start};
use super::errors::Errors;
use account::Account;
use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use config::is_group;
use sender::{Ppdu, Sender, View};

/// What is on the air.
#[derive(Debug)]
struct Air {
    start: Time,
    /// When the medium is idle again.
    until: Time,
    /// The senders by place, with what each sends; several collide.
    sent: Vec<OnAir>,
}

#[derive(Debug)]
struct OnAir {
    sender: usize,
    ppdu: Ppdu,
    /// The end of what it sends: from here it waits for a response.
    end: Time,
    airtime: Span,
    length: Span,
    outcome: Outcome,
    /// Its receiver or sender has left meanwhile.
    abandoned: bool,
}

/// The channel.
#[derive(Debug)]
pub struct Channel {
    config: Config,
    stations: Vec<Station>,
    contention: Contention,
    senders: Vec<Sender>,
    air: Option<Air>,
    /// A sender that goes on in its TXOP, and when.
    continues: Option<(usize, Time)>,
    random: Random,
    account: Account,
    released: Vec<Released>,
    ended: Vec<Transmission>,
    dropped: Vec<Dropped>,
    start: Start,
    /// What was wrong with a burst; the first.
    broken: Option<String>,
}

impl Channel {
    /// An idle channel.
    ///
    /// # Errors
    /// If the configuration cannot be, or there are no stations, or more than 250.
    pub fn new(config: Config, stations: Vec<Station>, seed: u64, name: &str) -> Result<Channel, InputError> {
        config.check()?;
        if stations.is_empty() || stations.len() > 250 {
            return Err(InputError::field("stations", stations.len(), "allowed is 1 to 250"));
        }
        stations.iter().try_for_each(|station| station.errors.check())?;
        let stream = |part: &str| Random::stream(seed, &format!("{name} {part}"));
        Ok(Channel {
            contention: Contention::new(&config.timing, config.rules, stream("contention")),
            random: stream("losses"),
            account: Account::new(stations.len()),
            config,
            stations,
            senders: Vec::new(),
            air: None,
            continues: None,
            released: Vec::new(),
            ended: Vec::new(),
            dropped: Vec::new(),
            start: Start::default(),
            broken: None,
        })
    }

    /// What the burst that has begun delivers, in the order of release.
    pub fn released(&self) -> &[Released] {
        &self.released
    }

    /// The transmissions of the burst that has ended.
    pub fn ended(&self) -> &[Transmission] {
        &self.ended
    }

    /// Takes what the MAC has given up: ask after every call.
    pub fn take_dropped(&mut self) -> Vec<Dropped> {
        self.account.dropped += self.dropped.len() as u64;
        std::mem::take(&mut self.dropped)
    }

    /// When the burst ends that is on the air.
    pub fn busy_until(&self) -> Option<Time> {
        self.air.as_ref().map(|air| air.until)
    }

    /// The sums of a station.
    pub fn station(&self, station: u8) -> &StationTotals {
        &self.account.stations[usize::from(station)]
    }

    /// The sums of the medium.
    pub fn medium(&self) -> &MediumTotals {
        &self.account.medium
    }

    /// Packets have come to a queue.
    pub fn wake(&mut self, queue: Queue, now: Time, source: &mut impl Source) {
        let place = self.senders.iter().position(|sender| sender.queue == queue).unwrap_or_else(|| {
            let access = *self.config.access(queue);
            let node = u16::from(queue.node);
            let contender = self.contention.add(node, queue.category, access, &self.config.timing);
            self.senders.push(Sender::new(queue, contender));
            self.senders.len() - 1
        });
        self.prepare(place, now, source);
    }

    /// Fills the hardware of a sender, and lets it contend if it has anything to send.
    fn prepare(&mut self, place: usize, now: Time, source: &mut impl Source) {
        let elsewhere = self.elsewhere(place, now);
        let mut all = self.air.iter().flat_map(|air| &air.sent);
        let on_air = all.find(|sent| sent.sender == place).map(|sent| &sent.ppdu);
        let view = View { config: &self.config, stations: &self.stations, now, on_air, elsewhere };
        let on_air = on_air.is_some();
        let count = usize::from(self.config.hardware).saturating_sub(usize::from(on_air));
        let sender = &mut self.senders[place];
        sender.fill(count, view, source, &mut self.dropped);
        let has_work = if self.config.hardware == 0 {
            sender.has_work(view, source)
        } else {
            !sender.hardware.is_empty()
        };
        if on_air {
            return;
        }
        if has_work {
            self.contention.ready(sender.contender, now);
        } else {
            self.contention.withdraw(sender.contender);
        }
    }

    /// The airtime that the other categories of a node hold (`aql_total_pending_airtime` is that of all).
    fn elsewhere(&self, place: usize, now: Time) -> Span {
        let node = self.senders[place].queue.node;
        if self.config.aql.is_none() || node != ACCESS_POINT {
            return Span::ZERO;
        }
        let others = self.senders.iter().enumerate();
        let others = others.filter(|(other, sender)| *other != place && sender.queue.node == node);
        let airtime = others.map(|(other, sender)| {
            let mut all = self.air.iter().flat_map(|air| &air.sent);
            let on_air = all.find(|sent| sent.sender == other).map(|sent| &sent.ppdu);
            let (config, stations) = (&self.config, &self.stations);
            sender.held_airtime(View { config, stations, now, on_air, elsewhere: Span::ZERO })
        });
        airtime.fold(Span::ZERO, |sum, one| sum + one)
    }

    /// What happens at `now` or next.
    pub fn poll(&mut self, now: Time, source: &mut impl Source) -> Next {
        loop {
            if let Some(air) = &self.air {
                if air.until > now {
                    return Next::At(air.until);
                }
                self.finish(source);
                return Next::Ended;
            }
            if let Some((sender, at)) = self.continues {
                if at > now {
                    return Next::At(at);
                }
                self.continues = None;
                if self.begin(at, &[sender], source) {
                    return Next::Begun;
                }
                continue;
            }
            let Some(at) = self.contention.next_start() else { return Next::Idle };
            if at > now {
                return Next::At(at);
            }
            let mut start = std::mem::take(&mut self.start);
            self.contention.begin(at, &mut start);
            start.deferred.iter().for_each(|id| self.contention.failed(*id));
            let sender_of = |id: &usize| self.senders.iter().position(|sender| sender.contender == *id);
            let winners: Vec<usize> = start.winners.iter().filter_map(sender_of).collect();
            self.start = start;
            if self.begin(at, &winners, source) {
                return Next::Begun;
            }
        }
    }

    /// `senders` begin to send at once. `false` if none of them has anything to send after all.
    fn begin(&mut self, at: Time, senders: &[usize], source: &mut impl Source) -> bool {
        self.released.clear();
        let mut sent = Vec::new();
        for &place in senders {
            let elsewhere = self.elsewhere(place, at);
            let sender = &mut self.senders[place];
            let view =
                View { config: &self.config, stations: &self.stations, now: at, on_air: None, elsewhere };
            sender.fill(1, view, source, &mut self.dropped);
            let Some(ppdu) = sender.hardware.pop_front() else {
                // The discipline has dropped what there was.
                self.contention.withdraw(sender.contender);
                continue;
            };
            sent.push(self.on_air(place, ppdu, at));
        }
        let collides = sent.len() > 1;
        for one in &mut sent {
            one.ppdu.attempts = one.ppdu.attempts.saturating_add(1);
            for mpdu in &mut one.ppdu.mpdus {
                mpdu.first_sent.get_or_insert(at);
            }
        }
        let until = match &mut sent[..] {
            [] => {
                self.contention.end(at, false, &[], &self.config.timing);
                return false;
            }
            [one] => {
                self.deliver(one, at);
                at + one.airtime
            }
            several => {
                for one in several.iter_mut() {
                    one.outcome = Outcome::Collided;
                    one.airtime = one.end.since(at);
                }
                several.iter().map(|one| one.end).max().unwrap_or(at)
            }
        };
        self.account.begin(at, until, collides);
        self.air = Some(Air { start: at, until, sent });
        self.check_begun();
        true
    }

    /// The times of a PPDU: without a collision it takes `airtime`, and with one it ends at `end`.
    fn on_air(&self, place: usize, ppdu: Ppdu, at: Time) -> OnAir {
        let (timing, mode) = (&self.config.timing, ppdu.aggregate.mode());
        let gap = timing.sifs;
        let control = |control| timing.control(mode, control);
        let length = if ppdu.mpdus.is_empty() { Span::ZERO } else { ppdu.aggregate.airtime(timing) };
        let answered = !is_group(&self.stations, ppdu.to);
        let protected = answered
            && length != Span::ZERO
            && self.config.rts_above.is_some_and(|above| ppdu.aggregate.octets() > above);
        let block_ack = Control::BlockAck(self.config.window);
        let mut before = Span::ZERO;
        // What is lost in a collision is the first frame.
        let mut first = length;
        if ppdu.asks {
            first = control(Control::BlockAckRequest);
            before = first + gap + control(block_ack);
            if length != Span::ZERO {
                before += gap;
            }
        }
        if protected {
            first = control(Control::Rts);
            before = first + gap + control(Control::Cts) + gap + before;
        }
        let response = if answered && length != Span::ZERO {
            gap + control(ppdu.aggregate.response())
        } else {
            Span::ZERO
        };
        let (end, airtime) = (at + first, before + length + response);
        OnAir { sender: place, ppdu, end, airtime, length, outcome: Outcome::Answered, abandoned: false }
    }

    /// Nobody else sends: which MPDUs arrive, and whether the response does.
    fn deliver(&mut self, one: &mut OnAir, at: Time) {
        let sender = &mut self.senders[one.sender];
        let (queue, to) = (sender.queue, one.ppdu.to);
        let mode = *one.ppdu.aggregate.mode();
        let station = if queue.node == ACCESS_POINT { to } else { queue.node };
        let errors = self.stations.get(usize::from(station)).map_or(Errors::None, |station| station.errors);
        let timing = &self.config.timing;
        let response = timing.sifs + timing.control(&mode, one.ppdu.aggregate.response());
        let answered = !is_group(&self.stations, to);
        let data_end = if one.length == Span::ZERO {
            at + one.airtime
        } else {
            at + if answered { one.airtime.saturating_sub(response) } else { one.airtime }
        };
        one.end = data_end;
        let session = sender.session(to, self.config.window);
        let released = &mut self.released;
        let mut release = |arrived: Arrived| {
            released.push(Released {
                queue,
                id: arrived.mpdu.id,
                at: data_end,
                taken: arrived.mpdu.taken,
                first_sent: arrived.mpdu.first_sent.unwrap_or(at),
                received: arrived.at,
            });
        };
        if one.ppdu.asks {
            // The request comes before the data: what was given up no longer holds anything back.
            let start = session.originator.start();
            session.recipient.move_to(start, &mut release);
            session.given_up.retain(|sequence| *sequence >= start);
        }
        let mut arrived = 0;
        for mpdu in &mut one.ppdu.mpdus {
            if !errors.arrives(&mode, self.config.limits.mpdu_octets(&mode, mpdu.octets), &mut self.random) {
                continue;
            }
            arrived += 1;
            if !answered {
                // Multicast has no agreement: nothing waits for what was lost.
                session.recipient.move_to(mpdu.sequence, &mut release);
            }
            if !std::mem::replace(&mut mpdu.received, true) {
                session.recipient.receive(*mpdu, data_end, &mut release);
            }
        }
        let lost = arrived == 0 && !one.ppdu.mpdus.is_empty();
        let response_lost =
            self.config.response_loss > 0.0 && self.random.uniform() < self.config.response_loss;
        if answered && (lost || response_lost) {
            one.outcome = Outcome::Unanswered;
        }
        self.account.released(station, &self.released);
    }

    /// The burst has ended: senders learn what became of their MPDUs.
    fn finish(&mut self, source: &mut impl Source) {
        let Some(air) = self.air.take() else { return };
        self.check_ended(&air);
        self.ended.clear();
        let (until, collided) = (air.until, air.sent.len() > 1);
        let mut unanswered = Vec::new();
        let places: Vec<usize> = air.sent.iter().map(|one| one.sender).collect();
        let mut goes_on = None;
        for one in air.sent {
            let (place, end) = (one.sender, one.end);
            let (contender, node) = (self.senders[place].contender, self.senders[place].queue.node);
            let mode = *one.ppdu.aggregate.mode();
            let transmission = self.resolve(one, air.start);
            match transmission.outcome {
                Outcome::Answered => {
                    self.contention.succeeded(contender);
                    goes_on = self.txop(place, air.start, until).then_some(place);
                }
                _ => {
                    self.senders[place].txop_end = None;
                    unanswered.push((u16::from(node), end + self.config.timing.response_timeout(&mode)));
                }
            }
            self.account.ended(&transmission);
            source.ended(&transmission);
            self.ended.push(transmission);
        }
        if let Some(place) = goes_on {
            let elsewhere = self.elsewhere(place, until);
            let sender = &mut self.senders[place];
            let count = usize::from(self.config.hardware.max(1));
            let (config, stations) = (&self.config, &self.stations);
            let view = View { config, stations, now: until, on_air: None, elsewhere };
            sender.fill(count, view, source, &mut self.dropped);
            let at = until + self.config.timing.sifs;
            if self.fits_txop(place, at) {
                self.continues = Some((place, at));
                return;
            }
        }
        for place in places {
            self.senders[place].txop_end = None;
            self.contention.withdraw(self.senders[place].contender);
            self.prepare(place, until, source);
        }
        self.contention.end(until, collided, &unanswered, &self.config.timing);
    }

    /// Whether the sender has a TXOP in which it may go on; it began with the transmission if there was none.
    fn txop(&mut self, place: usize, start: Time, until: Time) -> bool {
        let sender = &mut self.senders[place];
        let limit = self.contention.access(sender.contender).txop;
        let end = *sender.txop_end.get_or_insert(start + limit);
        limit > Span::ZERO && until < end
    }

    fn fits_txop(&self, place: usize, at: Time) -> bool {
        let sender = &self.senders[place];
        let next = sender.hardware.front().map(|ppdu| self.on_air(place, ppdu.clone(), at).airtime);
        next.zip(sender.txop_end).is_some_and(|(airtime, end)| at + airtime <= end)
    }

    /// MPDUs are acknowledged, wait to be sent again, or are given up.
    fn resolve(&mut self, one: OnAir, start: Time) -> Transmission {
        let OnAir { sender: place, mut ppdu, airtime, length, outcome, abandoned, .. } = one;
        let sender = &mut self.senders[place];
        let (queue, contender) = (sender.queue, sender.contender);
        let mut transmission = Transmission {
            queue,
            to: ppdu.to,
            start,
            airtime,
            mode: *ppdu.aggregate.mode(),
            ppdu: length,
            mpdus: ppdu.mpdus.len() as u16,
            again: ppdu.mpdus.iter().filter(|mpdu| mpdu.attempts > 0).count() as u16,
            acknowledged: 0,
            octets: 0,
            outcome,
        };
        let dropped = &mut self.dropped;
        if abandoned {
            let missing = ppdu.mpdus.iter().filter(|mpdu| !mpdu.received);
            dropped.extend(missing.map(|mpdu| Dropped { queue, id: mpdu.id, cause: DropCause::Left }));
            self.contention.succeeded(contender);
            return transmission;
        }
        let (retries, aggregates) = (self.config.retries, ppdu.mpdus.len() > 1 || ppdu.asks);
        let to = ppdu.to;
        // Nobody acknowledges multicast, so nothing of it is sent again.
        let is_multicast = is_group(&self.stations, to);
        let session = sender.session(to, self.config.window);
        for mpdu in &mut ppdu.mpdus {
            mpdu.attempts = mpdu.attempts.saturating_add(1);
        }
        let mut again_or_give_up = |session: &mut sender::Session, mpdu: Mpdu| -> Option<Mpdu> {
            if mpdu.attempts <= retries && !is_multicast {
                return Some(mpdu);
            }
            session.give_up(&mpdu, queue, DropCause::Retries, dropped);
            if is_multicast {
                // No receiver waits for it.
                session.given_up.clear();
            }
            None
        };
        match outcome {
            Outcome::Answered => {
                // The block ACK that was asked for.
                let asked = if ppdu.asks { std::mem::take(&mut session.unknown) } else { Vec::new() };
                session.asked &= !ppdu.asks;
                for mpdu in asked.into_iter().chain(ppdu.mpdus) {
                    if mpdu.received {
                        transmission.acknowledged += 1;
                        transmission.octets += u64::from(mpdu.octets);
                        session.originator.resolve(mpdu.sequence);
                    } else if let Some(mpdu) = again_or_give_up(session, mpdu) {
                        session.originator.retry(mpdu);
                    }
                }
            }
            // Nobody answers multicast: it is lost.
            _ if is_multicast => {
                for mpdu in ppdu.mpdus {
                    let _ = again_or_give_up(session, mpdu);
                }
                self.contention.succeeded(contender);
            }
            _ => {
                let asks_next = self.config.missed == Missed::Request && aggregates;
                let is_over = ppdu.attempts > retries;
                let mut mpdus = Vec::new();
                for mpdu in std::mem::take(&mut ppdu.mpdus) {
                    mpdus.extend(again_or_give_up(session, mpdu));
                }
                if asks_next && !is_over {
                    session.unknown.extend(mpdus);
                    (ppdu.asks, session.asked) = (true, true);
                    ppdu.aggregate = ppdu.aggregate.emptied();
                    sender.hardware.push_front(ppdu);
                } else if is_over {
                    // The request was not answered either: all of them go again, in another aggregate.
                    mpdus.append(&mut session.unknown);
                    for mpdu in mpdus {
                        session.originator.retry(mpdu);
                    }
                    session.asked &= !ppdu.asks;
                } else {
                    let limits = &self.config.limits;
                    let mut aggregate = ppdu.aggregate.emptied();
                    let mode = *aggregate.mode();
                    for mpdu in &mpdus {
                        aggregate.push(limits.mpdu_octets(&mode, mpdu.octets));
                    }
                    if !mpdus.is_empty() || ppdu.asks {
                        ppdu.aggregate = aggregate;
                        ppdu.mpdus = mpdus;
                        sender.hardware.push_front(ppdu);
                    }
                }
                if is_over {
                    // Its frame is given up: the window is the smallest again.
                    self.contention.succeeded(contender);
                } else {
                    self.contention.failed(contender);
                }
            }
        }
        transmission
    }

    /// A station has left: everything for it and from it is given up.
    pub fn leave(&mut self, station: u8, now: Time, source: &mut impl Source) {
        if let Some(air) = &mut self.air {
            for one in &mut air.sent {
                let node = self.senders[one.sender].queue.node;
                one.abandoned |= one.ppdu.to == station || node == station;
            }
        }
        for place in 0..self.senders.len() {
            let node = self.senders[place].queue.node;
            if node == station || node == ACCESS_POINT {
                let only = (node == ACCESS_POINT).then_some(station);
                self.senders[place].clear(only, &mut self.dropped);
                self.prepare(place, now, source);
            }
        }
    }
}

#[cfg(any(test, feature = "faults"))]
pub mod faults;
#[cfg(test)]
mod tests;
