//! PIE as ns-3.27 has it (the behaviour of `pie-queue-disc.cc`): what it does otherwise than RFC 8033.
//!
//! It draws a random number before the safeguards, for every packet outside a burst.

use super::{Params, QueueState, State};
use crate::law::{Periodic, Verdict};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// How long all must be calm before another burst is exempt.
const RESET: Span = Span::from_millis(1500);
/// The delay beyond which the probability rises by another step, seconds.
const HIGH: f64 = 0.2;

/// What ns-3.27 keeps beside the state of the law.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns3 {
    pub(super) burst: Burst,
}

/// The state of the burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Burst {
    /// The next packet begins one.
    #[default]
    None,
    Protecting,
    /// With the number of calm periods since.
    Over(u32),
}

impl Ns3 {
    /// The state at the start of a run: no burst yet, and the first update at once. The law is always active.
    pub fn start(law: &Params) -> State {
        State { active: true, burst_allowance: Span::ZERO, timer: Periodic::new(Span::ZERO), ..law.start() }
    }

    /// Decides about an arriving packet of `length` bytes. The packet that begins a burst is not exempt itself.
    #[inline]
    pub fn arrive(
        &mut self,
        law: &Params,
        state: &mut State,
        seen: QueueState,
        length: u32,
        uniform: impl FnOnce() -> f64,
    ) -> Verdict {
        if state.burst_allowance > Span::ZERO {
            return Verdict::Admit;
        }
        self.begin_burst(law, state);
        let u = uniform();
        let safe = law.pi.spares(state.qdelay_old, state.drop_prob) || Ns3::short(seen);
        let hit = !safe && u <= law.scaled(state.drop_prob, length);
        if hit { law.signal(state) } else { Verdict::Admit }
    }

    /// Starts a burst allowance, unless a burst has had its own.
    #[inline]
    pub fn begin_burst(&mut self, law: &Params, state: &mut State) {
        if self.burst == Burst::None && state.burst_allowance == Span::ZERO {
            self.burst = Burst::Protecting;
            state.burst_allowance = law.max_burst;
        }
    }

    /// Whether there is hardly a queue: packets are counted, not bytes.
    pub const fn short(seen: QueueState) -> bool {
        seen.packets <= 2
    }

    /// `packet` has left; `bytes_left` are still queued. The departure rate itself is averaged, and the packet that
    /// starts a measurement counts.
    #[inline]
    pub fn depart(law: &Params, state: &mut State, packet: &Packet, bytes_left: u64, now: Time) {
        let Some(estimator) = law.estimator else { return law.depart(state, packet, bytes_left, now) };
        let rate = &mut state.rate;
        if rate.measurement.is_none() && bytes_left >= estimator.threshold {
            rate.measure(now);
        }
        let Some(measurement) = &mut rate.measurement else { return };
        measurement.count += u64::from(packet.length);
        if measurement.count >= estimator.threshold {
            let (bytes, time) = (measurement.count, now.since(measurement.start).as_secs_f64());
            rate.measurement = None;
            if time > 0.0 {
                rate.take(bytes as f64 / time, estimator.weight);
            }
            if bytes_left > estimator.threshold {
                rate.measure(now);
            }
        }
    }

    /// The delay with `bytes` queued, seconds; zero while the departure rate is unknown.
    #[inline]
    pub fn current_qdelay(law: &Params, state: &State, bytes: u64) -> f64 {
        match law.estimator {
            None => law.current_qdelay(state, bytes),
            Some(_) if state.rate.average > 0.0 => bytes as f64 / state.rate.average,
            Some(_) => 0.0,
        }
    }

    /// One period, `bytes` waiting, with PIE's controller.
    pub fn calculate_p(&mut self, law: &Params, state: &mut State, bytes: u64) {
        self.calculate_p_by(law, state, bytes, false, |qdelay, old| law.pi.change(qdelay, old));
    }

    /// One period, `bytes` waiting, in which the probability moves by `change` of the current delay and the last: none
    /// during a burst, a step more at a high delay, decay only without any delay, and no upper bound. A quiet period
    /// forgets the departure rate, and there is no delay until the next measurement, unless `keeps_rate`.
    pub fn calculate_p_by(
        &mut self,
        law: &Params,
        state: &mut State,
        bytes: u64,
        keeps_rate: bool,
        change: impl FnOnce(f64, f64) -> f64,
    ) {
        let qdelay = Ns3::current_qdelay(law, state, bytes);
        let mut p = 0.0;
        if state.burst_allowance == Span::ZERO {
            let change = change(qdelay, state.qdelay_old) / tuning(state.drop_prob);
            p = state.drop_prob + law.capped(change, state.drop_prob);
        }
        if qdelay > HIGH {
            p += 0.02;
        } else if qdelay == 0.0 && state.qdelay_old == 0.0 {
            p *= 0.98;
        }
        state.drop_prob = p.max(0.0);
        state.burst_allowance = state.burst_allowance.saturating_sub(law.tupdate);
        let quiet = law.pi.low(qdelay) && law.pi.low(state.qdelay_old) && state.drop_prob == 0.0;
        if quiet && !keeps_rate && state.rate.average > 0.0 {
            state.rate.average = 0.0;
            if let Some(measurement) = &mut state.rate.measurement {
                measurement.count = 0;
            }
        }
        self.end_burst(quiet && state.burst_allowance == Span::ZERO, law.tupdate);
        (state.qdelay_old, state.qdelay) = (qdelay, qdelay);
    }

    /// Another burst is exempt after a time of calm periods.
    fn end_burst(&mut self, calm: bool, tupdate: Span) {
        self.burst = match self.burst {
            Burst::Protecting if calm => Burst::Over(0),
            Burst::Over(periods) if calm => {
                let enough = u64::from(periods) + 1 > RESET.as_nanos() / tupdate.as_nanos();
                if enough { Burst::None } else { Burst::Over(periods + 1) }
            }
            Burst::Over(_) => Burst::Over(0),
            other => other,
        };
    }
}

/// Auto-tuning: fewer steps for small probabilities, and more for those above one.
pub(super) fn tuning(p: f64) -> f64 {
    match p {
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        p if p < 1.0 => 0.5,
        p if p < 10.0 => 0.125,
        _ => 0.03125,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Estimator;
    use super::super::tests::{BUSY, RFC, at, close};
    use super::*;
    use crate::law::Pi;

    const LAW: Params = Params {
        pi: Pi { target: 0.02, alpha: 0.125, beta: 1.25 },
        tupdate: Span::from_millis(30),
        max_burst: Span::from_millis(100),
        estimator: Some(Estimator { threshold: 10_000, weight: 0.5 }),
        ..RFC
    };

    /// A state with a measured rate, in byte/s.
    fn measured(average: f64, drop_prob: f64, qdelay_old: f64) -> State {
        let mut state = at(&LAW, drop_prob, 0.0, qdelay_old);
        state.rate.average = average;
        state
    }

    #[test]
    fn probabilities_are_tuned_beyond_one_and_have_no_upper_bound() {
        // A rate of 1 MB/s and 30 kB make 30 ms. change = 0.125 * 0.010 + 1.25 * 0.010 = 0.01375
        for (p, divisor) in [(0.0, 32.0), (0.005, 8.0), (0.05, 2.0), (2.0, 0.125), (20.0, 0.03125)] {
            let mut state = measured(1e6, p, 0.020);
            Ns3::default().calculate_p(&LAW, &mut state, 30_000);
            close(state.drop_prob, p + f64::min(0.01375 / divisor, if p >= 0.1 { 0.02 } else { 1.0 }));
        }
        // p = 0.5: 0.125 * 0.23 / 0.5 = 0.0575, capped to 0.02. Beyond 200 ms another 0.02.
        let mut state = measured(1e6, 0.5, 0.25);
        Ns3::default().calculate_p(&LAW, &mut state, 250_000);
        close(state.drop_prob, 0.54);
    }

    #[test]
    fn a_bound_of_the_tuning_table_belongs_to_the_step_above() {
        for (p, divisor) in [(0.001, 8.0), (0.01, 2.0), (0.1, 0.5), (1.0, 0.125), (10.0, 0.031_25)] {
            assert_eq!(tuning(p), divisor, "{p}");
        }
    }

    #[test]
    fn a_burst_is_protected_once_and_again_after_a_second_and_a_half() {
        let (mut ns3, mut state) = (Ns3::default(), Ns3::start(&LAW));
        assert_eq!(state.due(), Some(Time::ZERO));
        // The first packet opens the burst, and is itself decided upon: p = 0, so only u = 0 would drop it.
        assert_eq!(ns3.arrive(&LAW, &mut state, BUSY, 1000, || 0.5), Verdict::Admit);
        assert_eq!(state.burst_allowance, Span::from_millis(100));
        // 100 ms last 100 / 30 -> 4 periods; then Over(0) and 50 more + 1 calm periods until a burst is allowed again.
        let mut periods = 0;
        while ns3.burst != Burst::None {
            ns3.calculate_p(&LAW, &mut state, 0);
            periods += 1;
        }
        assert_eq!(periods, 4 + 51);
    }

    #[test]
    fn a_quiet_period_forgets_the_rate_unless_it_is_kept() {
        for (keeps_rate, average) in [(false, 0.0), (true, 1e6)] {
            let mut state = measured(1e6, 0.0, 0.0);
            Ns3::default().calculate_p_by(&LAW, &mut state, 1000, keeps_rate, |_, _| 0.0);
            assert_eq!(state.rate.average, average);
        }
    }

    #[test]
    fn two_packets_are_safe_and_a_number_as_large_as_the_probability_hits() {
        let decide = |packets, u: f64| {
            let mut ns3 = Ns3 { burst: Burst::Protecting };
            let seen = QueueState { packets, ..BUSY };
            ns3.arrive(&LAW, &mut at(&LAW, 0.1, 0.02, 0.02), seen, 1000, || u)
        };
        assert_eq!(decide(2, 0.0), Verdict::Admit);
        assert_eq!(decide(3, 0.1), Verdict::Signal);
        assert_eq!(decide(3, 0.100_1), Verdict::Admit);
    }

    #[test]
    fn the_packet_that_starts_a_measurement_counts() {
        let law = Params { estimator: Some(Estimator { threshold: 2000, weight: 0.5 }), ..LAW };
        let mut state = Ns3::start(&law);
        let leave = |state: &mut State, millis: u64, left| {
            let now = Time::from_nanos(millis * 1_000_000);
            Ns3::depart(&law, state, &Packet::new(0, 0, 1000), left, now);
        };
        leave(&mut state, 1, 2000); // starts at 1 ms with 1000 bytes
        leave(&mut state, 2, 5000); // 2000 bytes in 1 ms = 2e6 byte/s; starts again
        close(state.rate.average, 2e6);
        leave(&mut state, 4, 5000);
        leave(&mut state, 6, 2000); // 2000 bytes in 4 ms = 5e5: mean 1.25e6; 2000 is not above the threshold
        close(state.rate.average, 1.25e6);
        assert!(state.rate.measurement.is_none());
        close(Ns3::current_qdelay(&law, &state, 2500), 0.002);
    }

    #[test]
    fn a_packet_that_is_a_measurement_by_itself_has_no_rate() {
        let mut state = Ns3::start(&LAW);
        Ns3::depart(&LAW, &mut state, &Packet::new(0, 0, 10_000), 10_000, Time::from_nanos(5));
        assert_eq!(state.rate.average, 0.0);
    }
}
