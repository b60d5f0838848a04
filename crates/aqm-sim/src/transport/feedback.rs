//! Congestion feedback: what each congestion control needs from ECN and from its receiver.

use aqm_core::packet::Ecn;

/// What the echo of CE means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    /// Some packet was marked: RFC 3168, repeated until the sender answers with CWR.
    Classic,
    /// All that this acknowledgment newly covers was marked, or none of it: RFC 8257 section 3.2.
    Exact,
    /// Nothing: the report holds a counter instead ([`ReceiverReport::CeBytes`]).
    Counted,
}

/// Information in an acknowledgment beyond TCP's header and SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiverReport {
    /// Nothing.
    Nothing,
    /// Payload bytes that came with CE so far, modulo 2^32: the counter of RFC 9768's AccECN option.
    CeBytes,
    /// One-way delay of the segment that caused it, in microseconds (RFC 6817 section 2.3).
    OneWayDelay,
}

/// The agreement of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// ECN field of data packets.
    pub(crate) codepoint: Ecn,
    /// What the echo means.
    pub(crate) echo: Echo,
    /// The report in acknowledgments.
    pub(crate) report: ReceiverReport,
}

impl Feedback {
    /// Whether packets are sent as ECN-capable (ECT).
    pub(crate) fn is_ecn(self) -> bool {
        self.codepoint != Ecn::NotEct
    }

    /// Whether the sender learns how many bytes were marked, so that it can react to their share.
    pub(crate) fn is_exact(self) -> bool {
        self.echo != Echo::Classic
    }
}
