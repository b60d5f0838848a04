//! Links that take turns on a medium.

use super::parts::{ON_A_MEDIUM, of_rate, sharing};
use crate::kind::{LinkKind, Service};
use crate::medium::Access;

pub(super) static KIND: LinkKind = LinkKind {
    name: "turns",
    summary: "A medium on which links send one packet at a time, in the order of asking",
    reference: "ideal round robin: neither waiting nor collisions take time",
    params: ON_A_MEDIUM,
    of_link: &["rate"],
    capacity: of_rate,
    stations: None,
    usual: None,
    service: Service::Medium(|params| sharing(Access::Turns, params)),
};
