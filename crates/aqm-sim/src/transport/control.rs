//! Congestion controls behind one face: a window (and perhaps a rate), and what moves it.

use super::bbr::{Moment, View};
use super::bbr1::Bbr1;
use super::bbr3::Bbr3;
use super::cubic::Cubic;
use super::dctcp::Dctcp;
use super::hystart::HyStart;
use super::ledbat::Ledbat;
use super::newreno::Newreno;
use super::prague::Prague;
use super::rate::{LostSegment, RateSample, Sampler};
use super::window::{Acked, Window};
use crate::scenario::{CongestionControl, Tcp};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// A congestion control with its window.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    pub(crate) window: Window,
    law: Law,
    /// Until the first loss.
    hystart: Option<Box<HyStart>>,
}

#[derive(Clone, Debug)]
enum Law {
    Newreno(Newreno),
    Cubic(Box<Cubic>),
    Dctcp(Box<Dctcp>),
    Ledbat(Box<Ledbat>),
    Prague(Box<Prague>),
    Bbr1(Box<Bbr1>),
    Bbr3(Box<Bbr3>),
    Fixed,
}

impl Control {
    /// `random` is what the control may draw from.
    pub(crate) fn new(tcp: &Tcp, random: Random) -> Control {
        let mut window = Window::new(tcp.mss_bytes, tcp.initial_window);
        let law = match tcp.congestion_control {
            CongestionControl::Newreno => Law::Newreno(Newreno::new(!tcp.byte_counting)),
            CongestionControl::Cubic => Law::Cubic(Box::default()),
            CongestionControl::Dctcp => Law::Dctcp(Box::default()),
            CongestionControl::Ledbat => Law::Ledbat(Box::new(Ledbat::new(&mut window))),
            CongestionControl::Prague => Law::Prague(Box::default()),
            CongestionControl::Bbr1 => Law::Bbr1(Box::new(Bbr1::new(&window, random))),
            CongestionControl::Bbr3 => Law::Bbr3(Box::new(Bbr3::new(&window, random))),
            CongestionControl::Fixed => {
                window.cwnd = u64::MAX;
                Law::Fixed
            }
        };
        let hystart = tcp.hystart.then(|| Box::new(HyStart::new(tcp.pacing)));
        Control { window, law, hystart }
    }

    /// Something arrived, whatever the state of recovery: for controls that follow a model of the path.
    #[inline]
    pub(crate) fn observe(&mut self, acked: &Acked) {
        match &mut self.law {
            Law::Dctcp(law) => law.observe(&mut self.window, acked),
            Law::Ledbat(law) => law.observe(acked),
            Law::Prague(law) => law.observe(&mut self.window, acked),
            Law::Newreno(_) | Law::Cubic(_) | Law::Bbr1(_) | Law::Bbr3(_) | Law::Fixed => {}
        }
    }

    /// New data was acknowledged outside recovery, by a sender that uses its window: it may grow.
    pub(crate) fn on_ack(&mut self, acked: &Acked) {
        match &mut self.law {
            Law::Bbr1(_) | Law::Bbr3(_) | Law::Fixed => {}
            // RFC 3168 section 6.1.2: an echo does not let the window grow.
            Law::Dctcp(_) if acked.marked > 0 => {}
            Law::Newreno(law) if law.by_acks => Newreno::on_each_ack(&mut self.window, acked),
            _ if self.window.in_slow_start() => match &mut self.hystart {
                Some(hystart) => hystart.on_ack(&mut self.window, acked),
                None => self.window.slow_start(acked.bytes),
            },
            Law::Dctcp(law) => law.on_ack(&mut self.window, acked),
            Law::Ledbat(law) => law.on_ack(&mut self.window, acked),
            Law::Prague(law) => law.on_ack(&mut self.window, acked),
            Law::Newreno(law) => law.on_ack(&mut self.window, acked),
            Law::Cubic(law) => law.on_ack(&mut self.window, acked),
        }
    }

    /// A loss found by fast retransmit, or a classic ECN echo; `flight` bytes were outstanding.
    pub(crate) fn on_congestion(&mut self, flight: u64) {
        // RFC 9406 section 4.2: for the first slow start only.
        self.hystart = None;
        match &mut self.law {
            Law::Dctcp(law) => law.on_congestion(&mut self.window, flight),
            Law::Ledbat(law) => law.on_congestion(&mut self.window),
            Law::Prague(law) => law.on_congestion(&mut self.window, flight),
            Law::Newreno(law) => law.on_congestion(&mut self.window, flight),
            Law::Cubic(law) => law.on_congestion(&mut self.window, flight),
            Law::Bbr1(_) | Law::Bbr3(_) | Law::Fixed => {}
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
        match &mut self.law {
            Law::Cubic(law) => law.on_timeout(),
            Law::Bbr1(law) => law.on_timeout(&self.window),
            Law::Bbr3(law) => law.on_timeout(&self.window),
            _ => {}
        }
        self.window.cwnd = self.window.mss;
    }

    /// Whether the control follows a model of the path, so that it wants samples of the delivery rate.
    pub(crate) fn wants_samples(&self) -> bool {
        matches!(self.law, Law::Bbr1(_) | Law::Bbr3(_))
    }

    /// An acknowledgment that told something has been dealt with.
    pub(crate) fn on_sample(&mut self, sampler: &mut Sampler, rs: RateSample, at: Moment) {
        let mut view = View { window: &mut self.window, sampler, rs, at };
        match &mut self.law {
            Law::Bbr1(law) => law.on_sample(&mut view),
            Law::Bbr3(law) => law.on_sample(&mut view),
            _ => {}
        }
    }

    /// A segment was marked lost.
    pub(crate) fn on_lost(&mut self, lost: &LostSegment) {
        if let Law::Bbr3(law) = &mut self.law {
            law.on_lost(&self.window, lost);
        }
    }

    /// Nothing was lost after all.
    pub(crate) fn on_spurious_recovery(&mut self, sampler: &Sampler) {
        if let Law::Bbr3(law) = &mut self.law {
            law.on_spurious_recovery(&mut self.window, sampler.delivered);
        }
    }

    /// A connection begins to send, or goes on after its application had paused; `srtt` is zero if unknown.
    pub(crate) fn on_restart(&mut self, sampler: &Sampler, srtt: Span, now: Time) {
        match &mut self.law {
            Law::Bbr1(law) => law.on_restart(&self.window, srtt),
            Law::Bbr3(law) => law.on_restart(&mut self.window, sampler, srtt, now),
            _ => {}
        }
    }

    /// RFC 5681 section 4.1: an idle connection starts again from the initial window.
    pub(crate) fn on_idle(&mut self) {
        if !self.wants_samples() && !matches!(self.law, Law::Fixed) {
            self.window.cwnd = self.window.cwnd.min(self.window.initial);
        }
    }

    /// The rate of a control that paces whether asked or not, bytes per second.
    pub(crate) fn rate(&self) -> Option<f64> {
        match &self.law {
            Law::Prague(law) => Some(law.rate(&self.window)),
            Law::Bbr1(law) => Some(law.pacing_rate()),
            Law::Bbr3(law) => Some(law.pacing_rate()),
            Law::Newreno(_) | Law::Cubic(_) | Law::Dctcp(_) | Law::Ledbat(_) | Law::Fixed => None,
        }
    }
}
