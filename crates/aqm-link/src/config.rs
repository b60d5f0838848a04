//! What a link is asked to be.

use aqm_core::link::Link;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use aqm_io::link_trace::LinkTrace;
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;

/// The largest IP packet that a link carries.
pub const MTU: u32 = 1500;

/// Both directions of a link, and how it is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// From the far end to the command.
    pub down: Line,
    /// From the command to the far end.
    pub up: Line,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Time at the start that is not measured, in nanoseconds.
    pub warmup_ns: u64,
    /// File for a capture (pcapng) of the near end.
    pub capture: Option<PathBuf>,
    /// Congestion control of the kernel's TCP at both ends; CUBIC unless given, where the system permits it.
    pub congestion_control: Option<String>,
    /// Whether the kernel's TCP asks for ECN at both ends (RFC 3168); else it neither asks nor agrees.
    pub ecn: bool,
}

impl Config {
    /// `net.ipv4.tcp_ecn` of both ends.
    pub(crate) fn tcp_ecn(&self) -> &'static str {
        if self.ecn { "1" } else { "0" }
    }
}

/// One direction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The discipline in tc's notation, its limit included.
    pub aqm: String,
    /// Rate in bit/s; the mean where a trace decides.
    pub rate_bps: u64,
    /// File with recorded capacity in place of the rate.
    pub trace: Option<PathBuf>,
    /// Bytes that the link layer adds to an IP packet.
    pub overhead: u32,
    /// Propagation delay in nanoseconds.
    pub delay_ns: u64,
    /// Largest random extra delay in nanoseconds.
    pub jitter_ns: u64,
    /// Probability of random loss behind the queue.
    pub loss: f64,
    /// File that every call into the discipline is written to.
    pub log: Option<PathBuf>,
}

impl Line {
    /// The rate of the device.
    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate_bps)
    }

    /// The propagation delay.
    pub(crate) fn delay(&self) -> Span {
        Span::from_nanos(self.delay_ns)
    }

    /// The discipline of the direction `name`, with its own stream of random numbers.
    pub(crate) fn discipline(&self, name: &str, seed: u64) -> Result<Qdisc, LinkError> {
        let input = |error: &dyn fmt::Display| LinkError::Input(error.to_string());
        let spec = Spec::parse(&self.aqm).map_err(|error| input(&error))?;
        let link = Link { rate: self.rate(), mtu: MTU + self.overhead, overhead: self.overhead };
        let qdisc = spec.build(link, Random::stream(seed, name)).map_err(|error| input(&error))?;
        if qdisc.emits() {
            let name = qdisc.info().name;
            return Err(LinkError::Input(format!(
                "{name} sends packets of its own, which a live link does not"
            )));
        }
        Ok(qdisc)
    }

    /// The recorded capacity, read.
    pub(crate) fn link_trace(&self) -> Result<Option<LinkTrace>, LinkError> {
        let Some(path) = &self.trace else { return Ok(None) };
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| LinkError::Input(format!("{name}: {error}")))?;
        LinkTrace::parse(&name, &bytes).map(Some).map_err(|error| LinkError::Input(error.to_string()))
    }
}

/// Why a link does not run.
#[derive(Debug)]
pub enum LinkError {
    /// What was asked for is wrong.
    Input(String),
    /// The machine does not allow it, or lacks something.
    Machine(String),
}

impl LinkError {
    /// The machine refused `what`.
    pub(crate) fn machine(what: &str, error: &std::io::Error) -> LinkError {
        LinkError::Machine(format!("{what}: {error}"))
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Input(text) | LinkError::Machine(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for LinkError {}
