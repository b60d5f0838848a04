//! The disciplines of the laboratory, and what they are made of.
//!
//! Dependencies point one way, `units -> packet -> law -> queue -> discipline -> registry -> spec -> qdisc`, and no file
//! imports another in a circle. Who reads and builds a discipline inside another comes in with the call: parameters
//! and disciplines do not know the registry.
//!
//! - [`units`]: time, rates, sizes and probabilities as types, with tc's notation as their text form.
//! - [`packet`]: what a discipline may know about a packet; [`signal`]: what it may say about one.
//! - [`link`]: what a discipline is told about its link; [`backlog`]: what waits.
//! - [`cx`]: what each call brings in: time, chance, the observer and, in [`paused`], the classes that may not send.
//! - [`counters`]: what came in, went out, was dropped and marked.
//! - [`params`]: how parameters are declared, resolved and refused.
//! - [`law`]: control laws. They decide and own no packets.
//! - [`queue`]: storage. It keeps packets and decides nothing.
//! - [`sketch`]: counting structures that are algorithms in their own right.
//! - [`scheduler`]: who goes next among classes. Schedulers own no packets.
//! - [`discipline`]: one file per AQM, joining laws, queues and parameters.
//! - [`registry`]: the list of disciplines; everything else follows from it.
//! - [`spec`]: a discipline with its parameters in tc's notation, children in brackets.
//! - [`qdisc`]: the shell around every discipline. It keeps the books and proves conservation.
//!
//! Nothing here reads a clock, performs I/O or draws global random numbers.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod backlog;
mod brackets;
pub mod counters;
pub mod cx;
pub mod discipline;
pub mod law;
pub mod link;
pub mod packet;
pub mod params;
pub mod paused;
pub mod qdisc;
pub mod queue;
pub mod random;
pub mod registry;
pub mod scheduler;
pub mod signal;
pub mod sketch;
pub mod spec;
pub mod units;
