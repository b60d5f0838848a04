//! What a connection says about explicit congestion notification.

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
    /// The words of the key `ecn`, in the order of the modes.
    pub const WORDS: &[&str] = &["off", "classic", "l4s"];

    /// The mode that a word of the key `ecn` stands for.
    pub(crate) fn of(word: &str) -> EcnMode {
        match word {
            "classic" => EcnMode::Classic,
            "l4s" => EcnMode::L4s,
            _ => EcnMode::Off,
        }
    }

    /// What packets carry.
    pub const fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
        }
    }
}
