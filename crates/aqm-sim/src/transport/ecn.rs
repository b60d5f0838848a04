//! ECN modes of a connection.

use aqm_core::packet::Ecn;
use serde::{Deserialize, Serialize};

/// Explicit congestion notification of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnMode {
    /// Packets are Not-ECT.
    #[default]
    Off,
    /// RFC 3168: ECT(0), one reaction per round trip.
    Classic,
    /// RFC 9331: ECT(1), which asks for the low-latency queue.
    L4s,
}

impl EcnMode {
    /// The values of the key `ecn`, in the order of the modes.
    pub const WORDS: &[&str] = &["off", "classic", "l4s"];

    /// The mode of a value of the key `ecn`.
    pub(crate) fn of(word: &str) -> EcnMode {
        match word {
            "classic" => EcnMode::Classic,
            "l4s" => EcnMode::L4s,
            _ => EcnMode::Off,
        }
    }

    /// The ECN field of data packets.
    pub const fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
        }
    }
}
