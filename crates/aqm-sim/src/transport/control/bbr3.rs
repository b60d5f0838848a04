//! BBRv3 (draft-ietf-ccwg-bbr-06): as BBRv1, but loss limits data in flight: in the long term to less than the level
//! at which a probe for bandwidth met too much loss, in the short term to what was delivered recently. Section
//! numbers and names are the draft's. Not validated against an implementation.
//!
//! Deviations: segments are paced one by one; the send quantum matters in the window only (section 5.5.8.1). The
//! filters are exact, where the draft allows an approximation. Assumptions: the pacing rate starts again with the first
//! round-trip time, as the text of section 5.6.2 says; whether a careful probe has reached inflight_longterm (section
//! 5.3.3.7) is judged by the data in flight before the acknowledgment.

mod model;
mod probe_bw;
mod probe_rtt;
mod state;
mod variables;

use super::bbr::{LastGood, ONLY, PacingRate, Recovery, View};
use super::controller::{Controller, Info};
use super::hystart::SlowStart;
use crate::transport::rate::{LostSegment, Rounds, Sampler};
use crate::transport::window::{Acked, Window};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use state::{AckPhase, STARTUP_PACING_GAIN, State};
use variables::{BwProbe, CongestionSignals, ExtraAcked, FullBw, INFINITY, PathModel, RttProbe, Undo};

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "bbr3",
    summary: "BBRv3 (draft-ietf-ccwg-bbr-06), not validated against an implementation",
    reference: "draft-ietf-ccwg-bbr-06",
    sets: &[("recovery.rack", "on"), ("recovery.reenter", "on")],
    only: ONLY,
    build: |_, window, random| Box::new(Bbr3::new(window, random)),
    ..Info::USUAL
};

/// Section 2.5: PacingMarginPercent of 1.
const PACING_MARGIN: f64 = 0.99;
/// Section 2.8.
const LOSS_THRESH: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
/// Section 2.8, segments.
const MIN_PIPE_CWND: u64 = 4;
/// Section 5.3.1.3: BBRStartupFullLossCnt, ranges.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// State beyond the window.
#[derive(Clone, Debug)]
struct Bbr3 {
    state: State,
    pacing: PacingRate,
    last_good: LastGood,
    rounds: Rounds,
    random: Random,
    idle_restart: bool,
    drain_start_round: u64,
    /// What had been delivered when the fast recovery began.
    recovery_delivered: u64,
    path: PathModel,
    extra_acked: ExtraAcked,
    congestion: CongestionSignals,
    full_bw: FullBw,
    bw_probe: BwProbe,
    undo: Undo,
    rtt_probe: RttProbe,
}

impl Bbr3 {
    /// OnInit of section 5.2.1.
    fn new(window: &Window, random: Random) -> Bbr3 {
        Bbr3 {
            state: State::Startup,
            pacing: PacingRate::new(STARTUP_PACING_GAIN, window.initial),
            last_good: LastGood::default(),
            rounds: Rounds::default(),
            random,
            idle_restart: false,
            drain_start_round: 0,
            recovery_delivered: 0,
            path: PathModel::new(),
            extra_acked: ExtraAcked::default(),
            congestion: CongestionSignals::default(),
            full_bw: FullBw::default(),
            bw_probe: BwProbe::new(),
            undo: Undo::default(),
            rtt_probe: RttProbe::new(),
        }
    }
}

impl Controller for Bbr3 {
    fn on_ack(&mut self, _: &mut Window, _: &mut SlowStart, _: &Acked) {}

    fn on_idle(&mut self, _: &mut Window) {}

    fn wants_samples(&self) -> bool {
        true
    }

    fn rate(&self, _: &Window) -> Option<f64> {
        Some(self.pacing.rate)
    }

    /// UpdateOnACK of section 5.2.3.
    fn on_sample(&mut self, c: &mut View<'_>) {
        self.pacing.begin(STARTUP_PACING_GAIN, c.window.initial, c.at.srtt);
        self.follow_recovery(c);
        self.update_latest_delivery_signals(c);
        self.update_congestion_signals(c);
        self.update_ack_aggregation(c);
        self.check_full_bw_reached(c);
        self.check_startup_done(c);
        self.check_drain_done(c);
        self.update_probe_bw_cycle_phase(c);
        self.update_min_rtt(c);
        self.check_probe_rtt(c);
        self.advance_latest_delivery_signals(c);
        self.path.bw = self.path.max_bw.min(self.path.bw_shortterm); // BoundBWForModel of section 5.5.10.3
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_cwnd(c);
    }

    /// OnEnterRTO of section 5.6.4.4.
    fn on_timeout(&mut self, window: &mut Window) {
        self.save_state_upon_loss(window);
        self.last_good.recovery = Recovery::Timeout;
        window.cwnd = window.mss;
    }

    fn on_lost(&mut self, window: &Window, lost: &LostSegment) {
        self.handle_lost_packet(window, lost);
    }

    fn on_spurious_recovery(&mut self, window: &mut Window, sampler: &Sampler) {
        self.handle_spurious_loss_detection(window, sampler.delivered);
    }

    /// HandleRestartFromIdle of section 5.4.1.
    fn on_restart(&mut self, window: &mut Window, sampler: &Sampler, srtt: Span, now: Time) {
        self.pacing.begin(STARTUP_PACING_GAIN, window.initial, srtt);
        self.idle_restart = true;
        self.extra_acked.interval_start = now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window, sampler.delivered, now);
        }
    }
}

impl Bbr3 {
    /// Section 5.6.4.4: entering and leaving recovery.
    fn follow_recovery(&mut self, c: &mut View<'_>) {
        let (before, after) = (self.last_good.recovery, c.at.recovery);
        if after == Recovery::Fast && before != Recovery::Fast {
            self.last_good.save(c.window.cwnd, self.state == State::ProbeRtt); // the rest was saved with the first loss
            self.recovery_delivered = c.sampler.delivered;
        } else if after == Recovery::Open && before != Recovery::Open {
            self.last_good.restore(c.window);
        }
        self.last_good.recovery = after;
    }

    /// CheckFullBWReached of section 5.3.1.2.
    fn check_full_bw_reached(&mut self, c: &View<'_>) {
        if self.full_bw.now || !self.rounds.started || c.rs.is_app_limited {
            return;
        }
        if c.rs.delivery_rate >= self.full_bw.baseline * 1.25 {
            self.reset_full_bw(c.rs.delivery_rate);
            return;
        }
        self.full_bw.count += 1;
        self.full_bw.now = self.full_bw.count >= 3;
        self.full_bw.reached |= self.full_bw.now;
    }

    /// ResetFullBW of section 5.3.1.2, from a new baseline.
    fn reset_full_bw(&mut self, full_bw: f64) {
        self.full_bw.baseline = full_bw;
        self.full_bw.count = 0;
        self.full_bw.now = false;
    }

    /// CheckStartupDone of section 5.3.1.1.
    fn check_startup_done(&mut self, c: &View<'_>) {
        self.check_startup_high_loss(c);
        if self.state == State::Startup && self.full_bw.reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// CheckStartupHighLoss of section 5.3.1.3.
    fn check_startup_high_loss(&mut self, c: &View<'_>) {
        if !self.congestion.loss_round_start {
            return;
        }
        let ranges = std::mem::take(&mut self.congestion.lost_ranges);
        let for_a_round = c.at.recovery == Recovery::Fast && c.rs.prior_delivered >= self.recovery_delivered;
        if self.state == State::Startup
            && for_a_round
            && ranges >= STARTUP_FULL_LOSS_COUNT
            && is_inflight_too_high(c.rs.lost, c.rs.tx_in_flight)
        {
            self.undo.state = Some(State::Startup);
            self.full_bw.reached = true;
            self.path.inflight_longterm =
                self.bdp(self.path.bw, 1.0, c.window).max(self.congestion.inflight_latest);
        }
    }

    /// CheckDrainDone of section 5.3.2.
    fn check_drain_done(&mut self, c: &View<'_>) {
        if self.state == State::Drain
            && (c.at.inflight <= self.inflight(self.path.bw, 1.0, c.window)
                || self.rounds.count > self.drain_start_round + 3)
        {
            self.start_probe_bw_down(c.sampler.delivered, c.at.now);
        }
    }

    /// SetPacingRateWithGain of section 5.6.2.
    fn set_pacing_rate(&mut self, gain: f64) {
        self.pacing.set(gain * self.path.bw * PACING_MARGIN, self.full_bw.reached);
    }

    /// SetSendQuantum of section 5.6.3.
    fn send_quantum(&self, mss: u64) -> u64 {
        ((self.pacing.rate * 1e-3) as u64).min(64 * 1024).max(2 * mss)
    }

    /// BDPMultiple of section 5.6.4.2.
    fn bdp(&self, bw: f64, gain: f64, window: &Window) -> u64 {
        if self.path.min_rtt == Span::MAX {
            return window.initial;
        }
        (gain * bw * self.path.min_rtt.as_secs_f64()) as u64
    }

    /// QuantizationBudget of section 5.6.4.2, with the offload budget of section 5.5.8.1.
    fn with_quantization_budget(&self, inflight_cap: u64, mss: u64) -> u64 {
        let probing = if self.state == State::ProbeBwUp { 2 * mss } else { 0 };
        inflight_cap.max(3 * self.send_quantum(mss)).max(MIN_PIPE_CWND * mss) + probing
    }

    /// Inflight of section 5.6.4.2.
    fn inflight(&self, bw: f64, gain: f64, window: &Window) -> u64 {
        self.with_quantization_budget(self.bdp(bw, gain, window), window.mss)
    }

    /// SetCwnd of section 5.6.4.6.
    fn set_cwnd(&mut self, c: &mut View<'_>) {
        let mss = c.window.mss;
        let target = self.bdp(self.path.bw, self.state.cwnd_gain(), c.window) + self.extra_acked.bytes as u64;
        let max_inflight = self.with_quantization_budget(target, mss);
        let mut cwnd = c.window.cwnd;
        if self.full_bw.reached {
            cwnd = (cwnd + c.rs.newly_acked).min(max_inflight);
        } else if cwnd < max_inflight || c.sampler.delivered < c.window.initial {
            cwnd += c.rs.newly_acked;
        }
        cwnd = cwnd.max(MIN_PIPE_CWND * mss);
        // BoundCwndForProbeRTT of section 5.6.4.5.
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd(c.window));
        }
        c.window.cwnd = cwnd.min(self.bound_for_model(mss));
    }

    /// BoundCwndForModel of section 5.6.4.7.
    fn bound_for_model(&self, mss: u64) -> u64 {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.path.inflight_longterm,
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(mss),
            State::Startup | State::Drain => INFINITY,
        };
        cap.min(self.path.inflight_shortterm).max(MIN_PIPE_CWND * mss)
    }
}

/// IsInflightTooHigh of section 5.5.10.2.
fn is_inflight_too_high(lost: u64, tx_in_flight: u64) -> bool {
    lost as f64 > tx_in_flight as f64 * LOSS_THRESH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(number: u64, lost: u64) -> LostSegment {
        let (delivered, now) = (9000, Time::ZERO + Span::from_millis(9));
        let (start, length, tx_in_flight) = (number * 100, 100, 3000);
        LostSegment { start, length, is_app_limited: false, tx_in_flight, lost, delivered, now }
    }

    /// In ProbeBW_UP, with an estimated product of 2000 bytes.
    fn probing() -> (Bbr3, Window) {
        let mut window = Window::new(100, 10);
        window.cwnd = 4000;
        let mut bbr = Bbr3::new(&window, Random::seeded(1));
        bbr.state = State::ProbeBwUp;
        bbr.full_bw.reached = true;
        (bbr.bw_probe.is_bw_probe_sample, bbr.path.bw, bbr.path.min_rtt) =
            (true, 20_000.0, Span::from_millis(100));
        (bbr, window)
    }

    #[test]
    fn the_flight_at_which_losses_reach_two_percent_is_the_bound() {
        let (mut bbr, window) = probing();
        // 2 % of 3000 bytes are 60: one segment is too much. (2900 * 0.02 - 0) / 0.98 = 59.2 bytes beyond 2900.
        bbr.handle_lost_packet(&window, &lost(1, 100));
        assert_eq!((bbr.path.inflight_longterm, bbr.state), (2959, State::ProbeBwDown));
        bbr.handle_lost_packet(&window, &lost(5, 200));
        assert_eq!(bbr.path.inflight_longterm, 2959, "one reaction to a probe");
    }

    #[test]
    fn the_bound_falls_by_no_more_than_cubic_would() {
        let (mut bbr, window) = probing();
        let early = LostSegment { tx_in_flight: 1000, ..lost(1, 100) };
        bbr.handle_lost_packet(&window, &early);
        assert_eq!(bbr.path.inflight_longterm, 1400); // 0.7 times 2000, not (900 * 0.02) / 0.98 beyond 900
    }

    #[test]
    fn a_spurious_recovery_is_undone_and_the_probe_starts_again() {
        let (mut bbr, mut window) = probing();
        bbr.handle_lost_packet(&window, &lost(1, 100));
        window.cwnd = 400;
        bbr.handle_spurious_loss_detection(&mut window, 9000);
        assert_eq!(
            (bbr.path.inflight_longterm, bbr.state, window.cwnd),
            (INFINITY, State::ProbeBwRefill, 4000)
        );
    }

    #[test]
    fn losses_count_as_ranges() {
        let (mut bbr, window) = probing();
        for number in [1, 2, 3, 7, 8, 20] {
            bbr.handle_lost_packet(&window, &lost(number, 100));
        }
        assert_eq!(bbr.congestion.lost_ranges, 3);
    }
}
