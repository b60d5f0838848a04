#![doc = include_str!("../README.md")]
//! # Inside
//!
//! A [`Path`] has a rate or a link trace, a round-trip time, a buffer, any AQM, random loss, and flows: native ones by their
//! text (`2*cubic:start=1s`) and those of one's own [`Stack`], which is attached. A seed says all: the same gives the same
//! packets. An assertion that fails says what was found, and writes a figure and a capture into a folder that it names.
//!
//! A condition that depends on chance is asked of several seeds ([`Path::over`]), and a table of transports and disciplines with
//! what passes in each cell is a [`Matrix`].
//!
//! A transport is attached with [`Path::stack`], where there is a whole one: both its ends are sans I/O, which is to say that
//! they neither open sockets nor read a clock. A program with a loop of its own drives the path instead: [`Path::drive`].
//! With the feature `quinn` the QUIC stack of that name is attached from the beginning (`1*quinn:cc=newreno`).
//!
//! The version follows [Semantic Versioning](https://semver.org) and is that of the simulator: figures may change with it.
#![forbid(unsafe_code)]

mod check;
mod driven;
mod figure;
mod folder;
mod matrix;
mod outcome;
mod path;
mod seeds;

pub use aqm_core::input_error::InputError;
pub use aqm_core::packet::Ecn;
pub use aqm_core::params;
pub use aqm_core::random::Random;
pub use aqm_core::units::{Span, Time};
pub use aqm_sim::report::Report;
pub use aqm_sim::scenario::Scenario;
pub use aqm_sim::stack::{ECN, Endpoint, Ends, Info, LARGEST_DATAGRAM, Lost, MINIMAL, PACKET, Stack, Task};
pub use aqm_sim::transport::Values;
pub use check::Check;
pub use driven::{Arrival, Driven, Refusal};
pub use matrix::{Cells, Matrix};
pub use outcome::{MeasuredValue, Outcome};
pub use path::Path;
pub use seeds::Seeds;
