#![doc = include_str!("../README.md")]
//! # Inside
//!
//! Rooms use only those before them.
//!
//! - [`medium`]: ports that send one at a time; [`placement`]: where a discipline sits on a medium that stations share.
//! - [`device`]: what takes packets from queues and puts them on a wire, and the checks of it.
//! - [`wire`]: delay, jitter, losses, copies, reordering and slots behind a device.
//! - [`meter`]: the metrics of a queue.
//! - [`kind`]: how a kind of link is declared.
//! - [`mac`]: medium access of Wi-Fi.
//! - [`kinds`]: the list of all kinds.
#![forbid(unsafe_code)]

pub mod device;
pub mod kind;
pub mod kinds;
pub mod mac;
pub mod medium;
pub mod meter;
pub mod placement;
pub mod wire;
