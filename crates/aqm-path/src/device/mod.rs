//! Devices: what takes packets from a queue and puts them on a wire.

pub mod opportunities;
