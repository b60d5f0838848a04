//! PMQECN (Liu et al. 2024): everything of it but the rate control of its senders.
//!
//! - `data_plane`: the program of the switch: virtual queues, weighted rounds, messages to sources (algorithm 1).
//! - [`model`]: the M/M/1/N queue (equations 1 to 8).
//! - [`programme`]: which service rates, marking thresholds and arrival rates are best (equations 9 to 14, algorithm 2).
//! - [`evolution`]: how they are found, differential evolution.
//! - [`control`]: the control plane itself: what it reads and writes, and when.

pub mod control;
pub(super) mod data_plane;
pub mod evolution;
pub mod model;
pub mod programme;
