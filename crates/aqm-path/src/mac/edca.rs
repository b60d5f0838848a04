//! Contention for the medium: EDCA's queues, their backoffs and collisions (IEEE 802.11-2020, 10.3 and 10.23.2).
//!
//! A slot is no event. While the medium is idle, the start of every contender is known: the end of its AIFS and the slots
//! that are left. The earliest wins, and those that start with it collide; all others have waited for the slots that
//! passed, and keep the rest ("freezing").

mod invariants;

use self::invariants::Watch;
use super::airtime::Timing;
use super::category::Category;
use aqm_core::choices;
use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// How soon and how long a category sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Slots after SIFS.
    pub aifsn: u8,
    /// The smallest contention window: backoffs are drawn from 0 to it.
    pub cw_min: u16,
    /// The largest, after failures.
    pub cw_max: u16,
    /// How long it may send once it has the medium; zero allows one PPDU.
    pub txop: Span,
}

impl Access {
    const fn new(aifsn: u8, cw_min: u16, cw_max: u16, txop_micros: u64) -> Access {
        Access { aifsn, cw_min, cw_max, txop: Span::from_micros(txop_micros) }
    }

    /// The categories of a station, as hostapd announces them (`wmm_ac_*`) and Linux has them before
    /// (`ieee80211_set_wmm_default()`). IEEE 802.11-2020, table 9-155, has longer TXOPs: 4.096 ms and 2.080 ms.
    pub const STATION: [Access; 4] = [
        Access::new(7, 15, 1023, 0),
        Access::new(3, 15, 1023, 0),
        Access::new(2, 7, 15, 3_008),
        Access::new(2, 3, 7, 1_504),
    ];

    /// The categories of an access point, which answers many (hostapd's `tx_queue_data0` to 3).
    pub const ACCESS_POINT: [Access; 4] = [
        Access::new(7, 15, 1023, 0),
        Access::new(3, 15, 63, 0),
        Access::new(1, 7, 15, 3_000),
        Access::new(1, 3, 7, 1_500),
    ];

    /// DCF, as before EDCA (IEEE 802.11-2020, 10.3): DIFS is SIFS and two slots.
    pub const DCF: Access = Access::new(2, 15, 1023, 0);

    /// Refuses windows that are not powers of two less one, and an AIFS within which responses are sent.
    ///
    /// # Errors
    /// If one of both.
    pub fn check(&self) -> Result<(), InputError> {
        for (key, cw) in [("cw_min", self.cw_min), ("cw_max", self.cw_max)] {
            if !(u32::from(cw) + 1).is_power_of_two() || cw > 32_767 {
                let allowed = "a power of two less one, from 0 to 32767, is allowed";
                return Err(InputError::field(key, cw, allowed));
            }
        }
        if self.cw_min > self.cw_max {
            return Err(InputError::field(
                "cw_min",
                self.cw_min,
                format!("it is above cw_max {}", self.cw_max),
            ));
        }
        if self.aifsn == 0 || self.aifsn > 15 {
            return Err(InputError::field("aifsn", self.aifsn, "allowed is 1 to 15"));
        }
        Ok(())
    }
}

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

#[derive(Clone, Copy, Debug)]
struct Contender {
    node: u16,
    category: Category,
    access: Access,
    cw: u16,
    /// Slots that were left at `from`; none if its backoff is over and it has had nothing to send.
    backoff: Option<u32>,
    /// The end of its AIFS or EIFS in the current idle time.
    from: Time,
    /// Since when it has something to send.
    ready: Option<Time>,
    /// When it starts if nobody does before.
    start: Time,
}

impl Contender {
    /// The start, on the grid of slots that begins at `from`.
    fn start(&self, slot: Span) -> Time {
        let Some(ready) = self.ready else { return Time::MAX };
        let passed = ready.since(self.from).as_nanos().div_ceil(slot.as_nanos());
        self.from + slot * passed.max(u64::from(self.backoff.unwrap_or(0)))
    }

    fn draw(&mut self, random: &mut Random) {
        self.backoff = Some(random.below(u64::from(self.cw) + 1) as u32);
    }
}

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
