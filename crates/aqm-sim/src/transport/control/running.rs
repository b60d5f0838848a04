//! A congestion control with its window and slow start.

use super::bbr::{Moment, View};
use super::controller::Controller;
use super::hystart::SlowStart;
use crate::transport::rate::{LostSegment, RateSample, Sampler};
use crate::transport::scoreboard::Segment;
use crate::transport::tcp::Tcp;
use crate::transport::window::{Acked, Window};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// A congestion control in operation.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) window: Window,
    law: Box<dyn Controller>,
    start: SlowStart,
}

impl Control {
    /// `random` is the control's random stream.
    pub(crate) fn new(tcp: &Tcp, random: Random) -> Control {
        let mut window = first_window(tcp);
        let law = (tcp.info().build)(tcp, &mut window, random);
        Control { window, law, start: SlowStart::new(tcp) }
    }

    /// Data arrived, in recovery or not.
    #[inline]
    pub(crate) fn observe(&mut self, acked: &Acked) {
        self.law.observe(&mut self.window, acked);
    }

    /// New data was acknowledged outside recovery, by a sender that has `used` its window or has not: slow start may end.
    #[inline]
    pub(crate) fn judge_slow_start(&mut self, acked: &Acked, used: bool) {
        if self.window.in_slow_start() {
            self.start.judge(&mut self.window, acked, used);
        }
    }

    /// New data was acknowledged outside recovery, by a sender that uses its window.
    #[inline]
    pub(crate) fn on_ack(&mut self, acked: &Acked) {
        self.law.on_ack(&mut self.window, &mut self.start, acked);
    }

    /// A loss was found by fast retransmit, or a classic ECN echo arrived; `flight` bytes were outstanding.
    pub(crate) fn on_congestion(&mut self, flight: u64) {
        self.start.end_first();
        self.law.on_congestion(&mut self.window, flight);
    }

    /// The retransmission timer expired. `lowers` is false for further timeouts of the same segment, which leave
    /// ssthresh alone.
    pub(crate) fn on_timeout(&mut self, flight: u64, lowers: bool) {
        if lowers {
            self.on_congestion(flight);
        }
        self.start.on_timeout();
        self.law.on_timeout(&mut self.window);
    }

    /// An idle connection sends again.
    pub(crate) fn on_idle(&mut self) {
        self.law.on_idle(&mut self.window);
    }

    /// Whether the control wants samples of the delivery rate.
    pub(crate) fn wants_samples(&self) -> bool {
        self.law.wants_samples()
    }

    /// An acknowledgment with a sample was processed.
    pub(crate) fn on_sample(&mut self, sampler: &mut Sampler, rs: RateSample, at: Moment) {
        self.law.on_sample(&mut View { window: &mut self.window, sampler, rs, at });
    }

    /// A segment was marked lost; a control without samples only pays for a branch.
    #[inline]
    pub(crate) fn on_loss(&mut self, sampler: &mut Option<Box<Sampler>>, segment: &Segment, now: Time) {
        if let Some(lost) = sampler.as_mut().and_then(|sampler| sampler.on_lost(segment, now)) {
            self.on_lost(&lost);
        }
    }

    /// A segment is lost.
    pub(crate) fn on_lost(&mut self, lost: &LostSegment) {
        self.law.on_lost(&self.window, lost);
    }

    /// The recovery was spurious: nothing was lost.
    pub(crate) fn on_spurious_recovery(&mut self, sampler: &Sampler) {
        self.law.on_spurious_recovery(&mut self.window, sampler);
    }

    /// A connection starts to send, or continues after a pause of its application; `srtt` is zero if unknown.
    pub(crate) fn on_restart(&mut self, sampler: &Sampler, srtt: Span, now: Time) {
        self.law.on_restart(&mut self.window, sampler, srtt, now);
    }

    /// The rate of a control that always paces, bytes per second.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.law.rate(&self.window)
    }
}

/// The window of a connection at its start.
fn first_window(tcp: &Tcp) -> Window {
    let window = Window::new(tcp.mss(), tcp.count("iw"));
    let limit = tcp.slow_start().abc_limit;
    let limit = limit.map_or(u64::MAX, |segments| u64::from(segments) * window.mss);
    Window { slow_start_limit: limit, whole: tcp.recovery().whole_segments, ..window }
}
