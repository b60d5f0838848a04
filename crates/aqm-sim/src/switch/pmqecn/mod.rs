//! PMQECN (Liu et al. 2024): the mathematics of its control plane, without a switch.
//!
//! - [`model`]: the M/M/1/N queue (equations 1 to 8).
//! - [`programme`]: which service rates, marking thresholds and arrival rates are best (equations 9 to 14, algorithm 2).
//! - [`evolution`]: how they are found, differential evolution.

pub mod evolution;
pub mod model;
pub mod programme;
