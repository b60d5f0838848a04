//! Helpers of the test programs of this crate.
#![allow(dead_code, reason = "each test program uses its own part")]

pub(crate) mod rig;
pub(crate) mod values;
pub(crate) mod workload;

use aqm_core::link::Link;
use aqm_core::registry::DISCIPLINES;
use aqm_core::spec::Spec;

/// What sources give to parameters.
pub(crate) const FACTS: &str = include_str!("../sources/presets.csv");

/// The link of every test.
pub(crate) fn link() -> Link {
    Link::new(workload::LINK_RATE)
}

/// Every discipline with every one of its presets.
pub(crate) fn every_preset() -> impl Iterator<Item = Spec> {
    DISCIPLINES
        .iter()
        .flat_map(|info| info.presets.iter().map(|preset| parse(&format!("{}:{}", info.name, preset.name))))
}

/// Every discipline with its first preset.
pub(crate) fn every_discipline() -> impl Iterator<Item = Spec> {
    DISCIPLINES.iter().map(|info| parse(info.name))
}

/// Parses a spec that must be valid.
pub(crate) fn parse(text: &str) -> Spec {
    Spec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// `spec` with its flag `ecn` on, if it has one.
pub(crate) fn with_ecn(mut spec: Spec) -> Spec {
    let has = |name: &str| spec.params.names().any(|known| known == name);
    // Without a law a threshold alone marks; sfq has a law with RED in its queues alone.
    let switches: &[(&str, &str)] = match (has("redflowlimit"), has("ecn"), has("ce_threshold")) {
        (true, ..) => &[("redflowlimit", "60000b"), ("ecn", "on")],
        (_, true, _) => &[("ecn", "on")],
        (.., true) => &[("ce_threshold", "1ms")],
        _ => &[],
    };
    for (name, value) in switches {
        spec.set_text(name, value).unwrap_or_else(|error| panic!("{spec}: {error}"));
    }
    spec
}
