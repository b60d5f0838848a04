//! The sending side: RFC 5681 and RFC 6582 (NewReno) without SACK, RFC 6675 with it, RFC 6298 timers, RFC 3168 ECN.
//!
//! Acknowledgments are processed in [`acknowledging`], losses repaired in [`recovery`], segments sent in [`sending`].
//!
//! Of RFC 6675's NextSeg, rules 1 and 2 are implemented. A retransmission that is lost again waits for the timer,
//! unless losses are found by time (RFC 8985).

use super::control::running::Control;
use super::feedback::ReceiverReport;
use super::handshake::{Handshake, TIMEOUT_AFTER_LOSS};
use super::pacer::Pacer;
use super::rack::Rack;
use super::rate::Sampler;
use super::rtt::RttEstimator;
use super::scoreboard::{DUP_THRESH, Scoreboard};
use super::tcp::Tcp;
use crate::report::SenderRow;
use aqm_core::packet::Ecn;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use state::{DuplicateAcks, LossRecovery, Phase, Reduction, RetransmissionTimer, Settings, Stream};
use validation::WindowUse;

mod acknowledging;
mod model;
mod observed;
mod persist;
mod recovery;
mod sending;
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
