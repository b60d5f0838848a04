//! The sending side: RFC 5681 and RFC 6582 (NewReno) without SACK, RFC 6675 with it, RFC 6298 timers, RFC 3168 ECN.
//!
//! Of RFC 6675's NextSeg, rules 1 and 2 are implemented. A retransmission that is lost again waits for the timer,
//! unless losses are found by time (RFC 8985).

use super::control::running::Control;
use super::feedback::{Echo, ReceiverReport};
use super::flags;
use super::handshake::{Handshake, TIMEOUT_AFTER_LOSS};
use super::pacer::Pacer;
use super::prr::Prr;
use super::rack::Rack;
use super::rate::Sampler;
use super::receiver::{Acknowledgment, Counted};
use super::rtt::RttEstimator;
use super::rules::Reduced;
use super::scoreboard::{DUP_THRESH, Scoreboard};
use super::tcp::Tcp;
use super::window::{Acked, Window};
use crate::report::SenderRow;
use aqm_core::packet::Ecn;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use state::{
    DuplicateAcks, Flight, LossRecovery, Phase, Reduction, RetransmissionTimer, Settings, Stream, Trial, Undo,
};
use validation::WindowUse;

mod acknowledging;
mod model;
mod observed;
mod persist;
mod state;
mod validation;

pub(crate) use observed::{Sysctls, TcpInfo};

/// A segment to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) seq: u64,
    pub(crate) payload: u32,
    /// Not-ECT for retransmissions (RFC 3168 section 6.1.5), except with L4S, where all segments are ECT(1).
    pub(crate) ecn: Ecn,
    /// Congestion window reduced.
    pub(crate) cwr: bool,
    /// TCP's flags, without those of ECN.
    pub(crate) flags: u8,
    /// Whether it is known that no other may be sent now.
    pub(crate) is_last: bool,
}

/// One sender.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(super) control: Control,
    settings: Settings,
    /// Whether acknowledgments of the next data change nothing but window, timer and scoreboard.
    pub(crate) is_plain: bool,
    /// Whether nothing is opened, repaired, tried, reduced or probed, as [`settle`](Self::settle) last found; what can change
    /// that ends by asking it again.
    is_settled: bool,
    stream: Stream,
    board: Scoreboard,
    recovery: LossRecovery,
    duplicates: DuplicateAcks,
    reduction: Reduction,
    timer: RetransmissionTimer,
    usage: WindowUse,
    last_sent: Time,
    pacer: Option<Pacer>,
    rack: Option<Box<Rack>>,
    /// For controls that follow a model of the path.
    sampler: Option<Box<Sampler>>,
    /// The receiver's last report.
    report: u32,
    losses: Losses,
    pub(crate) counted: Counted,
    /// A probe of the peer's window is due.
    probe_window: bool,
}

/// Losses since the statistics were last reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// Windows in which loss was found without a timeout.
    pub(crate) recoveries: u64,
    /// Retransmission timeouts, those of the same segment counted once.
    pub(crate) timeouts: u64,
    /// Segments sent again.
    pub(crate) retransmissions: u64,
}

impl Sender {
    /// `random` is the random stream of the congestion control.
    pub(crate) fn new(tcp: &Tcp, random: Random) -> Sender {
        let control = Control::new(tcp, random);
        let rules = tcp.recovery();
        let pacer = (tcp.flag("pacing") || control.rate().is_some()).then(Pacer::default);
        let sampler = control.wants_samples().then(Box::default);
        let counts_marks = tcp.feedback().report == ReceiverReport::CeBytes;
        Sender {
            is_plain: !rules.rack && sampler.is_none() && !counts_marks,
            is_settled: false,
            control,
            settings: Settings::new(tcp),
            stream: Stream::new(tcp.flag("handshake").then(|| Handshake::new(rules.syn_rto))),
            board: Scoreboard::default(),
            recovery: LossRecovery::new(),
            duplicates: DuplicateAcks::default(),
            reduction: Reduction::never(),
            timer: RetransmissionTimer {
                rtt: RttEstimator::new(tcp.span("minrto")).bounding_variation(rules.minrto_bounds_rttvar),
                deadline: None,
            },
            usage: WindowUse::default(),
            last_sent: Time::ZERO,
            pacer,
            rack: rules.rack.then(Box::default),
            sampler,
            report: 0,
            losses: Losses::default(),
            counted: Counted::default(),
            probe_window: false,
        }
    }

    /// The application writes `bytes` more.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.check_if_application_limited();
        self.stream.written = self.stream.written.saturating_add(bytes);
    }

    /// The application opens the connection, and will write later.
    pub(crate) fn connect(&mut self) {
        if let Some(opening) = &mut self.stream.opening {
            opening.ahead = true;
        }
    }

    /// Bytes that were written and are not acknowledged.
    pub(crate) fn held(&self) -> u64 {
        self.stream.written - self.stream.una
    }

    /// Whether more data would change nothing until an acknowledgment or a timer comes, all having been sent that may be: a
    /// full segment waits, and neither pacing nor an idle time lets it go.
    pub(crate) fn is_full(&self) -> bool {
        let waits = self.stream.written - self.stream.next >= u64::from(self.settings.mss);
        waits
            && self.is_plain
            && self.pacer.is_none()
            && self.stream.opening.is_none()
            && !self.board.is_empty()
    }

    /// The application closes: it writes nothing more.
    pub(crate) fn close(&mut self) {
        self.stream.closed = true;
    }

    /// The application stops: what was not sent is never sent.
    pub(crate) fn stop(&mut self) {
        self.stream.written = self.stream.next;
        self.stream.closed = true;
        self.stream.opening = None;
    }

    /// The SYN-ACK arrives; `echo` is when the SYN was sent. Returns the sample of the round-trip time, zero for none.
    pub(crate) fn on_syn_answered(&mut self, echo: Time, now: Time) -> Span {
        let Some(opening) = self.stream.opening.take() else { return Span::ZERO };
        self.settle();
        let sample = now.since(echo);
        self.timer.rtt.sample(sample);
        if opening.was_repeated() && self.settings.recovery.ecn_fallback {
            self.settings.feedback.codepoint = Ecn::NotEct; // RFC 3168 section 6.1.1.1
        }
        if opening.was_repeated() && self.settings.recovery.syn_loss {
            // RFC 5681 section 3.1; RFC 6298 section 5.7.
            self.control.window.cwnd = self.control.window.cwnd.min(u64::from(self.settings.mss));
            self.timer.rtt.at_least(TIMEOUT_AFTER_LOSS);
        }
        sample
    }

    /// Call after what may begin or end a repair, a trial, a reduction or a probe: acknowledgments and segments do not ask for
    /// each of them then.
    fn settle(&mut self) {
        self.is_settled = self.finds_settled();
    }

    fn finds_settled(&self) -> bool {
        let repairs = !self.is_open() || self.recovery.undo.is_some() || self.recovery.trial.is_some();
        let DuplicateAcks { count, reported, inflation, .. } = self.duplicates;
        let duplicates = count > 0 || reported > 0 || inflation > 0 || self.board.sacked_bytes() > 0;
        let begins = self.stream.opening.is_some() || self.probe_window;
        self.is_plain && !repairs && !duplicates && !begins
    }

    /// When the next timer is due.
    pub(crate) fn deadline(&self) -> Option<Time> {
        if let Some(opening) = &self.stream.opening {
            return opening.deadline();
        }
        match &self.rack {
            None => self.timer.deadline,
            Some(rack) => {
                [self.timer.deadline, rack.reordering_timer, rack.probe_at].into_iter().flatten().min()
            }
        }
    }

    /// The round-trip estimator, for its samples.
    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.timer.rtt
    }

    /// Its windows and timers, for traces.
    pub(crate) fn row(&self) -> SenderRow {
        SenderRow {
            cwnd_bytes: self.cwnd(),
            ssthresh_bytes: self.control.window.ssthresh,
            srtt_ns: self.timer.rtt.smoothed().as_nanos(),
            rto_ns: self.timer.rtt.rto().as_nanos(),
            phase: match self.recovery.phase {
                Phase::Open => 0,
                Phase::Recovery { .. } => 1,
                Phase::Loss { .. } => 2,
            },
        }
    }

    /// What its flow asks for that does not change, for logs: bytes of a segment, and of the first window; whether losses are
    /// found by time.
    pub(crate) fn parameters(&self) -> (u32, u64, bool) {
        (self.settings.mss, self.control.window.initial, self.rack.is_some())
    }

    /// Grows whenever segments are found lost.
    pub(crate) fn found_lost(&self) -> u64 {
        self.board.marked_lost()
    }

    /// The segments that are lost and not yet sent again: where they begin, and when they were sent.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (u64, Time)> {
        self.board.waiting().map(|segment| (segment.start, segment.sent_at))
    }

    /// Bytes believed to be in the network (RFC 6675 section 4).
    pub(crate) fn pipe(&self) -> u64 {
        self.board.pipe()
    }

    /// The rate that its segments are spaced by, bytes per second, if they are.
    pub(crate) fn pacing_rate(&self) -> Option<f64> {
        self.pacer.map(|_| self.control.rate().unwrap_or_else(|| self.window_rate()))
    }

    /// Resets the statistics (end of the warm-up).
    pub(crate) fn forget(&mut self) {
        self.timer.rtt.forget();
        self.losses = Losses::default();
    }

    /// Losses since the statistics were last reset.
    pub(crate) fn losses(&self) -> Losses {
        self.losses
    }

    /// RFC 3522: the acknowledged segment was sent before the retransmission, so nothing was lost. The window is
    /// restored without a burst (RFC 4015 section 3.2).
    fn undo_recovery(&mut self, undo: Undo, bytes: u64) {
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
    fn on_trial(&self) -> u64 {
        match (self.recovery.trial, self.recovery.phase) {
            (Some(_), Phase::Loss { point }) => point,
            _ => 0,
        }
    }

    /// RFC 5682 section 3: an acknowledgment of `bytes` more; `original` if data arrived that were not sent again.
    fn continue_trial(&mut self, bytes: u64, original: bool) {
        let Some((stage, undo)) = self.recovery.trial.take() else { return };
        if original {
            self.undo_recovery(undo, bytes); // step 3b
        } else if stage == Trial::Progress && bytes > 0 && matches!(self.recovery.phase, Phase::Loss { .. }) {
            self.recovery.trial = Some((Trial::NewData, undo)); // step 2b
        }
    }

    /// When the first of the retransmissions that may still be under way was sent; `now` if there are none.
    fn first_resent(&self, now: Time) -> Time {
        let (first, end) = self.recovery.resent;
        if self.stream.una < end { first } else { now }
    }

    /// RFC 6675 section 5: looks for losses. Returns whether any is new.
    fn find_lost(&mut self, flight: Flight, now: Time) -> bool {
        let lost = self.detect_losses(now);
        if lost && self.recovery.phase == Phase::Open {
            self.enter_recovery(flight, now);
        }
        lost
    }

    /// RFC 8985 on an acknowledgment: looks for losses, and schedules a probe. Returns whether any loss is new.
    fn run_rack(&mut self, ack: &Acknowledgment, flight: Flight, duplicate: bool, now: Time) -> bool {
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
    fn on_duplicate(&mut self, flight: Flight, now: Time) {
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

    fn enter_recovery(&mut self, flight: Flight, now: Time) {
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
    fn begin_prr(&self, reduced: u64) -> Prr {
        let unit = if self.settings.recovery.whole_segments { u64::from(self.settings.mss) } else { 1 };
        Prr::begin(reduced).with(unit, self.settings.recovery.safeack)
    }

    /// Data arrived, and the control hears of exact marks.
    fn observe(&mut self, acked: &Acked) {
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
    fn reduce_proportionally(&mut self, delivered: u64, safe: bool) {
        if let Some(prr) = &mut self.recovery.prr {
            let Window { ssthresh, mss, .. } = self.control.window;
            prr.on_ack(delivered, self.board.pipe(), ssthresh, mss, safe);
        }
    }

    /// Bytes outstanding.
    fn flight(&self) -> Flight {
        Flight { bytes: self.stream.flight(), limited: self.duplicates.limited }
    }

    /// What congestion reduces, with `flight` bytes outstanding.
    fn reduced(&self, flight: u64) -> u64 {
        if self.settings.recovery.ssthresh == Reduced::Cwnd { self.control.window.cwnd } else { flight }
    }

    /// Lowers the window because of congestion, and signals a receiver that echoes marks (RFC 3168 section 6.1.2).
    fn reduce(&mut self, flight: u64, now: Time) {
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

    /// The next segment that may be sent now, if any. Call until `None`, or the last, after every event.
    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Transmission> {
        debug_assert!(!self.is_settled || self.finds_settled());
        if !self.is_settled || self.pacer.is_some() || self.board.is_empty() {
            return self.poll_any(now);
        }
        // Nothing but window and data decide.
        let room = self.control.window.cwnd.saturating_sub(self.board.pipe());
        let Some(payload) = self.fresh(room) else {
            self.note_waiting(room);
            return None;
        };
        let (seq, room) = self.take_fresh(payload, room, now);
        self.last_sent = now;
        // RFC 6298 (5.1)
        if self.timer.deadline.is_none() {
            self.timer.start(now);
        }
        let mut sent = self.transmission(seq, payload, false);
        sent.is_last = self.fresh(room).is_none();
        Some(sent)
    }

    /// The same of any sender.
    #[inline(never)]
    fn poll_any(&mut self, now: Time) -> Option<Transmission> {
        if self.board.is_empty() {
            let ahead = self.stream.opening.is_some_and(|opening| opening.ahead);
            if self.stream.next == self.stream.written && !ahead {
                return None;
            }
            if let Some(opening) = &mut self.stream.opening {
                let (ecn, flags) = (Ecn::NotEct, flags::SYN);
                let syn = Transmission { seq: 0, payload: 0, ecn, cwr: false, flags, is_last: false };
                return opening.poll(now).then_some(syn);
            }
            // RFC 5681 section 4.1.
            let idle = now.since(self.last_sent);
            let restarts = self.settings.restarts && self.stream.next > 0;
            if restarts && idle > self.timer.rtt.rto() && self.fresh(u64::MAX).is_some() {
                self.control.on_idle();
            }
        }
        if self.paced_until(now).is_some() {
            return None;
        }
        if self.probe_window {
            return Some(self.window_probe());
        }
        if let Some(probe) = self.probe(now) {
            return Some(probe);
        }
        let cwnd =
            self.control.window.cwnd.saturating_add(self.duplicates.inflation + self.limited_transmit());
        let room = self.recovery.prr.map_or_else(|| cwnd.saturating_sub(self.board.pipe()), |prr| prr.room);
        let fresh = self.fresh(room);
        let mut holds = matches!(self.recovery.trial, Some((Trial::NewData, _)));
        if holds && fresh.is_none() && self.recovery.phase == (Phase::Loss { point: self.stream.next }) {
            (holds, self.recovery.trial) = (false, None); // RFC 5682 section 3 step 2b: nothing new can be sent
        }
        // RFC 6675 section 5 step 4.3: the first retransmission does not wait for room.
        let retransmission_room = if self.recovery.retransmit_now { u64::MAX } else { room };
        if self.recovery.phase != Phase::Open
            && !holds
            && let Some((seq, payload)) = self.board.next_retransmission(retransmission_room, now)
        {
            self.recovery.retransmit_now = false;
            self.losses.retransmissions += 1;
            if self.rack.is_some() && seq == self.stream.una {
                // RFC 6675 section 6; Linux (tcp_xmit_retransmit_queue).
                self.timer.start(now);
            }
            self.recovery.resent =
                (self.first_resent(now), self.recovery.resent.1.max(seq + u64::from(payload)));
            return Some(self.sent(seq, payload, true, now));
        }
        let Some(payload) = fresh else {
            self.note_waiting(room);
            if self.board.is_empty() {
                self.persist(now);
            }
            return None;
        };
        let (seq, room) = self.take_fresh(payload, room, now);
        self.note_limited_transmit(payload);
        let mut sent = self.sent(seq, payload, false, now);
        // Most acknowledgments let one segment go, and to ask again costs as much as to ask.
        if self.is_plain && self.is_open() && self.pacer.is_none() {
            sent.is_last = self.fresh(room).is_none();
        }
        Some(sent)
    }

    /// Nothing is sent: what waits, if anything does, may not fit into this `room`.
    #[inline]
    fn note_waiting(&mut self, room: u64) {
        if self.next_payload() > 0 && self.is_too_small(room) {
            self.usage.note(&self.stream, true);
        }
    }

    /// `payload` bytes of new data are sent, for which there is `room`. Returns where they begin, and the room that is left.
    #[inline]
    fn take_fresh(&mut self, payload: u32, room: u64, now: Time) -> (u64, u64) {
        let seq = self.stream.next;
        self.stream.next += u64::from(payload);
        self.board.on_sent(seq, payload, now);
        let room = room - u64::from(payload);
        self.usage.note(&self.stream, self.is_too_small(room));
        (seq, room)
    }

    /// Whether no full segment fits into this `room`.
    #[inline]
    fn is_too_small(&self, room: u64) -> bool {
        room < u64::from(self.settings.mss)
    }

    /// `payload` bytes of new data were sent: what of them is beyond the window left it by limited transmit.
    #[inline]
    fn note_limited_transmit(&mut self, payload: u32) {
        if self.duplicates.count > 0 && self.recovery.phase == Phase::Open {
            let beyond = self.stream.flight().saturating_sub(self.control.window.cwnd);
            self.duplicates.limited += beyond.min(u64::from(payload));
        }
    }

    /// Payload of the segment that would be sent next, 0 if nothing waits.
    fn next_payload(&self) -> u32 {
        (self.stream.written - self.stream.next).min(u64::from(self.settings.mss)) as u32
    }

    /// The same, if the receiver's window and `room` let it be sent now.
    fn fresh(&self, room: u64) -> Option<u32> {
        let room = room.min(self.settings.window_cap.saturating_sub(self.stream.flight()));
        Some(self.next_payload()).filter(|&payload| payload > 0 && u64::from(payload) <= room)
    }

    /// The tail loss probe, if one is due: new data, or else the newest segment again (RFC 8985 section 7.3).
    fn probe(&mut self, now: Time) -> Option<Transmission> {
        let rack = self.rack.as_mut().filter(|rack| rack.probe_due)?;
        let fresh = (self.stream.written - self.stream.next).min(u64::from(self.settings.mss)) as u32;
        if fresh > 0 && self.stream.flight() + u64::from(fresh) <= self.settings.window_cap {
            let seq = self.stream.next;
            self.stream.next += u64::from(fresh);
            rack.on_probe(self.stream.next, false);
            self.board.on_sent(seq, fresh, now);
            return Some(self.sent(seq, fresh, false, now));
        }
        rack.on_probe(self.stream.next, true);
        let (seq, payload) = self.board.probe_newest(now)?;
        self.losses.retransmissions += 1;
        Some(self.sent(seq, payload, true, now))
    }

    /// RFC 3042: the first two duplicate acknowledgments each release a new segment. With SACK the pipe does that.
    fn limited_transmit(&self) -> u64 {
        if self.settings.sack || self.recovery.phase != Phase::Open {
            return 0;
        }
        self.duplicates.count.min(2) as u64 * u64::from(self.settings.mss)
    }

    #[inline(always)]
    fn sent(&mut self, seq: u64, payload: u32, retransmission: bool, now: Time) -> Transmission {
        self.last_sent = now;
        // RFC 6298 (5.1)
        if self.timer.deadline.is_none() {
            self.timer.start(now);
        }
        if let Some(prr) = &mut self.recovery.prr {
            prr.on_sent(u64::from(payload));
        }
        self.on_segment_sent(seq, payload, now);
        if let Some(mut pacer) = self.pacer {
            let rate = self.control.rate().unwrap_or_else(|| self.window_rate());
            pacer.on_sent(u64::from(payload), rate, now);
            self.pacer = Some(pacer);
        }
        if let Some(rack) = &mut self.rack
            && !retransmission
            && self.recovery.phase == Phase::Open
            && self.board.sacked_bytes() == 0
        {
            rack.arm_probe(now, self.timer.rtt.smoothed(), self.board.len() == 1, self.timer.deadline);
        }
        self.transmission(seq, payload, retransmission)
    }

    /// The segment as it is sent.
    #[inline(always)]
    fn transmission(&mut self, seq: u64, payload: u32, retransmission: bool) -> Transmission {
        let plain = retransmission && self.settings.feedback.codepoint != Ecn::Ect1;
        let ecn = if plain { Ecn::NotEct } else { self.settings.feedback.codepoint };
        let cwr = ecn != Ecn::NotEct && std::mem::take(&mut self.reduction.cwr_due);
        let last = self.stream.closed && seq + u64::from(payload) == self.stream.written;
        let flags = if last { flags::ACK | flags::FIN } else { flags::ACK };
        Transmission { seq, payload, ecn, cwr, flags, is_last: false }
    }

    /// The rate that spreads a window over a round trip, times a margin, so that the window remains the limit:
    /// Linux's 2 in slow start and 1.2 afterwards (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). Bytes per second; zero
    /// (no pacing) before the first sample.
    fn window_rate(&self) -> f64 {
        let rtt = self.timer.rtt.smoothed().as_secs_f64();
        let window = &self.control.window;
        let margin = if window.cwnd < window.ssthresh / 2 { 2.0 } else { 1.2 };
        if rtt > 0.0 { margin * window.cwnd as f64 / rtt } else { 0.0 }
    }

    /// Whether its segments are spaced.
    pub(crate) fn is_paced(&self) -> bool {
        self.pacer.is_some()
    }

    /// When the next segment may be sent, if pacing delays it.
    #[inline]
    pub(crate) fn paced_until(&self, now: Time) -> Option<Time> {
        self.pacer.as_ref().and_then(|pacer| pacer.blocked_until(now))
    }

    /// How far its data were acknowledged and sent.
    pub(crate) fn extent(&self) -> (u64, u64) {
        (self.stream.una, self.stream.next)
    }

    /// Whether data are outstanding without the timer that would send them again (RFC 6298 section 5.1).
    pub(crate) fn waits_in_vain(&self) -> bool {
        self.stream.una < self.stream.next && self.timer.deadline.is_none()
    }

    /// Bytes beyond those acknowledged that are known to have arrived.
    pub(crate) fn sacked(&self) -> u64 {
        self.board.sacked_bytes()
    }

    /// Window in bytes, for measurements.
    pub(crate) fn cwnd(&self) -> u64 {
        self.control.window.cwnd.min(self.settings.window_cap)
    }
}

#[cfg(test)]
mod bbr1_tests;
#[cfg(test)]
mod bbr3_tests;
#[cfg(test)]
mod tests;
