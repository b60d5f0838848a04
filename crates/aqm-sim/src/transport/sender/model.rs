//! Calls to a control that follows a model of the path. For other controls each costs a branch.

use super::Sender;
use super::state::Phase;
use crate::transport::control::bbr::{Moment, Recovery};
use aqm_core::units::Time;

impl Sender {
    /// Call before the application writes, an acknowledgment is processed or the timer fires.
    #[inline]
    pub(super) fn check_if_application_limited(&mut self) {
        if let Some(sampler) = &mut self.sampler
            && self.stream.next == self.stream.written
        {
            sampler.check_if_application_limited(self.board.pipe(), self.control.window.cwnd);
        }
    }

    /// RFC 6675 section 4; the control sees each lost segment.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Time) -> bool {
        let (control, sampler) = (&mut self.control, &mut self.sampler);
        self.board.detect_losses(|segment| control.on_loss(sampler, segment, now))
    }

    /// An acknowledgment was processed.
    #[inline]
    pub(super) fn sample(&mut self, prior_inflight: u64, now: Time) {
        if self.sampler.is_some() {
            self.take_sample(prior_inflight, now);
        }
    }

    #[inline(never)]
    fn take_sample(&mut self, prior_inflight: u64, now: Time) {
        let Some(sampler) = &mut self.sampler else { return };
        let Some(rs) = sampler.generate(self.stream.una) else { return };
        let recovery = match self.recovery.phase {
            Phase::Open => Recovery::Open,
            Phase::Recovery { .. } => Recovery::Fast,
            Phase::Loss { .. } => Recovery::Timeout,
        };
        let (inflight, srtt) = (self.board.pipe(), self.timer.rtt.smoothed());
        self.control.on_sample(sampler, rs, Moment { now, prior_inflight, inflight, recovery, srtt });
    }

    /// A segment is being sent; the pipe includes it already.
    #[inline]
    pub(super) fn on_segment_sent(&mut self, seq: u64, payload: u32, now: Time) {
        if self.sampler.is_some() {
            self.record_sent(seq, payload, now);
        }
    }

    #[inline(never)]
    fn record_sent(&mut self, seq: u64, payload: u32, now: Time) {
        let Some(sampler) = &mut self.sampler else { return };
        let inflight = self.board.pipe();
        if inflight == u64::from(payload) && sampler.is_application_limited() {
            self.control.on_restart(sampler, self.timer.rtt.smoothed(), now);
        }
        sampler.on_sent(seq, payload, inflight, now);
        if inflight + u64::from(self.settings.mss) > self.control.window.cwnd {
            sampler.mark_window_limited(inflight);
        }
    }

    /// Nothing was lost: the recovery was spurious.
    pub(super) fn on_none_lost(&mut self) {
        if let Some(sampler) = &mut self.sampler {
            sampler.mark_none_lost();
            self.control.on_spurious_recovery(sampler);
        }
    }
}
