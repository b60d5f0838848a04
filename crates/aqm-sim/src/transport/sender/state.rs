//! What a sender keeps, by section.

use crate::transport::feedback::Feedback;
use crate::transport::handshake::Handshake;
use crate::transport::prr::Prr;
use crate::transport::rtt::RttEstimator;
use crate::transport::rules::RecoveryRules;
use crate::transport::tcp::Tcp;
use aqm_core::units::Time;

/// What its flow asks for.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) mss: u32,
    pub(super) sack: bool,
    pub(super) feedback: Feedback,
    /// The receiver's window, bytes.
    pub(super) window_cap: u64,
    /// How losses are found and repaired, and what they cost.
    pub(super) recovery: RecoveryRules,
    /// Whether the window grows by what was delivered, wherever it lies.
    pub(super) grows_by_delivered: bool,
    /// Whether an idle connection starts again from the initial window (RFC 5681 section 4.1).
    pub(super) restarts: bool,
}

impl Settings {
    pub(super) fn new(tcp: &Tcp) -> Settings {
        Settings {
            mss: tcp.mss(),
            sack: tcp.flag("sack"),
            feedback: tcp.feedback(),
            window_cap: tcp.window_bytes().unwrap_or(u64::MAX),
            recovery: tcp.recovery(),
            grows_by_delivered: tcp.slow_start().acked_sacked,
            restarts: true,
        }
    }
}

/// The sequence space (RFC 9293 section 3.3.1), from the application's first byte on.
#[derive(Debug)]
pub(super) struct Stream {
    /// Present until the connection is open.
    pub(super) opening: Option<Handshake>,
    /// SND.UNA.
    pub(super) una: u64,
    /// SND.NXT.
    pub(super) next: u64,
    /// Bytes that the application has written so far, and whether it has closed.
    pub(super) written: u64,
    pub(super) closed: bool,
}

impl Stream {
    pub(super) fn new(opening: Option<Handshake>) -> Stream {
        Stream { opening, una: 0, next: 0, written: 0, closed: false }
    }

    /// FlightSize of RFC 5681.
    #[inline]
    pub(super) fn flight(&self) -> u64 {
        self.next - self.una
    }
}

/// Bytes outstanding before an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) bytes: u64,
    /// Of these, what limited transmit sent.
    pub(super) limited: u64,
}

impl Flight {
    /// What a loss halves: RFC 5681 section 3.2 step 2, RFC 6675 section 5 (4.2).
    pub(super) fn without_limited_transmit(self) -> u64 {
        self.bytes - self.limited
    }
}

/// Whether a loss is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No loss known.
    Open,
    /// Fast recovery until `point` is acknowledged.
    Recovery { point: u64 },
    /// After a timeout, until `point` is acknowledged.
    Loss { point: u64 },
}

/// RFC 5682: what a timeout still waits for, to know whether it was spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// Step 2: the first acknowledgment after the retransmission.
    Progress,
    /// Step 3: the acknowledgment of new data, which are sent instead of more retransmissions.
    NewData,
}

/// Loss recovery.
#[derive(Debug)]
pub(super) struct LossRecovery {
    pub(super) phase: Phase,
    /// The next retransmission is sent even if the pipe is full.
    pub(super) retransmit_now: bool,
    /// The current proportional rate reduction.
    pub(super) prr: Option<Prr>,
    /// The state to restore if the retransmission was spurious.
    pub(super) undo: Option<Undo>,
    /// Whether the last timeout is on trial.
    pub(super) trial: Option<(Trial, Undo)>,
    /// Retransmissions that may still be under way: when the first was sent, and where the highest ends.
    pub(super) resent: (Time, u64),
}

impl LossRecovery {
    pub(super) fn new() -> LossRecovery {
        LossRecovery {
            phase: Phase::Open,
            retransmit_now: false,
            prr: None,
            undo: None,
            trial: None,
            resent: (Time::ZERO, 0),
        }
    }
}

/// State before a retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// When the first retransmission that may be under way was decided.
    pub(super) at: Time,
    /// RFC 4015 section 3.2: pipe_prev.
    pub(super) pipe: u64,
}

/// Duplicate and partial acknowledgments, by which losses are found and repaired without SACK (RFC 6582).
#[derive(Debug, Default)]
pub(super) struct DuplicateAcks {
    pub(super) count: usize,
    /// Bytes beyond the window that limited transmit (RFC 3042, RFC 6675 section 5 (3)) sent since new data was last
    /// acknowledged.
    pub(super) limited: u64,
    /// Without SACK: duplicates since then, each of which stands for a segment that has arrived.
    pub(super) reported: u64,
    /// Window inflation of section 3.2.
    pub(super) inflation: u64,
    /// The last acknowledgment of new data was a partial one.
    pub(super) after_partial: bool,
    /// No fast retransmit before this is acknowledged.
    pub(super) recover: u64,
}

impl DuplicateAcks {
    /// An acknowledgment covers `bytes` more: how many of them no duplicate stood for. One segment filled the hole, the others
    /// are among the duplicates (tcp_remove_reno_sacks).
    pub(super) fn take_reported(&mut self, bytes: u64, mss: u64) -> u64 {
        let others = bytes.div_ceil(mss) - 1;
        let known = self.reported.min(others);
        self.reported -= known;
        bytes - known * mss
    }

    /// The timer expired.
    pub(super) fn forget(&mut self) {
        (self.count, self.limited, self.reported, self.inflation) = (0, 0, 0, 0);
    }
}

/// The last reduction of the window for congestion.
#[derive(Debug)]
pub(super) struct Reduction {
    pub(super) at: Time,
    /// RFC 3168: the window was reduced for everything sent before this.
    pub(super) until: u64,
    /// CWR is to be sent.
    pub(super) cwr_due: bool,
}

impl Reduction {
    pub(super) fn never() -> Reduction {
        Reduction { at: Time::ZERO, until: 0, cwr_due: false }
    }
}

/// The retransmission timer (RFC 6298).
#[derive(Debug)]
pub(super) struct RetransmissionTimer {
    pub(super) rtt: RttEstimator,
    pub(super) deadline: Option<Time>,
}

impl RetransmissionTimer {
    /// Starts it again.
    #[inline]
    pub(super) fn start(&mut self, now: Time) {
        self.deadline = Some(now + self.rtt.rto());
    }
}
