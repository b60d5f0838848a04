#![doc = include_str!("../README.md")]
//! # Inside
//!
//! smoltcp, a TCP for embedded systems, in virtual time. The client sends, the server reads at once.
//!
//! What it has: its congestion controls, fast retransmit, delayed acknowledgments, window scaling, and answers to SACK as a
//! receiver. What it lacks: recovery by SACK as a sender, ECN, and timestamps unless a clock without arguments is given.

mod choices;
mod device;
mod end;

use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::Bytes;
use aqm_sim::stack::{ECN, Ends, Info, PACKET, Stack, Task};
use aqm_sim::transport::Values;
use choices::Control;
use end::SmolEnd;

/// The stack.
#[derive(Clone, Copy, Debug)]
pub struct Smoltcp;

static PARAMS: &[ParamSpec] = &[
    ParamSpec::choice::<Control>(
        "cc",
        "congestion control of the crate; its own default is none",
        "smoltcp: tcp::Socket::set_congestion_control",
    ),
    ParamSpec::new(
        "buffer",
        Kind::Bytes,
        Value::Bytes(Bytes::new(256 << 10)),
        (2000.0, 1e8),
        "bytes of the sender's buffer, and of the receiver's: the most that is in flight",
        "of our choice: the crate takes what it is given",
    ),
    ECN,
    PACKET,
];

static INFO: Info = Info {
    name: "smoltcp",
    summary: "TCP as the crate smoltcp does it: a real stack for small devices, without SACK as a sender and without ECN",
    reference: "smoltcp 0.14.0",
    params: PARAMS,
    headers: 0,
    protocol: aqm_sim::headers::TCP,
    writes: true,
};

impl Stack for Smoltcp {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn connect(&self, values: &Values, mut task: Task) -> Result<Ends, InputError> {
        let mut end = || SmolEnd::new(values, task.random.next_u64(), task.start);
        let (client, server) = (end(), end());
        Ok(Ends { client: Box::new(client.connecting(task.size)?), server: Box::new(server.listening()?) })
    }
}
