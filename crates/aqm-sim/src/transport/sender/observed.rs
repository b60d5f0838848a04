//! What a script sets and sees of a sender, beside segments: a peer's window, some of Linux's sysctls, and `TCP_INFO`.

use super::Sender;
use super::state::Phase;
use aqm_core::units::{Span, Time};

/// Sysctls of Linux that have no key: what they switch off is a part of every connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sysctls {
    /// `tcp_slow_start_after_idle`: RFC 5681 section 4.1.
    pub(crate) slow_start_after_idle: bool,
    /// `tcp_early_retrans`: the tail loss probes of RFC 8985 section 7.
    pub(crate) tail_loss_probes: bool,
}

impl Default for Sysctls {
    fn default() -> Sysctls {
        Sysctls { slow_start_after_idle: true, tail_loss_probes: true }
    }
}

/// Linux's states of congestion control (enum tcp_ca_state), with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaState {
    Open = 0,
    Disorder = 1,
    Cwr = 2,
    Recovery = 3,
    Loss = 4,
}

/// Of a sender what Linux reports as `TCP_INFO` (struct tcp_info); sizes in bytes, numbers in segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpInfo {
    pub(crate) ca_state: CaState,
    pub(crate) mss: u64,
    /// The window; within a proportional rate reduction what is in the network and what may be sent (tcp_cwnd_reduction).
    pub(crate) cwnd: u64,
    /// The window of the congestion control.
    pub(crate) window: u64,
    pub(crate) ssthresh: u64,
    /// Outstanding, and of these reported by SACK, lost, and sent again.
    pub(crate) unacked: u64,
    pub(crate) sacked: u64,
    pub(crate) lost: u64,
    pub(crate) retrans: u64,
    pub(crate) srtt: Span,
    pub(crate) rto: Span,
    /// Expiries of the timer since the last progress.
    pub(crate) backoff: u32,
    /// The degree of reordering, and how often some was seen.
    pub(crate) reordering: u64,
    pub(crate) reord_seen: u64,
    /// When the next timer is due.
    pub(crate) deadline: Option<Time>,
}

impl Sender {
    /// Switches off what `sysctls` say.
    pub(crate) fn set_sysctls(&mut self, sysctls: Sysctls) {
        self.settings.restarts = sysctls.slow_start_after_idle;
        if let Some(rack) = &mut self.rack {
            rack.probes = sysctls.tail_loss_probes;
        }
    }

    /// The peer's window is `bytes` from now on.
    pub(crate) fn set_peer_window(&mut self, bytes: u64) {
        self.settings.window_cap = bytes;
        if self.board.is_empty() && bytes >= u64::from(self.next_payload()) {
            self.stop_persisting();
        }
    }

    /// Its state as Linux reports it.
    pub(crate) fn tcp_info(&self) -> TcpInfo {
        let mss = u64::from(self.settings.mss);
        let (sacked, lost, retrans) = self.board.counts();
        let ca_state = match self.recovery.phase {
            Phase::Recovery { .. } => CaState::Recovery,
            Phase::Loss { .. } => CaState::Loss,
            Phase::Open if self.recovery.prr.is_some() => CaState::Cwr,
            Phase::Open if sacked > 0 || self.duplicates.count > 0 => CaState::Disorder,
            Phase::Open => CaState::Open,
        };
        let (reordering, reord_seen) = self.rack.as_ref().map_or((0, 0), |rack| rack.reordering_degree());
        TcpInfo {
            ca_state,
            mss,
            cwnd: match self.recovery.prr {
                Some(prr) => self.board.pipe() + prr.room,
                None => self.control.window.cwnd,
            },
            window: self.control.window.cwnd,
            ssthresh: self.control.window.ssthresh,
            unacked: self.board.len() as u64,
            sacked,
            lost,
            retrans,
            srtt: self.timer.rtt.smoothed(),
            rto: self.timer.rtt.rto(),
            backoff: self.timer.rtt.expiries(),
            reordering: reordering.div_ceil(mss).max(super::DUP_THRESH as u64),
            reord_seen,
            deadline: self.deadline(),
        }
    }
}
