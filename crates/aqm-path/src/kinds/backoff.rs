//! Links that back off while a medium is busy, as old Ethernet does.

use super::parts::{ON_A_MEDIUM, of_rate, sharing};
use crate::kind::{LinkKind, Service};
use crate::medium::Access;

pub(super) static KIND: LinkKind = LinkKind {
    name: "backoff",
    summary: "A medium that a link which finds it busy senses again after a random time, ever longer; no collisions",
    reference: "truncated binary exponential backoff, IEEE 802.3 4.2.3.2.5, in the slots of ns-3's CSMA",
    params: ON_A_MEDIUM,
    of_link: &["rate"],
    capacity: of_rate,
    stations: None,
    usual: None,
    service: Service::Medium(|params| sharing(Access::Backoff, params)),
};
