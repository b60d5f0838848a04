//! The disciplines of the laboratory, and what they are made of.
//!
//! Dependencies point one way, `units -> packet -> law -> queue -> discipline -> qdisc`:
//!
//! - [`units`]: time, rates, sizes and probabilities as types, with tc's notation as their text form.
//! - [`packet`]: what a discipline may know about a packet; [`signal`]: what it may say about one.
//! - [`cx`]: what each call brings in: time, chance and the observer.
//! - [`counters`]: what came in, went out, was dropped and marked.
//! - [`params`]: how parameters are declared, resolved and refused.
//! - [`law`]: control laws. They decide and own no packets.
//! - [`queue`]: storage. It keeps packets and decides nothing.
//! - [`sketch`]: counting structures that are algorithms in their own right.
//! - [`scheduler`]: who goes next among classes. Schedulers own no packets.
//! - [`discipline`]: one file per AQM, joining laws, queues and parameters.
//! - [`registry`]: the list of disciplines; everything else follows from it.
//! - [`qdisc`]: the shell around every discipline. It keeps the books and proves conservation.
//!
//! Nothing here reads a clock, performs I/O or draws global random numbers.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod counters;
pub mod cx;
pub mod discipline;
pub mod law;
pub mod packet;
pub mod params;
pub mod qdisc;
pub mod queue;
pub mod random;
pub mod registry;
pub mod scheduler;
pub mod signal;
pub mod sketch;
pub mod spec;
pub mod units;
