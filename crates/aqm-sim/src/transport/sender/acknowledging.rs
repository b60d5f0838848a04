//! What a sender learns from an acknowledgment.

use super::Sender;
use super::state::Phase;
use crate::transport::feedback::ReceiverReport;
use crate::transport::receiver::Acknowledgment;
use crate::transport::scoreboard::DUP_THRESH;
use crate::transport::window::Acked;
use aqm_core::units::{Span, Time};

impl Sender {
    /// An acknowledgment arrives. Returns the sample of the round-trip time that it gives, zero for none.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgment, now: Time) -> Span {
        if ack.ack > self.stream.next {
            return Span::ZERO;
        }
        if self.is_undisturbed(ack) {
            return self.on_next_data(ack, now);
        }
        // A copy: what a call refers to is kept in memory, here for all acknowledgments.
        let mut ack = *ack;
        if ack.ack < self.stream.una {
            // Overtaken by another: its blocks still say what has arrived (RFC 6675 section 5), its marks are known.
            if ack.sack_count == 0 {
                return Span::ZERO;
            }
            (ack.ece, ack.report) = (false, self.report);
        }
        self.on_any(&ack, now)
    }

    /// An acknowledgment of anything. Returns the sample that it gives.
    #[inline(never)]
    fn on_any(&mut self, ack: &Acknowledgment, now: Time) -> Span {
        self.check_if_application_limited();
        let (una, flight, prior_inflight) = (self.stream.una, self.flight(), self.board.pipe());
        let mut sacked = 0;
        // Data that a timeout takes for lost arrive as they were first sent.
        let mut original = false;
        let on_trial = self.on_trial();
        let mut first_sent = None;
        let (rack, sampler) = (&mut self.rack, &mut self.sampler);
        if let Some(rack) = rack {
            rack.on_ack();
        }
        for &(start, end) in &ack.sack[..usize::from(ack.sack_count)] {
            sacked += self.board.on_sack(ack.ack + u64::from(start), ack.ack + u64::from(end), |segment| {
                original |= !segment.retransmitted && segment.end() <= on_trial;
                if !segment.resent {
                    first_sent = first_sent.or(Some(segment.sent_at));
                }
                if let Some(rack) = rack {
                    rack.on_arrived(segment, now);
                }
                if let Some(sampler) = sampler {
                    sampler.on_arrived(segment, now);
                }
            });
        }
        if let Some(sent_at) = first_sent {
            self.await_retransmission(sent_at, now);
        }
        let mut delivered = 0;
        let mut reported = None;
        let mut sample = Span::ZERO;
        if ack.ack > self.stream.una {
            sample = self.time_progress(ack, now);
            delivered = self.on_progress(ack, flight.bytes, sacked, sample, &mut original, now);
        } else if flight.bytes > 0 && (sacked > 0 || ack.sack_count == 0) {
            let acked = self.acked(ack, flight.bytes, sacked, Span::ZERO, now);
            self.observe(&acked);
            self.on_duplicate(flight, now);
            reported = (ack.ack == una && !ack.ece).then_some(acked);
        }
        self.continue_trial(self.stream.una - una, original);
        let lost = if self.rack.is_some() {
            self.run_rack(ack, flight, delivered + sacked == 0, now)
        } else {
            sacked > 0 && self.find_lost(flight, now)
        };
        let duplicate = sacked > 0 && self.stream.una == una;
        if self.reenters() || (duplicate && self.has_lost_outside_recovery()) {
            self.enter_recovery(self.flight(), now);
        }
        if let Some(acked) = reported.filter(|acked| acked.bytes > 0 && self.grows_out_of_order()) {
            self.grow(&acked);
        }
        if self.settings.feedback.is_ecn()
            && !self.settings.feedback.is_exact()
            && ack.ece
            && self.recovery.phase == Phase::Open
            && ack.ack > self.reduction.until
        {
            // RFC 3168 section 6.1.2: at most one reaction per window of data.
            let recover_fs = self.reduced(flight.bytes);
            self.reduce(self.reduced(flight.without_limited_transmit()), now);
            self.reduction.until = self.stream.next;
            // With nothing outstanding no acknowledgment would let more be sent.
            let spreads = self.settings.recovery.prr_on_ecn && flight.bytes > 0;
            self.recovery.prr = spreads.then(|| self.begin_prr(recover_fs));
        }
        self.reduce_proportionally(sacked + delivered, self.stream.una > una && !lost);
        self.sample(prior_inflight, now);
        self.settle();
        sample
    }

    /// Whether an acknowledgment, as most, is of the next data alone, while nothing is repaired, tried or reduced.
    #[inline]
    fn is_undisturbed(&self, ack: &Acknowledgment) -> bool {
        self.is_settled && ack.ack > self.stream.una && ack.sack_count == 0 && !ack.ece
    }

    /// Whether no loss is known, and nothing reduces the window in steps.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.recovery.phase == Phase::Open && self.recovery.prr.is_none()
    }

    /// What is left of [`on_any`](Self::on_any) then.
    #[inline(always)]
    fn on_next_data(&mut self, ack: &Acknowledgment, now: Time) -> Span {
        let flight = self.stream.flight();
        self.stream.una = ack.ack;
        let bytes = self.board.on_cumulative_ack(ack.ack, |_| ());
        let sample = self.time_progress(ack, now);
        self.duplicates.after_partial = false;
        self.restart_timer(now);
        let acked = self.acked(ack, flight, bytes, sample, now);
        self.control.observe(&acked);
        self.grow(&acked);
        sample
    }

    /// `ack` as the congestion control sees it, with `bytes` newly known to have arrived.
    fn acked(&mut self, ack: &Acknowledgment, flight: u64, bytes: u64, sample: Span, now: Time) -> Acked {
        let marked = match self.settings.feedback.report {
            ReceiverReport::CeBytes => u64::from(ack.report.wrapping_sub(self.report)),
            _ if ack.ece => bytes,
            _ => 0,
        };
        self.report = ack.report;
        let (una, next, rtt) = (self.stream.una, self.stream.next, self.timer.rtt.smoothed());
        Acked { bytes, marked, flight, una, next, now, rtt, sample, report: ack.report }
    }

    /// New data was acknowledged, and `sacked` bytes beyond it. Returns how many bytes were not known to have
    /// arrived, and sets `original` if some arrived that are on trial.
    fn on_progress(
        &mut self,
        ack: &Acknowledgment,
        flight: u64,
        sacked: u64,
        sample: Span,
        original: &mut bool,
        now: Time,
    ) -> u64 {
        let bytes = ack.ack - self.stream.una;
        self.stream.una = ack.ack;
        let on_trial = self.on_trial();
        let (rack, sampler) = (&mut self.rack, &mut self.sampler);
        let delivered = self.board.on_cumulative_ack(ack.ack, |segment| {
            *original |= !segment.retransmitted && segment.end() <= on_trial;
            if let Some(rack) = rack {
                rack.on_arrived(segment, now);
            }
            if let Some(sampler) = sampler {
                sampler.on_arrived(segment, now);
            }
        });
        // RFC 6582 section 3.2 step 3: only the first partial acknowledgment of a recovery restarts the timer. So
        // many losses in one window end in slow start rather than in one retransmission per round trip.
        let partial = !self.settings.sack
            && matches!(self.recovery.phase, Phase::Recovery { point } if ack.ack < point);
        if !(partial && self.duplicates.after_partial) {
            self.restart_timer(now);
        }
        self.duplicates.after_partial = partial;
        let unreported = self.duplicates.take_reported(bytes, u64::from(self.settings.mss));
        let acked = self.acked(ack, flight, sacked + delivered, sample, now);
        self.observe(&acked);
        if let Some(undo) = self.recovery.undo.take()
            && ack.echo < undo.at
        {
            self.undo_recovery(undo, bytes);
        }
        match self.recovery.phase {
            Phase::Recovery { point } if ack.ack >= point => {
                // RFC 6582 section 3.2 step 3: the full acknowledgment deflates the window to ssthresh. Without SACK
                // it is unknown how much of it arrived just now, so it does not count as growth.
                (self.duplicates.inflation, self.duplicates.reported) = (0, 0);
                self.recovery.prr = None;
                self.recovery.phase = Phase::Open;
                if !self.settings.sack || self.reenters() {
                    return delivered;
                }
            }
            Phase::Recovery { .. } => {
                if !self.settings.sack {
                    // Partial acknowledgment: the next segment is lost too; deflate by what was acknowledged.
                    self.board.mark_first_lost();
                    self.recovery.retransmit_now = true;
                    self.duplicates.inflation =
                        self.duplicates.inflation.saturating_sub(bytes) + u64::from(self.settings.mss);
                }
                return delivered;
            }
            Phase::Loss { point } if ack.ack >= point => {
                self.recovery.phase = Phase::Open;
                if self.reenters() {
                    return delivered;
                }
            }
            // The window does not grow while marks reduce it.
            Phase::Open if self.recovery.prr.is_some() => {
                if ack.ack <= self.reduction.until {
                    return delivered;
                }
                self.recovery.prr = None;
            }
            Phase::Open | Phase::Loss { .. } => {}
        }
        // RFC 3168 section 6.1.2: an echo does not let the window grow.
        if ack.ece && self.settings.feedback.is_ecn() && !self.settings.feedback.is_exact() {
            return delivered;
        }
        let bytes = match (self.settings.grows_by_delivered, self.settings.sack) {
            (true, true) => acked.bytes,
            (true, false) => unreported,
            (false, _) => delivered,
        };
        self.grow(&Acked { bytes, ..acked });
        delivered
    }

    /// Whether the window grows by what SACK reports alone (tcp_may_raise_cwnd): on a path that has reordered by more
    /// segments than show a loss.
    fn grows_out_of_order(&self) -> bool {
        let shows_loss = DUP_THRESH as u64 * u64::from(self.settings.mss);
        self.settings.grows_by_delivered
            && self.is_open()
            && self.rack.as_ref().is_some_and(|rack| rack.reordering_degree().0 > shows_loss)
    }

    /// Whether a recovery is over while data sent after it began are known to be lost: a second indication of congestion
    /// (RFC 5681 section 4.3).
    pub(super) fn reenters(&self) -> bool {
        self.settings.recovery.reenter && self.has_lost_outside_recovery()
    }

    /// Whether segments are known to be lost while nothing is repaired: what is left of a recovery that has ended. A duplicate
    /// begins the next one (RFC 6675 section 5 (2): IsLost is a state, not an event).
    fn has_lost_outside_recovery(&self) -> bool {
        self.recovery.phase == Phase::Open && self.board.has_lost()
    }

    /// With RACK, which finds retransmissions that are lost, the timer waits for the last one of the first segment: as long
    /// as what was sent before it, at `sent_at`, still arrives, it counts again (tcp_clean_rtx_queue; RFC 6675 section 6).
    fn await_retransmission(&mut self, sent_at: Time, now: Time) {
        if self.rack.is_some() && self.board.first_sent_at().is_some_and(|first| sent_at < first) {
            self.restart_timer(now);
        }
    }

    /// New data was acknowledged: a sample of the round-trip time, and the end of back-off and duplicates.
    #[inline]
    fn time_progress(&mut self, ack: &Acknowledgment, now: Time) -> Span {
        let sample = now.since(ack.echo);
        // Without timestamps there is none for what was sent again (RFC 6298 section 3): it echoes its own arrival.
        if sample > Span::ZERO {
            self.timer.rtt.sample(sample);
        }
        self.timer.rtt.restart();
        (self.duplicates.count, self.duplicates.limited) = (0, 0);
        sample
    }

    /// RFC 6298 (5.2), (5.3)
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        self.timer.deadline = (!self.board.is_empty()).then(|| now + self.timer.rtt.rto());
    }

    /// RFC 5681 section 3.1 and RFC 7661: an unused window says nothing about the path.
    #[inline]
    fn grow(&mut self, acked: &Acked) {
        self.control.judge_slow_start(acked, self.usage.lets_grow(&self.control.window));
        // Of a slow start that has just ended, only a window that was filled grows.
        if self.usage.lets_grow(&self.control.window) {
            self.control.on_ack(acked);
        }
    }
}
