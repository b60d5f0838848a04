//! Devices: what takes packets from a queue and puts them on a wire.

pub mod air;
pub mod burst;
pub mod opportunities;
pub mod supervised;
