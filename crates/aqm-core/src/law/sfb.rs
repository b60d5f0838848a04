//! The bins of SFB (W. Feng, D. Kandlur, D. Saha and K. Shin 2001, "Stochastic Fair Blue: A Queue Management Algorithm
//! for Enforcing Fairness"): in each of a few levels a flow falls into one bin, and each bin runs BLUE on the packets
//! that it has waiting. No random numbers.

use super::blue;
use crate::sketch::mix;
use alloc::vec::Vec;

/// The most levels: each takes eight bits of a hash.
const LEVELS: usize = 8;

/// One set of bins under one hash.
#[derive(Clone, Debug)]
pub struct Bins {
    bins: Vec<Bin>,
    levels: usize,
    width: u64,
    salt: u64,
}

/// Queued packets of a bin, and its probability.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: u32,
    probability: f64,
}

/// The bins of a flow, one for each level, in 16 bits; of use until the hash changes.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    even: u64,
    odd: u64,
}

impl Places {
    /// By level; beyond the last level they are beyond all bins.
    #[inline]
    fn bins(self) -> [usize; LEVELS] {
        core::array::from_fn(|level| {
            let four = if level % 2 == 0 { self.even } else { self.odd };
            usize::from((four >> (8 * (level & !1))) as u16)
        })
    }
}

/// What a flow finds in its bins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinState {
    /// The lowest probability (`p_min`): that of a bin which the flow has to itself, if there is one.
    pub probability: f64,
    /// The fewest packets.
    pub packets: u32,
}

impl Bins {
    /// Empty bins: up to 8 levels of up to 256 bins.
    pub fn new(levels: usize, width: usize) -> Bins {
        assert!(
            (1..=LEVELS).contains(&levels) && (1..=256).contains(&width),
            "eight bits of the hash per level"
        );
        Bins { bins: alloc::vec![Bin::default(); levels * width], levels, width: width as u64, salt: 0 }
    }

    /// Clears all bins and hashes with `salt` from now on.
    pub fn restart(&mut self, salt: u64) {
        self.bins.fill(Bin::default());
        self.salt = salt;
    }

    /// Clears the counts of queued packets, not the probabilities.
    pub fn clear_counts(&mut self) {
        self.bins.iter_mut().for_each(|bin| bin.packets = 0);
    }

    /// Whether both have as many levels and bins.
    pub fn same_shape(&self, other: &Bins) -> bool {
        (self.levels, self.width) == (other.levels, other.width)
    }

    /// The bins of `flow`, by eight bits of its hash each.
    #[inline]
    pub fn places(&self, flow: u64) -> Places {
        /// The low half of four numbers of 16 bits, which a product of eight bits and a width up to 256 fits into.
        const LOW: u64 = 0x00ff_00ff_00ff_00ff;
        let hash = mix(flow ^ self.salt);
        let four = |hash: u64, levels: u64| levels * self.width + (((hash & LOW) * self.width) >> 8 & LOW);
        Places { even: four(hash, 0x0006_0004_0002_0000), odd: four(hash >> 8, 0x0007_0005_0003_0001) }
    }

    /// A packet of the flow of `places` has arrived: BLUE's events in each of its bins, and what it finds there.
    #[inline]
    pub fn arrive(&mut self, places: Places, target: u32, blue: &blue::Params) -> BinState {
        let mut found = BinState { probability: 1.0, packets: u32::MAX };
        for place in places.bins() {
            let Some(bin) = self.bins.get_mut(place) else { break };
            if bin.packets == 0 {
                bin.probability = blue.lowered(bin.probability);
            } else if bin.packets >= target {
                bin.probability = blue.raised(bin.probability);
            }
            if bin.probability < found.probability {
                found.probability = bin.probability;
            }
            found.packets = found.packets.min(bin.packets);
        }
        found
    }

    /// One more packet of the flow of `places` is queued.
    #[inline]
    pub fn add(&mut self, places: Places) {
        for place in places.bins() {
            let Some(bin) = self.bins.get_mut(place) else { break };
            bin.packets += 1;
        }
    }

    /// One packet of the flow of `places` less is queued.
    #[inline]
    pub fn remove(&mut self, places: Places) {
        for place in places.bins() {
            let Some(bin) = self.bins.get_mut(place) else { break };
            bin.packets -= 1;
        }
    }

    /// The highest probability of any bin.
    pub fn highest(&self) -> f64 {
        self.bins.iter().fold(0.0, |highest, bin| bin.probability.max(highest))
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> usize {
        self.bins.len() * size_of::<Bin>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    const BLUE: blue::Params = blue::Params { increment: 0.5, decrement: 0.25, freeze_time: Span::ZERO };

    #[test]
    fn bins_rise_when_full_and_fall_when_empty() {
        let mut bins = Bins::new(2, 16);
        let found = |bins: &mut Bins| bins.arrive(bins.places(7), 2, &BLUE);
        (0..2).for_each(|_| bins.add(bins.places(7)));
        assert_eq!(found(&mut bins), BinState { probability: 0.5, packets: 2 });
        assert_eq!(found(&mut bins), BinState { probability: 1.0, packets: 2 });
        assert_eq!(bins.highest(), 1.0);
        bins.remove(bins.places(7));
        assert_eq!(found(&mut bins), BinState { probability: 1.0, packets: 1 });
        bins.remove(bins.places(7));
        assert_eq!(found(&mut bins), BinState { probability: 0.75, packets: 0 });
        bins.restart(1);
        assert_eq!(found(&mut bins), BinState { probability: 0.0, packets: 0 });
    }

    #[test]
    fn a_flow_has_the_lowest_probability_of_its_bins() {
        // One bin per level: all flows share it. Many: flows that share one level rarely share the other.
        let mut one = Bins::new(2, 1);
        one.add(one.places(1));
        assert_eq!(one.arrive(one.places(2), 1, &BLUE).probability, 0.5);
        let mut many = Bins::new(8, 256);
        many.add(many.places(1));
        assert_eq!(many.arrive(many.places(1), 1, &BLUE).probability, 0.5);
        let hit =
            (2..1000).filter(|flow| many.arrive(many.places(*flow), 1, &BLUE).probability > 0.0).count();
        assert_eq!(hit, 0);
    }
}
