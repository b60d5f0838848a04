//! What is simulated, fully resolved: every quantity in base units, every default filled in.
//!
//! The Python package reads what people write (`10mbit`, `1bdp`, `10*cubic`) and hands over this form as JSON.
//! Unknown keys are refused.

use serde::{Deserialize, Serialize};

/// A dumbbell: senders and receivers on either side of one bottleneck whose forward queue is the AQM under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The discipline on the bottleneck, in tc's notation, its `limit` included.
    pub aqm: String,
    /// Capacity of the bottleneck.
    pub capacity: Capacity,
    /// Base (propagation) round-trip time of flows that do not say otherwise, nanoseconds.
    pub rtt_ns: u64,
    /// Link-layer bytes added to every IP packet.
    #[serde(default = "defaults::overhead_bytes")]
    pub overhead_bytes: u32,
    /// Packets that the device takes from the discipline ahead of the wire, the one being sent included.
    #[serde(default = "defaults::device_ring_packets")]
    pub device_ring_packets: u32,
    /// Rate of every access link in bit/s; `None` means ten times the bottleneck's (mean) rate.
    #[serde(default)]
    pub access_rate_bps: Option<u64>,
    /// Simulated time, nanoseconds.
    pub duration_ns: u64,
    /// Time cut off the front before anything is measured, nanoseconds.
    pub warmup_ns: u64,
    /// Spacing of time-series samples, nanoseconds.
    pub sample_ns: u64,
    /// Random loss on the bottleneck link, behind the queue: a probability per packet.
    #[serde(default)]
    pub loss: f64,
    /// Random extra delay on the bottleneck link, uniform between zero and this many nanoseconds. It may reorder.
    #[serde(default)]
    pub jitter_ns: u64,
    /// Groups of flows.
    #[serde(default)]
    pub flows: Vec<FlowGroup>,
    /// Captures (pcap, pcapng) whose traffic is replayed through the bottleneck.
    #[serde(default)]
    pub captures: Vec<String>,
}

/// Capacity of the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Capacity {
    /// Constant, bit/s.
    RateBps(u64),
    /// Delivery opportunities read from a file in mahimahi's format.
    Trace(String),
}

/// Flows that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowGroup {
    /// Name of the group in metrics (`class.<name>.`).
    pub name: String,
    /// How many flows.
    pub count: u32,
    /// Earliest and latest start, nanoseconds; starts are uniform in between.
    pub start_ns: (u64, u64),
    /// Base round-trip time of these flows, nanoseconds; `None` means the scenario's.
    #[serde(default)]
    pub rtt_ns: Option<u64>,
    /// What carries the data.
    pub transport: Transport,
    /// What is sent.
    pub source: Source,
    /// Traffic class of the packets: 0 for the first band or child of a classful scheduler, and so on.
    #[serde(default)]
    pub class: u16,
    /// DiffServ code point of the packets.
    #[serde(default)]
    pub dscp: u8,
}

/// What carries the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Transport {
    /// UDP: nothing reacts.
    Udp {
        /// Bytes of each IP packet, headers included.
        packet_bytes: u32,
    },
    /// TCP.
    Tcp(Tcp),
}

/// Settings of a TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Congestion control.
    pub congestion_control: CongestionControl,
    /// Payload bytes of a full segment.
    pub mss_bytes: u32,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Selective acknowledgments (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Segments after which the receiver acknowledges at once (RFC 1122: 2; 1 turns delayed ACKs off).
    pub delack_segments: u32,
    /// Longest delay of an acknowledgment, nanoseconds.
    pub delack_ns: u64,
    /// Smallest retransmission timeout, nanoseconds (RFC 6298 says 1 s, Linux 200 ms).
    pub min_rto_ns: u64,
    /// Cap on the window in bytes of payload; `None` for no cap.
    pub window_bytes: Option<u64>,
    /// IPv6 instead of IPv4: 20 bytes more per packet.
    #[serde(default)]
    pub ipv6: bool,
}

/// Congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// RFC 5681, RFC 6582.
    Newreno,
    /// RFC 9438.
    Cubic,
    /// Keeps the window at its cap whatever happens: an instrument, not a transport.
    Fixed,
}

/// Explicit congestion notification of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnMode {
    /// Packets are Not-ECT.
    Off,
    /// RFC 3168: ECT(0), one reaction per round trip.
    Classic,
}

/// What a flow has to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// As much as the transport takes; `size_bytes` of payload, or without end.
    Bulk {
        /// Payload bytes of a finite flow.
        size_bytes: Option<u64>,
    },
    /// A constant rate of IP bytes (UDP) or payload (TCP), bit/s.
    Cbr {
        /// Bit/s.
        rate_bps: u64,
    },
    /// A constant rate during ON periods, nothing during OFF periods; starts ON.
    OnOff {
        /// Bit/s while ON.
        rate_bps: u64,
        /// Lengths of ON periods.
        on: Distribution,
        /// Lengths of OFF periods.
        off: Distribution,
    },
}

/// Distribution of a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Always the same.
    Constant {
        /// Nanoseconds.
        value_ns: u64,
    },
    /// Uniform between two bounds.
    Uniform {
        /// Nanoseconds.
        low_ns: u64,
        /// Nanoseconds.
        high_ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Nanoseconds.
        mean_ns: u64,
    },
    /// Pareto with density from `scale` upwards.
    Pareto {
        /// Smallest value, nanoseconds.
        scale_ns: u64,
        /// Tail index.
        shape: f64,
    },
}

mod defaults {
    pub(super) fn overhead_bytes() -> u32 {
        14
    }

    pub(super) fn device_ring_packets() -> u32 {
        1
    }
}
