//! RED (Floyd and Jacobson 1993, "Random Early Detection Gateways for Congestion Avoidance"), with the gentle curve of
//! Floyd (2000, "Recommendation on using the 'gentle_' variant of RED"); as a square, NLRED (Zhou, Yeung and Li 2006,
//! "Nonlinear RED: A simple yet efficient active queue management scheme").
//!
//! Random numbers: [`Params::decide`] draws one when the average lies between `min` and the end of the curve, none
//! otherwise.

use super::Verdict;
use super::idle::Idle;
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
    /// How the average ages while the queue is empty.
    pub idle: Idle,
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
    /// When the queue became empty (`q_time`).
    empty_since: Time,
    /// When the link found the queue empty; `None` from the next arrival on.
    idle_since: Option<Time>,
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
    pub const fn emptied(&mut self, now: Time) {
        self.empty_since = now;
    }
}

impl Params {
    /// Updates the average with the queue length found by an arriving packet, itself not counted.
    #[inline]
    pub fn sample(&self, state: &mut State, queue: u64, now: Time) {
        let keep = 1.0 - self.weight;
        state.average = match (&self.idle, state.idle_since.take()) {
            (Idle::Floyd(decay), _) if queue == 0 => decay.age(state.average, now.since(state.empty_since)),
            (Idle::Ns3, Some(since)) => {
                // As if that many packets had found the queue empty, and this one finds it as it is.
                let missed = now.since(since).as_nanos() / self.packet_time.as_nanos().max(1);
                state.average * power(keep, missed + 1) + self.weight * queue as f64
            }
            (Idle::Linux(damping), Some(since)) => damping.damp(state.average, now.since(since)),
            _ => keep * state.average + self.weight * queue as f64,
        };
    }

    /// The link finds the queue empty. In ns-3 the idle time restarts, in Linux it goes on.
    #[inline]
    pub fn idle(&self, state: &mut State, now: Time) {
        if state.idle_since.is_none() || matches!(self.idle, Idle::Ns3) {
            state.idle_since = Some(now);
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
pub fn power(mut base: f64, mut exponent: u64) -> f64 {
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
        idle: Idle::Ns3,
    };

    fn at(average: f64) -> State {
        State { average, ..State::default() }
    }

    const fn micros(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn the_average_moves_by_its_weight() {
        let mut state = at(8.0);
        PARAMS.sample(&mut state, 4, Time::ZERO);
        assert_eq!(state.average, 6.0); // 0.5 * 8 + 0.5 * 4
    }

    #[test]
    fn by_figure_2_every_arrival_counts_the_whole_time_since_the_queue_became_empty() {
        let floyd = Params { idle: Idle::floyd(0.5, Span::from_millis(1)), ..PARAMS };
        let mut state = at(6.0);
        state.emptied(micros(10_000));
        floyd.idle(&mut state, micros(11_000));
        floyd.sample(&mut state, 0, micros(13_000));
        assert!((state.average - 0.75).abs() < 1e-15); // 3 ms are 3 packets: 6 * 0.5^3
        // That packet was dropped: q_time stays, and 4.5 ms are 4.5 packets.
        floyd.sample(&mut state, 0, micros(14_500));
        assert!((state.average - 0.75 * 0.5_f64.powf(4.5)).abs() < 1e-15);
        floyd.sample(&mut state, 1, micros(14_600));
        assert!((state.average - (0.5 + 0.375 * 0.5_f64.powf(4.5))).abs() < 1e-15);
    }

    #[test]
    fn by_ns3_an_arrival_ages_by_one_step_more_and_ends_the_idle_time() {
        let ns3 = PARAMS;
        let mut state = at(64.0);
        state.emptied(micros(10_000));
        // The last packet is still being sent: an ordinary step.
        ns3.sample(&mut state, 0, micros(10_900));
        assert_eq!(state.average, 32.0);
        ns3.idle(&mut state, micros(11_000));
        ns3.sample(&mut state, 0, micros(13_900));
        assert_eq!(state.average, 4.0); // 2.9 ms are 2 packets: 32 * 0.5^3
        ns3.sample(&mut state, 0, micros(20_000));
        assert_eq!(state.average, 2.0);
        // It was dropped, and the link asked again at once.
        ns3.idle(&mut state, micros(20_000));
        ns3.sample(&mut state, 0, micros(20_600));
        assert_eq!(state.average, 1.0); // no packet in 0.6 ms, and one step
        ns3.idle(&mut state, micros(30_000));
        ns3.sample(&mut state, 3, micros(30_100)); // a queue that was filled by other means
        assert_eq!(state.average, 2.0);
    }

    #[test]
    fn by_linux_idle_time_damps_once_and_later_arrivals_take_ordinary_steps() {
        // 1000 B at 10 Mbit/s and a weight of 2^-9: cells of 524.288 ms, see `idle`.
        let (weight, packet_time) = (1.0 / 512.0, Span::from_micros(800));
        let linux = Params { weight, packet_time, idle: Idle::linux(weight, packet_time), ..PARAMS };
        let mut state = at(16.0);
        state.emptied(micros(10_000));
        linux.sample(&mut state, 0, micros(10_900));
        assert_eq!(state.average, 16.0 * 511.0 / 512.0); // the last packet is still being sent
        let mut state = at(16.0);
        linux.idle(&mut state, micros(10_000));
        linux.idle(&mut state, micros(20_000)); // idle already
        linux.sample(&mut state, 0, micros(10_000 + 131_072));
        assert_eq!(state.average, 12.0); // a quarter of a cell
        linux.sample(&mut state, 0, micros(900_000));
        assert_eq!(state.average, 12.0 * 511.0 / 512.0);
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
