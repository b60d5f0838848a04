//! BBRv1 (draft-cardwell-iccrg-bbr-congestion-control-00): paces at the highest bandwidth that the path delivered,
//! and limits data in flight to twice the bandwidth-delay product. Loss slows it only during the recovery. Section
//! numbers and names are the draft's.
//!
//! Deviation: segments are paced one by one; the send quantum matters in the window only (section 4.2.3.2).

use super::bbr::{LastGood, ONLY, PacingRate, Recovery, View};
use super::controller::{Controller, Info};
use super::hystart::SlowStart;
use crate::transport::rate::{Rounds, Sampler, WindowedMax};
use crate::transport::window::{Acked, Window};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "bbr1",
    alias: "bbr",
    summary: "BBRv1 (draft-cardwell-iccrg-bbr-congestion-control-00), or bbr, as Linux calls it",
    reference: "draft-cardwell-iccrg-bbr-congestion-control-00",
    sets: &[("recovery.rack", "on"), ("recovery.reenter", "on")],
    only: ONLY,
    build: |_, window, random| Box::new(Bbr1::new(window, random)),
    ..Info::USUAL
};

/// Section 4.3.2.1: BBRHighGain, 2/ln 2.
const HIGH_GAIN: f64 = 2.89;
/// Section 4.3.4.1.
const PROBE_BW_CWND_GAIN: f64 = 2.0;
const PACING_GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Section 4.1.1.2: BtlBwFilterLen, round trips.
const BTLBW_FILTER_LEN: u64 = 10;
/// Section 4.1.2.2: RTpropFilterLen, and ProbeRTTInterval (section 4.3.5).
const RTPROP_FILTER_LEN: Span = Span::from_secs(10);
/// Section 4.3.5.
const PROBE_RTT_DURATION: Span = Span::from_millis(200);
/// Section 4.2.3.3: BBRMinPipeCwnd, segments.
const MIN_PIPE_CWND: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// State beyond the window.
#[derive(Clone, Debug)]
struct Bbr1 {
    state: State,
    pacing: PacingRate,
    rounds: Rounds,
    btlbw: f64,
    btlbw_filter: WindowedMax,
    /// [`Span::MAX`] before the first sample.
    rtprop: Span,
    rtprop_stamp: Time,
    rtprop_expired: bool,
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u32,
    cycle_index: usize,
    cycle_stamp: Time,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    last_good: LastGood,
    /// In the first round of a fast recovery: what had been delivered when it began.
    packet_conservation: Option<u64>,
    random: Random,
}

impl Bbr1 {
    /// BBRInit of section 4.3.1.
    fn new(window: &Window, random: Random) -> Bbr1 {
        Bbr1 {
            state: State::Startup,
            pacing: PacingRate::new(HIGH_GAIN, window.initial),
            rounds: Rounds::default(),
            btlbw: 0.0,
            btlbw_filter: WindowedMax::default(),
            rtprop: Span::MAX,
            rtprop_stamp: Time::ZERO,
            rtprop_expired: false,
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            last_good: LastGood::default(),
            packet_conservation: None,
            random,
        }
    }
}

impl Controller for Bbr1 {
    fn on_ack(&mut self, _: &mut Window, _: &mut SlowStart, _: &Acked) {}

    fn on_idle(&mut self, _: &mut Window) {}

    fn wants_samples(&self) -> bool {
        true
    }

    fn rate(&self, _: &Window) -> Option<f64> {
        Some(self.pacing.rate)
    }

    /// BBRUpdateOnACK of section 3.5.2.
    fn on_sample(&mut self, c: &mut View<'_>) {
        self.pacing.begin(HIGH_GAIN, c.window.initial, c.at.srtt);
        self.follow_recovery(c);
        self.update_btlbw(c);
        self.check_cycle_phase(c);
        self.check_full_pipe(c);
        self.check_drain(c);
        self.update_rtprop(c);
        self.check_probe_rtt(c);
        self.pacing.set(self.pacing_gain() * self.btlbw, self.filled_pipe);
        self.set_cwnd(c);
    }

    /// The retransmission timer expired: section 4.2.3.4.
    fn on_timeout(&mut self, window: &mut Window) {
        self.last_good.save(window.cwnd, self.state == State::ProbeRtt);
        self.last_good.recovery = Recovery::Timeout;
        self.packet_conservation = None;
        window.cwnd = window.mss;
    }

    /// BBRHandleRestartFromIdle of section 4.3.4.4.
    fn on_restart(&mut self, window: &mut Window, _: &Sampler, srtt: Span, _: Time) {
        self.pacing.begin(HIGH_GAIN, window.initial, srtt);
        self.idle_restart = true;
        if self.state == State::ProbeBw {
            self.pacing.set(self.btlbw, self.filled_pipe);
        }
    }
}

impl Bbr1 {
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw => PACING_GAIN_CYCLE[self.cycle_index],
            State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw => PROBE_BW_CWND_GAIN,
            State::ProbeRtt => 1.0,
        }
    }

    /// Section 4.2.3.4: entering and leaving recovery.
    fn follow_recovery(&mut self, c: &mut View<'_>) {
        let (before, after) = (self.last_good.recovery, c.at.recovery);
        if after == Recovery::Fast && before != Recovery::Fast {
            self.last_good.save(c.window.cwnd, self.state == State::ProbeRtt);
            c.window.cwnd = c.at.inflight + c.rs.newly_acked.max(c.window.mss);
            self.packet_conservation = Some(c.sampler.delivered);
        } else if after == Recovery::Open && before != Recovery::Open {
            self.packet_conservation = None;
            self.last_good.restore(c.window);
        } else if self.packet_conservation.is_some_and(|delivered| c.rs.prior_delivered >= delivered) {
            self.packet_conservation = None;
        }
        self.last_good.recovery = after;
    }

    /// BBRUpdateBtlBw of section 4.1.1.5.
    fn update_btlbw(&mut self, c: &View<'_>) {
        self.rounds.update(&c.rs, c.sampler.delivered);
        let rate = c.rs.delivery_rate;
        if rate > 0.0 && (rate >= self.btlbw || !c.rs.is_app_limited) {
            self.btlbw = self.btlbw_filter.update(rate, self.rounds.count, BTLBW_FILTER_LEN);
        }
    }

    /// BBRCheckCyclePhase of section 4.3.4.3.
    fn check_cycle_phase(&mut self, c: &View<'_>) {
        if self.state == State::ProbeBw && self.is_next_cycle_phase(c) {
            self.advance_cycle_phase(c.at.now);
        }
    }

    fn is_next_cycle_phase(&self, c: &View<'_>) -> bool {
        let is_full_length = c.at.now.since(self.cycle_stamp) > self.rtprop;
        match self.pacing_gain() {
            gain if gain > 1.0 => {
                is_full_length
                    && (c.rs.newly_lost > 0 || c.at.prior_inflight >= self.inflight(gain, c.window))
            }
            gain if gain < 1.0 => is_full_length || c.at.prior_inflight <= self.inflight(1.0, c.window),
            _ => is_full_length,
        }
    }

    fn advance_cycle_phase(&mut self, now: Time) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % PACING_GAIN_CYCLE.len();
    }

    /// BBREnterProbeBW of section 4.3.4.3: starts with any phase but the one that drains.
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.cycle_index = PACING_GAIN_CYCLE.len() - 1 - self.random.below(7) as usize;
        self.advance_cycle_phase(now);
    }

    /// BBRCheckFullPipe of section 4.3.2.2.
    fn check_full_pipe(&mut self, c: &View<'_>) {
        if self.filled_pipe || !self.rounds.started || c.rs.is_app_limited {
            return;
        }
        if self.btlbw >= self.full_bw * 1.25 {
            self.full_bw = self.btlbw;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    /// BBRCheckDrain of section 4.3.3.
    fn check_drain(&mut self, c: &View<'_>) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
        }
        if self.state == State::Drain && c.at.inflight <= self.inflight(1.0, c.window) {
            self.enter_probe_bw(c.at.now);
        }
    }

    /// BBRUpdateRTprop of section 4.1.2.3.
    fn update_rtprop(&mut self, c: &View<'_>) {
        let known = self.rtprop < Span::MAX;
        self.rtprop_expired = known && c.at.now > self.rtprop_stamp + RTPROP_FILTER_LEN;
        if let Some(rtt) = c.rs.rtt
            && (rtt <= self.rtprop || self.rtprop_expired)
        {
            (self.rtprop, self.rtprop_stamp) = (rtt, c.at.now);
        }
    }

    /// BBRCheckProbeRTT of section 4.3.5.
    fn check_probe_rtt(&mut self, c: &mut View<'_>) {
        if self.state != State::ProbeRtt && self.rtprop_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.last_good.save(c.window.cwnd, true);
            self.probe_rtt_done_stamp = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(c);
        }
        self.idle_restart = false;
    }

    /// BBRHandleProbeRTT of section 4.3.5.
    fn handle_probe_rtt(&mut self, c: &mut View<'_>) {
        c.sampler.mark_application_limited(c.at.inflight); // low rates say nothing about the path now
        match self.probe_rtt_done_stamp {
            None if c.at.inflight <= MIN_PIPE_CWND * c.window.mss => {
                self.probe_rtt_done_stamp = Some(c.at.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.rounds.start(c.sampler.delivered);
            }
            None => {}
            Some(done) => {
                self.probe_rtt_round_done |= self.rounds.started;
                if self.probe_rtt_round_done && c.at.now > done {
                    self.rtprop_stamp = c.at.now;
                    self.last_good.restore(c.window);
                    self.exit_probe_rtt(c.at.now);
                }
            }
        }
    }

    fn exit_probe_rtt(&mut self, now: Time) {
        if self.filled_pipe {
            self.enter_probe_bw(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// BBRInflight of section 4.2.3.2.
    fn inflight(&self, gain: f64, window: &Window) -> u64 {
        if self.rtprop == Span::MAX {
            return window.initial;
        }
        let estimated_bdp = self.btlbw * self.rtprop.as_secs_f64();
        (gain * estimated_bdp) as u64 + 3 * self.send_quantum(window.mss)
    }

    /// BBRSetSendQuantum of section 4.2.2; the rates are 1.2 and 24 Mbit/s.
    fn send_quantum(&self, mss: u64) -> u64 {
        match self.pacing.rate {
            rate if rate < 1.2e6 / 8.0 => mss,
            rate if rate < 24e6 / 8.0 => 2 * mss,
            rate => ((rate * 1e-3) as u64).min(64 * 1024),
        }
    }

    /// BBRSetCwnd of section 4.2.3.6.
    fn set_cwnd(&mut self, c: &mut View<'_>) {
        let target_cwnd = self.inflight(self.cwnd_gain(), c.window);
        let Window { cwnd, mss, initial, .. } = &mut *c.window;
        // BBRModulateCwndForRecovery of section 4.2.3.4.
        if c.rs.newly_lost > 0 {
            *cwnd = cwnd.saturating_sub(c.rs.newly_lost).max(*mss);
        }
        if self.packet_conservation.is_some() {
            *cwnd = (*cwnd).max(c.at.inflight + c.rs.newly_acked);
        } else {
            if self.filled_pipe {
                *cwnd = (*cwnd + c.rs.newly_acked).min(target_cwnd);
            } else if *cwnd < target_cwnd || c.sampler.delivered < *initial {
                *cwnd += c.rs.newly_acked;
            }
            *cwnd = (*cwnd).max(MIN_PIPE_CWND * *mss);
        }
        // BBRModulateCwndForProbeRTT of section 4.2.3.5.
        if self.state == State::ProbeRtt {
            *cwnd = (*cwnd).min(MIN_PIPE_CWND * *mss);
        }
    }
}
