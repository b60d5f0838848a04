//! PMQECN's control plane (Liu et al. 2024).
//!
//! - [`model`]: the M/M/1/N queue (equations 1 to 8).
//! - [`programme`]: which service rates, marking thresholds and arrival rates are best (equations 9 to 14, algorithm 2).
//! - [`evolution`]: how they are found, differential evolution.
//! - [`control`]: the control plane itself: what it reads and writes, and when.

pub mod control;
pub mod evolution;
pub mod model;
pub mod programme;
