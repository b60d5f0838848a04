//! What every discipline promises, asked of every entry of the registry with every preset.
//!
//! Nothing here knows a discipline by name: one more word in the registry is one more discipline under test. Most
//! of the work is done by the host in `common/rig.rs`, which checks its own books after every call.

#[path = "../common/mod.rs"]
mod common;

mod allocator;
mod conservation;
mod determinism;
mod ecn;
mod limits;
mod memory;
mod order;
mod params;
mod pause;
mod probes;
mod registry;
mod reset;
mod signals;
mod wakeups;
