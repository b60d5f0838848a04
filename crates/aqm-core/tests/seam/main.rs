//! The interface between host and discipline has what later disciplines need: each part is tested by a small one that
//! uses only the public interface.

#[path = "../common/mod.rs"]
mod common;

mod feedback;
mod ingress;
mod liars;
mod pause;
mod priority;
mod shaper;

use aqm_core::discipline::{Blueprint, Built, Group, Info, Traits};
use aqm_core::params::{ParamSpec, Preset};
use aqm_core::spec::Spec;

/// Traits of a plain queue.
const PLAIN: Traits = Traits {
    wakes: false,
    ecn: false,
    drops_queued: false,
    reorders_flows: false,
    reorders_within_flow: false,
    quiet_packets: u64::MAX,
    flow_state_bytes: 0,
};

/// The only preset of a test discipline.
const PRESETS: &[Preset] = &[Preset { name: "test", source: "made for the test", values: &[] }];

/// A registry entry outside the registry.
const fn info(
    name: &'static str,
    params: &'static [ParamSpec],
    traits: Traits,
    build: fn(Blueprint<'_>) -> Built,
) -> Info {
    Info {
        name,
        group: Group::Queue,
        summary: "Made for a test",
        reference: "none",
        params,
        presets: PRESETS,
        probes: &[],
        traits,
        deviations: "none",
        build,
    }
}

/// `info` with its defaults.
fn spec(info: &'static Info) -> Spec {
    Spec::of(info, &info.presets[0])
}
