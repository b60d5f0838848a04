//! The contract of disciplines, tested for those of this crate by the tests of the core: the same files.

#[path = "../common/mod.rs"]
mod common;
mod flood_exceptions;

#[path = "../../../aqm-core/tests/conformance/conservation.rs"]
mod conservation;
#[path = "../../../aqm-core/tests/conformance/determinism.rs"]
mod determinism;
#[path = "../../../aqm-core/tests/conformance/ecn.rs"]
mod ecn;
#[path = "../../../aqm-core/tests/conformance/flood.rs"]
mod flood;
#[path = "../../../aqm-core/tests/conformance/limits.rs"]
mod limits;
#[path = "../../../aqm-core/tests/conformance/order.rs"]
mod order;
#[path = "../../../aqm-core/tests/conformance/params.rs"]
mod params;
#[path = "../../../aqm-core/tests/conformance/pause.rs"]
mod pause;
#[path = "../../../aqm-core/tests/conformance/probes.rs"]
mod probes;
#[path = "../../../aqm-core/tests/conformance/reset.rs"]
mod reset;
#[path = "../../../aqm-core/tests/conformance/signals.rs"]
mod signals;
#[path = "../../../aqm-core/tests/conformance/sources.rs"]
mod sources;
#[path = "../../../aqm-core/tests/conformance/wakeups.rs"]
mod wakeups;
