//! The wire behind a device: what tc-netem(8) calls delay, jitter, loss, reordering, duplication and slots.
//!
//! [`Wire`] decides about packets one at a time and keeps none: it answers when a packet arrives, and the host (simulator or
//! live link) has the packet arrive then.

mod loss;
mod notation;
mod slots;

pub use loss::{Loss, Losses};
pub use notation::percent;
pub use slots::Slots;

use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use serde::{Deserialize, Serialize};
use slots::Acquired;

/// What a wire does to packets beside its propagation delay; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Impairments {
    /// Largest random extra delay, uniform from zero on, in nanoseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub jitter_ns: u64,
    /// How much each extra delay depends on that of the packet before, from 0 to below 1.
    #[serde(skip_serializing_if = "is_default")]
    pub jitter_correlation: f64,
    /// Which packets are lost.
    #[serde(skip_serializing_if = "is_default")]
    pub loss: Loss,
    /// Which packets overtake by the whole delay.
    #[serde(skip_serializing_if = "is_default")]
    pub reorder: Option<Reorder>,
    /// Probability that a packet is sent twice.
    #[serde(skip_serializing_if = "is_default")]
    pub duplicate: f64,
    /// When packets may leave the wire.
    #[serde(skip_serializing_if = "is_default")]
    pub slots: Option<Slots>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A value, or another where it is the default.
fn or<T: Default + PartialEq>(value: T, other: T) -> T {
    if is_default(&value) { other } else { value }
}

/// Which packets are sent on without delay and jitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// The probability.
    pub share: f64,
    /// At most one in so many.
    pub gap: u32,
}

impl Impairments {
    /// Whether the wire does nothing but delay.
    pub fn is_plain(&self) -> bool {
        *self == Impairments { jitter_correlation: self.jitter_correlation, ..Impairments::default() }
    }

    /// The same, with what `other` does where this does nothing.
    #[must_use]
    pub fn or(self, other: Impairments) -> Impairments {
        Impairments {
            jitter_ns: or(self.jitter_ns, other.jitter_ns),
            jitter_correlation: or(self.jitter_correlation, other.jitter_correlation),
            loss: or(self.loss, other.loss),
            reorder: or(self.reorder, other.reorder),
            duplicate: or(self.duplicate, other.duplicate),
            slots: or(self.slots, other.slots),
        }
    }

    /// Refuses what cannot be.
    ///
    /// # Errors
    /// The key, its value and what it may be.
    pub fn check(&self) -> Result<(), InputError> {
        self.loss.check()?;
        if !(0.0..=1.0).contains(&self.duplicate) {
            return Err(InputError::field("duplicate", self.duplicate, "it must be within 0 and 1"));
        }
        if !(0.0..1.0).contains(&self.jitter_correlation) {
            let value = self.jitter_correlation;
            return Err(InputError::field("jitter_correlation", value, "it must be from 0 to below 1"));
        }
        if let Some(reorder) = self.reorder
            && (!(0.0..=1.0).contains(&reorder.share) || reorder.gap == 0)
        {
            return Err(InputError::field(
                "reorder",
                reorder,
                "a share within 0 and 1, and a gap of 1 or more",
            ));
        }
        match self.slots.map(|slots| (slots, slots.check())) {
            Some((slots, Err(problem))) => {
                Err(InputError::field("slots", slots, format_args!("it {problem}")))
            }
            _ => Ok(()),
        }
    }

    /// Whether packets may arrive in another order, or at another time than the propagation delay says.
    pub fn is_irregular(&self) -> bool {
        self.jitter_ns > 0 || self.reorder.is_some() || self.duplicate > 0.0 || self.slots.is_some()
    }

    /// The longest delay beside propagation; that of the wait for one slot, where those before are not full.
    pub fn longest_extra(&self) -> Span {
        Span::from_nanos(self.jitter_ns + self.slots.map_or(0, |slots| slots.max_ns))
    }
}

/// What becomes of a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It never arrives.
    Lost,
    /// It arrives at this time.
    Arrives(Time),
    /// It arrives twice.
    Twice([Time; 2]),
}

/// A wire in operation.
#[derive(Clone, Debug)]
pub struct Wire {
    delay: Span,
    impairments: Impairments,
    losses: Losses,
    /// Packets since the last that overtook.
    delayed: u32,
    /// The last draw of jitter, from 0 to 1.
    last_jitter: f64,
    random: Random,
    /// Slots depend on when packets come. With a stream of their own, the other draws can be repeated without the times.
    slots: Option<(Acquired, Random)>,
}

impl Wire {
    /// The wire in front of which a port called `name` lies.
    pub fn new(delay: Span, impairments: Impairments, seed: u64, name: &str) -> Wire {
        Wire {
            delay,
            losses: Losses::new(impairments.loss),
            delayed: 0,
            last_jitter: 0.0,
            random: Random::stream(seed, &format!("{name} impairment")),
            slots: impairments
                .slots
                .map(|slots| (Acquired::none(slots), Random::stream(seed, &format!("{name} slots")))),
            impairments,
        }
    }

    /// What it does to packets.
    pub fn impairments(&self) -> &Impairments {
        &self.impairments
    }

    /// A packet of `bytes` bytes whose last bit leaves the device at `out`.
    ///
    /// ```
    /// use aqm_core::units::{Span, Time};
    /// use aqm_path::wire::{Impairments, Loss, Passage, Wire};
    /// let lossy = Impairments { loss: Loss::Random(0.5), ..Impairments::default() };
    /// let mut wire = Wire::new(Span::from_millis(10), lossy, 1, "bottleneck");
    /// let passages: Vec<Passage> = (0..4).map(|_| wire.pass(Time::ZERO, 1514)).collect();
    /// let arrives = Passage::Arrives(Time::ZERO + Span::from_millis(10));
    /// assert_eq!(passages.iter().filter(|passage| **passage == arrives).count(), 2);
    /// ```
    pub fn pass(&mut self, out: Time, bytes: u32) -> Passage {
        if self.losses.next(&mut self.random) {
            return Passage::Lost;
        }
        if hits(&mut self.random, self.impairments.duplicate) {
            return Passage::Twice([self.arrival(out, bytes), self.arrival(out, bytes)]);
        }
        Passage::Arrives(self.arrival(out, bytes))
    }

    /// When the packet arrives.
    fn arrival(&mut self, out: Time, bytes: u32) -> Time {
        let mut at = out;
        if !self.overtakes() {
            at += self.delay + self.jitter();
        }
        match &mut self.slots {
            Some((slots, random)) => slots.place(at, bytes, random),
            None => at,
        }
    }

    /// Whether the packet is sent on without the delay.
    fn overtakes(&mut self) -> bool {
        let Some(reorder) = self.impairments.reorder else { return false };
        self.delayed += 1;
        let is_one = self.delayed >= reorder.gap && hits(&mut self.random, reorder.share);
        if is_one {
            self.delayed = 0;
        }
        is_one
    }

    /// The extra delay. Correlated draws follow tc-netem(8): each is a share of the last one, and the rest is new.
    fn jitter(&mut self) -> Span {
        let Impairments { jitter_ns, jitter_correlation: share, .. } = self.impairments;
        if jitter_ns == 0 {
            return Span::ZERO;
        }
        if share == 0.0 {
            return Span::from_nanos(self.random.below(jitter_ns + 1));
        }
        self.last_jitter = share * self.last_jitter + (1.0 - share) * self.random.uniform();
        Span::from_nanos((self.last_jitter * jitter_ns as f64).round() as u64)
    }
}

/// A draw; none where it cannot matter.
fn hits(random: &mut Random, share: f64) -> bool {
    share > 0.0 && random.uniform() < share
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 100_000;

    /// What becomes of many packets that all leave at time zero.
    fn passages(impairments: Impairments) -> Vec<Passage> {
        let mut wire = Wire::new(Span::from_micros(100), impairments, 1, "wire");
        (0..PACKETS).map(|_| wire.pass(Time::ZERO, 1500)).collect()
    }

    /// Delays beyond propagation, of one mean, in units of the largest.
    fn jitter(correlation: f64) -> Vec<f64> {
        let jitter_ns = 1_000_000;
        let passages =
            passages(Impairments { jitter_ns, jitter_correlation: correlation, ..Default::default() });
        let of = |passage: &Passage| match passage {
            Passage::Arrives(at) => (at.as_nanos() - 100_000) as f64 / jitter_ns as f64,
            other => panic!("{other:?}"),
        };
        passages.iter().map(of).collect()
    }

    fn mean(of: impl Iterator<Item = f64>) -> f64 {
        of.sum::<f64>() / PACKETS as f64
    }

    #[test]
    fn correlated_jitter_has_the_mean_variance_and_correlation_of_its_formula() {
        for share in [0.0, 0.25, 0.9] {
            let found = jitter(share);
            let middle = mean(found.iter().copied());
            let variance = mean(found.iter().map(|one| (one - middle).powi(2)));
            let next = mean(found.windows(2).map(|pair| (pair[0] - middle) * (pair[1] - middle)));
            // x' = s x + (1 - s) u, u uniform: mean 1/2, variance (1 - s) / (1 + s) / 12, correlation s.
            let expected = (1.0 - share) / (1.0 + share) / 12.0;
            assert!((middle - 0.5).abs() < 0.006, "{share}: {middle}");
            assert!((variance / expected - 1.0).abs() < 0.05, "{share}: {variance} {expected}");
            assert!((next / variance - share).abs() < 0.02, "{share}: {}", next / variance);
        }
    }

    #[test]
    fn packets_overtake_and_are_doubled_as_often_as_they_should() {
        let reorder = Some(Reorder { share: 0.25, gap: 3 });
        let found = passages(Impairments { reorder, duplicate: 0.1, ..Default::default() });
        let times = |passage: &Passage| match passage {
            Passage::Arrives(at) => vec![*at],
            Passage::Twice(both) => both.to_vec(),
            Passage::Lost => panic!("nothing is lost"),
        };
        let all: Vec<Time> = found.iter().flat_map(times).collect();
        let doubled = (all.len() - PACKETS) as f64 / PACKETS as f64;
        assert!((doubled - 0.1).abs() < 0.004, "{doubled}");
        // Two wait for sure; then each overtakes with 1/4: one in 2 + 4.
        let early = all.iter().filter(|at| **at == Time::ZERO).count() as f64 / all.len() as f64;
        assert!((early - 1.0 / 6.0).abs() < 0.004, "{early}");
    }

    #[test]
    fn a_copy_of_a_wire_repeats_its_draws_whatever_the_times() {
        let slots = Some(Slots { min_ns: 10, max_ns: 5_000, packets: Some(3), bytes: None });
        let loss = Loss::Gemodel { p: 0.1, r: 0.3, bad: 0.9, good: 0.01 };
        let all = Impairments { jitter_ns: 1_000, loss, duplicate: 0.1, slots, ..Default::default() };
        let mut wire = Wire::new(Span::from_micros(1), all, 7, "wire");
        let mut again = wire.clone();
        let kind = |passage| match passage {
            Passage::Lost => 0,
            Passage::Arrives(_) => 1,
            Passage::Twice(_) => 2,
        };
        for number in 0..1_000 {
            let at = Time::from_nanos(number * number * 100);
            assert_eq!(kind(wire.pass(at, 1500)), kind(again.pass(Time::ZERO, 40)), "{number}");
        }
    }
}
