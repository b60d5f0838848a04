//! Contention for the medium: EDCA's queues, their backoffs and collisions (IEEE 802.11-2020, 10.3 and 10.23.2).
//!
//! A slot is no event. While the medium is idle, the start of every contender is known: the end of its AIFS and the slots
//! that are left. The earliest wins, and those that start with it collide; all others have waited for the slots that
//! passed, and keep the rest ("freezing").

mod contender;
mod invariants;

pub use self::contender::Access;

use self::contender::Contender;
use self::invariants::Watch;
use super::airtime::Timing;
use super::category::Category;
use aqm_core::choices;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

choices! {
    /// When a slot is counted, which matters if another sends in it: then the backoff freezes, before it or after it.
    pub enum Countdown {
        /// At its start, whoever sends in it: EDCA (10.23.2.4), and Bianchi's chain (JSAC 18(3), 2000, section IV).
        AtStart = "start",
        /// At its end, if it was idle: DCF (IEEE 802.11-2020, 10.3.4.3).
        AtEnd = "end",
    }
}

/// The rules of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// When slots are counted.
    pub countdown: Countdown,
    /// Whether stations wait for EIFS after a frame that they could not decode, or for AIFS after any.
    pub eifs: bool,
    /// Those that start within this time of each other do not hear each other before (aCCATime, 4 µs).
    pub blind: Span,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { countdown: Countdown::AtStart, eifs: true, blind: Span::from_micros(4) }
    }
}

/// Who contends: a queue of a node, numbered in the order in which they were added.
pub type ContenderId = usize;

/// The contention for one channel, on which everybody hears everybody.
#[derive(Debug)]
pub struct Contention {
    slot: Span,
    rules: Rules,
    contenders: Vec<Contender>,
    /// Since when the medium is idle; none while somebody sends.
    idle: Option<Time>,
    random: Random,
    /// The earliest start of all, none if it must be found again.
    earliest: Option<Time>,
    watch: Watch,
}

/// Who starts to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Those that send: several collide.
    pub winners: Vec<ContenderId>,
    /// Those that would have, but for a higher category of the same node: to them it is a collision, too (10.23.2.4).
    pub deferred: Vec<ContenderId>,
}

impl Contention {
    /// An idle channel without contenders.
    pub fn new(timing: &Timing, rules: Rules, random: Random) -> Contention {
        let (contenders, idle) = (Vec::new(), Some(Time::ZERO));
        let watch = Watch::new(timing);
        Contention { slot: timing.slot, rules, contenders, idle, random, earliest: None, watch }
    }

    /// Adds a queue of a node.
    pub fn add(&mut self, node: u16, category: Category, access: Access, timing: &Timing) -> ContenderId {
        let from = self.idle.unwrap_or_default() + timing.aifs(access.aifsn);
        let (cw, backoff, start) = (access.cw_min, None, Time::MAX);
        self.watch.add(access);
        self.contenders.push(Contender { node, category, access, cw, backoff, from, ready: None, start });
        self.contenders.len() - 1
    }

    /// The access of a contender.
    pub fn access(&self, id: ContenderId) -> &Access {
        &self.contenders[id].access
    }

    /// It has something to send. With the backoff over and the medium idle for its AIFS it starts at the next slot;
    /// otherwise after a backoff (10.23.2.4).
    pub fn ready(&mut self, id: ContenderId, now: Time) {
        let contender = &mut self.contenders[id];
        if contender.ready.is_some() {
            return;
        }
        contender.ready = Some(now);
        let waits = self.idle.is_none() || now < contender.from;
        if contender.backoff.is_none() && waits {
            contender.draw(&mut self.random);
        }
        if self.idle.is_some() {
            contender.start = contender.start(self.slot);
            self.earliest = self.earliest.map(|earliest| earliest.min(contender.start));
        }
    }

    /// It has nothing more to send.
    pub fn withdraw(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id];
        (contender.ready, contender.start) = (None, Time::MAX);
        self.earliest = None;
    }

    /// When somebody starts to send: none while the medium is busy, or if nobody has anything to send.
    pub fn next_start(&mut self) -> Option<Time> {
        self.idle?;
        let contenders = &self.contenders;
        let find = || contenders.iter().map(|contender| contender.start).min().unwrap_or(Time::MAX);
        let earliest = *self.earliest.get_or_insert_with(find);
        (earliest != Time::MAX).then_some(earliest)
    }

    /// The medium becomes busy at [`Contention::next_start`]: who sends. Tell [`Contention::succeeded`] or
    /// [`Contention::failed`] of each, then [`Contention::end`].
    pub fn begin(&mut self, at: Time, start: &mut Start) {
        let idle = self.idle.take().unwrap_or(at);
        self.earliest = None;
        start.winners.clear();
        start.deferred.clear();
        let last = at + self.rules.blind;
        for id in 0..self.contenders.len() {
            let contender = &mut self.contenders[id];
            if contender.start < last {
                start.winners.push(id);
                self.watch.starts(id, contender, idle);
                contender.backoff = None;
                continue;
            }
            let Some(left) = contender.backoff else { continue };
            let passed = if at >= contender.from {
                let slots = at.since(contender.from).as_nanos() / self.slot.as_nanos();
                slots + u64::from(self.rules.countdown == Countdown::AtStart)
            } else {
                0
            };
            let passed = u32::try_from(passed).unwrap_or(u32::MAX);
            contender.backoff = match left.checked_sub(passed) {
                Some(0) if contender.ready.is_none() => None,
                Some(left) => Some(left),
                None if contender.ready.is_none() => None,
                // It would have started at the next slot: now it finds the medium busy, and waits for a backoff.
                None => {
                    contender.draw(&mut self.random);
                    contender.backoff
                }
            };
        }
        let contenders = &self.contenders;
        let node_has_higher = |id: &ContenderId, winners: &[ContenderId]| {
            let of = |id: ContenderId| (contenders[id].node, contenders[id].category);
            winners.iter().any(|other| of(*other).0 == of(*id).0 && of(*other).1 > of(*id).1)
        };
        if start.winners.len() > 1 {
            let winners = start.winners.clone();
            start.winners.retain(|id| !node_has_higher(id, &winners));
            start.deferred.extend(winners.iter().filter(|id| node_has_higher(id, &winners)));
        }
    }

    /// It has sent: the window is the smallest again, and it waits for a backoff even with nothing to send.
    pub fn succeeded(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id];
        contender.cw = contender.access.cw_min;
        contender.draw(&mut self.random);
        self.watch.succeeded(id, contender);
    }

    /// It has failed: the window doubles.
    pub fn failed(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id];
        contender.cw = (2 * contender.cw + 1).min(contender.access.cw_max);
        contender.draw(&mut self.random);
        self.watch.failed(id, contender);
    }

    /// The medium becomes idle at `at`. Those of the nodes in `unanswered` wait from the end of their timeout on; all
    /// others for AIFS, or for EIFS if what they heard was a collision.
    pub fn end(&mut self, at: Time, collided: bool, unanswered: &[(u16, Time)], timing: &Timing) {
        self.idle = Some(at);
        for contender in &mut self.contenders {
            let timeout = unanswered.iter().find(|(node, _)| *node == contender.node);
            let aifs = timing.aifs(contender.access.aifsn);
            contender.from = match timeout {
                Some((_, end)) if self.rules.eifs => at.max(*end) + aifs,
                None if self.rules.eifs && collided => at + timing.eifs(contender.access.aifsn),
                _ => at + aifs,
            };
            contender.start = contender.start(self.slot);
        }
        self.earliest = None;
    }

    /// What does not hold, in one line.
    ///
    /// # Errors
    /// If somebody started too early, or has a window that its failures do not give, or waits for longer than its window.
    pub fn check(&self) -> Result<(), String> {
        self.watch.check_all(&self.contenders)
    }
}

#[cfg(any(test, feature = "faults"))]
impl Contention {
    /// A fault that tests plant: windows no longer double after a failure.
    pub(super) fn keep_windows(&mut self) {
        self.contenders.iter_mut().for_each(|contender| contender.access.cw_max = contender.access.cw_min);
    }

    /// A fault that tests plant: a backoff goes on from twice what is left.
    pub(super) fn lengthen_backoff(&mut self) -> bool {
        let mut waiting = self.contenders.iter_mut().filter(|contender| contender.ready.is_some());
        waiting.next().is_some_and(|contender| {
            contender.backoff = Some(2 * u32::from(contender.cw));
            true
        })
    }
}

#[cfg(test)]
mod tests;
