//! PMQECN (Liu et al., PeerJ CS 2024) and the programs of its authors (YXY-1998/OUR-ECN).
//!
//! - `data_plane`: the program of the switch: virtual queues, weighted rounds, messages to sources (algorithm 1).
//! - [`model`]: the M/M/1/N queue (equations 1 to 8).
//! - [`optimizer`]: which service rates, marking thresholds and arrival rates are best (equations 9 to 14, algorithm 2).
//! - [`evolution`]: how they are found, differential evolution.
//! - [`control`]: the control plane itself: what it reads and writes, and when.
//! - [`sender`]: the rate control of its senders, and of those that its authors ran.

pub mod control;
pub(crate) mod data_plane;
pub mod evolution;
pub mod model;
pub mod optimizer;
pub mod sender;
