//! A recorded link.

use crate::kind::{Capacity, LinkKind, Service};
use aqm_core::params::{Kind, ParamSpec, Params, Value};

pub(super) static KIND: LinkKind = LinkKind {
    name: "trace",
    summary: "A recorded link: up to 1500 bytes of IP packets leave at each of the recorded times",
    reference: "Netravali et al., Mahimahi: Accurate Record-and-Replay for HTTP, USENIX ATC 2015, section 3.2",
    params: &[ParamSpec::new(
        "trace",
        Kind::Name,
        Value::Auto,
        (0.0, 0.0),
        "the recording: its file, or steps:RATE*TIME,...",
        "that of the scenario",
    )
    .or_auto("that of the scenario")],
    of_link: &["trace"],
    capacity: recorded,
    stations: None,
    usual: None,
    service: Service::Opportunities,
};

/// What a recording carries on average.
fn recorded(params: &Params) -> Capacity {
    params.name("trace").map_or(Capacity::OfPath, |name| Capacity::Trace(name.to_owned()))
}
