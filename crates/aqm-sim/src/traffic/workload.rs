//! The declaration of a workload: finite flows that start as a Poisson process.

use super::kind::{Key, Over, SourceKind, Takes};
use aqm_core::params::Kind as Unit;

/// The largest load, as a share of the bottleneck's rate.
pub(super) const MOST_LOAD: f64 = 10.0;

/// The one kind of flow that is a workload.
pub(super) static KINDS: &[SourceKind] = &[SourceKind {
    name: "workload",
    summary: "new finite flows, Poisson arrivals at a load",
    reference: "data/workloads",
    over: Over::Reacting,
    transport: "cubic",
    keys: &[
        Key::new("size", "size", Takes::Drawn(Unit::Bytes), "", "payload of a flow"),
        Key::new(
            "load",
            "load",
            Takes::One(Unit::Fraction),
            "",
            "payload offered, as a share of the bottleneck's rate",
        )
        .within(f64::MIN_POSITIVE, MOST_LOAD),
    ],
    defaults: &[("size", "websearch")],
    must: &["load"],
    form: "workload",
    ..SourceKind::PLAIN
}];
