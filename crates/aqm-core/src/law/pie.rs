//! PIE (RFC 8033): a probability, moved once per period by a PI controller on the queue delay, with which arriving
//! packets are dropped or marked.
//!
//! The functions follow RFC 8033 appendix A and the optional elements of section 5, and keep their names. [`Code`]
//! says where Linux and ns-3.27 do otherwise.
//!
//! Random numbers: one per arriving packet that the burst allowance and the safeguards of `drop_early` let through;
//! with derandomization only while the accumulated probability is in 0.85 .. 8.5. ns-3.27 draws before its safeguards.

use super::{Pi, Verdict};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// Whose order of things is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// RFC 8033 appendix A.
    Rfc8033,
    /// Linux 6.1, `net/sched/sch_pie.c`.
    Linux,
    /// ns-3.27, `pie-queue-disc.cc`.
    Ns327,
}

/// How the departure rate is estimated (RFC 8033 section 5.2).
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    /// Bytes of one measurement.
    pub threshold: u64,
    /// Weight of a new measurement in the average.
    pub weight: f64,
}

/// The settings.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The controller: `QDELAY_REF`, alpha, beta.
    pub pi: Pi,
    /// Period of the controller (`T_UPDATE`).
    pub tupdate: Span,
    /// How long a burst passes untouched (`MAX_BURST`).
    pub max_burst: Span,
    /// Estimate the delay from the departure rate; `None`: from the packets' timestamps.
    pub estimator: Option<Estimator>,
    /// Largest probability at which packets are marked instead of dropped (section 5.1, `MARK_ECNTH`).
    pub mark_threshold: f64,
    /// Rest while the queue is short (section 5.3); RFC code only.
    pub activate: bool,
    /// Space the drops (section 5.4).
    pub derandomize: bool,
    /// Let the probability rise by at most 0.02 per period once it is 0.1 (section 5.5).
    pub cap: bool,
    /// Multiply the probability by packet length over `mtu`.
    pub byte_mode: bool,
    /// Bytes of a full packet (`MEAN_PKTSIZE` of the safeguard).
    pub mtu: u32,
    /// Whose details.
    pub code: Code,
}

/// What an arriving packet finds, itself not counted.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Packets that wait.
    pub packets: u64,
    /// Bytes that wait.
    pub bytes: u64,
    /// Whether a third of the limit is taken.
    pub third_full: bool,
}

/// What the law remembers. Delays are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct State {
    drop_prob: f64,
    accu_prob: f64,
    qdelay: f64,
    qdelay_old: f64,
    burst_allowance: Span,
    active: bool,
    next_update: Time,
    burst: Burst,
    measurement: Option<Measurement>,
    /// Average time of a measurement in seconds; for ns-3.27 the average rate in byte/s. Zero: unknown.
    average: f64,
    /// When a packet left last (Linux).
    last_departure: Option<Time>,
}

/// A running measurement of the departure rate.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    start: Time,
    count: u64,
}

/// Burst state of ns-3.27; the number counts calm periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Burst {
    None,
    Protecting,
    Over(u32),
}

/// Missed periods that a late wake-up makes up for; beyond that the controller starts afresh from now.
const CATCH_UP: u32 = 16;

impl State {
    /// The drop probability.
    pub const fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// The delay that the law assumes now, seconds.
    pub const fn qdelay(&self) -> f64 {
        self.qdelay
    }

    /// How long a burst may still pass.
    pub const fn burst_allowance(&self) -> Span {
        self.burst_allowance
    }

    /// A packet was dropped for want of room, which counts as a signal (section 5.4).
    pub const fn overflowed(&mut self) {
        self.accu_prob = 0.0;
    }
}

impl Params {
    /// The state at the start of a run.
    pub fn start(&self) -> State {
        let (burst_allowance, next_update) = match self.code {
            Code::Rfc8033 => (self.max_burst, Time::ZERO + self.tupdate),
            Code::Linux => (self.max_burst, Time::ZERO + Span::from_millis(500)),
            Code::Ns327 => (Span::ZERO, Time::ZERO),
        };
        State {
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay: 0.0,
            qdelay_old: 0.0,
            burst_allowance,
            active: !self.rests(),
            next_update,
            burst: Burst::None,
            measurement: None,
            average: 0.0,
            last_departure: None,
        }
    }

    /// Fits a running state to these parameters, which were `before`.
    pub fn adopt(&self, state: &mut State, before: &Params, now: Time) {
        if !self.rests() && !state.active {
            self.activate(state, now);
        }
        if self.tupdate != before.tupdate {
            state.next_update = state.next_update.min(now + self.tupdate);
        }
        if self.code != before.code || self.estimator.is_some() != before.estimator.is_some() {
            (state.measurement, state.average) = (None, 0.0);
        }
    }

    /// Decides about an arriving packet of `length` bytes; `uniform` draws from [0, 1).
    #[inline]
    pub fn arrive(
        &self,
        state: &mut State,
        seen: Seen,
        length: u32,
        now: Time,
        uniform: impl FnOnce() -> f64,
    ) -> Verdict {
        let mut verdict = Verdict::Admit;
        if state.active && state.burst_allowance == Span::ZERO {
            self.protect(state);
            if self.drop_early(state, seen, length, uniform) {
                state.accu_prob = 0.0;
                // Section 5.1: beyond the threshold, senders that ignore marks must not get through.
                let marks = state.drop_prob <= self.mark_threshold;
                verdict = if marks { Verdict::Signal } else { Verdict::Drop };
            }
        }
        if self.code == Code::Rfc8033 {
            if !state.active && seen.third_full {
                self.activate(state, now);
            }
            if state.active && state.drop_prob == 0.0 && self.low(state.qdelay) && self.low(state.qdelay_old)
            {
                state.burst_allowance = self.max_burst;
                state.active = !(self.activate && seen.packets == 0);
            }
        }
        verdict
    }

    /// Whether plain chance hits a packet, burst allowance regarded but none of the safeguards: for laws that choose
    /// themselves when chance applies.
    #[inline]
    pub fn toss(&self, state: &State, length: u32, uniform: impl FnOnce() -> f64) -> bool {
        state.burst_allowance == Span::ZERO && uniform() < self.scaled(state.drop_prob, length)
    }

    /// Starts a burst allowance if ns-3.27 would.
    pub fn protect(&self, state: &mut State) {
        if self.code == Code::Ns327 && state.burst == Burst::None && state.burst_allowance == Span::ZERO {
            state.burst = Burst::Protecting;
            state.burst_allowance = self.max_burst;
        }
    }

    fn drop_early(&self, state: &mut State, seen: Seen, length: u32, uniform: impl FnOnce() -> f64) -> bool {
        if self.code == Code::Ns327 {
            let u = uniform();
            return !self.safe(state.qdelay_old, state, seen) && u <= self.scaled(state.drop_prob, length);
        }
        let delay = if self.code == Code::Linux { state.qdelay } else { state.qdelay_old };
        if self.safe(delay, state, seen) {
            return false;
        }
        let p = self.scaled(state.drop_prob, length);
        if self.derandomize {
            state.accu_prob = if p == 0.0 { 0.0 } else { state.accu_prob + p };
            if state.accu_prob < 0.85 {
                return false;
            }
            if state.accu_prob >= 8.5 {
                return true;
            }
        }
        uniform() < p
    }

    /// The safeguards of appendix A: low delay at a modest probability, or hardly a queue.
    fn safe(&self, delay: f64, state: &State, seen: Seen) -> bool {
        (self.low(delay) && state.drop_prob < 0.2) || self.short(seen)
    }

    /// Whether there is hardly a queue.
    pub fn short(&self, seen: Seen) -> bool {
        let two_packets = 2 * u64::from(self.mtu);
        match self.code {
            Code::Rfc8033 => seen.bytes <= two_packets,
            Code::Linux => seen.bytes < two_packets,
            Code::Ns327 => seen.packets <= 2,
        }
    }

    fn scaled(&self, p: f64, length: u32) -> f64 {
        if self.byte_mode && length <= self.mtu { p * f64::from(length) / f64::from(self.mtu) } else { p }
    }

    /// `packet` has left; `bytes_left` wait still.
    #[inline]
    pub fn depart(&self, state: &mut State, packet: &Packet, bytes_left: u64, now: Time) {
        if !state.active {
            return;
        }
        match self.estimator {
            None => {
                let empty = self.code == Code::Linux && bytes_left == 0;
                state.qdelay = if empty { 0.0 } else { now.since(packet.arrival).as_secs_f64() };
            }
            Some(estimator) if self.code == Code::Ns327 => {
                estimator.depart_ns3(state, packet.length, bytes_left, now);
            }
            Some(estimator) => estimator.depart(state, packet.length, bytes_left, now),
        }
        if self.code == Code::Linux {
            // Linux takes the time between departures off the allowance, not the period.
            let passed = state.last_departure.map_or(Span::ZERO, |last| now.since(last));
            state.burst_allowance = state.burst_allowance.saturating_sub(passed);
            state.last_departure = Some(now);
        }
    }

    /// When the probability is to be updated next; `None` while the law rests.
    pub fn due(&self, state: &State) -> Option<Time> {
        state.active.then_some(state.next_update)
    }

    /// Does the updates that are due by `now`, `bytes` waiting.
    pub fn catch_up(&self, state: &mut State, bytes: u64, now: Time) {
        for _ in 0..CATCH_UP {
            if !state.active || state.next_update > now {
                return;
            }
            self.update(state, bytes);
            state.next_update += self.tupdate;
        }
        if state.next_update <= now {
            state.next_update = now + self.tupdate;
        }
    }

    /// One period (appendix A, `calculate_drop_prob`).
    fn update(&self, state: &mut State, bytes: u64) {
        let (delay, known) = self.delay(state, bytes);
        let calm = self.low(delay) && self.low(state.qdelay_old);
        let none = delay == 0.0 && state.qdelay_old == 0.0;

        let mut p = state.drop_prob;
        if self.code == Code::Ns327 && state.burst_allowance > Span::ZERO {
            p = 0.0;
        } else {
            let mut change = self.pi.change(delay, state.qdelay_old) / self.divisor(p);
            if self.cap && p >= 0.1 && change > 0.02 {
                change = 0.02;
            }
            p += change;
        }
        match self.code {
            Code::Rfc8033 if calm => p *= 0.98,
            Code::Linux if delay > 0.25 => p += 0.02,
            Code::Linux if none && bytes == 0 => p -= p / 64.0,
            Code::Ns327 if delay > 0.2 => p += 0.02,
            Code::Ns327 if none => p *= 0.98,
            _ => {}
        }
        p = p.max(0.0);
        // ns-3.27 has no upper bound.
        state.drop_prob = if self.code == Code::Ns327 { p } else { p.min(1.0) };

        if self.code != Code::Linux {
            state.burst_allowance = state.burst_allowance.saturating_sub(self.tupdate);
        }
        let quiet = calm && state.drop_prob == 0.0;
        match self.code {
            Code::Rfc8033 => {}
            Code::Linux if quiet => {
                state.burst_allowance = self.max_burst;
                state.accu_prob = 0.0;
                state.last_departure = None;
                (state.measurement, state.average) = (None, 0.0);
            }
            Code::Linux => {}
            Code::Ns327 => self.end_burst(state, quiet, known),
        }
        (state.qdelay_old, state.qdelay) = (delay, delay);
    }

    /// ns-3.27 allows a new burst after 1.5 s of calm, and forgets the rate when calm.
    fn end_burst(&self, state: &mut State, quiet: bool, known: bool) {
        const RESET: Span = Span::from_millis(1500);
        if quiet && known {
            state.average = 0.0;
            if let Some(measurement) = &mut state.measurement {
                measurement.count = 0;
            }
        }
        state.burst = match state.burst {
            Burst::Protecting if quiet && state.burst_allowance == Span::ZERO => Burst::Over(0),
            Burst::Over(periods) if quiet && state.burst_allowance == Span::ZERO => {
                let limit = RESET.as_nanos() / self.tupdate.as_nanos();
                if u64::from(periods) + 1 > limit { Burst::None } else { Burst::Over(periods + 1) }
            }
            Burst::Over(_) => Burst::Over(0),
            other => other,
        };
    }

    /// The queue delay now, and whether there is an estimate of the departure rate.
    fn delay(&self, state: &State, bytes: u64) -> (f64, bool) {
        let known = state.average > 0.0;
        let delay = match self.estimator {
            // The last timestamp says nothing about a queue that has emptied since.
            None if bytes == 0 => 0.0,
            None => state.qdelay,
            Some(_) if !known => 0.0,
            Some(_) if self.code == Code::Ns327 => bytes as f64 / state.average,
            Some(estimator) => bytes as f64 * state.average / estimator.threshold as f64,
        };
        (delay, known)
    }

    /// Auto-tuning: small probabilities move in small steps (section 4.2).
    fn divisor(&self, p: f64) -> f64 {
        if self.code == Code::Ns327 {
            return match p {
                p if p < 0.001 => 32.0,
                p if p < 0.01 => 8.0,
                p if p < 0.1 => 2.0,
                p if p < 1.0 => 0.5,
                p if p < 10.0 => 0.125,
                _ => 0.03125,
            };
        }
        match p {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        }
    }

    fn low(&self, delay: f64) -> bool {
        delay < 0.5 * self.pi.target
    }

    fn rests(&self) -> bool {
        self.activate && self.code == Code::Rfc8033
    }

    /// Section 5.3: to work, with everything forgotten; appendix B starts a measurement at once.
    fn activate(&self, state: &mut State, now: Time) {
        let measurement = self.estimator.map(|_| Measurement { start: now, count: 0 });
        *state = State { active: true, next_update: now + self.tupdate, measurement, ..self.start() };
    }
}

impl Estimator {
    /// Section 5.2: the average time that `threshold` bytes take.
    fn depart(&self, state: &mut State, length: u32, bytes_left: u64, now: Time) {
        if let Some(measurement) = &mut state.measurement {
            measurement.count += u64::from(length);
            if measurement.count >= self.threshold {
                let time = now.since(measurement.start).as_secs_f64();
                state.average = if state.average == 0.0 {
                    time
                } else {
                    time * self.weight + state.average * (1.0 - self.weight)
                };
                state.measurement = None;
            }
        }
        if state.measurement.is_none() && bytes_left >= self.threshold {
            state.measurement = Some(Measurement { start: now, count: 0 });
        }
    }

    /// ns-3.27: the average rate; the packet that starts a measurement counts.
    fn depart_ns3(&self, state: &mut State, length: u32, bytes_left: u64, now: Time) {
        if state.measurement.is_none() && bytes_left >= self.threshold {
            state.measurement = Some(Measurement { start: now, count: 0 });
        }
        let Some(measurement) = &mut state.measurement else { return };
        measurement.count += u64::from(length);
        if measurement.count >= self.threshold {
            let time = now.since(measurement.start).as_secs_f64();
            if time > 0.0 {
                let rate = measurement.count as f64 / time;
                state.average = if state.average == 0.0 {
                    rate
                } else {
                    (1.0 - self.weight) * state.average + self.weight * rate
                };
            }
            let again = bytes_left > self.threshold;
            state.measurement = again.then_some(Measurement { start: now, count: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RFC: Params = Params {
        pi: Pi { target: 0.015, alpha: 0.125, beta: 1.25 },
        tupdate: Span::from_millis(15),
        max_burst: Span::from_millis(150),
        estimator: None,
        mark_threshold: 0.1,
        activate: false,
        derandomize: false,
        cap: true,
        byte_mode: false,
        mtu: 1500,
        code: Code::Rfc8033,
    };
    const NS3: Params = Params {
        pi: Pi { target: 0.02, alpha: 0.125, beta: 1.25 },
        tupdate: Span::from_millis(30),
        max_burst: Span::from_millis(100),
        estimator: Some(Estimator { threshold: 10_000, weight: 0.5 }),
        code: Code::Ns327,
        ..RFC
    };
    const BUSY: Seen = Seen { packets: 100, bytes: 100_000, third_full: true };

    fn close(is: f64, should: f64) {
        assert!((is - should).abs() <= 1e-12 * should.abs(), "{is} instead of {should}");
    }

    /// A state past its burst allowance.
    fn at(params: &Params, drop_prob: f64, qdelay: f64, qdelay_old: f64) -> State {
        State {
            drop_prob,
            qdelay,
            qdelay_old,
            burst_allowance: Span::ZERO,
            burst: Burst::Protecting,
            ..params.start()
        }
    }

    #[test]
    fn the_probability_moves_as_the_controller_and_the_tuning_table_say() {
        // change = 0.125 * (0.025 - 0.015) + 1.25 * (0.025 - 0.020) = 0.00125 + 0.00625 = 0.0075
        for (p, divisor) in [
            (0.0, 2048.0),
            (0.000_005, 512.0),
            (0.000_05, 128.0),
            (0.000_5, 32.0),
            (0.005, 8.0),
            (0.05, 2.0),
            (0.5, 1.0),
        ] {
            let mut state = at(&RFC, p, 0.025, 0.020);
            RFC.update(&mut state, 50_000);
            close(state.drop_prob, p + 0.0075 / divisor);
            close(state.qdelay_old, 0.025);
        }
    }

    #[test]
    fn the_rise_is_capped_and_the_probability_bounded() {
        // change = 0.125 * 0.185 + 1.25 * 0.1 = 0.148125
        let after = |params: &Params, p| {
            let mut state = at(params, p, 0.2, 0.1);
            params.update(&mut state, 50_000);
            state.drop_prob
        };
        close(after(&RFC, 0.1), 0.12);
        close(after(&Params { cap: false, ..RFC }, 0.1), 0.248125);
        close(after(&RFC, 0.05), 0.05 + 0.148125 / 2.0);
        assert_eq!(after(&RFC, 0.99), 1.0);
    }

    #[test]
    fn the_probability_decays_when_congestion_goes_away() {
        // change = 0.125 * (0.005 - 0.015) + 0 = -0.00125, / 2; then * 0.98
        let mut state = at(&RFC, 0.05, 0.005, 0.005);
        RFC.update(&mut state, 50_000);
        close(state.drop_prob, (0.05 - 0.00125 / 2.0) * 0.98);
        // An empty queue has no delay, whatever the last packet waited: 0.125 * -0.015 + 1.25 * -0.02 = -0.026875
        let mut state = at(&RFC, 0.05, 0.02, 0.02);
        RFC.update(&mut state, 0);
        close(state.drop_prob, 0.05 - 0.026875 / 2.0);
        // Linux: no decay while anything waits, then 1/64.
        let linux = Params { code: Code::Linux, ..RFC };
        let mut state = at(&linux, 0.5, 0.0, 0.0);
        linux.update(&mut state, 0);
        close(state.drop_prob, (0.5 - 0.125 * 0.015) * (1.0 - 1.0 / 64.0));
        let mut state = at(&linux, 0.5, 0.0, 0.0);
        linux.update(&mut state, 100);
        close(state.drop_prob, 0.5 - 0.125 * 0.015);
        // A standing delay beyond 250 ms adds 0.02: change = 0.125 * 0.285 = 0.035625, capped to 0.02.
        let mut state = at(&linux, 0.5, 0.3, 0.3);
        linux.update(&mut state, 100);
        close(state.drop_prob, 0.54);
    }

    #[test]
    fn ns3_27_tunes_beyond_one_and_has_no_upper_bound() {
        // A rate of 1 MB/s and 30 kB make 30 ms. change = 0.125 * 0.010 + 1.25 * 0.010 = 0.01375
        for (p, divisor) in [(0.0, 32.0), (0.005, 8.0), (0.05, 2.0), (2.0, 0.125), (20.0, 0.03125)] {
            let mut state = State { average: 1e6, ..at(&NS3, p, 0.0, 0.020) };
            NS3.update(&mut state, 30_000);
            close(state.drop_prob, p + f64::min(0.01375 / divisor, if p >= 0.1 { 0.02 } else { 1.0 }));
        }
        // p = 0.5: 0.01375 / 0.5 = 0.0275, capped to 0.02. Beyond 200 ms another 0.02.
        let mut state = State { average: 1e6, ..at(&NS3, 0.5, 0.0, 0.25) };
        NS3.update(&mut state, 250_000);
        close(state.drop_prob, 0.54); // 0.125 * 0.23 / 0.5 = 0.0575 -> 0.02
    }

    #[test]
    fn ns3_27_protects_a_burst_once_and_again_after_a_second_and_a_half() {
        let mut state = NS3.start();
        assert_eq!(NS3.due(&state), Some(Time::ZERO));
        // The first packet opens the burst, and is itself decided upon: p = 0, so only u = 0 would drop it.
        assert_eq!(NS3.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.5), Verdict::Admit);
        assert_eq!(state.burst_allowance, Span::from_millis(100));
        // 100 ms last 100 / 30 -> 4 periods; then Over(0) and 50 more + 1 calm periods until a burst is allowed again.
        let mut periods = 0;
        while state.burst != Burst::None {
            NS3.update(&mut state, 0);
            periods += 1;
        }
        assert_eq!(periods, 4 + 51);
    }

    #[test]
    fn short_queues_and_low_delays_are_left_alone() {
        let decide = |params: &Params, p, old, bytes, u: f64| {
            let mut state = at(params, p, 0.02, old);
            let seen = Seen { packets: bytes / 1000, bytes, third_full: true };
            params.arrive(&mut state, seen, 1000, Time::ZERO, || u)
        };
        assert_eq!(decide(&RFC, 0.1, 0.02, 3001, 0.09), Verdict::Signal);
        assert_eq!(decide(&RFC, 0.1, 0.02, 3000, 0.09), Verdict::Admit); // at most two packets of 1500 bytes
        assert_eq!(decide(&RFC, 0.1, 0.0074, 3001, 0.0), Verdict::Admit); // below half the target
        assert_eq!(decide(&RFC, 0.2, 0.0074, 3001, 0.0), Verdict::Drop); // unless p >= 0.2; beyond 0.1 no marks
        assert_eq!(decide(&RFC, 0.1, 0.0075, 3001, 0.1), Verdict::Admit); // u < p is needed
        assert_eq!(decide(&NS3, 0.1, 0.02, 2000, 0.0), Verdict::Admit);
        assert_eq!(decide(&NS3, 0.1, 0.02, 3000, 0.1), Verdict::Signal); // u <= p is enough
    }

    #[test]
    fn derandomization_keeps_drops_apart_and_ends_long_waits() {
        let params = Params { derandomize: true, ..RFC };
        // p = 0.1: 0.1, .., 0.8 pass without a number; with 0.9 the first number is drawn.
        let mut state = at(&params, 0.1, 0.02, 0.02);
        for _ in 0..8 {
            let never = || -> f64 { panic!("too early for a number") };
            assert_eq!(params.arrive(&mut state, BUSY, 1000, Time::ZERO, never), Verdict::Admit);
        }
        assert_eq!(params.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.09), Verdict::Signal);
        assert_eq!(state.accu_prob, 0.0);
        // p = 0.5 with bad luck: 0.5, 1.0, .., 8.0 pass, 8.5 goes without a number.
        let mut state = at(&params, 0.5, 0.02, 0.02);
        let passed =
            (0..).take_while(|_| params.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.9) == Verdict::Admit);
        assert_eq!(passed.count(), 16);
    }

    #[test]
    fn the_burst_allowance_lasts_ten_periods() {
        let mut state = State { drop_prob: 1.0, qdelay: 0.1, qdelay_old: 0.1, ..RFC.start() };
        for _ in 0..10 {
            assert_eq!(RFC.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.0), Verdict::Admit);
            RFC.update(&mut state, 100_000);
        }
        assert_eq!(RFC.arrive(&mut state, BUSY, 1000, Time::ZERO, || 0.0), Verdict::Drop);
    }

    #[test]
    fn the_law_works_from_a_third_of_the_limit_and_rests_when_all_is_calm() {
        let params = Params { activate: true, ..RFC };
        let mut state = params.start();
        let now = Time::from_nanos(1_000_000);
        let arrive = |state: &mut State, packets, third_full| {
            let seen = Seen { packets, bytes: packets * 1000, third_full };
            params.arrive(state, seen, 1000, now, || 0.5);
        };
        arrive(&mut state, 10, false);
        assert_eq!(params.due(&state), None);
        arrive(&mut state, 11, true);
        assert_eq!(params.due(&state), Some(Time::from_nanos(16_000_000)));
        arrive(&mut state, 1, false);
        assert!(state.active);
        arrive(&mut state, 0, false);
        assert!(!state.active);
    }

    #[test]
    fn the_departure_rate_is_the_averaged_time_of_a_measurement() {
        let params = Params { estimator: Some(Estimator { threshold: 2000, weight: 0.25 }), ..RFC };
        let mut state = params.start();
        let leave = |state: &mut State, millis: u64, left| {
            params.depart(state, &Packet::new(0, 0, 1000), left, Time::from_nanos(millis * 1_000_000));
        };
        leave(&mut state, 1, 5000); // starts at 1 ms
        leave(&mut state, 2, 5000);
        leave(&mut state, 3, 5000); // 2000 bytes in 2 ms; starts again
        close(state.average, 0.002);
        leave(&mut state, 5, 5000);
        leave(&mut state, 9, 1999); // 2000 bytes in 6 ms: 0.006 / 4 + 0.002 * 3 / 4; too little left to start again
        close(state.average, 0.003);
        assert!(state.measurement.is_none());
        close(params.delay(&state, 8000).0, 0.012); // 8000 * 3 ms / 2000
    }

    #[test]
    fn ns3_27_counts_the_packet_that_starts_a_measurement() {
        let params = Params { estimator: Some(Estimator { threshold: 2000, weight: 0.5 }), ..NS3 };
        let mut state = params.start();
        let leave = |state: &mut State, millis: u64, left| {
            params.depart(state, &Packet::new(0, 0, 1000), left, Time::from_nanos(millis * 1_000_000));
        };
        leave(&mut state, 1, 2000); // starts at 1 ms with 1000 bytes
        leave(&mut state, 2, 5000); // 2000 bytes in 1 ms = 2e6 byte/s; starts again
        close(state.average, 2e6);
        leave(&mut state, 4, 5000);
        leave(&mut state, 6, 2000); // 2000 bytes in 4 ms = 5e5: mean 1.25e6; 2000 is not above the threshold
        close(state.average, 1.25e6);
        assert!(state.measurement.is_none());
        close(params.delay(&state, 2500).0, 0.002);
    }

    #[test]
    fn late_and_spurious_wake_ups_are_harmless() {
        let mut state = at(&RFC, 0.5, 0.025, 0.025);
        state.next_update = Time::from_nanos(15_000_000);
        RFC.catch_up(&mut state, 1000, Time::from_nanos(14_999_999));
        assert_eq!(state.drop_prob, 0.5);
        RFC.catch_up(&mut state, 1000, Time::from_nanos(50_000_000)); // 15, 30, 45 ms: 3 * 0.00125
        close(state.drop_prob, 0.50375);
        assert_eq!(state.next_update, Time::from_nanos(60_000_000));
        RFC.catch_up(&mut state, 1000, Time::from_nanos(1_000_000_000_000)); // 16 periods, not 66 663
        close(state.drop_prob, 0.50375 + 16.0 * 0.00125);
        assert_eq!(state.next_update, Time::from_nanos(1_000_015_000_000));
    }

    #[test]
    fn at_the_thresholds_of_derandomization_the_lot_is_cast_and_the_drop_is_forced() {
        let params = Params { derandomize: true, ..RFC };
        let hit = |accu_prob: f64, drop_prob: f64, lot: f64| {
            let mut state = State { accu_prob, ..at(&params, drop_prob, 0.03, 0.03) };
            params.drop_early(&mut state, BUSY, 1000, || lot)
        };
        assert!(!hit(0.25, 0.5, 0.0)); // 0.75: too early
        assert!(hit(0.0, 0.85, 0.0)); // 0.85: from here on the lot decides
        assert!(hit(8.0, 0.5, 0.9)); // 8.5: dropped whatever the lot says
        assert!(!hit(7.75, 0.5, 0.9)); // 8.25: spared by the lot
    }

    #[test]
    fn a_bound_of_the_tuning_table_belongs_to_the_step_above() {
        let rfc =
            [(0.000_001, 512.0), (0.000_01, 128.0), (0.000_1, 32.0), (0.001, 8.0), (0.01, 2.0), (0.1, 1.0)];
        for (p, divisor) in rfc {
            assert_eq!(RFC.divisor(p), divisor, "{p}");
        }
        for (p, divisor) in [(0.001, 8.0), (0.01, 2.0), (0.1, 0.5), (1.0, 0.125), (10.0, 0.031_25)] {
            assert_eq!(NS3.divisor(p), divisor, "{p}");
        }
    }

    #[test]
    fn linux_hastens_beyond_a_quarter_of_a_second_and_forgets_when_calm() {
        let linux = Params { code: Code::Linux, ..RFC };
        // Delay unchanged: 0.125 * (0.25 - 0.015) = 0.029375, capped at 0.02; above 0.25 s another 0.02.
        let mut state = at(&linux, 0.5, 0.25, 0.25);
        linux.update(&mut state, 50_000);
        close(state.drop_prob, 0.52);
        let mut state = at(&linux, 0.5, 0.251, 0.251);
        linux.update(&mut state, 50_000);
        close(state.drop_prob, 0.54);

        let mut state = State { accu_prob: 0.5, ..at(&linux, 0.0, 0.001, 0.001) };
        linux.update(&mut state, 1000);
        assert_eq!((state.accu_prob, state.burst_allowance), (0.0, linux.max_burst));
    }

    #[test]
    fn a_delay_of_half_the_target_is_not_low() {
        assert!(RFC.low(0.007_499) && !RFC.low(0.007_5));
    }

    #[test]
    fn a_measurement_takes_its_threshold_in_full() {
        let estimator = Some(Estimator { threshold: 1000, weight: 0.25 });
        let params = Params { estimator, activate: true, ..RFC };
        let mut state = params.start();
        params.activate(&mut state, Time::ZERO);
        let leave = |state: &mut State, length: u32, bytes_left: u64, nanos: u64| {
            params.depart(state, &Packet::new(0, 0, length), bytes_left, Time::from_nanos(nanos));
        };
        leave(&mut state, 999, 0, 1_000_000);
        assert_eq!(state.average, 0.0); // one byte is missing
        leave(&mut state, 1, 999, 2_000_000);
        close(state.average, 0.002);
        assert!(state.measurement.is_none()); // 999 bytes are too few for another
        leave(&mut state, 1, 1000, 3_000_000);
        assert!(state.measurement.is_some());
    }

    #[test]
    fn ns3_27_takes_no_rate_from_a_packet_that_is_a_measurement_by_itself() {
        let mut state = NS3.start();
        NS3.depart(&mut state, &Packet::new(0, 0, 10_000), 10_000, Time::from_nanos(5));
        assert_eq!(state.average, 0.0);
    }

    #[test]
    fn new_parameters_take_hold_of_a_running_state() {
        let ms = |millis: u64| Time::from_nanos(millis * 1_000_000);
        let estimator = Some(Estimator { threshold: 10_000, weight: 0.5 });
        let measuring = Some(Measurement { start: ms(1), count: 100 });
        let mut state = State {
            next_update: ms(15),
            average: 0.1,
            measurement: measuring,
            ..at(&RFC, 0.5, 0.025, 0.025)
        };

        RFC.adopt(&mut state, &RFC, ms(7));
        assert_eq!((state.drop_prob, state.next_update, state.average), (0.5, ms(15), 0.1));
        assert!(state.measurement.is_some());

        let faster = Params { tupdate: Span::from_millis(3), ..RFC };
        faster.adopt(&mut state, &RFC, ms(7));
        assert_eq!(state.next_update, ms(10));
        RFC.adopt(&mut state, &faster, ms(7)); // the update that was announced still comes
        assert_eq!(state.next_update, ms(10));

        // Another way to measure: what was measured is worth nothing.
        for other in [Params { estimator, ..RFC }, Params { code: Code::Linux, ..RFC }] {
            let mut state = state;
            other.adopt(&mut state, &RFC, ms(7));
            assert_eq!((state.average, state.measurement.is_none()), (0.0, true));
            assert_eq!(state.drop_prob, 0.5);
        }
    }

    #[test]
    fn linux_spends_its_burst_allowance_on_time_between_departures() {
        let linux = Params { code: Code::Linux, ..RFC };
        let mut state = linux.start();
        let leave = |state: &mut State, millis: u64| {
            linux.depart(state, &Packet::new(0, 0, 1000), 1000, Time::from_nanos(millis * 1_000_000));
        };
        leave(&mut state, 100);
        assert_eq!(state.burst_allowance, Span::from_millis(150));
        leave(&mut state, 160);
        linux.update(&mut state, 50_000);
        assert_eq!(state.burst_allowance, Span::from_millis(90));
    }
}
