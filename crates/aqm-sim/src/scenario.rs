//! What is simulated, fully resolved: every quantity in base units, every default filled in.
//!
//! The Python package reads what people write (`10mbit`, `1bdp`, `10*cubic`) and hands over this form as JSON.
//! Unknown keys are refused.

pub use crate::topology::Topology;
pub use crate::traffic::distribution::Distribution;
pub use crate::transport::{EcnMode, Tcp};
use serde::{Deserialize, Serialize};

/// A dumbbell unless there is a topology: senders and receivers on either side of one bottleneck whose forward queue is the
/// AQM under test.
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
    /// Whether every flow gets a time series of its own, up to 100 flows.
    #[serde(default = "defaults::flow_series")]
    pub flow_series: bool,
    /// Random loss on the bottleneck link, behind the queue: a probability per packet.
    #[serde(default)]
    pub loss: f64,
    /// Random extra delay on the bottleneck link, uniform between zero and this many nanoseconds. It may reorder.
    #[serde(default)]
    pub jitter_ns: u64,
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

impl Scenario {
    /// Refuses what no simulation could end with: nothing to send, rates and lengths of zero, probabilities beyond one.
    ///
    /// # Errors
    /// One line that names the key, the value and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let positive = |key: &str, value: u64| {
            if value > 0 { Ok(()) } else { Err(format!("{key} is 0: it must be greater than zero")) }
        };
        positive("duration_ns", self.duration_ns)?;
        positive("sample_ns", self.sample_ns)?;
        positive("device_ring_packets", u64::from(self.device_ring_packets))?;
        if let Capacity::RateBps(rate_bps) = self.capacity {
            positive("capacity.rate_bps", rate_bps)?;
        }
        if let Some(rate_bps) = self.access_rate_bps {
            positive("access_rate_bps", rate_bps)?;
        }
        if self.warmup_ns >= self.duration_ns {
            let (warmup, duration) = (self.warmup_ns, self.duration_ns);
            return Err(format!("warmup_ns is {warmup}: it must be less than duration_ns, {duration}"));
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return Err(format!("loss is {}: it must be within 0 and 1", self.loss));
        }
        if self.flows.is_empty() && self.captures.is_empty() {
            return Err("there are neither flows nor captures: nothing would be sent".to_owned());
        }
        if let Some(topology) = &self.topology {
            let nodes = topology.check(matches!(self.capacity, Capacity::Trace(_)))?;
            for group in &self.flows {
                if group.from.is_empty() || group.to.is_empty() {
                    return Err(format!("flow group '{}': from and to are missing", group.name));
                }
                let mut ends = group.from.iter().chain(&group.to);
                if let Some(node) = ends.find(|name| !nodes.contains(name.as_str())) {
                    return Err(format!("flow group '{}': no link has a node '{node}'", group.name));
                }
            }
        }
        self.flows.iter().try_for_each(|group| {
            group.check().map_err(|problem| format!("flow group '{}': {problem}", group.name))
        })
    }
}

impl FlowGroup {
    fn check(&self) -> Result<(), String> {
        let positive = |key: &str, value: u64| {
            if value > 0 { Ok(()) } else { Err(format!("{key} is 0: it must be greater than zero")) }
        };
        positive("count", u64::from(self.count))?;
        if self.start_ns.1 < self.start_ns.0 {
            return Err("start_ns: the latest start is before the earliest".to_owned());
        }
        match &self.transport {
            Transport::Udp { packet_bytes, .. } => {
                if !(UDP_SMALLEST..=LARGEST).contains(packet_bytes) {
                    return Err(format!(
                        "packet_bytes is {packet_bytes}: it must be within {UDP_SMALLEST} (headers alone) and {LARGEST}"
                    ));
                }
                if matches!(self.source, Source::Bulk { .. }) {
                    return Err("udp needs a rate: a bulk source has none".to_owned());
                }
                if matches!(
                    self.source,
                    Source::Rounds(_) | Source::Workload { .. } | Source::Video(_) | Source::Replay { .. }
                ) {
                    return Err("udp cannot carry a source that waits for delivery: it needs tcp".to_owned());
                }
            }
            Transport::Tcp(tcp) => {
                if self.source == Source::Voip {
                    return Err("a call needs udp".to_owned());
                }
                tcp.check()?;
            }
        }
        match &self.source {
            Source::Bulk { size_bytes } => size_bytes.map_or(Ok(()), |size| positive("size_bytes", size)),
            Source::Cbr { rate_bps } => positive("rate_bps", *rate_bps),
            Source::OnOff { rate_bps, on, off } => {
                positive("rate_bps", *rate_bps)?;
                on.check_positive("on")?;
                off.check("off")
            }
            Source::Steps { rate, every } => {
                rate.check_positive("rate")?;
                every.check_positive("every")
            }
            Source::Voip | Source::Replay { .. } => Ok(()),
            Source::Video(video) => {
                positive("segment_ns", video.segment_ns)?;
                if video.buffer_ns < 2 * video.segment_ns {
                    return Err(format!("buffer_ns is {}: it must hold two segments", video.buffer_ns));
                }
                positive("rates_bps", video.rates_bps.first().copied().unwrap_or(0))?;
                if !video.rates_bps.is_sorted_by(|low, high| low < high) {
                    return Err(format!("rates_bps: {:?} do not ascend", video.rates_bps));
                }
                Ok(())
            }
            Source::Arrivals { gap, size, .. } => {
                if let Transport::Udp { packet_bytes: UDP_SMALLEST, .. } = self.transport
                    && (size.is_some() || self.source == Source::Voip)
                {
                    return Err(format!("packet_bytes is {UDP_SMALLEST}: it must leave room for messages"));
                }
                gap.check_positive("gap")?;
                size.as_ref().map_or(Ok(()), |size| size.check_positive("size"))
            }
            Source::Rounds(round) => {
                if !(1..=MOST_CONNECTIONS).contains(&round.connections) {
                    return Err(format!(
                        "connections is {}: it must be within 1 and {MOST_CONNECTIONS}",
                        round.connections
                    ));
                }
                round.objects.check_positive("objects")?;
                round.size.check_positive("size")?;
                round.pause.check("pause")?;
                round.request.as_ref().map_or(Ok(()), |request| request.check_positive("request"))
            }
            Source::Workload { size, load } => {
                size.check_positive("size")?;
                if !size.mean().is_finite() {
                    return Err("size has no mean, which a load needs: its shape must be above 1".to_owned());
                }
                if !(*load > 0.0 && *load <= MOST_LOAD) {
                    return Err(format!("load is {load}: it must be above 0 and at most {MOST_LOAD}"));
                }
                Ok(())
            }
        }
    }
}

/// IPv4 and UDP headers, and the largest IP packet that a link is expected to take.
const UDP_SMALLEST: u32 = 28;
const LARGEST: u32 = 65_000;
/// Connections of one client, and the load of a workload, at most.
const MOST_CONNECTIONS: u32 = 10_000;
const MOST_LOAD: f64 = 10.0;

/// Capacity of the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Capacity {
    /// Constant, bit/s.
    RateBps(u64),
    /// Delivery opportunities: the link trace of this name among the inputs.
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
    /// Where the flows begin, one node after the other. Without a topology, the hosts that flows share in the eyes of
    /// disciplines that tell hosts apart; with none given, each flow has hosts of its own.
    #[serde(default)]
    pub from: Vec<String>,
    /// Where they end, likewise.
    #[serde(default)]
    pub to: Vec<String>,
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
        /// What its packets claim about ECN; nothing reacts to marks.
        #[serde(default)]
        ecn: EcnMode,
    },
    /// TCP.
    Tcp(Tcp),
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
        /// Lengths of ON periods, nanoseconds.
        on: Distribution,
        /// Lengths of OFF periods, nanoseconds.
        off: Distribution,
    },
    /// A rate that changes in steps: drawn anew each time.
    Steps {
        /// Bit/s, of IP bytes (UDP) or payload (TCP).
        rate: Distribution,
        /// How long each lasts, nanoseconds.
        every: Distribution,
    },
    /// Messages at random times.
    Arrivals {
        /// Times between messages, nanoseconds; exponential for Poisson arrivals.
        gap: Distribution,
        /// Payload bytes of a message, sent in as many packets as it takes (over UDP at most 16 MiB); `None` for one
        /// full packet.
        #[serde(default)]
        size: Option<Distribution>,
        /// The receiver sends as much, at times of its own.
        #[serde(default)]
        both_ways: bool,
    },
    /// A telephone call over UDP: G.711 in frames of 20 ms, both ways, without silence.
    Voip,
    /// Adaptive streaming over TCP.
    Video(Video),
    /// The TCP connections of a capture (pcap, pcapng) held again over simulated TCP, so that they react: sizes and
    /// thinking times are the capture's, what servers say goes in the measured direction.
    Replay {
        /// The capture.
        file: String,
    },
    /// Rounds of questions and answers, over TCP.
    Rounds(Round),
    /// Finite flows over TCP that start as a Poisson process, all members of the group together.
    Workload {
        /// Payload bytes of a flow.
        size: Distribution,
        /// Payload offered, as a share of the bottleneck's (mean) rate.
        load: f64,
    },
}

/// What a client does, again and again: it asks for objects, waits for all of them, and pauses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// What the user would call it: decides the names of the metrics.
    pub exchange: Exchange,
    /// Connections, each to a server of its own if it is a query; they stay open.
    pub connections: u32,
    /// How many objects make a round.
    pub objects: Distribution,
    /// Bytes of a request, sent against the measured direction; `None` if the server sends unasked.
    #[serde(default)]
    pub request: Option<Distribution>,
    /// Bytes of an object.
    pub size: Distribution,
    /// Time from the end of a round to the next, nanoseconds.
    pub pause: Distribution,
}

/// What a player streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// Bitrates to choose from, ascending.
    pub rates_bps: Vec<u64>,
    /// Length of a segment, nanoseconds.
    pub segment_ns: u64,
    /// Video that the player keeps at most, nanoseconds.
    pub buffer_ns: u64,
}

/// What a round is to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// A file.
    Transfer,
    /// A remote procedure call.
    Rpc,
    /// A web page.
    Page,
    /// A query that many servers answer at once: incast.
    Query,
}

mod defaults {
    pub(super) fn flow_series() -> bool {
        true
    }

    pub(super) fn overhead_bytes() -> u32 {
        14
    }

    pub(super) fn device_ring_packets() -> u32 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(change: impl FnOnce(&mut serde_json::Value)) -> Result<(), String> {
        let mut json = serde_json::json!({
            "aqm": "fifo", "capacity": {"rate_bps": 1_000_000}, "rtt_ns": 1_000_000, "duration_ns": 2, "warmup_ns": 1,
            "sample_ns": 1,
            "flows": [{"name": "bursts", "count": 1, "start_ns": [0, 0], "transport": {"udp": {"packet_bytes": 100}},
                "source": {"on_off": {"rate_bps": 1, "on": {"constant": {"value": 1}}, "off": {"exponential": {"mean": 0}}}}}],
        });
        change(&mut json);
        serde_json::from_value::<Scenario>(json).map_err(|error| error.to_string())?.check()
    }

    #[test]
    fn what_could_never_end_is_refused_by_name() {
        assert_eq!(scenario(|_| ()), Ok(()));
        for (pointer, value, names) in [
            ("/capacity/rate_bps", serde_json::json!(0), "capacity.rate_bps"),
            ("/warmup_ns", serde_json::json!(2), "warmup_ns"),
            ("/flows/0/count", serde_json::json!(0), "'bursts': count"),
            ("/flows/0/transport/udp/packet_bytes", serde_json::json!(27), "packet_bytes"),
            ("/flows/0/source/on_off/on/constant/value", serde_json::json!(0), "on is 0"),
            ("/flows/0/source/on_off/rate_bps", serde_json::json!(0), "rate_bps"),
            ("/flows", serde_json::json!([]), "nothing would be sent"),
        ] {
            let problem = scenario(|json| *json.pointer_mut(pointer).unwrap() = value).unwrap_err();
            assert!(problem.contains(names), "{pointer}: {problem}");
        }
        let unknown = scenario(|json| json["wramup_ns"] = serde_json::json!(1)).unwrap_err();
        assert!(unknown.contains("wramup_ns"), "{unknown}");
    }
}
