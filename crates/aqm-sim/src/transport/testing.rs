//! What the tests of both ends share.

use crate::scenario::{CongestionControl, EcnMode, Tcp};

/// Bytes of a segment in tests.
pub(crate) const MSS: u64 = 100;

/// A NewReno connection with SACK that acknowledges every segment.
pub(crate) fn settings() -> Tcp {
    Tcp {
        congestion_control: CongestionControl::Newreno,
        mss_bytes: MSS as u32,
        initial_window: 10,
        sack: true,
        ecn: EcnMode::Off,
        delack_segments: 1,
        delack_ns: 0,
        min_rto_ns: 200_000_000,
        window_bytes: None,
        ipv6: false,
        pacing: false,
        hystart: false,
        handshake: false,
        ecn_syn: false,
        quickack_segments: 0,
        eifel: false,
        prr: false,
        rack: false,
    }
}
