//! How congestion is told back: what each congestion control needs from ECN and from its receiver.

use super::receiver::{Echo, Note};
use crate::scenario::{CongestionControl, Tcp};
use aqm_core::packet::Ecn;

/// What both ends have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// What data packets carry.
    pub(crate) codepoint: Ecn,
    /// What the echo means.
    pub(crate) echo: Echo,
    /// What is said besides.
    pub(crate) note: Note,
}

impl Feedback {
    /// What a connection of these settings uses.
    pub(crate) fn of(tcp: &Tcp) -> Feedback {
        let (echo, note) = match tcp.congestion_control {
            CongestionControl::Newreno
            | CongestionControl::Cubic
            | CongestionControl::Bbr1
            | CongestionControl::Bbr3
            | CongestionControl::Fixed => (Echo::Classic, Note::Nothing),
            CongestionControl::Dctcp => (Echo::Exact, Note::Nothing),
            CongestionControl::Ledbat => (Echo::Classic, Note::OneWayDelay),
            // Section 4.2 of RFC 9331: AccECN (RFC 9768).
            CongestionControl::Prague => (Echo::Counted, Note::CeBytes),
        };
        Feedback { codepoint: tcp.ecn.codepoint(), echo, note }
    }

    /// Whether packets claim to understand marks.
    pub(crate) fn is_ecn(self) -> bool {
        self.codepoint != Ecn::NotEct
    }

    /// Whether it is known how many bytes were marked, so that the congestion control reacts to their share.
    pub(crate) fn is_exact(self) -> bool {
        self.echo != Echo::Classic
    }
}
