//! What several kinds have in common.

use crate::kind::Capacity;
use crate::medium::{Access, Sharing};
use aqm_core::choices;
use aqm_core::params::{Kind, ParamSpec, Params, Value};

const LARGEST_RATE: f64 = 1e12;

/// The rate of a link's line.
pub(super) const RATE: ParamSpec = ParamSpec::new(
    "rate",
    Kind::Rate,
    Value::Auto,
    (1.0, LARGEST_RATE),
    "rate at which a packet is sent",
    "that of the link or of the scenario",
)
.or_auto("that of the link, else of the scenario");

choices! {
    /// How long a packet keeps a medium busy.
    enum Until {
        /// Until its last bit is sent.
        Sent = "sent",
        /// Until that has arrived.
        Arrival = "arrival",
    }
}

/// How long a packet keeps a medium busy.
pub(super) const UNTIL: ParamSpec = ParamSpec::choice::<Until>(
    "until",
    "how long a packet keeps the medium busy: until its last bit is sent, or has arrived",
    "arrival: CSMA in ns-3 (CsmaChannel)",
);

/// The parameters of a kind whose links share a medium.
pub(super) const ON_A_MEDIUM: &[ParamSpec] = &[RATE, UNTIL];

/// A link carries what its rate says; on a medium, if it has that for itself.
pub(super) fn of_rate(params: &Params) -> Capacity {
    params.rate("rate").map_or(Capacity::OfPath, Capacity::Rate)
}

/// How links share a medium.
pub(super) fn sharing(access: Access, params: &Params) -> Sharing {
    Sharing { access, until_arrival: params.choice::<Until>("until") == Until::Arrival }
}
