//! What is behind the device: delay, and what netem (tc-netem(8)) calls impairments, by its words.

use crate::config::{Line, Loss, Reorder, Slots};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// The wire of a direction.
pub(crate) struct Wire {
    delay: Span,
    jitter: Span,
    losses: Losses,
    reorder: Option<Reorder>,
    /// Packets since the last that overtook.
    delayed: u32,
    duplicate: f64,
    slots: Option<Acquired>,
    random: Random,
    /// By the time at which they are due.
    in_flight: VecDeque<InFlight>,
}

/// A packet on the wire, or at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) due: Time,
    pub(crate) arrival: Time,
    pub(crate) slot: u32,
}

impl Wire {
    /// The wire of `line`.
    pub(crate) fn new(line: &Line, random: Random) -> Wire {
        Wire {
            delay: line.delay(),
            jitter: Span::from_nanos(line.jitter_ns),
            losses: Losses { model: line.loss, state: State::Good },
            reorder: line.reorder,
            delayed: 0,
            duplicate: line.duplicate,
            slots: line.slots.map(Acquired::none),
            random,
            in_flight: VecDeque::new(),
        }
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        self.losses.next(&mut self.random)
    }

    /// Whether the next packet is sent twice.
    pub(crate) fn duplicates(&mut self) -> bool {
        hits(&mut self.random, self.duplicate)
    }

    /// A packet of `bytes` bytes whose last bit leaves the device at `out`.
    pub(crate) fn put(&mut self, out: Time, arrival: Time, slot: u32, bytes: u32) {
        let mut due = out;
        if !self.overtakes() {
            due += self.delay;
            if self.jitter > Span::ZERO {
                due += Span::from_nanos(self.random.below(self.jitter.as_nanos() + 1));
            }
        }
        if let Some(slots) = &mut self.slots {
            due = slots.place(due, bytes, &mut self.random);
        }
        // Behind all that are due at the same time.
        let place = self.in_flight.partition_point(|other| other.due <= due);
        self.in_flight.insert(place, InFlight { due, arrival, slot });
    }

    /// When the first packet is due.
    pub(crate) fn next(&self) -> Time {
        self.in_flight.front().map_or(Time::MAX, |first| first.due)
    }

    /// Takes the first packet, if it is due by `now`.
    pub(crate) fn take(&mut self, now: Time) -> Option<InFlight> {
        self.in_flight.pop_front_if(|first| first.due <= now)
    }

    /// What is on it.
    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &InFlight> {
        self.in_flight.iter()
    }

    /// Whether the next packet is sent on without the delay.
    fn overtakes(&mut self) -> bool {
        let Some(reorder) = self.reorder else { return false };
        self.delayed += 1;
        let is_one = self.delayed >= reorder.gap && hits(&mut self.random, reorder.share);
        if is_one {
            self.delayed = 0;
        }
        is_one
    }
}

/// A draw; none where it cannot matter.
fn hits(random: &mut Random, share: f64) -> bool {
    share > 0.0 && random.uniform() < share
}

/// A model of loss and the state that it is in.
struct Losses {
    model: Loss,
    state: State,
}

/// States of the Markov chains of Salsano, Ludovici, Ordine, Giannuzzi: "Definition of a general and intuitive loss model
/// for packet networks and its implementation in the Netem module in the Linux kernel" (2012), section 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Received, in a gap between bursts: state 1.
    Good,
    /// Received within a burst: state 2.
    Spared,
    /// Lost within a burst: state 3.
    Bad,
    /// Lost alone, in a gap: state 4.
    Alone,
}

impl Losses {
    /// Whether the next packet is lost.
    fn next(&mut self, random: &mut Random) -> bool {
        match self.model {
            Loss::Random { share } => hits(random, share),
            Loss::Gemodel { p, r, bad, good } => {
                self.state = match self.state {
                    State::Bad if hits(random, r) => State::Good,
                    State::Bad => State::Bad,
                    _ if hits(random, p) => State::Bad,
                    _ => State::Good,
                };
                hits(random, if self.state == State::Bad { bad } else { good })
            }
            Loss::State { p13, p31, p32, p23, p14 } => {
                let draw = random.uniform();
                self.state = match self.state {
                    State::Good if draw < p14 => State::Alone,
                    State::Good if draw < p14 + p13 => State::Bad,
                    State::Bad if draw < p31 => State::Good,
                    State::Bad if draw < p31 + p32 => State::Spared,
                    State::Spared if draw < p23 => State::Bad,
                    State::Alone => State::Good,
                    same => same,
                };
                matches!(self.state, State::Bad | State::Alone)
            }
        }
    }
}

/// The slot that was acquired last.
struct Acquired {
    slots: Slots,
    opens: Time,
    packets: u64,
    bytes: u64,
}

impl Acquired {
    fn none(slots: Slots) -> Acquired {
        Acquired { slots, opens: Time::ZERO, packets: 0, bytes: 0 }
    }

    /// When a packet leaves that would be due at `due`: in the last slot, or in the next where that is over or full.
    fn place(&mut self, due: Time, bytes: u32, random: &mut Random) -> Time {
        if due > self.opens || self.packets == 0 || self.bytes == 0 {
            let Slots { min_ns, max_ns, packets, bytes } = self.slots;
            let wait = Span::from_nanos(min_ns + random.below(max_ns - min_ns + 1));
            self.opens = due.max(self.opens) + wait;
            (self.packets, self.bytes) = (packets.unwrap_or(u64::MAX), bytes.unwrap_or(u64::MAX));
        }
        self.packets -= 1;
        // The packet that goes beyond is the last.
        self.bytes = self.bytes.saturating_sub(u64::from(bytes));
        self.opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 200_000;

    /// Which of many packets are lost.
    fn lost(model: Loss) -> Vec<bool> {
        let (mut losses, mut random) = (Losses { model, state: State::Good }, Random::seeded(1));
        (0..PACKETS).map(|_| losses.next(&mut random)).collect()
    }

    fn share(of: &[bool]) -> f64 {
        of.iter().filter(|is_lost| **is_lost).count() as f64 / of.len() as f64
    }

    /// The mean length of runs of lost packets.
    fn burst(of: &[bool]) -> f64 {
        let begins = of.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        of.iter().filter(|is_lost| **is_lost).count() as f64 / begins as f64
    }

    #[test]
    fn a_gilbert_elliott_model_loses_the_share_and_the_bursts_of_its_chain() {
        // In the bad state a share p / (p + r) of the time, for 1 / r packets.
        let found = lost(Loss::Gemodel { p: 0.01, r: 0.1, bad: 1.0, good: 0.0 });
        assert!((share(&found) - 0.01 / 0.11).abs() < 0.005, "{}", share(&found));
        assert!((burst(&found) - 10.0).abs() < 0.6, "{}", burst(&found));
        let found = lost(Loss::Gemodel { p: 0.01, r: 0.1, bad: 0.5, good: 0.02 });
        assert!((share(&found) - (0.5 + 0.02 * 10.0) / 11.0).abs() < 0.004, "{}", share(&found));
        // Without memory it is random loss.
        let found = lost(Loss::Gemodel { p: 0.05, r: 0.95, bad: 1.0, good: 0.0 });
        assert!((share(&found) - 0.05).abs() < 0.003 && (burst(&found) - 1.0 / 0.95).abs() < 0.02);
    }

    #[test]
    fn the_model_of_four_states_loses_what_its_stationary_distribution_says() {
        let (p13, p31, p32, p23, p14) = (0.01, 0.2, 0.3, 0.5, 0.02);
        let found = lost(Loss::State { p13, p31, p32, p23, p14 });
        // Balance: of state 2, 2 p23 = 3 p32; of 3 against 1, 1 p13 = 3 p31; of 4, 4 = 1 p14.
        let (three, two, four) = (p13 / p31, p13 / p31 * p32 / p23, p14);
        let expected = (three + four) / (1.0 + two + three + four);
        assert!((share(&found) - expected).abs() < 0.004, "{} {expected}", share(&found));
        let alone = lost(Loss::State { p13: 0.0, p31: 1.0, p32: 0.0, p23: 1.0, p14: 0.1 });
        assert!((burst(&alone) - 1.0).abs() < 1e-12);
    }

    fn slots(packets: Option<u64>, bytes: Option<u64>) -> Acquired {
        Acquired::none(Slots { min_ns: 1000, max_ns: 1000, packets, bytes })
    }

    #[test]
    fn packets_wait_for_their_slot_and_leave_together() {
        let mut random = Random::seeded(1);
        let at = |nanos| Time::ZERO + Span::from_nanos(nanos);
        let mut place = |slots: &mut Acquired, due| slots.place(at(due), 1500, &mut random);
        let mut one = slots(None, None);
        assert_eq!([10, 20, 1010, 1011].map(|due| place(&mut one, due)), [1010, 1010, 1010, 2011].map(at));
        let mut one = slots(Some(2), None);
        assert_eq!(
            [10, 20, 30, 30, 30].map(|due| place(&mut one, due)),
            [1010, 1010, 2010, 2010, 3010].map(at)
        );
        let mut one = slots(None, Some(2000));
        assert_eq!([10, 20, 30].map(|due| place(&mut one, due)), [1010, 1010, 2010].map(at));
    }
}
