//! The contract of disciplines, tested for every entry of the registry with every preset.
//!
//! No discipline is named here: a new entry in the registry is a new discipline under test. Most of the work is done
//! by the host in `common/rig.rs`, which checks its own counts after every call.

#[path = "../common/mod.rs"]
mod common;

mod allocator;
mod conservation;
mod determinism;
mod ecn;
mod flood;
mod flood_exceptions;
mod limits;
mod memory;
mod order;
mod params;
mod pause;
mod probes;
mod registry;
mod reset;
mod schedulers;
mod signals;
mod sources;
mod stations;
mod wakeups;
