//! What the core's tests use of their `common` module; every preset is here the one discipline under test.
#![allow(dead_code, reason = "the tests use it in part")]

#[path = "../../../aqm-core/tests/common/rig.rs"]
pub(crate) mod rig;
#[path = "../../../aqm-core/tests/common/values.rs"]
pub(crate) mod values;
#[path = "../../../aqm-core/tests/common/workload.rs"]
pub(crate) mod workload;

use aqm_core::link::Link;
use aqm_core::spec::Spec;

pub(crate) fn link() -> Link {
    Link::new(workload::LINK_RATE)
}

pub(crate) fn every_preset() -> impl Iterator<Item = Spec> {
    super::UNDER_TEST.with_borrow(Clone::clone).into_iter()
}

pub(crate) fn every_discipline() -> impl Iterator<Item = Spec> {
    every_preset()
}

pub(crate) fn parse(text: &str) -> Spec {
    crate::notation::spec(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn with_ecn(mut spec: Spec) -> Spec {
    if spec.params.names().any(|name| name == "ecn") {
        spec.set_text("ecn", "on").unwrap_or_else(|error| panic!("{spec}: {error}"));
    }
    spec
}
