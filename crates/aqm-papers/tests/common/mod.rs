//! What the core's tests use of their `common` module, for the disciplines of this crate.
#![allow(dead_code, reason = "the tests use it in part")]

#[path = "../../../aqm-core/tests/common/rig.rs"]
pub(crate) mod rig;
#[path = "../../../aqm-core/tests/common/values.rs"]
pub(crate) mod values;
#[path = "../../../aqm-core/tests/common/workload.rs"]
pub(crate) mod workload;

use aqm_core::link::Link;
use aqm_core::spec::Spec;
use aqm_papers::DISCIPLINES;

/// What sources give to parameters.
pub(crate) const FACTS: &str = include_str!("../sources/presets.csv");

pub(crate) fn link() -> Link {
    Link::new(workload::LINK_RATE)
}

pub(crate) fn every_preset() -> impl Iterator<Item = Spec> {
    DISCIPLINES.iter().flat_map(|info| info.presets.iter().map(|preset| Spec::of(info, preset)))
}

pub(crate) fn every_discipline() -> impl Iterator<Item = Spec> {
    DISCIPLINES.iter().map(|info| Spec::of(info, &info.presets[0]))
}

pub(crate) fn parse(text: &str) -> Spec {
    let spec = aqm_papers::spec(text).unwrap_or_else(|| panic!("{text}: of another crate"));
    spec.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// With marks instead of drops. The authors' program knows no ECN, and some thresholds are out of its reach: to it the buffer
/// always holds 40 packets.
pub(crate) fn with_ecn(mut spec: Spec) -> Spec {
    for (name, value) in [("ecn", "on"), ("method", "clean")] {
        spec.set_text(name, value).unwrap_or_else(|error| panic!("{spec}: {error}"));
    }
    spec
}
