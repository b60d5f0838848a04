//! The live link: real packets between network namespaces through the disciplines of `aqm-core`.
//!
//! A link lies between two network namespaces and carries whatever Ethernet carries. Each direction is a bottleneck as
//! the simulator has it: a discipline, a device with a rate or recorded capacity, and a wire with delay, jitter and
//! loss. Only here do sockets and the wall clock live.
//!
//! - [`config`]: what a link is asked to be.
//! - `slab`: where packets lie; `meter`: what is counted, and `samples`: by period; [`log`]: the record of every call into
//!   a discipline.
//! - `capture`: what passes the near end, written as a capture.
//! - `direction`: one direction as a machine without a clock, and what is `in_flight` behind it. They know neither sockets nor clocks.
//! - [`report`]: what a run of the link has shown.
//! - `os`: the calls into Linux, and all `unsafe` of this crate.
//! - `namespaces`: those of the two ends and the one between them; `path`: how packets come from the ends and to them.
//! - `ends`: how they are set up, and what runs in them.
//! - [`timers`]: what no link can be more punctual than.
//! - [`plain`]: what no link can be faster than.
//! - [`run`]: packets from one end to the other until the command ends.
#![cfg(target_os = "linux")]

mod capture;
pub mod config;
mod direction;
mod ends;
mod in_flight;
pub mod log;
mod meter;
mod namespaces;
mod os;
mod path;
pub mod plain;
pub mod report;
pub mod run;
mod samples;
mod slab;
pub mod timers;
