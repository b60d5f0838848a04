//! The model of the path: bandwidth, aggregation, and the bounds from losses (section 5.5).

use super::{
    AckPhase, BETA, Bbr3, INFINITY, LOSS_THRESH, LostSegment, State, View, Window, is_inflight_too_high,
};

/// Section 2.11: MaxBwFilterLen, cycles of ProbeBW.
const MAX_BW_FILTER_LEN: u64 = 2;
/// Section 2.12: ExtraAckedFilterLen, round trips.
const EXTRA_ACKED_FILTER_LEN: u64 = 10;

impl Bbr3 {
    /// UpdateMaxBw of section 5.5.5.
    fn update_max_bw(&mut self, c: &View<'_>) {
        self.rounds.update(&c.rs, c.sampler.delivered);
        self.bw_probe.rounds_since_probe_up += u64::from(self.rounds.started);
        let rate = c.rs.delivery_rate;
        if rate > 0.0 && (rate >= self.path.max_bw || !c.rs.is_app_limited) {
            self.path.max_bw = self.path.max_bw_filter.update(rate, self.path.cycle_count, MAX_BW_FILTER_LEN);
        }
    }

    /// UpdateACKAggregation of section 5.5.9.
    pub(super) fn update_ack_aggregation(&mut self, c: &View<'_>) {
        let interval = c.at.now.since(self.extra_acked.interval_start);
        let mut expected_delivered = self.path.bw * interval.as_secs_f64();
        if self.extra_acked.delivered as f64 <= expected_delivered {
            self.extra_acked.delivered = 0;
            self.extra_acked.interval_start = c.at.now;
            expected_delivered = 0.0;
        }
        self.extra_acked.delivered += c.rs.newly_acked;
        let extra = (self.extra_acked.delivered as f64 - expected_delivered).min(c.window.cwnd as f64);
        let length = if self.full_bw.reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        self.extra_acked.bytes = self.extra_acked.filter.update(extra, self.rounds.count, length);
    }

    /// UpdateLatestDeliverySignals of section 5.5.10.3.
    pub(super) fn update_latest_delivery_signals(&mut self, c: &View<'_>) {
        self.congestion.bw_latest = self.congestion.bw_latest.max(c.rs.delivery_rate);
        self.congestion.inflight_latest = self.congestion.inflight_latest.max(c.rs.delivered);
        self.congestion.loss_round_start = c.rs.prior_delivered >= self.congestion.loss_round_delivered;
        if self.congestion.loss_round_start {
            self.congestion.loss_round_delivered = c.sampler.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals of section 5.5.10.3.
    pub(super) fn advance_latest_delivery_signals(&mut self, c: &View<'_>) {
        if self.congestion.loss_round_start {
            self.congestion.bw_latest = c.rs.delivery_rate;
            self.congestion.inflight_latest = c.rs.delivered;
        }
    }

    /// ResetCongestionSignals of section 5.5.10.3.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.congestion.is_loss_in_round = false;
        self.congestion.bw_latest = 0.0;
        self.congestion.inflight_latest = 0;
    }

    /// UpdateCongestionSignals of section 5.5.10.3.
    pub(super) fn update_congestion_signals(&mut self, c: &View<'_>) {
        self.update_max_bw(c);
        if self.congestion.loss_round_start {
            if self.congestion.is_loss_in_round && !self.state.is_accelerating() {
                self.adapt_lower_bounds(c.window);
            }
            self.congestion.is_loss_in_round = false;
        }
    }

    /// InitLowerBounds and LossLowerBounds of section 5.5.10.3.
    fn adapt_lower_bounds(&mut self, window: &Window) {
        if self.path.bw_shortterm.is_infinite() {
            self.path.bw_shortterm = self.path.max_bw;
        }
        if self.path.inflight_shortterm == INFINITY {
            self.path.inflight_shortterm = window.cwnd;
        }
        self.path.bw_shortterm = self.congestion.bw_latest.max(BETA * self.path.bw_shortterm);
        self.path.inflight_shortterm =
            self.congestion.inflight_latest.max((BETA * self.path.inflight_shortterm as f64) as u64);
    }

    /// ResetShortTermModel of section 5.5.10.3.
    pub(super) fn reset_short_term_model(&mut self) {
        self.path.bw_shortterm = f64::INFINITY;
        self.path.inflight_shortterm = INFINITY;
    }

    /// HandleLostPacket of section 5.5.10.2.
    pub(super) fn handle_lost_packet(&mut self, window: &Window, lost: &LostSegment) {
        self.note_loss(window, lost);
        if self.bw_probe.is_bw_probe_sample && is_inflight_too_high(lost.lost, lost.tx_in_flight) {
            self.handle_inflight_too_high(window, lost);
        }
    }

    /// NoteLoss of section 5.5.10.2, with the ranges of section 5.3.1.3 counted.
    fn note_loss(&mut self, window: &Window, lost: &LostSegment) {
        if !self.congestion.is_loss_in_round {
            self.congestion.loss_round_delivered = lost.delivered;
            self.save_state_upon_loss(window);
        }
        self.congestion.is_loss_in_round = true;
        self.congestion.lost_ranges += u32::from(lost.start != self.congestion.lost_until);
        self.congestion.lost_until = lost.start + lost.length;
    }

    /// HandleInflightTooHigh of section 5.5.10.2.
    fn handle_inflight_too_high(&mut self, window: &Window, lost: &LostSegment) {
        self.bw_probe.prev_probe_too_high = true;
        self.bw_probe.is_bw_probe_sample = false; // one reaction to a probe
        if !lost.is_app_limited {
            let floor = BETA * self.target_inflight(window) as f64;
            self.path.inflight_longterm = inflight_at_loss(lost).max(floor) as u64;
        }
        if self.state == State::ProbeBwUp {
            self.undo.state = Some(State::ProbeBwUp);
            self.start_probe_bw_down(lost.delivered, lost.now);
        }
    }

    /// TargetInflight of section 5.3.3.8.3.
    pub(super) fn target_inflight(&self, window: &Window) -> u64 {
        self.bdp(self.path.bw, 1.0, window).min(window.cwnd)
    }

    /// SaveStateUponLoss of section 5.5.11.1.
    pub(super) fn save_state_upon_loss(&mut self, window: &Window) {
        self.last_good.save(window.cwnd, self.state == State::ProbeRtt);
        self.undo.state = None;
        self.undo.bw_shortterm = self.path.bw_shortterm;
        self.undo.inflight_shortterm = self.path.inflight_shortterm;
        self.undo.inflight_longterm = self.path.inflight_longterm;
    }

    /// HandleSpuriousLossDetection of section 5.5.11.2.
    pub(super) fn handle_spurious_loss_detection(&mut self, window: &mut Window, delivered: u64) {
        self.last_good.restore(window);
        self.congestion.is_loss_in_round = false;
        self.reset_full_bw(0.0);
        self.path.bw_shortterm = self.path.bw_shortterm.max(self.undo.bw_shortterm);
        self.path.inflight_shortterm = self.path.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.path.inflight_longterm = self.path.inflight_longterm.max(self.undo.inflight_longterm);
        let probing_rtt = self.state == State::ProbeRtt;
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw.reached = false;
                if !probing_rtt {
                    self.state = State::Startup;
                }
            }
            Some(State::ProbeBwUp) if self.state != State::ProbeBwUp && !probing_rtt => {
                self.start_probe_bw_refill(delivered);
            }
            _ => {}
        }
    }

    /// AdaptLongTermModel of section 5.3.3.9. Returns whether it changed the state.
    pub(super) fn adapt_long_term_model(&mut self, c: &View<'_>) -> bool {
        if self.bw_probe.ack_phase == AckPhase::ProbeStarting && self.rounds.started {
            self.bw_probe.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.bw_probe.ack_phase == AckPhase::ProbeStopping && self.rounds.started {
            self.bw_probe.is_bw_probe_sample = false;
            self.bw_probe.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !c.rs.is_app_limited {
                self.path.cycle_count += 1; // AdvanceMaxBwFilter of section 5.5.6
            }
            if self.state.is_probe_bw()
                && self.bw_probe.prev_probe_precautionary
                && !self.bw_probe.prev_probe_too_high
            {
                self.start_probe_bw_refill(c.sampler.delivered);
                return true;
            }
        }
        if !is_inflight_too_high(c.rs.lost, c.rs.tx_in_flight) && self.path.inflight_longterm != INFINITY {
            self.path.inflight_longterm = self.path.inflight_longterm.max(c.rs.tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward(c);
            }
        }
        false
    }
}

/// InflightAtLoss of section 5.5.10.2.
fn inflight_at_loss(lost: &LostSegment) -> f64 {
    let inflight_prev = (lost.tx_in_flight - lost.length) as f64;
    let lost_prev = (lost.lost - lost.length) as f64;
    let lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH);
    inflight_prev + lost_prefix
}
