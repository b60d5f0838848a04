//! Models of random loss, as tc-netem(8) names them.

use super::hits;
use aqm_core::random::Random;
use serde::{Deserialize, Serialize};

/// Which packets are lost: probabilities. In data, random loss is its probability alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// Gilbert-Elliott: a good and a bad state, which may change before each packet.
    Gemodel {
        /// From the good to the bad state.
        p: f64,
        /// From the bad to the good one.
        r: f64,
        /// Loss in the bad state (netem's 1-h).
        bad: f64,
        /// Loss in the good one (netem's 1-k).
        good: f64,
    },
    /// Four states: 1 received, 2 received within a burst, 3 lost in a burst, 4 lost alone.
    State {
        /// From 1 to 3.
        p13: f64,
        /// From 3 to 1.
        p31: f64,
        /// From 3 to 2.
        p32: f64,
        /// From 2 to 3.
        p23: f64,
        /// From 1 to 4, and back with the next packet.
        p14: f64,
    },
    /// Each independently, with this probability.
    #[serde(untagged)]
    Random(f64),
}

impl Default for Loss {
    fn default() -> Loss {
        Loss::NONE
    }
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Loss = Loss::Random(0.0);

    /// The share of packets that is lost in the long run: the stationary distribution of the model's chain.
    ///
    /// ```
    /// use aqm_path::wire::Loss;
    /// // In the bad state a share p / (p + r) of the time.
    /// let bursts = Loss::Gemodel { p: 0.01, r: 0.09, bad: 1.0, good: 0.0 };
    /// assert!((bursts.mean() - 0.1).abs() < 1e-12);
    /// ```
    pub fn mean(&self) -> f64 {
        match *self {
            Loss::Random(share) => share,
            Loss::Gemodel { p, r, bad, good } if p + r > 0.0 => (p * bad + r * good) / (p + r),
            // It stays where it begins, in the good state.
            Loss::Gemodel { good, .. } => good,
            Loss::State { p13, p31, p32, p23, p14 } => {
                if p13 > 0.0 && p31 == 0.0 {
                    // State 1 is left for good: what remains are 2 and 3.
                    return if p32 == 0.0 { 1.0 } else { p23 / (p23 + p32) };
                }
                // Balance against state 1: p13 = (3) p31, (3) p32 = (2) p23, (4) = p14.
                let three = if p13 > 0.0 { p13 / p31 } else { 0.0 };
                let two = match three * p32 {
                    0.0 => 0.0,
                    // A state 2 that is never left takes everything in the end.
                    _ if p23 == 0.0 => return 0.0,
                    flow => flow / p23,
                };
                (three + p14) / (1.0 + two + three + p14)
            }
        }
    }

    /// The mean number of packets that are lost in a row in the long run; none where nothing is lost, or everything.
    ///
    /// ```
    /// use aqm_path::wire::Loss;
    /// let bursts = Loss::Gemodel { p: 0.01, r: 0.1, bad: 1.0, good: 0.0 };
    /// assert!((bursts.burst().unwrap() - 10.0).abs() < 1e-9); // 1 / r
    /// assert_eq!(Loss::NONE.burst(), None);
    /// ```
    pub fn burst(&self) -> Option<f64> {
        let mean = self.mean();
        if mean <= 0.0 || mean >= 1.0 {
            return None;
        }
        // In the long run a burst begins as often as a received packet is followed by a lost one.
        let begins = match *self {
            Loss::Random(share) => (1.0 - share) * share,
            Loss::Gemodel { p, r, bad, good } => {
                let (in_bad, in_good) = if p + r > 0.0 { (p / (p + r), r / (p + r)) } else { (0.0, 1.0) };
                in_good * (1.0 - good) * ((1.0 - p) * good + p * bad)
                    + in_bad * (1.0 - bad) * (r * good + (1.0 - r) * bad)
            }
            Loss::State { p13, p31, p32, p23, p14 } => {
                let of_one = if p31 > 0.0 || p13 == 0.0 { 1.0 } else { 0.0 };
                let three = if of_one == 0.0 {
                    1.0
                } else if p13 > 0.0 {
                    p13 / p31
                } else {
                    0.0
                };
                let two = if three * p32 > 0.0 { three * p32 / p23 } else { 0.0 };
                let four = of_one * p14;
                (of_one * (p13 + p14) + two * p23) / (of_one + two + three + four)
            }
        };
        Some(mean / begins)
    }
}

/// A model in operation, with the state that it is in.
#[derive(Clone, Debug)]
pub struct Losses {
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
    /// The model in its good state.
    pub fn new(model: Loss) -> Losses {
        Losses { model, state: State::Good }
    }

    /// Whether the next packet is lost.
    pub fn next(&mut self, random: &mut Random) -> bool {
        match self.model {
            Loss::Random(share) => hits(random, share),
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

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 400_000;

    /// The share of packets that are lost, and the mean length of runs of them.
    fn measured(model: Loss) -> (f64, f64) {
        let (mut losses, mut random) = (Losses::new(model), Random::seeded(1));
        let lost: Vec<bool> = (0..PACKETS).map(|_| losses.next(&mut random)).collect();
        let count = lost.iter().filter(|is_lost| **is_lost).count() as f64;
        let begins = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        (count / PACKETS as f64, count / begins)
    }

    #[test]
    fn models_lose_the_share_and_the_bursts_of_their_formulas() {
        let gemodel = |p, r, bad, good| Loss::Gemodel { p, r, bad, good };
        let state = |[p13, p31, p32, p23, p14]: [f64; 5]| Loss::State { p13, p31, p32, p23, p14 };
        for model in [
            Loss::Random(0.03),
            gemodel(0.01, 0.1, 1.0, 0.0),
            gemodel(0.01, 0.1, 0.5, 0.02),
            gemodel(0.05, 0.95, 1.0, 0.0),
            gemodel(0.2, 0.1, 0.8, 0.1),
            state([0.01, 0.2, 0.3, 0.5, 0.02]),
            state([0.0, 1.0, 0.0, 1.0, 0.1]),
            state([0.05, 0.5, 0.0, 1.0, 0.0]),
            state([0.1, 0.0, 0.3, 0.2, 0.0]),
        ] {
            let (share, burst) = measured(model);
            let (expected, length) = (model.mean(), model.burst().unwrap());
            assert!((share / expected - 1.0).abs() < 0.05, "{model:?}: lost {share}, expected {expected}");
            assert!((burst / length - 1.0).abs() < 0.05, "{model:?}: bursts of {burst}, expected {length}");
        }
    }

    #[test]
    fn chains_that_end_in_a_state_lose_what_it_loses() {
        let state = |[p13, p31, p32, p23, p14]: [f64; 5]| Loss::State { p13, p31, p32, p23, p14 };
        assert_eq!(state([0.1, 0.0, 0.0, 1.0, 0.0]).mean(), 1.0);
        assert_eq!(state([0.1, 0.5, 0.1, 0.0, 0.0]).mean(), 0.0);
        assert_eq!(Loss::Gemodel { p: 0.0, r: 0.0, bad: 1.0, good: 0.25 }.mean(), 0.25);
    }
}
