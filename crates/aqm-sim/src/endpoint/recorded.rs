//! Recorded packets.

use aqm_core::packet::{Ecn, TcpView};
use aqm_core::units::{Span, Time};

/// Recorded packets, in order of time, and how far they have been sent.
pub(crate) struct Replay {
    pub(crate) packets: Vec<Recorded>,
    pub(crate) next: usize,
    pub(crate) start: Time,
}

/// A recorded packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) at: Span,
    pub(crate) flow: u32,
    pub(crate) ip_length: u32,
    pub(crate) payload: u32,
    pub(crate) ecn: Ecn,
    pub(crate) tcp: Option<TcpView>,
}
