#![doc = include_str!("../README.md")]
//! # Inside
//!
//! The disciplines of the laboratory, and their parts.
//!
//! Dependencies point one way, `units -> packet -> law -> queue -> discipline -> registry -> spec -> qdisc`, and
//! there are no circular imports. The functions that parse and build a child are passed in: parameters and
//! disciplines do not know the registry.
//!
//! - [`units`]: time, rates, sizes and probabilities as types, with tc's notation as their text form.
//! - [`packet`]: what a discipline can see of a packet; [`signal`]: what it does to one.
//! - [`link`]: what a discipline knows about its link; [`backlog`]: queued packets and bytes.
//! - [`cx`]: the context of each call: time, random numbers, the observer and, in [`paused`], the classes that may
//!   not send.
//! - [`sent`]: what became of a transmission, for disciplines that schedule airtime.
//! - [`counters`]: counts of packets and bytes.
//! - [`params`]: parameters, their declaration, resolution and errors.
//! - [`law`]: control laws. They decide and own no packets.
//! - [`queue`]: storage. It keeps packets and decides nothing.
//! - [`sketch`]: counting structures that are algorithms in their own right.
//! - [`classifier`]: classifiers that tell heavy flows from others, usable without a queue.
//! - [`scheduler`]: which class goes next. Schedulers own no packets.
//! - [`discipline`]: one file per AQM, combining laws, queues and parameters.
//! - [`registry`]: the list of disciplines; everything else follows from it.
//! - [`spec`]: a discipline with its parameters in tc's notation, children in brackets.
//! - [`input_error`]: the error about what a person wrote, for every layer above.
//! - [`qdisc`]: the shell around every discipline. It counts, and checks conservation.
//! - [`overflow`]: which packet a full discipline drops, found by filling it.
//!
//! Nothing here reads a clock, performs I/O or draws global random numbers.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate self as aqm_core;

pub mod backlog;
pub mod brackets;
pub mod by_category;
pub mod classifier;
pub mod counters;
pub mod cx;
pub mod discipline;
pub mod input_error;
pub mod law;
pub mod link;
mod names;
pub mod outcome;
pub mod overflow;
pub mod packet;
pub mod params;
pub mod paused;
pub mod qdisc;
pub mod queue;
pub mod random;
pub mod registry;
pub mod scheduler;
pub mod sent;
pub mod signal;
pub mod sketch;
pub mod spec;
pub mod stations;
pub mod units;
