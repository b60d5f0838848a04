//! RED (Floyd and Jacobson 1993, "Random Early Detection Gateways for Congestion Avoidance"), with the gentle curve of
//! Floyd (2000, "Recommendation on using the 'gentle_' variant of RED"); as a square, NLRED (Zhou, Yeung and Li 2006,
//! "Nonlinear RED: A simple yet efficient active queue management scheme").
//!
//! Random numbers: [`Params::decide`] draws one when the average lies between `min` and the end of the curve, none
//! otherwise.

use super::Verdict;
use crate::units::{Span, Time};

/// The settings. Queue lengths are in packets or bytes, depending on the discipline.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Average below which nothing happens (`min_th`).
    pub min: f64,
    /// Average at which the probability reaches `max_p` (`max_th`).
    pub max: f64,
    /// Probability at `max`.
    pub max_p: f64,
    /// Weight of a new sample in the average (`w_q`).
    pub weight: f64,
    /// How the probability rises from `min` to `max`.
    pub shape: Shape,
    /// Let the probability rise further to 1 between `max` and `2 max` instead of jumping there.
    pub gentle: bool,
    /// Space drops further apart (ns-2 and ns-3 call it `wait`): none before `1/p_b` packets, then uniform.
    pub wait: bool,
    /// Multiply the probability by packet length over this mean; `None` leaves it alone.
    pub mean_packet: Option<f64>,
    /// How long a typical packet takes to send: one step of the average's decay on an idle link (`s`).
    pub packet_time: Span,
}

/// How the probability rises from `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In a straight line up to `max_p` (RED).
    Linear,
    /// As a square up to `1.5 max_p`, which gives the same mean over the range (NLRED, eqs. 2 and 3).
    Square,
}

/// The state.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    average: f64,
    probability: f64,
    /// Packets since the last signal; `None` while the average is below `min` (the paper's -1).
    count: Option<u32>,
    /// When the queue became empty, or was last found so (`q_time`).
    idle_since: Time,
}

impl State {
    /// The weighted average of the queue length (`avg`).
    pub const fn average(&self) -> f64 {
        self.average
    }

    /// The probability read from the curve for the last packet (`p_b`).
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// Copies the average of `other`: curves that share one average keep their own count.
    pub const fn share(&mut self, other: &State) {
        self.average = other.average;
    }

    /// The queue has become empty.
    pub const fn idle(&mut self, now: Time) {
        self.idle_since = now;
    }
}

impl Params {
    /// Updates the average with the queue length found by an arriving packet, itself not counted.
    #[inline]
    pub fn sample(&self, state: &mut State, queue: u64, now: Time) {
        if queue > 0 {
            state.average = (1.0 - self.weight) * state.average + self.weight * queue as f64;
        } else {
            // As if m small packets had found the queue empty.
            let m = now.since(state.idle_since).as_nanos() / self.packet_time.as_nanos().max(1);
            state.average *= power(1.0 - self.weight, m);
            state.idle_since = now;
        }
    }

    /// Decides about an arriving packet of `length` bytes; `uniform` draws from [0, 1).
    #[inline]
    pub fn decide(&self, state: &mut State, length: u32, uniform: impl FnOnce() -> f64) -> Verdict {
        if state.average < self.min {
            state.count = None;
            state.probability = 0.0;
            return Verdict::Admit;
        }
        let Some(mut p_b) = self.curve(state.average) else {
            state.count = Some(0);
            state.probability = 1.0;
            return Verdict::Drop;
        };
        if let Some(mean_packet) = self.mean_packet {
            p_b = p_b * f64::from(length) / mean_packet;
        }
        let count = state.count.map_or(0, |count| count.saturating_add(1));
        state.probability = p_b;
        if uniform() < self.marking_probability(p_b, count) {
            state.count = Some(0);
            Verdict::Signal
        } else {
            state.count = Some(count);
            Verdict::Admit
        }
    }

    /// `p_b` for an average of at least `min`; `None` where every packet goes.
    fn curve(&self, average: f64) -> Option<f64> {
        if average < self.max {
            Some(match self.shape {
                Shape::Linear => self.max_p * (average - self.min) / (self.max - self.min),
                Shape::Square => {
                    let x = (average - self.min) / (self.max - self.min);
                    self.top() * x * x
                }
            })
        } else if self.gentle && average < 2.0 * self.max {
            let top = self.top();
            Some(top + (1.0 - top) * (average - self.max) / self.max)
        } else {
            None
        }
    }

    /// The probability at `max`.
    fn top(&self) -> f64 {
        match self.shape {
            Shape::Linear => self.max_p,
            Shape::Square => (1.5 * self.max_p).min(1.0),
        }
    }

    /// `p_a`: makes the number of packets between signals uniform instead of geometric.
    fn marking_probability(&self, p_b: f64, count: u32) -> f64 {
        let due = f64::from(count) * p_b;
        match (self.wait, due < 1.0) {
            (false, true) => p_b / (1.0 - due),
            (true, true) => 0.0,
            (true, false) if due < 2.0 => p_b / (2.0 - due),
            _ => 1.0,
        }
    }
}

/// `base` to the power of `exponent` by repeated squaring, lowest bit first: the same bits on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params {
        min: 5.0,
        max: 15.0,
        max_p: 0.1,
        weight: 0.5,
        shape: Shape::Linear,
        gentle: true,
        wait: false,
        mean_packet: None,
        packet_time: Span::from_millis(1),
    };

    fn at(average: f64) -> State {
        State { average, ..State::default() }
    }

    #[test]
    fn the_average_moves_by_its_weight_and_decays_while_idle() {
        let mut state = at(8.0);
        PARAMS.sample(&mut state, 4, Time::ZERO);
        assert_eq!(state.average, 6.0); // 0.5 * 8 + 0.5 * 4
        state.idle(Time::from_nanos(10_000_000));
        PARAMS.sample(&mut state, 0, Time::from_nanos(13_900_000));
        assert_eq!(state.average, 0.75); // 3.9 ms are 3 packets: 6 * 0.5^3
        PARAMS.sample(&mut state, 0, Time::from_nanos(14_900_000));
        assert_eq!(state.average, 0.375); // one more packet, and no time counted twice
    }

    #[test]
    fn the_curve_rises_to_max_p_and_gently_on_to_one() {
        assert_eq!(PARAMS.curve(5.0), Some(0.0));
        assert_eq!(PARAMS.curve(10.0), Some(0.05)); // 0.1 * 5 / 10
        assert_eq!(PARAMS.curve(15.0), Some(0.1));
        assert_eq!(PARAMS.curve(22.5), Some(0.55)); // 0.1 + 0.9 * 7.5 / 15
        assert_eq!(PARAMS.curve(30.0), None);
        assert_eq!(Params { gentle: false, ..PARAMS }.curve(15.0), None);
    }

    #[test]
    fn the_square_curve_starts_slowly_and_ends_higher() {
        let square = Params { shape: Shape::Square, ..PARAMS };
        assert_eq!(square.curve(5.0), Some(0.0));
        assert_eq!(square.curve(10.0), Some(0.150_000_000_000_000_02 * 0.25)); // 1.5 * 0.1 * (1/2)^2
        assert_eq!(square.curve(15.0), Some(0.150_000_000_000_000_02));
        assert_eq!(square.curve(22.5), Some(0.575)); // 0.15 + 0.85 / 2
        // A probability never exceeds 1.
        assert_eq!(Params { max_p: 0.9, ..square }.curve(15.0), Some(1.0));
    }

    #[test]
    fn counting_spreads_the_drops() {
        // p_b = 0.05: 0.05 / (1 - count * 0.05); with wait nothing before 20 packets, then 0.05 / (2 - count * 0.05).
        assert_eq!(PARAMS.marking_probability(0.05, 0), 0.05);
        assert_eq!(PARAMS.marking_probability(0.05, 10), 0.1);
        assert_eq!(PARAMS.marking_probability(0.05, 20), 1.0);
        let wait = Params { wait: true, ..PARAMS };
        assert_eq!(wait.marking_probability(0.05, 19), 0.0);
        assert_eq!(wait.marking_probability(0.05, 20), 0.05);
        assert_eq!(wait.marking_probability(0.05, 30), 0.1);
        assert_eq!(wait.marking_probability(0.05, 40), 1.0);
    }

    #[test]
    fn the_first_packet_above_min_counts_zero_and_a_signal_starts_again() {
        // p_b = 0.05. The packets have p_a = 0.05, 0.05 / 0.95 = 0.0526, and after the signal 0.0526 again.
        let mut state = at(10.0);
        assert_eq!(PARAMS.decide(&mut state, 1000, || 0.05), Verdict::Admit);
        assert_eq!(PARAMS.decide(&mut state, 1000, || 0.05), Verdict::Signal);
        assert_eq!(PARAMS.decide(&mut state, 1000, || 0.053), Verdict::Admit);
        assert_eq!(state.count, Some(1));
    }

    #[test]
    fn a_random_number_is_drawn_on_the_curve_only() {
        let never = || -> f64 { panic!("no random number is due") };
        assert_eq!(PARAMS.decide(&mut at(4.9), 1000, never), Verdict::Admit);
        assert_eq!(PARAMS.decide(&mut at(30.0), 1000, never), Verdict::Drop);
    }

    #[test]
    fn byte_mode_drops_small_packets_less_often() {
        // p_b = 0.05 * 100 / 1000 = 0.005
        let bytes = Params { mean_packet: Some(1000.0), ..PARAMS };
        assert_eq!(bytes.decide(&mut at(10.0), 100, || 0.006), Verdict::Admit);
        assert_eq!(bytes.decide(&mut at(10.0), 1000, || 0.006), Verdict::Signal);
    }

    #[test]
    fn powers_by_squaring_agree_with_repeated_multiplication() {
        let by_hand = (0..13).fold(1.0, |product, _| product * 0.75);
        assert!((power(0.75, 13) - by_hand).abs() < 1e-15);
        assert_eq!((power(0.5, 0), power(0.5, 10)), (1.0, 1.0 / 1024.0));
    }
}
