//! PIE as Linux 6.1 has it (the behaviour of `net/sched/sch_pie.c`): what it does otherwise than RFC 8033.

use super::{Params, QueueState, State};
use crate::law::{Periodic, Verdict};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// The largest probability: it has 56 bits of 64 behind the point, and is bounded by an overflow only.
const LARGEST: f64 = 256.0;
/// The delay beyond which the probability rises by another step, seconds.
const HIGH: f64 = 0.25;

/// What Linux keeps beside the state of the law.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux {
    /// When a packet left last.
    last_departure: Option<Time>,
}

impl Linux {
    /// When the first update comes.
    pub const FIRST_UPDATE: Span = Span::from_millis(500);

    /// The state at the start of a run. The law is always active.
    pub fn start(law: &Params) -> State {
        State { active: true, timer: Periodic::new(Linux::FIRST_UPDATE), ..law.start() }
    }

    /// Decides about an arriving packet of `length` bytes. The safeguard judges the current delay, and two full
    /// packets are a queue. A burst is exempt again by `calculate_drop_prob` only.
    #[inline]
    pub fn arrive(
        law: &Params,
        state: &mut State,
        seen: QueueState,
        length: u32,
        uniform: impl FnOnce() -> f64,
    ) -> Verdict {
        let exempt = state.burst_allowance > Span::ZERO
            || law.pi.spares(state.qdelay, state.drop_prob)
            || seen.bytes < 2 * u64::from(law.mtu);
        if !exempt && law.random_drop(state, length, uniform) { law.signal(state) } else { Verdict::Admit }
    }

    /// `packet` has left; `bytes_left` are still queued. The time between departures, not the period, is subtracted
    /// from the burst allowance.
    #[inline]
    pub fn depart(&mut self, law: &Params, state: &mut State, packet: &Packet, bytes_left: u64, now: Time) {
        law.depart(state, packet, bytes_left, now);
        if law.estimator.is_none() && bytes_left == 0 {
            state.qdelay = 0.0;
        }
        let passed = self.last_departure.map_or(Span::ZERO, |last| now.since(last));
        state.burst_allowance = state.burst_allowance.saturating_sub(passed);
        self.last_departure = Some(now);
    }

    /// One period, `bytes` waiting: a step more at a high delay, decay by 1/64 and only while nothing waits, and a
    /// fresh start once all is calm. The probability may rise above 1, and then takes as long to come down.
    pub fn calculate_drop_prob(&mut self, law: &Params, state: &mut State, bytes: u64) {
        let qdelay = law.current_qdelay(state, bytes);
        let change = law.pi.change(qdelay, state.qdelay_old) / super::tuning(state.drop_prob);
        let mut p = state.drop_prob + law.capped(change, state.drop_prob);
        if qdelay > HIGH {
            p += 0.02;
        } else if qdelay == 0.0 && state.qdelay_old == 0.0 && bytes == 0 {
            p -= p / 64.0;
        }
        state.drop_prob = p.clamp(0.0, LARGEST);
        if law.pi.low(qdelay) && law.pi.low(state.qdelay_old) && state.drop_prob == 0.0 {
            state.burst_allowance = law.max_burst;
            state.accu_prob = 0.0;
            state.forget_rate();
            self.last_departure = None;
        }
        (state.qdelay_old, state.qdelay) = (qdelay, qdelay);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{BUSY, RFC, at, close};
    use super::*;

    /// The probability after a period.
    fn after(drop_prob: f64, qdelay: f64, bytes: u64) -> f64 {
        let mut state = at(&RFC, drop_prob, qdelay, qdelay);
        Linux::default().calculate_drop_prob(&RFC, &mut state, bytes);
        state.drop_prob
    }

    #[test]
    fn the_probability_decays_only_while_nothing_waits() {
        close(after(0.5, 0.0, 0), (0.5 - 0.125 * 0.015) * (1.0 - 1.0 / 64.0));
        close(after(0.5, 0.0, 100), 0.5 - 0.125 * 0.015);
    }

    #[test]
    fn a_delay_above_a_quarter_of_a_second_adds_a_step() {
        // Delay unchanged: 0.125 * (0.25 - 0.015) = 0.029375, capped at 0.02; above 0.25 s another 0.02.
        close(after(0.5, 0.25, 50_000), 0.52);
        close(after(0.5, 0.251, 50_000), 0.54);
    }

    #[test]
    fn the_probability_rises_above_one_and_comes_down_from_there() {
        close(after(1.0, 0.3, 500_000), 1.04);
        // An empty queue: 0.125 * 0.015 less, and 1/64 of the rest.
        close(after(1.04, 0.0, 0), (1.04 - 0.125 * 0.015) * (1.0 - 1.0 / 64.0));
        assert_eq!(after(255.99, 0.3, 500_000), 256.0);
    }

    #[test]
    fn once_all_is_calm_it_starts_afresh() {
        let mut state = State { accu_prob: 0.5, ..at(&RFC, 0.0, 0.001, 0.001) };
        let mut linux = Linux { last_departure: Some(Time::ZERO) };
        linux.calculate_drop_prob(&RFC, &mut state, 1000);
        assert_eq!((state.accu_prob, state.burst_allowance), (0.0, RFC.max_burst));
        assert_eq!(linux.last_departure, None);
    }

    #[test]
    fn the_burst_allowance_is_spent_on_time_between_departures() {
        let (mut linux, mut state) = (Linux::default(), Linux::start(&RFC));
        let mut leave = |state: &mut State, millis: u64| {
            let now = Time::from_nanos(millis * 1_000_000);
            linux.depart(&RFC, state, &Packet::new(0, 0, 1000), 1000, now);
        };
        leave(&mut state, 100);
        assert_eq!(state.burst_allowance, Span::from_millis(150));
        leave(&mut state, 160);
        Linux::default().calculate_drop_prob(&RFC, &mut state, 50_000);
        assert_eq!(state.burst_allowance, Span::from_millis(90));
    }

    #[test]
    fn the_safeguard_judges_the_current_delay_and_fewer_than_two_packets() {
        let decide = |qdelay, old, bytes| {
            let mut state = at(&RFC, 0.1, qdelay, old);
            Linux::arrive(&RFC, &mut state, QueueState { bytes, ..BUSY }, 1000, || 0.09)
        };
        assert_eq!(decide(0.02, 0.0, 3000), Verdict::Signal);
        assert_eq!(decide(0.02, 0.02, 2999), Verdict::Admit);
        assert_eq!(decide(0.0074, 0.02, 3000), Verdict::Admit); // below half the target
    }
}
