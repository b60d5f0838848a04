#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod device;
pub mod kind;
pub mod kinds;
pub mod mac;
pub mod medium;
pub mod meter;
pub mod placement;
pub mod wire;
