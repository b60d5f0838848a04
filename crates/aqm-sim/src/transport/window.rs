//! The congestion window, and what moves it.

use aqm_core::units::{Span, Time};

/// The congestion window, in bytes of payload.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    pub(crate) mss: u64,
    pub(crate) initial: u64,
}

/// What an acknowledgment told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// Bytes newly acknowledged, those left out that a SACK block had acknowledged before.
    pub(crate) bytes: u64,
    /// When.
    pub(crate) now: Time,
    /// Smoothed round-trip time.
    pub(crate) rtt: Span,
}

impl Window {
    pub(crate) fn new(mss: u32, initial_segments: u32) -> Window {
        let initial = u64::from(mss) * u64::from(initial_segments);
        Window { cwnd: initial, ssthresh: u64::MAX, mss: u64::from(mss), initial }
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 3465 section 2.2 with L = 2 segments; never beyond ssthresh.
    pub(crate) fn slow_start(&mut self, bytes: u64) {
        self.cwnd = (self.cwnd + bytes.min(2 * self.mss)).min(self.ssthresh.max(self.cwnd));
    }
}
