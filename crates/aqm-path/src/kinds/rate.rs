//! A line of a constant rate.

use super::parts::{RATE, of_rate};
use crate::kind::{LinkKind, Service};

pub(super) static KIND: LinkKind = LinkKind {
    name: "rate",
    summary: "A line of a constant rate: one packet after another, each as long as its bytes take",
    reference: "serialisation: bytes on the link, link-layer overhead included, divided by the rate",
    params: &[RATE],
    of_link: &["rate"],
    capacity: of_rate,
    stations: None,
    usual: None,
    service: Service::Line,
};
