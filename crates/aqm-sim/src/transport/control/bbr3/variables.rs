//! The state variables of section 2, by its subsections.

use super::state::{AckPhase, State};
use crate::transport::rate::WindowedMax;
use aqm_core::units::{Span, Time};

/// No bound.
pub(super) const INFINITY: u64 = u64::MAX;

/// Section 2.9: the model of the path. Bytes per second, bytes.
#[derive(Clone, Debug)]
pub(super) struct PathModel {
    pub(super) max_bw: f64,
    pub(super) max_bw_filter: WindowedMax,
    pub(super) cycle_count: u64,
    pub(super) bw_shortterm: f64,
    pub(super) bw: f64,
    /// [`Span::MAX`] before the first sample.
    pub(super) min_rtt: Span,
    pub(super) min_rtt_stamp: Time,
    pub(super) inflight_longterm: u64,
    pub(super) inflight_shortterm: u64,
}

impl PathModel {
    pub(super) fn new() -> PathModel {
        PathModel {
            max_bw: 0.0,
            max_bw_filter: WindowedMax::default(),
            cycle_count: 0,
            bw_shortterm: f64::INFINITY,
            bw: 0.0,
            min_rtt: Span::MAX,
            min_rtt_stamp: Time::ZERO,
            inflight_longterm: INFINITY,
            inflight_shortterm: INFINITY,
        }
    }
}

/// Sections 2.9.2 and 2.12: aggregation of acknowledgments, `BBR.extra_acked` and what it is estimated with.
#[derive(Clone, Debug, Default)]
pub(super) struct ExtraAcked {
    pub(super) bytes: f64,
    pub(super) filter: WindowedMax,
    pub(super) interval_start: Time,
    pub(super) delivered: u64,
}

/// Section 2.10: congestion.
#[derive(Clone, Debug, Default)]
pub(super) struct CongestionSignals {
    pub(super) bw_latest: f64,
    pub(super) inflight_latest: u64,
    pub(super) loss_round_delivered: u64,
    pub(super) loss_round_start: bool,
    pub(super) is_loss_in_round: bool,
    /// Ranges lost in this round, and where the last one ends.
    pub(super) lost_ranges: u32,
    pub(super) lost_until: u64,
}

/// Section 2.13: whether the pipe is full; `BBR.full_bw` and the variables whose names begin so.
#[derive(Clone, Debug, Default)]
pub(super) struct FullBw {
    pub(super) reached: bool,
    pub(super) now: bool,
    pub(super) baseline: f64,
    pub(super) count: u32,
}

/// Section 2.14: probing for bandwidth.
#[derive(Clone, Debug)]
pub(super) struct BwProbe {
    pub(super) ack_phase: AckPhase,
    pub(super) is_bw_probe_sample: bool,
    pub(super) bw_probe_up_acked: u64,
    pub(super) probe_up_acked_per_inc: u64,
    pub(super) bw_probe_up_rounds: u32,
    pub(super) rounds_since_probe_up: u64,
    pub(super) bw_probe_wait: Span,
    pub(super) cycle_stamp: Time,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,
}

impl BwProbe {
    pub(super) fn new() -> BwProbe {
        BwProbe {
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Span::ZERO,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
        }
    }
}

/// Section 2.15: the state to restore after a spurious recovery; the variables whose names begin with `BBR.undo_`.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    pub(super) state: Option<State>,
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: u64,
    pub(super) inflight_longterm: u64,
}

/// Section 2.16: probing for the round-trip time; the variables whose names begin with `BBR.probe_rtt_`.
#[derive(Clone, Debug)]
pub(super) struct RttProbe {
    pub(super) min_delay: Span,
    pub(super) min_stamp: Time,
    pub(super) expired: bool,
    pub(super) done_stamp: Option<Time>,
    pub(super) round_done: bool,
}

impl RttProbe {
    pub(super) fn new() -> RttProbe {
        RttProbe {
            min_delay: Span::MAX,
            min_stamp: Time::ZERO,
            expired: false,
            done_stamp: None,
            round_done: false,
        }
    }
}
