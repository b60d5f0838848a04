//! Loss detection and loss recovery (RFC 5681, 6675, 6937, 8985), the retransmission timer (RFC 6298), and the undo of spurious
//! recoveries (RFC 3522, 4015, 5682).

use super::Sender;
use super::state::{Flight, Phase, Trial, Undo};
use crate::transport::DUP_THRESH;
use crate::transport::feedback::Echo;
use crate::transport::prr::Prr;
use crate::transport::receiver::Acknowledgment;
use crate::transport::rules::Reduced;
use crate::transport::window::{Acked, Window};
use aqm_core::units::Time;

impl Sender {
    /// RFC 3522: the acknowledged segment was sent before the retransmission, so nothing was lost. The window is
    /// restored without a burst (RFC 4015 section 3.2).
    pub(super) fn undo_recovery(&mut self, undo: Undo, bytes: u64) {
        self.board.mark_none_lost();
        let window = &mut self.control.window;
        window.cwnd = self.stream.flight() + bytes.min(window.initial);
        window.ssthresh = undo.pipe;
        self.on_none_lost();
        (self.recovery.phase, self.recovery.prr, self.duplicates.inflation) = (Phase::Open, None, 0);
        self.recovery.trial = None;
        self.recovery.retransmit_now = false;
    }

    /// Saves the state to restore if the retransmission at `now` is spurious. What was sent again before may still be
    /// under way, and its arrival does not show that an original arrived: the first retransmission counts (RFC 3522
    /// section 3.2: RetransmitTS is not overwritten).
    fn save_undo(&mut self, flight: u64, now: Time) {
        self.recovery.undo = self.settings.recovery.eifel.then(|| self.undo(flight, now));
    }

    fn undo(&self, flight: u64, now: Time) -> Undo {
        let pipe = flight.max(self.control.window.ssthresh.min(self.control.window.cwnd));
        Undo { at: self.first_resent(now), pipe }
    }

    /// Where the data end that a timeout on trial takes for lost; zero without one.
    pub(super) fn on_trial(&self) -> u64 {
        match (self.recovery.trial, self.recovery.phase) {
            (Some(_), Phase::Loss { point }) => point,
            _ => 0,
        }
    }

    /// RFC 5682 section 3: an acknowledgment of `bytes` more; `original` if data arrived that were not sent again.
    pub(super) fn continue_trial(&mut self, bytes: u64, original: bool) {
        let Some((stage, undo)) = self.recovery.trial.take() else { return };
        if original {
            self.undo_recovery(undo, bytes); // step 3b
        } else if stage == Trial::Progress && bytes > 0 && matches!(self.recovery.phase, Phase::Loss { .. }) {
            self.recovery.trial = Some((Trial::NewData, undo)); // step 2b
        }
    }

    /// When the first of the retransmissions that may still be under way was sent; `now` if there are none.
    pub(super) fn first_resent(&self, now: Time) -> Time {
        let (first, end) = self.recovery.resent;
        if self.stream.una < end { first } else { now }
    }

    /// RFC 6675 section 5: looks for losses. Returns whether any is new.
    pub(super) fn find_lost(&mut self, flight: Flight, now: Time) -> bool {
        let lost = self.detect_losses(now);
        if lost && self.recovery.phase == Phase::Open {
            self.enter_recovery(flight, now);
        }
        lost
    }

    /// RFC 8985 on an acknowledgment: looks for losses, and schedules a probe. Returns whether any loss is new.
    pub(super) fn run_rack(
        &mut self,
        ack: &Acknowledgment,
        flight: Flight,
        duplicate: bool,
        now: Time,
    ) -> bool {
        let Some(rack) = &mut self.rack else { return false };
        rack.end_of_ack();
        if rack.probe_repaired_a_loss(ack.ack, duplicate) && self.recovery.phase == Phase::Open {
            // Section 7.4.2: the loss needs a response although nothing is left to repair.
            self.reduce(self.reduced(flight.without_limited_transmit()), now);
            self.reduction.until = self.stream.next;
            self.losses.recoveries += 1;
        }
        let lost = self.find_overdue(flight, now);
        let alone = self.board.len() == 1;
        let recovers = self.recovery.phase != Phase::Open || self.reenters();
        let quiet = recovers || self.board.sacked_bytes() > 0 || self.board.is_empty();
        if let Some(rack) = &mut self.rack {
            // Section 7.2: an acknowledgment that reports nothing new does not postpone the probe.
            if quiet {
                rack.probe_at = None;
            } else if !duplicate {
                rack.arm_probe(now, self.timer.rtt.smoothed(), alone, self.timer.deadline);
            }
        }
        lost
    }

    /// RFC 8985 section 6.2 steps 4 and 5. Returns whether any loss is new.
    fn find_overdue(&mut self, flight: Flight, now: Time) -> bool {
        let Some(rack) = &mut self.rack else { return false };
        rack.reordering_timer = None;
        let reported = self.board.sacked_bytes();
        if reported == 0 && self.recovery.phase == Phase::Open {
            return false; // nothing was reordered
        }
        let many = reported >= DUP_THRESH as u64 * u64::from(self.settings.mss);
        let overdue = rack.overdue(many || self.recovery.phase != Phase::Open, self.timer.rtt.smoothed());
        let (control, sampler) = (&mut self.control, &mut self.sampler);
        let found = self.board.detect_overdue(overdue, now, |segment| control.on_loss(sampler, segment, now));
        rack.reordering_timer = found.reordering_timer;
        if found.any && self.recovery.phase == Phase::Open {
            self.enter_recovery(flight, now);
        } else if self.settings.recovery.ssthresh_on_lost_rtx
            && found.resent_at.is_some_and(|at| at >= self.reduction.at)
        {
            // RFC 5681 section 4.3: the loss of a retransmission is a second indication of congestion. Most of the data
            // outstanding has left the network; what was in it filled the window. (Linux leaves this to PRR's bound.)
            self.reduce(self.control.window.cwnd, now);
        }
        found.any
    }

    /// A duplicate acknowledgment (or, with SACK, one that reports new blocks).
    pub(super) fn on_duplicate(&mut self, flight: Flight, now: Time) {
        self.duplicates.count += 1;
        if self.settings.sack {
            return;
        }
        self.duplicates.reported += u64::from(self.settings.grows_by_delivered);
        match self.recovery.phase {
            Phase::Open
                if self.duplicates.count == DUP_THRESH && self.stream.una >= self.duplicates.recover =>
            {
                self.board.mark_first_lost();
                self.enter_recovery(flight, now);
                // RFC 5681 section 3.2 step 3: three segments have left the network.
                self.duplicates.inflation = DUP_THRESH as u64 * u64::from(self.settings.mss);
            }
            Phase::Recovery { .. } => self.duplicates.inflation += u64::from(self.settings.mss),
            _ => {}
        }
    }

    pub(super) fn enter_recovery(&mut self, flight: Flight, now: Time) {
        self.save_undo(flight.bytes, now);
        // RFC 6937 section 3: RecoverFS is all that is outstanding.
        let recover_fs = self.reduced(flight.bytes);
        // ECN has already reduced this window: its loss needs no second reduction (RFC 3168 section 6.1.2).
        if self.stream.una >= self.reduction.until {
            let pipe = self.settings.recovery.ssthresh == Reduced::Pipe;
            let reduced = self.reduced(flight.without_limited_transmit());
            self.reduce(if pipe { self.board.pipe() } else { reduced }, now);
        }
        (self.duplicates.recover, self.reduction.until) = (self.stream.next, self.stream.next);
        self.recovery.retransmit_now = true;
        self.losses.recoveries += 1;
        // A loss within the reduction for a mark goes on with it.
        self.recovery.prr = self
            .settings
            .recovery
            .prr
            .then(|| self.recovery.prr.unwrap_or_else(|| self.begin_prr(recover_fs)));
        self.board.shrink();
        self.recovery.phase = Phase::Recovery { point: self.stream.next };
    }

    /// A proportional rate reduction from `reduced` bytes.
    pub(super) fn begin_prr(&self, reduced: u64) -> Prr {
        let unit = if self.settings.recovery.whole_segments { u64::from(self.settings.mss) } else { 1 };
        Prr::begin(reduced).with(unit, self.settings.recovery.safeack)
    }

    /// Data arrived, and the control hears of exact marks.
    pub(super) fn observe(&mut self, acked: &Acked) {
        let before = self.control.window.cwnd;
        self.control.observe(acked);
        let is_new = acked.marked > 0 && acked.una > self.reduction.until;
        let exact = self.settings.feedback.echo == Echo::Exact;
        if is_new && exact && self.settings.recovery.prr_on_ecn && self.recovery.phase == Phase::Open {
            (self.reduction.until, self.reduction.cwr_due) = (self.stream.next, true);
            self.recovery.prr = Some(self.begin_prr(before));
        }
    }

    /// `delivered` bytes have arrived in a reduction; `safe` as in [`Prr::on_ack`].
    pub(super) fn reduce_proportionally(&mut self, delivered: u64, safe: bool) {
        if let Some(prr) = &mut self.recovery.prr {
            let Window { ssthresh, mss, .. } = self.control.window;
            prr.on_ack(delivered, self.board.pipe(), ssthresh, mss, safe);
        }
    }

    /// Bytes outstanding.
    pub(super) fn flight(&self) -> Flight {
        Flight { bytes: self.stream.flight(), limited: self.duplicates.limited }
    }

    /// What congestion reduces, with `flight` bytes outstanding.
    pub(super) fn reduced(&self, flight: u64) -> u64 {
        if self.settings.recovery.ssthresh == Reduced::Cwnd { self.control.window.cwnd } else { flight }
    }

    /// Lowers the window because of congestion, and signals a receiver that echoes marks (RFC 3168 section 6.1.2).
    pub(super) fn reduce(&mut self, flight: u64, now: Time) {
        self.control.on_congestion(flight);
        self.reduction.at = now;
        self.reduction.cwr_due = self.settings.feedback.is_ecn();
    }

    /// A timer is due. Answers whether the retransmission timer fired: RFC 6298 section 5, RFC 5681 section 3.1.
    pub(crate) fn on_timer(&mut self, now: Time) -> bool {
        let fired = self.on_any_timer(now);
        self.settle();
        fired
    }

    fn on_any_timer(&mut self, now: Time) -> bool {
        if let Some(rack) = &mut self.rack {
            if rack.probe_at.is_some_and(|at| at <= now) {
                (rack.probe_at, rack.probe_due) = (None, true);
                // Section 7.3: the timeout counts from the probe.
                self.timer.start(now);
            }
            if rack.reordering_timer.is_some_and(|at| at <= now) {
                let open = self.recovery.phase == Phase::Open;
                if self.find_overdue(self.flight(), now) && open && self.settings.recovery.prr_on_timer {
                    self.reduce_proportionally(u64::from(self.settings.mss), false);
                }
            }
        }
        if self.timer.deadline.is_none_or(|deadline| deadline > now) {
            return false;
        }
        if self.board.is_empty() {
            self.on_persist_timer(now);
            return false;
        }
        let first = !matches!(self.recovery.phase, Phase::Loss { .. });
        if first {
            self.save_undo(self.stream.flight(), now);
        }
        // Data beyond a hole has arrived: of the data sent since, only the pipe measures the use of the window.
        self.check_if_application_limited();
        let lowers = if self.settings.recovery.ssthresh_on_lost_rtx {
            first
        } else {
            // Linux (tcp_enter_loss): once for what was outstanding at the last reduction, and again only for a timeout
            // that follows progress.
            match self.recovery.phase {
                Phase::Loss { .. } => !self.timer.rtt.is_backed_off(),
                _ => self.stream.una >= self.reduction.until,
            }
        };
        // RFC 5682 section 3 step 1: not within a fast recovery; and again if the retransmission is lost.
        let trial = match self.recovery.phase {
            Phase::Open if self.settings.recovery.frto => Some(self.undo(self.stream.flight(), now)),
            Phase::Loss { .. } => self.recovery.trial.map(|(_, undo)| undo),
            _ => None,
        };
        self.recovery.trial = trial.map(|undo| (Trial::Progress, undo));
        self.control.on_timeout(self.reduced(self.stream.flight().min(self.board.pipe())), lowers);
        let (control, sampler) = (&mut self.control, &mut self.sampler);
        self.board.mark_all_lost(|segment| control.on_loss(sampler, segment, now));
        self.recovery.prr = None;
        if let Some(rack) = &mut self.rack {
            rack.stop_probing();
            rack.reordering_timer = None;
        }
        self.duplicates.forget();
        self.recovery.phase = Phase::Loss { point: self.stream.next };
        // RFC 6582 section 4.2: no fast retransmit for what was sent before the timeout.
        (self.duplicates.recover, self.reduction.until, self.reduction.at) =
            (self.stream.next, self.stream.next, now);
        self.recovery.retransmit_now = true;
        self.losses.timeouts += u64::from(first);
        self.board.shrink();
        self.timer.rtt.back_off();
        self.timer.start(now);
        true
    }
}
