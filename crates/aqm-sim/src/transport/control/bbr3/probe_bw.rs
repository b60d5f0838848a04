//! ProbeBW: DOWN, CRUISE, REFILL and UP in turn (section 5.3.3).

use super::{AckPhase, Bbr3, HEADROOM, INFINITY, MIN_PIPE_CWND, State, View, Window};
use aqm_core::units::{Span, Time};

/// Section 5.3.3.8.2: round trips after which Reno would have probed, and the shortest wait by the clock, to which up
/// to a second is added.
const RENO_ROUNDS: u64 = 63;
const SHORTEST_WAIT: Span = Span::from_secs(2);

impl Bbr3 {
    /// StartProbeBW_DOWN of section 5.3.3.9.
    pub(super) fn start_probe_bw_down(&mut self, delivered: u64, now: Time) {
        self.reset_congestion_signals();
        self.bw_probe.probe_up_acked_per_inc = INFINITY;
        self.pick_probe_wait();
        self.bw_probe.cycle_stamp = now;
        self.bw_probe.ack_phase = AckPhase::ProbeStopping;
        self.rounds.start(delivered);
        self.state = State::ProbeBwDown;
    }

    /// StartProbeBW_REFILL of section 5.3.3.9.
    pub(super) fn start_probe_bw_refill(&mut self, delivered: u64) {
        self.reset_short_term_model();
        self.bw_probe.bw_probe_up_rounds = 0;
        self.bw_probe.bw_probe_up_acked = 0;
        self.bw_probe.prev_probe_precautionary = false;
        self.bw_probe.ack_phase = AckPhase::Refilling;
        self.rounds.start(delivered);
        self.state = State::ProbeBwRefill;
    }

    /// StartProbeBW_UP of section 5.3.3.9.
    fn start_probe_bw_up(&mut self, c: &View<'_>) {
        self.bw_probe.ack_phase = AckPhase::ProbeStarting;
        self.rounds.start(c.sampler.delivered);
        self.reset_full_bw(c.rs.delivery_rate);
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope(c.window);
    }

    /// UpdateProbeBWCyclePhase of section 5.3.3.9.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, c: &View<'_>) {
        if !self.full_bw.reached || self.adapt_long_term_model(c) {
            return;
        }
        let (state, delivered) = (self.state, c.sampler.delivered);
        match state {
            State::ProbeBwDown if self.is_time_to_probe_bw(c) => self.start_probe_bw_refill(delivered),
            State::ProbeBwDown if self.is_time_to_cruise(c) => self.state = State::ProbeBwCruise,
            State::ProbeBwCruise if self.is_time_to_probe_bw(c) => self.start_probe_bw_refill(delivered),
            State::ProbeBwRefill if self.rounds.started => {
                self.bw_probe.is_bw_probe_sample = true;
                self.start_probe_bw_up(c);
            }
            State::ProbeBwUp if self.is_time_to_go_down(c) => {
                self.bw_probe.prev_probe_too_high = false;
                self.start_probe_bw_down(delivered, c.at.now);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW of section 5.3.3.8.3: by the clock, or when Reno would.
    fn is_time_to_probe_bw(&self, c: &View<'_>) -> bool {
        let reno_rounds = self.target_inflight(c.window) / c.window.mss;
        c.at.now > self.bw_probe.cycle_stamp + self.bw_probe.bw_probe_wait
            || self.bw_probe.rounds_since_probe_up >= reno_rounds.min(RENO_ROUNDS)
    }

    /// PickProbeWait of section 5.3.3.8.3.
    fn pick_probe_wait(&mut self) {
        self.bw_probe.rounds_since_probe_up = self.random.below(2);
        self.bw_probe.bw_probe_wait = SHORTEST_WAIT + Span::from_secs_f64(self.random.uniform());
    }

    /// IsTimeToCruise of section 5.3.3.9.
    fn is_time_to_cruise(&self, c: &View<'_>) -> bool {
        c.at.inflight <= self.inflight_with_headroom(c.window.mss)
            && c.at.inflight <= self.inflight(self.path.max_bw, 1.0, c.window)
    }

    /// IsTimeToGoDown of section 5.3.3.9.
    fn is_time_to_go_down(&mut self, c: &View<'_>) -> bool {
        // Data in flight before the acknowledgment, up to a segment more: a window bounded by inflight_longterm never
        // holds more.
        let reached = c.at.prior_inflight + c.window.mss > self.path.inflight_longterm;
        if self.bw_probe.prev_probe_too_high && reached {
            self.bw_probe.prev_probe_precautionary = true;
            return true;
        }
        if c.sampler.is_window_limited() && c.window.cwnd >= self.path.inflight_longterm {
            self.reset_full_bw(c.rs.delivery_rate); // limited by inflight_longterm, not by the path
            return false;
        }
        self.full_bw.now
    }

    /// InflightWithHeadroom of section 5.3.3.9.
    pub(super) fn inflight_with_headroom(&self, mss: u64) -> u64 {
        if self.path.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let headroom = mss.max((HEADROOM * self.path.inflight_longterm as f64) as u64);
        self.path.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE_CWND * mss)
    }

    /// RaiseInflightLongtermSlope of section 5.3.3.9.
    fn raise_inflight_longterm_slope(&mut self, window: &Window) {
        let growth_this_round = 1 << self.bw_probe.bw_probe_up_rounds;
        self.bw_probe.bw_probe_up_rounds = (self.bw_probe.bw_probe_up_rounds + 1).min(30);
        self.bw_probe.probe_up_acked_per_inc = (window.cwnd / growth_this_round).max(window.mss);
    }

    /// ProbeInflightLongtermUpward of section 5.3.3.9.
    pub(super) fn probe_inflight_longterm_upward(&mut self, c: &View<'_>) {
        if !c.sampler.is_window_limited() || c.window.cwnd < self.path.inflight_longterm {
            return;
        }
        self.bw_probe.bw_probe_up_acked += c.rs.newly_acked;
        if self.bw_probe.bw_probe_up_acked >= self.bw_probe.probe_up_acked_per_inc {
            let delta = self.bw_probe.bw_probe_up_acked / self.bw_probe.probe_up_acked_per_inc;
            self.bw_probe.bw_probe_up_acked -= delta * self.bw_probe.probe_up_acked_per_inc;
            self.path.inflight_longterm += delta * c.window.mss;
        }
        if self.rounds.started {
            self.raise_inflight_longterm_slope(c.window);
        }
    }
}
