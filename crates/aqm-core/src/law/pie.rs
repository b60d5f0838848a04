//! PIE (RFC 8033): arriving packets are dropped or marked with a probability that a PI controller on the queue delay
//! updates once per period.
//!
//! The functions follow RFC 8033 appendix A and the optional elements of section 5, and keep their names. [`Code`]
//! chooses the behaviour of Linux or ns-3.27 where they differ.
//!
//! Random numbers: one per arriving packet that passes the burst allowance and the safeguards of `drop_early`; with
//! derandomization only while the accumulated probability is in 0.85 .. 8.5. ns-3.27 draws before its safeguards.

use super::{Pi, Verdict};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// The program whose order of steps is followed.
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
    /// How long a burst is exempt from drops (`MAX_BURST`).
    pub max_burst: Span,
    /// Estimate the delay from the departure rate; `None`: from the packets' timestamps.
    pub estimator: Option<Estimator>,
    /// Largest probability at which packets are marked instead of dropped (section 5.1, `MARK_ECNTH`).
    pub mark_threshold: f64,
    /// Become inactive while the queue is short (section 5.3); RFC code only.
    pub activate: bool,
    /// Space the drops (section 5.4).
    pub derandomize: bool,
    /// Let the probability rise by at most 0.02 per period once it is 0.1 (section 5.5).
    pub cap: bool,
    /// Multiply the probability by packet length over `mtu`.
    pub byte_mode: bool,
    /// Apply alpha to the delay of the last period instead of the current one (S-PIE's eq. 3 as printed).
    pub weigh_old: bool,
    /// Do not update the probability while at most this many bytes are queued (S-PIE's algorithm 1 as printed).
    pub update_above: Option<u64>,
    /// Bytes of a full packet (`MEAN_PKTSIZE` of the safeguard).
    pub mtu: u32,
    /// The program whose details are followed.
    pub code: Code,
}

/// The queue as an arriving packet finds it, without itself.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Queued packets.
    pub packets: u64,
    /// Queued bytes.
    pub bytes: u64,
    /// Whether a third of the limit is used.
    pub third_full: bool,
}

/// The state. Delays are in seconds.
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

/// Missed periods that a late wake-up makes up for; after that the controller restarts from now.
const CATCH_UP: u32 = 16;

impl State {
    /// The drop probability.
    pub const fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// The current delay as estimated by the law, seconds.
    pub const fn qdelay(&self) -> f64 {
        self.qdelay
    }

    /// Remaining burst allowance.
    pub const fn burst_allowance(&self) -> Span {
        self.burst_allowance
    }

    /// A packet was dropped because the queue was full, which counts as a signal (section 5.4).
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
                // Section 5.1: above the threshold, packets are dropped, since senders may ignore marks.
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

    /// Whether chance hits a packet, with the burst allowance but without the safeguards: for laws that decide
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

    /// The queue delay with `bytes` queued, seconds (section 4.2); zero while the departure rate is unknown.
    #[inline]
    pub fn estimate(&self, state: &State, bytes: u64) -> f64 {
        self.delay(state, bytes).0
    }

    /// `packet` has left; `bytes_left` are still queued.
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
            // Linux subtracts the time between departures from the allowance, not the period.
            let passed = state.last_departure.map_or(Span::ZERO, |last| now.since(last));
            state.burst_allowance = state.burst_allowance.saturating_sub(passed);
            state.last_departure = Some(now);
        }
    }

    /// When the probability is to be updated next; `None` while the law is inactive.
    pub fn due(&self, state: &State) -> Option<Time> {
        state.active.then_some(state.next_update)
    }

    /// One period by another clock, with `bytes` queued: for tables of states that are updated together.
    pub fn tick(&self, state: &mut State, bytes: u64) {
        self.update(state, bytes);
    }

    /// Does the updates that are due by `now`, `bytes` waiting.
    pub fn catch_up(&self, state: &mut State, bytes: u64, now: Time) {
        for _ in 0..CATCH_UP {
            if !state.active || state.next_update > now {
                return;
            }
            if self.update_above.is_none_or(|threshold| bytes > threshold) {
                self.update(state, bytes);
            }
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
            let mut change = self.change(delay, state.qdelay_old) / self.divisor(p);
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

    fn change(&self, delay: f64, old: f64) -> f64 {
        if self.weigh_old {
            return self.pi.alpha * (old - self.pi.target) + self.pi.beta * (delay - old);
        }
        self.pi.change(delay, old)
    }

    /// ns-3.27 allows a new burst after 1.5 s of calm, and resets the rate when calm.
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
        tuning(p)
    }

    fn low(&self, delay: f64) -> bool {
        delay < 0.5 * self.pi.target
    }

    fn rests(&self) -> bool {
        self.activate && self.code == Code::Rfc8033
    }

    /// Section 5.3: activates the law with a fresh state; appendix B starts a measurement at once.
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

/// The divisor of the change of probability `p` (section 4.2).
pub(super) fn tuning(p: f64) -> f64 {
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

mod compact;
#[cfg(test)]
mod tests;

pub use compact::Compact;
