//! ECN modes of a connection.

use aqm_core::choices;
use aqm_core::packet::Ecn;
use serde::{Deserialize, Serialize};

choices! {
    /// Explicit congestion notification of a connection.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EcnMode {
        /// Packets are Not-ECT.
        #[default]
        Off = "off",
        /// RFC 3168: ECT(0), one reaction per round trip.
        Classic = "classic",
        /// RFC 9331: ECT(1), which asks for the low-latency queue.
        L4s = "l4s",
    }
}

impl EcnMode {
    /// The ECN field of data packets.
    pub const fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
        }
    }
}
