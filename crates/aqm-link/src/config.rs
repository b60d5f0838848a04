//! What a link is asked to be.

use aqm_core::link::Link;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use aqm_io::link_trace::LinkTrace;
use aqm_path::wire::Impairments;
use serde::{Deserialize, Serialize};
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
    /// Pipe (fifo(7)): whenever something is written into it, measuring restarts. Commands know it as `AQMLAB_MEASURE`.
    pub measure: PathBuf,
    /// File for samples of both directions: rows of JSON.
    pub samples: PathBuf,
    /// Time between samples, in nanoseconds.
    pub sample_ns: u64,
    /// File for a capture (pcapng) of the near end.
    pub capture: Option<PathBuf>,
    /// Congestion control of the kernel's TCP at both ends; CUBIC unless given, where the system permits it.
    pub congestion_control: Option<String>,
    /// Whether the kernel's TCP asks for ECN at both ends (RFC 3168); else it neither asks nor agrees.
    pub ecn: bool,
    /// File that stands in the place of `/etc/resolv.conf` for the command and the servers.
    pub resolver: Option<PathBuf>,
    /// Whether the signals of a terminal are held back for the command: it lets them come once it can be reached.
    #[serde(default)]
    pub held_back: bool,
    /// What carries packets; unless given, veth where the system permits it, and TUN elsewhere.
    pub path: Option<DataPath>,
}

/// What carries packets between an end and the process of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DataPath {
    /// A pair of veth interfaces, and a socket of AF_PACKET.
    Veth,
    /// An interface of the TUN driver.
    Tun,
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
    /// Code points (DSCP) of the first class, the second, and so on; all others are of one class more.
    pub classes: Vec<u8>,
    /// Propagation delay in nanoseconds.
    pub delay_ns: u64,
    /// What the wire does to packets beside its delay.
    #[serde(default)]
    pub wire: Impairments,
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
        spec.build(link, Random::stream(seed, name)).map_err(|error| input(&error))
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
