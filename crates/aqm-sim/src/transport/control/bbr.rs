//! What BBRv1 and BBRv3 share: their view of the connection, the last good window, the first pacing rate.

use crate::transport::rate::{RateSample, Sampler};
use crate::transport::window::Window;
use aqm_core::units::{Span, Time};

/// Values to which BBR is limited: it relies on SACK, has its own startup and recovery, and its drafts name no
/// response to marks.
pub(super) const ONLY: &[(&str, &[&str])] =
    &[("sack", &["on"]), ("ecn", &["off"]), ("slow_start.hystart", &["off"]), ("recovery.prr", &["off"])];

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing is repaired.
    #[default]
    Open,
    /// Fast recovery.
    Fast,
    /// After a timeout.
    Timeout,
}

/// The connection after an acknowledgment was processed.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// When.
    pub now: Time,
    /// Bytes in the network before the acknowledgment.
    pub prior_inflight: u64,
    /// Bytes in the network after it.
    pub inflight: u64,
    /// Whether losses are being repaired.
    pub recovery: Recovery,
    /// Smoothed round-trip time, zero before the first sample.
    pub srtt: Span,
}

/// The connection as in the drafts' pseudocode: C and RS.
pub(crate) struct View<'a> {
    pub(crate) window: &'a mut Window,
    pub(crate) sampler: &'a mut Sampler,
    pub(crate) rs: RateSample,
    pub(crate) at: Moment,
}

/// The last window without loss and ProbeRTT (SaveCwnd, RestoreCwnd), and the current recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastGood {
    pub(crate) prior_cwnd: u64,
    pub(crate) recovery: Recovery,
}

impl LastGood {
    /// SaveCwnd.
    pub(crate) fn save(&mut self, cwnd: u64, probing_rtt: bool) {
        let untouched = self.recovery == Recovery::Open && !probing_rtt;
        self.prior_cwnd = if untouched { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// RestoreCwnd.
    pub(crate) fn restore(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_cwnd);
    }
}

/// The pacing rate in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacingRate {
    pub(crate) rate: f64,
    has_seen_rtt: bool,
}

impl PacingRate {
    /// InitPacingRate: the initial window in a millisecond, while no round-trip time is known.
    pub(crate) fn new(gain: f64, initial: u64) -> PacingRate {
        PacingRate { rate: gain * initial as f64 / 1e-3, has_seen_rtt: false }
    }

    /// InitPacingRate again, with the first round-trip time: the text says so, but the pseudocode runs too early.
    pub(crate) fn begin(&mut self, gain: f64, initial: u64, srtt: Span) {
        if !self.has_seen_rtt && srtt > Span::ZERO {
            *self = PacingRate { rate: gain * initial as f64 / srtt.as_secs_f64(), has_seen_rtt: true };
        }
    }

    /// SetPacingRateWithGain: until the pipe was full, the rate only rises.
    pub(crate) fn set(&mut self, rate: f64, filled_pipe: bool) {
        if filled_pipe || rate > self.rate {
            self.rate = rate;
        }
    }
}
