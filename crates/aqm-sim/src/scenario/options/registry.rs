//! Every option, declared once, and the scenario that the simulator gets of them.
//!
//! An option whose value is a field of a scenario is an entry of [`OPTIONS`] and that field, and acts wherever the
//! simulator reads it. The package resolves the others to fields.

use super::declaration::{Form, NONE, OptionSpec, Section};
use crate::scenario::flows::FlowGroup;
use crate::scenario::topology::Topology;
use aqm_core::params::Choice;
use aqm_path::placement::Placement;
use aqm_path::wire::{Impairments, Loss, Reorder, Slots};
use serde::{Deserialize, Serialize};

/// All options, in the order of help and documentation.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "aqm",
        Form::Text,
        "",
        "SPEC",
        "queue discipline, as 'pie target 15ms ecn' (name:preset), or tc's own text, as 'tc qdisc add ...'",
    )
    .as_in("codel")
    .many()
    .of(Section::Disciplines)
    .live(),
    OptionSpec::new("rate", Form::Rate, "", "R", "rate of the bottleneck, as 10mbit")
        .as_in("10mbit")
        .live(),
    OptionSpec::new(
        "link",
        Form::Link,
        "rate",
        "KIND ...",
        "kind of the bottleneck's link, as 'turns rate 20mbit'; --rate and --link-trace are short for two of them",
    )
    .as_in("turns rate 20mbit")
    .or_null()
    .to("link")
    .left_out()
    .live(),
    OptionSpec::new("rtt", Form::Span, "", "T", "base (propagation) round-trip time, as 40ms")
        .as_in("40ms")
        .to("rtt_ns")
        .live(),
    OptionSpec::new(
        "buffer",
        Form::Quantity(&[]),
        "1bdp",
        "B",
        "buffer of every AQM: 1000p, 64kb, 200ms or 1bdp (at least 20p)",
    )
    .from("RFC 7928 section 3.2: the same for all that are compared")
    .live(),
    OptionSpec::new(
        "flows",
        Form::Flows,
        "1*cubic",
        "SPEC",
        "flows as 'COUNT*KIND[:key=value]...', as 10*newreno:rtt=20ms",
    )
    .many()
    .of(Section::Traffic)
    .live(),
    OptionSpec::new(
        "topology",
        Form::File,
        "dumbbell",
        "SPEC",
        "dumbbell, asymmetric:up=10mbit, parking_lot:hops=3, star, ... or FILE.toml",
    )
    .from("RFC 7928 section 3.1: a dumbbell"),
    OptionSpec::new(
        "measure",
        Form::Text,
        "",
        "PORT,...",
        "ports whose queues are measured, as down,up; the bottleneck unless given",
    )
    .many(),
    OptionSpec::new(
        "link_trace",
        Form::File,
        "",
        "FILE",
        "delivery opportunities in mahimahi's format, or steps:100mbit*20s,10mbit*20s, instead of a rate",
    )
    .from("mahimahi(1): mm-link")
    .live(),
    OptionSpec::new(
        "capture",
        Form::File,
        "",
        "FILE",
        "recorded traffic (pcap, pcapng) to replay through the bottleneck",
    )
    .many()
    .of(Section::Traffic),
    OptionSpec::new("overhead", Form::Bytes, "14b", "B", "link-layer bytes added to every IP packet")
        .within(0.0, 1000.0)
        .to("overhead_bytes")
        .from("RFC 894: the header of Ethernet")
        .live(),
    OptionSpec::new(
        "device_ring",
        Form::Packets,
        "1p",
        "N",
        "packets that the device takes ahead of the wire, the one being sent included",
    )
    .within(1.0, 10_000.0)
    .to("device_ring_packets"),
    OptionSpec::new(
        "placement",
        Form::Choice(Placement::WORDS),
        "auto",
        "WHERE",
        "Wi-Fi: above the driver's queue, integrated with a queue for each station, or limited by airtime",
    )
    .or_null()
    .to("placement")
    .left_out()
    .as_in(Placement::Integrated.word())
    .from("auto: in its place where the AQM has a queue for each station, else above"),
    OptionSpec::new(
        "access_rate",
        Form::Rate,
        "10x",
        "R",
        "rate of every access link; ten times the bottleneck's unless given",
    )
    .or_null()
    .to("access_rate_bps"),
    OptionSpec::new(
        "loss",
        Form::Loss,
        "0%",
        "P",
        "random loss behind the bottleneck's queue, as 0.1%, 'gemodel 1% 10%' or 'state ...'",
    )
    .as_in("0.1%")
    .within(0.0, 1.0)
    .to("loss")
    .from("tc-netem(8)")
    .of_wire(),
    OptionSpec::new(
        "jitter",
        Form::Span,
        "0ms",
        "T",
        "largest random extra delay behind the bottleneck's queue",
    )
    .within(0.0, f64::INFINITY)
    .to("jitter_ns")
    .of_wire(),
    OptionSpec::new(
        "jitter_correlation",
        Form::Share,
        "0%",
        "P",
        "how much each extra delay depends on that of the packet before",
    )
    .as_in("25%")
    .within(0.0, 1.0)
    .to("jitter_correlation")
    .left_out()
    .from("tc-netem(8)")
    .of_wire(),
    OptionSpec::new(
        "reorder",
        Form::Reorder,
        "0%",
        "P",
        "packets sent on without delay and jitter, as 25% or '25% gap 5'",
    )
    .as_in("25% gap 5")
    .or_null()
    .to("reorder")
    .left_out()
    .from("tc-netem(8)")
    .of_wire(),
    OptionSpec::new("duplicate", Form::Share, "0%", "P", "packets that arrive twice behind the bottleneck")
        .as_in("1%")
        .within(0.0, 1.0)
        .to("duplicate")
        .left_out()
        .from("tc-netem(8)")
        .of_wire(),
    OptionSpec::new(
        "slot",
        Form::Slots,
        "off",
        "T",
        "packets leave the wire in bursts, as '1ms 4ms packets 32 bytes 64kb'",
    )
    .as_in("1ms 4ms packets 32")
    .or_null()
    .to("slots")
    .left_out()
    .from("tc-netem(8)")
    .of_wire(),
    OptionSpec::new("duration", Form::Span, "30s", "T", "simulated time").to("duration_ns")
        .of(Section::Statistics)
        .live(),
    OptionSpec::new(
        "warmup",
        Form::Quantity(&["auto", "mser5"]),
        "auto",
        "T|auto|mser5",
        "time at the start that is not measured; auto, or mser5: longer where a run is not steady",
    )
    .from("mser5: White, Cobb and Spratt 2000")
    .of(Section::Statistics)
    .live(),
    OptionSpec::new(
        "series",
        Form::Switch(["groups", "flows"]),
        "flows",
        "WHAT",
        "time series of every flow (flows; up to 100 of them) or of groups only (groups)",
    )
    .to("flow_series")
    .of(Section::Statistics),
    OptionSpec::new(
        "observe",
        Form::Names,
        NONE,
        "NAME,...",
        "further observers, each with metrics of its own, or none (aqmlab metrics list --papers)",
    )
    .to("observe")
    .left_out()
    .of(Section::Statistics),
    OptionSpec::new(
        "seeds",
        Form::Count,
        "10",
        "N",
        "independent runs per AQM; every AQM gets the same seeds",
    )
    .within(1.0, 10_000.0)
    .of(Section::Statistics)
    .live(),
    OptionSpec::new(
        "first_seed",
        Form::Count,
        "1",
        "N",
        "seed of the first run; those of the others follow it",
    )
    .within(1.0, 10_000.0)
    .of(Section::Statistics)
    .live(),
];

/// What has a number in base units, if it is a quantity.
trait Quantity {
    fn number(&self) -> Option<f64> {
        None
    }
}

impl Quantity for u32 {
    fn number(&self) -> Option<f64> {
        Some((*self).into())
    }
}

impl Quantity for u64 {
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Quantity for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Quantity for Loss {
    /// Chains have rules of their own.
    fn number(&self) -> Option<f64> {
        match self {
            Loss::Random(share) => Some(*share),
            _ => None,
        }
    }
}

impl<T: Quantity> Quantity for Option<T> {
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(Quantity::number)
    }
}

impl<T> Quantity for Vec<T> {}
impl Quantity for Capacity {}
impl Quantity for Placement {}
impl Quantity for Reorder {}
impl Quantity for Slots {}
impl Quantity for String {}
impl Quantity for Tap {}
impl Quantity for Topology {}
impl Quantity for bool {}

/// A struct whose fields are known by name: the order in which a scenario is written.
macro_rules! fields {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$of:meta])* pub $field:ident: $kind:ty,)* }) => {
        $(#[$about])*
        pub struct $name { $($(#[$of])* pub $field: $kind,)* }

        impl $name {
            /// The names of its fields, in the order in which it is written.
            pub const FIELDS: &[&str] = &[$(stringify!($field)),*];

            /// The number of a field that is a quantity with a value, in base units.
            pub(in crate::scenario) fn number(&self, field: &str) -> Option<f64> {
                match field {
                    $(stringify!($field) => self.$field.number(),)*
                    _ => None,
                }
            }
        }
    };
}

fields! {
    /// A dumbbell unless there is a topology: senders and receivers on either side of one bottleneck, with the AQM under
    /// test in the forward direction.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, remote = "Self")]
    pub struct Scenario {
        /// The discipline on the bottleneck, in tc's notation, its `limit` included.
        pub aqm: String,
        /// Capacity of the bottleneck.
        pub capacity: Capacity,
        /// Kind of the bottleneck, as `KIND key value ...`, where it is neither a rate nor a trace. Of a dumbbell both directions
        /// are of it, on one medium; of a topology the measured link, unless that has one of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub link: Option<String>,
        /// Base (propagation) round-trip time of flows without one of their own, nanoseconds.
        pub rtt_ns: u64,
        /// Link-layer bytes added to every IP packet.
        pub overhead_bytes: u32,
        /// Packets that the device takes from the discipline ahead of the wire, the one being sent included.
        pub device_ring_packets: u32,
        /// Where the discipline sits on a medium that stations share; none: as it has a queue for each station or not.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub placement: Option<Placement>,
        /// Rate of every access link in bit/s; `None` means ten times the bottleneck's (mean) rate.
        pub access_rate_bps: Option<u64>,
        /// Simulated time, nanoseconds.
        pub duration_ns: u64,
        /// Time at the start that is not measured, nanoseconds.
        pub warmup_ns: u64,
        /// Spacing of time-series samples, nanoseconds.
        pub sample_ns: u64,
        /// Whether every flow gets a time series of its own, up to 100 flows.
        pub flow_series: bool,
        /// Random loss on the bottleneck link, behind the queue.
        pub loss: Loss,
        /// Random extra delay on the bottleneck link, uniform between zero and this many nanoseconds. It may reorder.
        pub jitter_ns: u64,
        /// How much each extra delay depends on that of the packet before, from 0 to below 1.
        #[serde(skip_serializing_if = "is_zero")]
        pub jitter_correlation: f64,
        /// Which packets of the bottleneck link overtake others by the whole delay.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reorder: Option<Reorder>,
        /// Probability that a packet arrives twice behind the bottleneck.
        #[serde(skip_serializing_if = "is_zero")]
        pub duplicate: f64,
        /// When packets may leave the bottleneck's wire.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub slots: Option<Slots>,
        /// Whether a run's warm-up lasts longer where MSER-5 says so, of its goodput or queue delay. Such a run is made twice.
        #[serde(default)]
        pub mser5: bool,
        /// Observers that the run's inputs have, beside the metrics of every run.
        pub observe: Vec<String>,
        /// Where every packet is recorded, if anywhere.
        #[serde(default)]
        pub record: Option<Tap>,
        /// Whether every flow is traced at its sender.
        #[serde(default)]
        pub trace: bool,
        /// Whether all senders and queues are logged as qlog has it.
        #[serde(default)]
        pub log: bool,
        /// Ports whose queues are measured, the first of them for metrics without a prefix: `bottleneck` and `back` of a
        /// dumbbell; of a topology those that it names, and `from->to` of any other link. None means the bottleneck.
        #[serde(default)]
        pub measure: Vec<String>,
        /// Nodes and links in place of the dumbbell.
        #[serde(default)]
        pub topology: Option<Topology>,
        /// Groups of flows.
        #[serde(default)]
        pub flows: Vec<FlowGroup>,
        /// Captures, by their names among the inputs, whose traffic is replayed through the bottleneck.
        #[serde(default)]
        pub captures: Vec<String>,
    }
}

impl Scenario {
    /// What the wire behind the bottleneck does to packets.
    pub fn impairments(&self) -> Impairments {
        Impairments {
            jitter_ns: self.jitter_ns,
            jitter_correlation: self.jitter_correlation,
            loss: self.loss,
            reorder: self.reorder,
            duplicate: self.duplicate,
            slots: self.slots,
        }
    }
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Where packets are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tap {
    /// At the flows' senders: data as they are sent, acknowledgments as they arrive.
    Senders,
    /// At their receivers: data as they arrive, marked or not, acknowledgments as they are sent.
    Receivers,
    /// At the hosts on the home's side of the bottleneck, as a capture there: what they send, and what arrives at them.
    Home,
    /// At both ends of every discipline's queue: as they arrive (interface `before`), as they leave it (`behind`), and what is
    /// dropped there, by a switch in front of it or on the wire behind it (`dropped`, the reason as a comment).
    Queue,
}

/// Capacity of the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Capacity {
    /// Constant, bit/s.
    RateBps(u64),
    /// Delivery opportunities: the link trace of this name among the inputs.
    Trace(String),
}
