//! DOCSIS-PIE (RFC 8034 appendix A): PIE's controller on a delay that is predicted from the rates of the service
//! flow, a probability that is scaled by packet length, and protection of bursts only after a first drop.
//!
//! Random numbers: one per arriving packet that passes no safeguard while the accumulated probability is in 0.85 ..
//! 8.5.

use super::pie::{QueueState, tuning};
use super::{Periodic, Pi};
use crate::units::{Span, Time};

/// `PROB_LOW`: no drop while the accumulated probability is below this; also the largest probability of a packet.
const PROB_LOW: f64 = 0.85;
/// `PROB_HIGH`: a certain drop from this value on.
const PROB_HIGH: f64 = 8.5;
/// `MEAN_PKTSIZE` and `MIN_PKTSIZE`, bytes.
const MEAN_PACKET: f64 = 1024.0;
const MIN_PACKET: f64 = 64.0;
/// `LATENCY_LOW` and `LATENCY_HIGH`, seconds.
const LATENCY_LOW: f64 = 0.005;
const LATENCY_HIGH: f64 = 0.2;
/// `BURST_RESET_TIMEOUT`.
const BURST_RESET: Span = Span::from_secs(1);

/// The rates of a service flow, in bytes and byte/s.
#[derive(Clone, Copy, Debug)]
pub struct ServiceFlow {
    /// Maximum sustained traffic rate.
    pub sustained: f64,
    /// Peak traffic rate, at which credit for the sustained rate is used up.
    pub peak: f64,
    /// Maximum traffic burst: the most credit.
    pub burst: f64,
}

/// The settings.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The controller: `LATENCY_TARGET`, `A`, `B`.
    pub pi: Pi,
    /// Period of the controller (`INTERVAL`).
    pub tupdate: Span,
    /// How long a burst is exempt from drops (`MAX_BURST`).
    pub max_burst: Span,
    /// The rates that predict the delay.
    pub service: ServiceFlow,
}

/// `burst_state_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Burst {
    /// No burst yet: nothing is dropped below a third of the buffer.
    None,
    /// A burst was seen; the first drop will start its protection. With the calm time so far.
    First(Span),
    /// A burst is or was protected.
    Protected,
}

/// The state. Delays are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct State {
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old: f64,
    burst_allowance: Span,
    burst: Burst,
    timer: Periodic,
    /// Credit of the sustained rate in bytes, and when it was counted.
    tokens: f64,
    counted: Time,
}

impl State {
    /// The drop probability of a packet of 1024 bytes; it may exceed one.
    pub const fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// The delay predicted at the last update, seconds.
    pub const fn qdelay(&self) -> f64 {
        self.qdelay_old
    }

    /// Remaining burst allowance.
    pub const fn burst_allowance(&self) -> Span {
        self.burst_allowance
    }

    /// When the probability is to be updated next.
    pub const fn due(&self) -> Time {
        self.timer.due()
    }

    /// A packet was dropped because the queue was full.
    pub const fn overflowed(&mut self) {
        self.accu_prob = 0.0;
    }
}

impl Params {
    /// The state at the start of a run.
    pub fn start(&self) -> State {
        State {
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: Span::ZERO,
            burst: Burst::None,
            timer: Periodic::new(self.tupdate),
            tokens: self.service.burst,
            counted: Time::ZERO,
        }
    }

    /// Fits a running state to these parameters.
    pub fn adopt(&self, state: &mut State, now: Time) {
        state.timer.adopt(self.tupdate, now);
        state.tokens = state.tokens.min(self.service.burst);
    }

    /// Whether an arriving packet of `length` bytes is to be dropped (`drop_early`); `uniform` draws from [0, 1).
    #[inline]
    pub fn drops(
        &self,
        state: &mut State,
        seen: QueueState,
        length: u32,
        uniform: impl FnOnce() -> f64,
    ) -> bool {
        if state.burst_allowance > Span::ZERO {
            return false;
        }
        if state.drop_prob == 0.0 {
            state.accu_prob = 0.0;
        }
        if state.burst == Burst::None {
            if !seen.third_full {
                return false;
            }
            state.burst = Burst::First(Span::ZERO);
        }
        let p = (state.drop_prob * f64::from(length) / MEAN_PACKET).min(PROB_LOW);
        state.accu_prob += p;
        if self.pi.spares(state.qdelay_old, state.drop_prob)
            || seen.bytes as f64 <= 2.0 * MEAN_PACKET
            || state.accu_prob < PROB_LOW
        {
            return false;
        }
        if state.accu_prob < PROB_HIGH && uniform() > p {
            return false;
        }
        state.accu_prob = 0.0;
        if let Burst::First(_) = state.burst {
            (state.burst, state.burst_allowance) = (Burst::Protected, self.max_burst);
        }
        true
    }

    /// A packet of `length` bytes has left.
    #[inline]
    pub fn depart(&self, state: &mut State, length: u32, now: Time) {
        self.refill(state, now);
        state.tokens = (state.tokens - f64::from(length)).max(0.0);
    }

    /// Does the updates that are due by `now`, `bytes` waiting.
    pub fn catch_up(&self, state: &mut State, bytes: u64, now: Time) {
        self.refill(state, now);
        let mut timer = state.timer;
        timer.catch_up(self.tupdate, now, || self.update(state, bytes));
        state.timer = timer;
    }

    fn refill(&self, state: &mut State, now: Time) {
        let earned = self.service.sustained * now.since(state.counted).as_secs_f64();
        state.tokens = (state.tokens + earned).min(self.service.burst);
        state.counted = now;
    }

    /// Section 4.2: bytes with credit leave at the peak rate, the rest at the sustained rate.
    fn predict(&self, bytes: u64, tokens: f64) -> f64 {
        let at_peak = tokens.min(bytes as f64);
        at_peak / self.service.peak + (bytes as f64 - at_peak) / self.service.sustained
    }

    /// One period (`calculate_drop_prob`).
    fn update(&self, state: &mut State, bytes: u64) {
        let qdelay = self.predict(bytes, state.tokens);
        if state.burst_allowance > Span::ZERO {
            state.drop_prob = 0.0;
            state.burst_allowance = state.burst_allowance.saturating_sub(self.tupdate);
        } else {
            state.drop_prob = self.moved(state.drop_prob, qdelay, state.qdelay_old);
        }
        let half = 0.5 * self.pi.target;
        let quiet = qdelay < half
            && state.qdelay_old < half
            && state.drop_prob == 0.0
            && state.burst_allowance == Span::ZERO;
        state.burst = match state.burst {
            Burst::Protected if quiet => Burst::First(Span::ZERO),
            Burst::First(calm) if quiet && calm + self.tupdate > BURST_RESET => Burst::None,
            Burst::First(calm) if quiet => Burst::First(calm + self.tupdate),
            Burst::First(_) => Burst::First(Span::ZERO),
            other => other,
        };
        state.qdelay_old = qdelay;
    }

    /// The probability after a period that began with `p`.
    fn moved(&self, p: f64, qdelay: f64, qdelay_old: f64) -> f64 {
        let mut change = self.pi.change(qdelay, qdelay_old) / divisor(p);
        if p >= 0.1 && change > 0.02 {
            change = 0.02;
        }
        let mut p = p + change;
        if qdelay < LATENCY_LOW && qdelay_old < LATENCY_LOW {
            p *= 0.98;
        } else if qdelay > LATENCY_HIGH {
            p += 0.02;
        }
        p.clamp(0.0, PROB_LOW * MEAN_PACKET / MIN_PACKET)
    }
}

/// Auto-tuning as in PIE, and bigger steps where the probability is above a tenth.
fn divisor(p: f64) -> f64 {
    match p {
        p if p < 0.1 => tuning(p),
        p if p < 1.0 => 0.5,
        p if p < 10.0 => 0.125,
        _ => 0.03125,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 byte/s sustained, 4000 at peak, 500 bytes of credit.
    fn law() -> Params {
        Params {
            pi: Pi { target: 0.01, alpha: 0.25, beta: 2.5 },
            tupdate: Span::from_millis(16),
            max_burst: Span::from_millis(142),
            service: ServiceFlow { sustained: 1000.0, peak: 4000.0, burst: 500.0 },
        }
    }

    const FULL: QueueState = QueueState { packets: 9, bytes: 9000, third_full: true };

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn bytes_with_credit_leave_at_the_peak_rate_and_the_rest_at_the_sustained_rate() {
        let law = law();
        assert_eq!(law.predict(400, 500.0), 0.1);
        assert_eq!(law.predict(700, 500.0), 0.125 + 0.2);
        let mut state = law.start();
        law.depart(&mut state, 300, at(10));
        assert_eq!(state.tokens, 200.0); // 500, full, less 300
        law.depart(&mut state, 150, at(110));
        assert_eq!(state.tokens, 150.0); // + 100 - 150
        law.depart(&mut state, 1000, at(110));
        assert_eq!(state.tokens, 0.0);
    }

    #[test]
    fn the_probability_moves_by_the_tuned_step() {
        let law = law();
        // 0.25 * (20 - 10) ms + 2.5 * (20 - 16) ms = 0.0125
        for (p, after) in [
            (0.0, 0.0125 / 2048.0),
            (0.05, 0.05625),
            (0.2, 0.22), // 0.025 is more than 0.02
            (0.0999, 0.0999 + 0.00625),
        ] {
            assert!((law.moved(p, 0.02, 0.016) - after).abs() < 1e-15, "{p}");
        }
        // 0.25 * (4 - 10) ms + 0 = -0.0015, in steps that grow with the probability; then it decays.
        for (p, after) in
            [(0.5, 0.497 * 0.98), (5.0, 4.988 * 0.98), (11.0, 10.952 * 0.98), (0.001, 0.98 * 0.0008125)]
        {
            assert!((law.moved(p, 0.004, 0.004) - after).abs() < 1e-12, "{p}");
        }
        assert!((law.moved(0.2, 0.3, 0.3) - 0.24).abs() < 1e-15);
        assert_eq!(law.moved(13.6, 0.3, 0.3), 13.6);
        assert_eq!(law.moved(0.0, 0.004, 0.004), 0.0);
    }

    #[test]
    fn nothing_is_dropped_before_a_third_of_the_buffer_was_used() {
        let law = law();
        let mut state = State { drop_prob: 1.0, qdelay_old: 0.05, ..law.start() };
        let below = QueueState { third_full: false, ..FULL };
        assert!((0..99).all(|_| !law.drops(&mut state, below, 1024, || 0.0)));
        assert!(law.drops(&mut state, FULL, 1024, || 0.0));
        assert_eq!(state.burst_allowance(), Span::from_millis(142));
        assert!((0..99).all(|_| !law.drops(&mut state, FULL, 1024, || 0.0)));
        state.burst_allowance = Span::ZERO;
        assert!(law.drops(&mut state, below, 1024, || 0.0));
        assert_eq!(state.burst_allowance(), Span::ZERO); // only the first drop protects
    }

    #[test]
    fn short_packets_and_small_sums_are_not_dropped() {
        let law = law();
        let working = State { drop_prob: 0.4, qdelay_old: 0.05, burst: Burst::Protected, ..law.start() };
        let drops_at = |length, u| {
            let mut state = working;
            (1..99).find(|_| law.drops(&mut state, FULL, length, || u))
        };
        assert_eq!(drops_at(1024, 0.0), Some(3)); // 0.4, 0.8, 1.2
        assert_eq!(drops_at(512, 0.0), Some(5)); // 0.2 .. 1.0
        assert_eq!(drops_at(1024, 0.4), Some(3)); // as likely as 0.4
        assert_eq!(drops_at(1024, 0.41), Some(22)); // 22 * 0.4 = 8.8
        let mut state = State { drop_prob: 13.6, ..working };
        assert!(!law.drops(&mut state, FULL, 32, || 0.9)); // 0.425
        state.accu_prob = 0.0;
        assert!(law.drops(&mut state, FULL, 64, || 0.85) && !law.drops(&mut state, FULL, 1514, || 0.86));
    }

    #[test]
    fn low_delay_and_two_mean_packets_are_safe() {
        let law = law();
        let working = State { drop_prob: 0.19, accu_prob: 9.0, burst: Burst::Protected, ..law.start() };
        let drops =
            |state: State, bytes| law.drops(&mut { state }, QueueState { bytes, ..FULL }, 1024, || 0.0);
        assert!(!drops(State { qdelay_old: 0.0049, ..working }, 9000));
        assert!(drops(State { qdelay_old: 0.005, ..working }, 9000));
        assert!(drops(State { qdelay_old: 0.0, drop_prob: 0.2, ..working }, 9000));
        assert!(!drops(State { qdelay_old: 0.005, ..working }, 2048));
        assert!(drops(State { qdelay_old: 0.005, ..working }, 2049));
        let still = State { drop_prob: 0.0, qdelay_old: 0.005, ..working };
        assert!(!drops(still, 9000)); // no probability, no sum of it
    }

    #[test]
    fn a_protected_burst_counts_down_and_is_forgotten_after_a_second_of_calm() {
        let law = law();
        let mut state = State {
            drop_prob: 0.3,
            burst: Burst::Protected,
            burst_allowance: Span::from_millis(20),
            ..law.start()
        };
        law.update(&mut state, 0);
        assert_eq!((state.drop_prob, state.burst_allowance), (0.0, Span::from_millis(4)));
        assert_eq!(state.burst, Burst::Protected);
        law.update(&mut state, 0);
        assert_eq!((state.burst_allowance, state.burst), (Span::ZERO, Burst::First(Span::ZERO)));
        (0..30).for_each(|_| law.update(&mut state, 0));
        law.update(&mut state, 2000); // not calm, and the next is not either: the delay before counts
        assert_eq!(state.burst, Burst::First(Span::ZERO));
        state.drop_prob = 0.0;
        state.qdelay_old = 0.0;
        (0..62).for_each(|_| law.update(&mut state, 0));
        assert_eq!(state.burst, Burst::First(Span::from_millis(992)));
        law.update(&mut state, 0);
        assert_eq!(state.burst, Burst::None);
    }
}
