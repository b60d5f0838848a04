//! PIE (RFC 8033): arriving packets are dropped or marked with a probability that a PI controller on the queue delay
//! updates once per period.
//!
//! The functions follow the pseudocode of RFC 8033 appendix A with the optional elements of section 5, and keep its
//! names. What other programs do otherwise stands beside it: [`Linux`] and [`Ns3`].
//!
//! Random numbers: one per arriving packet that passes the burst allowance and the safeguards of `drop_early`; with
//! derandomization only while the accumulated probability is in 0.85 .. 8.5.

mod compact;
mod departure_rate;
mod linux;
mod ns3;
#[cfg(test)]
mod tests;

pub use compact::Compact;
pub use departure_rate::{DepartureRate, Estimator};
pub use linux::Linux;
pub use ns3::Ns3;

use super::{Periodic, Pi, Verdict};
use crate::packet::Packet;
use crate::units::{Span, Time};

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
    /// Become inactive while the queue is short (section 5.3).
    pub activate: bool,
    /// Space the drops (section 5.4).
    pub derandomize: bool,
    /// Let the probability rise by at most 0.02 per period once it is 0.1 (section 5.5).
    pub cap: bool,
    /// Multiply the probability by packet length over `mtu`.
    pub byte_mode: bool,
    /// Bytes of a full packet (`MEAN_PKTSIZE` of the safeguard).
    pub mtu: u32,
}

/// The queue as an arriving packet finds it, without itself.
#[derive(Clone, Copy, Debug)]
pub struct QueueState {
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
    timer: Periodic,
    rate: DepartureRate,
}

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

    /// When the probability is to be updated next; `None` while the law is inactive.
    pub fn due(&self) -> Option<Time> {
        self.active.then_some(self.timer.due())
    }

    /// A packet was dropped because the queue was full, which counts as a signal (section 5.4).
    pub const fn overflowed(&mut self) {
        self.accu_prob = 0.0;
    }

    /// What was measured of the departure rate is useless from now on.
    pub const fn forget_rate(&mut self) {
        self.rate = DepartureRate::UNKNOWN;
    }

    /// What is known of the departure rate.
    pub const fn rate(&self) -> DepartureRate {
        self.rate
    }

    /// Does `update` for every `period` that has ended by `now`.
    pub fn catch_up(&mut self, period: Span, now: Time, mut update: impl FnMut(&mut State)) {
        if self.active {
            let mut timer = self.timer;
            timer.catch_up(period, now, || update(self));
            self.timer = timer;
        }
    }
}

impl Params {
    /// The state at the start of a run.
    pub fn start(&self) -> State {
        State {
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay: 0.0,
            qdelay_old: 0.0,
            burst_allowance: self.max_burst,
            active: !self.activate,
            timer: Periodic::new(self.tupdate),
            rate: DepartureRate::UNKNOWN,
        }
    }

    /// Fits a running state to these parameters, which were `before`.
    pub fn adopt(&self, state: &mut State, before: &Params, now: Time) {
        if !self.activate && !state.active {
            self.activate(state, now);
        }
        if self.tupdate != before.tupdate {
            state.timer.adopt(self.tupdate, now);
        }
        if self.estimator.is_some() != before.estimator.is_some() {
            state.forget_rate();
        }
    }

    /// Decides about an arriving packet of `length` bytes (`enqueue`); `uniform` draws from [0, 1).
    #[inline]
    pub fn arrive(
        &self,
        state: &mut State,
        seen: QueueState,
        length: u32,
        now: Time,
        uniform: impl FnOnce() -> f64,
    ) -> Verdict {
        let mut verdict = Verdict::Admit;
        if state.active
            && state.burst_allowance == Span::ZERO
            && self.drop_early(state, seen, length, uniform)
        {
            verdict = self.signal(state);
        }
        // Section 5.3: a third of the limit activates the law.
        if !state.active && seen.third_full {
            self.activate(state, now);
        }
        // Section 4.4: without congestion, the next burst is exempt again.
        if state.active
            && state.drop_prob == 0.0
            && self.pi.low(state.qdelay)
            && self.pi.low(state.qdelay_old)
        {
            state.burst_allowance = self.max_burst;
            state.active = !(self.activate && seen.packets == 0);
        }
        verdict
    }

    /// Random drops behind the safeguards: a low delay at a modest probability, or hardly a queue.
    fn drop_early(
        &self,
        state: &mut State,
        seen: QueueState,
        length: u32,
        uniform: impl FnOnce() -> f64,
    ) -> bool {
        if self.pi.spares(state.qdelay_old, state.drop_prob) {
            return false;
        }
        if seen.bytes <= 2 * u64::from(self.mtu) {
            return false;
        }
        self.random_drop(state, length, uniform)
    }

    /// Whether chance hits a packet of `length` bytes (section 4.1); with derandomization, neither too soon nor too late
    /// after the last one (section 5.4).
    #[inline]
    fn random_drop(&self, state: &mut State, length: u32, uniform: impl FnOnce() -> f64) -> bool {
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

    fn scaled(&self, p: f64, length: u32) -> f64 {
        if self.byte_mode && length <= self.mtu { p * f64::from(length) / f64::from(self.mtu) } else { p }
    }

    /// Section 5.1: above the threshold packets are dropped, since senders may ignore marks.
    fn signal(&self, state: &mut State) -> Verdict {
        state.accu_prob = 0.0;
        if state.drop_prob <= self.mark_threshold { Verdict::Signal } else { Verdict::Drop }
    }

    /// `packet` has left (`dequeue`); `bytes_left` are still queued.
    #[inline]
    pub fn depart(&self, state: &mut State, packet: &Packet, bytes_left: u64, now: Time) {
        if !state.active {
            return;
        }
        match self.estimator {
            None => state.qdelay = now.since(packet.arrival).as_secs_f64(),
            Some(estimator) => state.rate.depart(estimator, packet.length, bytes_left, now),
        }
    }

    /// One period (section 4.2), `bytes` waiting.
    pub fn calculate_drop_prob(&self, state: &mut State, bytes: u64) {
        let qdelay = self.current_qdelay(state, bytes);
        let change = self.pi.change(qdelay, state.qdelay_old) / tuning(state.drop_prob);
        let mut p = state.drop_prob + self.capped(change, state.drop_prob);
        // Appendix B: the probability decays below half the target.
        if self.pi.low(qdelay) && self.pi.low(state.qdelay_old) {
            p *= 0.98;
        }
        state.drop_prob = p.clamp(0.0, 1.0);
        (state.qdelay_old, state.qdelay) = (qdelay, qdelay);
        state.burst_allowance = state.burst_allowance.saturating_sub(self.tupdate);
    }

    /// The delay with `bytes` queued, seconds: a timestamp's, or from the departure rate (section 4.3).
    fn current_qdelay(&self, state: &State, bytes: u64) -> f64 {
        match self.estimator {
            // The last timestamp says nothing about a queue that has emptied since.
            None if bytes == 0 => 0.0,
            None => state.qdelay,
            Some(estimator) => state.rate.qdelay(estimator, bytes),
        }
    }

    /// Section 5.5: a large probability rises slowly.
    fn capped(&self, change: f64, p: f64) -> f64 {
        if self.cap && p >= 0.1 && change > 0.02 { 0.02 } else { change }
    }

    /// Section 5.3: activates the law with a fresh state; appendix B starts a measurement at once.
    fn activate(&self, state: &mut State, now: Time) {
        *state = State { active: true, timer: Periodic::at(now + self.tupdate), ..self.start() };
        if self.estimator.is_some() {
            state.rate.measure(now);
        }
    }
}

/// Auto-tuning: the divisor of the change of a probability `p`, so that small ones move in small steps (section 4.2).
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
