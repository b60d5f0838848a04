//! Congestion controls behind one face: a window and what moves it.

use super::cubic::Cubic;
use super::newreno::Newreno;
use super::window::{Acked, Window};
use crate::scenario::CongestionControl;

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
