//! The congestion window, and its growth in slow start.

use aqm_core::units::{Span, Time};

/// The congestion window, in bytes of payload.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    pub(crate) mss: u64,
    pub(crate) initial: u64,
    /// Most bytes that an acknowledgment adds in slow start; `u64::MAX` for no limit.
    pub(crate) slow_start_limit: u64,
    /// Whether reductions leave whole segments.
    pub(crate) whole: bool,
}

/// What an acknowledgment reports.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Bytes newly known to have arrived, from the acknowledgment number or SACK blocks.
    pub bytes: u64,
    /// Of these, bytes whose packets were marked; only where feedback is exact (DCTCP, AccECN).
    pub marked: u64,
    /// Bytes outstanding before the acknowledgment.
    pub flight: u64,
    /// Everything below was acknowledged.
    pub una: u64,
    /// Everything below was sent.
    pub next: u64,
    /// Time of arrival.
    pub now: Time,
    /// Smoothed round-trip time.
    pub rtt: Span,
    /// The round-trip time of this acknowledgment; zero if it acknowledged nothing new.
    pub sample: Span,
    /// The receiver's last report: what the control asked for, as marked bytes or a one-way delay in microseconds.
    pub report: u32,
}

impl Acked {
    /// `bytes` acknowledged at `now`, with a round-trip time of `rtt`; nothing is marked, sent before or noted.
    pub fn new(bytes: u64, now: Time, rtt: Span) -> Acked {
        Acked { bytes, marked: 0, flight: bytes, una: 0, next: 0, now, rtt, sample: rtt, report: 0 }
    }
}

impl Window {
    pub(crate) fn new(mss: u32, initial_segments: u32) -> Window {
        let initial = u64::from(mss) * u64::from(initial_segments);
        let mss = u64::from(mss);
        // RFC 3465 section 2.2: L = 2 segments.
        Window { cwnd: initial, ssthresh: u64::MAX, mss, initial, slow_start_limit: 2 * mss, whole: false }
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 3465 section 2.2; never beyond ssthresh.
    pub(crate) fn slow_start(&mut self, bytes: u64) {
        self.cwnd = (self.cwnd + bytes.min(self.slow_start_limit)).min(self.ssthresh.max(self.cwnd));
    }

    /// Congestion leaves `bytes`, and at least two segments (RFC 5681 equation 4).
    pub(crate) fn reduce_to(&mut self, bytes: u64) {
        let left = if self.whole { bytes / self.mss * self.mss } else { bytes };
        self.ssthresh = left.max(2 * self.mss);
        self.cwnd = self.ssthresh;
    }
}
