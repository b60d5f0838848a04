#![doc = include_str!("../README.md")]
//! # Inside
//!
//! The QUIC stack quinn (crate `quinn-proto`) in virtual time: its handshake, loss recovery, pacing, path MTU discovery, flow
//! control and ECN are the crate's own. The client sends, on one stream or several; the server reads at once.
//!
//! What is not quinn's: packets are not encrypted (a null session in the place of TLS, with its messages' usual lengths and
//! the 16 bytes of an AEAD's tag, so that packets are as long as real ones), and ids and seeds come from the run. Its BBR is
//! left out: it draws the phase of its probing from the operating system, so no run could be made again.

mod choices;
mod clock;
mod config;
mod end;
mod null;
mod work;

use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::Bytes;
use aqm_sim::stack::{Ends, Info, MINIMAL, Stack, Task};
use aqm_sim::transport::Values;
use choices::{Control, Marks};
use end::QuinnEnd;
use work::{Finished, Reader, Writer};

/// The stack.
#[derive(Clone, Copy, Debug)]
pub struct Quinn;

static PARAMS: &[ParamSpec] = &[
    ParamSpec::choice::<Control>(
        "cc",
        "congestion control of the crate; its BBR cannot be given a seed",
        "quinn-proto: TransportConfig::congestion_controller_factory",
    ),
    ParamSpec::new(
        "streams",
        Kind::Count,
        Value::Count(1),
        (1.0, 100.0),
        "streams that the payload is spread over, all sent at once",
        "one, as one request",
    ),
    ParamSpec::choice::<Marks>(
        "ecn",
        "ECN: the crate sends ECT(0) and checks that the path carries it; off is a host that clears the field",
        "RFC 9000",
    ),
    ParamSpec::new(
        "packet",
        Kind::Bytes,
        Value::Bytes(Bytes::new(1480)),
        (1228.0, 65_000.0),
        "bytes of the largest IP packet that path MTU discovery looks for, headers included",
        "quinn-proto: MtuDiscoveryConfig::upper_bound, 1452 bytes in UDP",
    ),
    ParamSpec::new(
        "credit",
        Kind::Bytes,
        Value::Bytes(Bytes::new(1_250_000)),
        (2400.0, 1e9),
        "bytes that a stream may have in flight: flow control of the receiver, not congestion control",
        "quinn-proto: TransportConfig::stream_receive_window",
    ),
    ParamSpec::flag("mtud", true, "path MTU discovery; without it packets stay at 1228 bytes", "RFC 8899"),
];

static INFO: Info = Info {
    name: "quinn",
    summary: "QUIC as the crate quinn does it: a real stack, its packets not encrypted",
    reference: "quinn-proto 0.11.19, RFC 9000, RFC 9002",
    params: PARAMS,
    writes: true,
    ..MINIMAL
};

impl Stack for Quinn {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn connect(&self, values: &Values, mut task: Task) -> Result<Ends, InputError> {
        let (client, server) = (config::seeds(&mut task.random), config::seeds(&mut task.random));
        let transport = config::transport(values);
        let marks = values.choice::<Marks>("ecn") == Marks::Classic;
        let done = Finished::default();
        let writer = Writer::new(task.size, values.count("streams"), done.clone());
        Ok(Ends {
            client: Box::new(QuinnEnd::client(&transport, values, &client, task.start, marks, writer)?),
            server: Box::new(QuinnEnd::server(&transport, values, &server, marks, Reader::new(done))),
        })
    }
}
