//! The round-trip time, and ProbeRTT, which looks for a shorter one (section 5.3.4).

use super::{AckPhase, Bbr3, MIN_PIPE_CWND, State, View, Window};
use aqm_core::units::{Span, Time};

/// Section 2.16.
const MIN_RTT_FILTER_LEN: Span = Span::from_secs(10);
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
const PROBE_RTT_DURATION: Span = Span::from_millis(200);
const PROBE_RTT_INTERVAL: Span = Span::from_secs(5);

impl Bbr3 {
    /// UpdateMinRTT of section 5.3.4.3.
    pub(super) fn update_min_rtt(&mut self, c: &View<'_>) {
        let now = c.at.now;
        let known = self.path.min_rtt < Span::MAX;
        self.rtt_probe.expired = known && now > self.rtt_probe.min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = c.rs.rtt
            && (rtt < self.rtt_probe.min_delay || self.rtt_probe.expired)
        {
            (self.rtt_probe.min_delay, self.rtt_probe.min_stamp) = (rtt, now);
        }
        let min_rtt_expired = known && now > self.path.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        if self.rtt_probe.min_delay < self.path.min_rtt || min_rtt_expired {
            (self.path.min_rtt, self.path.min_rtt_stamp) =
                (self.rtt_probe.min_delay, self.rtt_probe.min_stamp);
        }
    }

    /// CheckProbeRTT of section 5.3.4.3.
    pub(super) fn check_probe_rtt(&mut self, c: &mut View<'_>) {
        if self.state != State::ProbeRtt && self.rtt_probe.expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.last_good.save(c.window.cwnd, true);
            self.rtt_probe.done_stamp = None;
            self.bw_probe.ack_phase = AckPhase::ProbeStopping;
            self.rounds.start(c.sampler.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(c);
        }
        if c.rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT of section 5.3.4.3.
    fn handle_probe_rtt(&mut self, c: &mut View<'_>) {
        c.sampler.mark_application_limited(c.at.inflight); // low rates say nothing about the path now
        if self.rtt_probe.done_stamp.is_none() {
            if c.at.inflight <= self.probe_rtt_cwnd(c.window) {
                self.rtt_probe.done_stamp = Some(c.at.now + PROBE_RTT_DURATION);
                self.rtt_probe.round_done = false;
                self.rounds.start(c.sampler.delivered);
            }
            return;
        }
        self.rtt_probe.round_done |= self.rounds.started;
        if self.rtt_probe.round_done {
            self.check_probe_rtt_done(c.window, c.sampler.delivered, c.at.now);
        }
    }

    /// CheckProbeRTTDone of section 5.3.4.3.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, delivered: u64, now: Time) {
        if self.rtt_probe.done_stamp.is_some_and(|done| now > done) {
            self.rtt_probe.min_stamp = now;
            self.last_good.restore(window);
            self.exit_probe_rtt(delivered, now);
        }
    }

    /// ExitProbeRTT of section 5.3.4.4.
    fn exit_probe_rtt(&mut self, delivered: u64, now: Time) {
        self.reset_short_term_model();
        if self.full_bw.reached {
            self.start_probe_bw_down(delivered, now);
            self.state = State::ProbeBwCruise; // data in flight is below the estimate already
        } else {
            self.state = State::Startup;
        }
    }

    /// ProbeRTTCwnd of section 5.6.4.5.
    pub(super) fn probe_rtt_cwnd(&self, window: &Window) -> u64 {
        self.bdp(self.path.bw, PROBE_RTT_CWND_GAIN, window).max(MIN_PIPE_CWND * window.mss)
    }
}
