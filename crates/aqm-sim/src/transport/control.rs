//! Congestion controls behind one face: a window and what moves it.

use super::cubic::Cubic;
use super::newreno::Newreno;
use crate::scenario::CongestionControl;
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

/// A congestion control with its window.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    pub(crate) window: Window,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Newreno(Newreno),
    Cubic(Box<Cubic>),
    Fixed,
}

impl Control {
    pub(crate) fn new(kind: CongestionControl, mss: u32, initial_segments: u32) -> Control {
        let mut window = Window::new(mss, initial_segments);
        let law = match kind {
            CongestionControl::Newreno => Law::Newreno(Newreno::default()),
            CongestionControl::Cubic => Law::Cubic(Box::default()),
            CongestionControl::Fixed => {
                window.cwnd = u64::MAX;
                Law::Fixed
            }
        };
        Control { window, law }
    }

    pub(crate) fn on_ack(&mut self, acked: &Acked) {
        match &mut self.law {
            Law::Newreno(law) => law.on_ack(&mut self.window, acked),
            Law::Cubic(law) => law.on_ack(&mut self.window, acked),
            Law::Fixed => {}
        }
    }

    /// A loss found by fast retransmit, or an ECN echo; `flight` bytes were outstanding.
    pub(crate) fn on_congestion(&mut self, flight: u64) {
        match &mut self.law {
            Law::Newreno(law) => law.on_congestion(&mut self.window, flight),
            Law::Cubic(law) => law.on_congestion(&mut self.window, flight),
            Law::Fixed => {}
        }
    }

    /// The retransmission timer expired: RFC 5681 section 3.1. `first` is false for further expiries of the same
    /// segment, which leave ssthresh alone.
    pub(crate) fn on_timeout(&mut self, flight: u64, first: bool) {
        if let Law::Fixed = self.law {
            return;
        }
        if first {
            self.on_congestion(flight);
        }
        if let Law::Cubic(law) = &mut self.law {
            law.on_timeout();
        }
        self.window.cwnd = self.window.mss;
    }

    /// RFC 5681 section 4.1: an idle connection starts again from the initial window.
    pub(crate) fn on_idle(&mut self) {
        if !matches!(self.law, Law::Fixed) {
            self.window.cwnd = self.window.cwnd.min(self.window.initial);
        }
    }
}
