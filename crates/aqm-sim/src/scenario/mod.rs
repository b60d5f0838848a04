//! What is simulated, fully resolved: every quantity in base units, every default filled in.
//!
//! The Python package reads what people write (`10mbit`, `1bdp`, `10*cubic`) and hands over this form as JSON.
//! Unknown keys are refused.

pub mod inputs;
pub mod topology;

pub use crate::rate_control::Rated;
pub use crate::traffic::distribution::Distribution;
pub use crate::traffic::source::{Exchange, Round, Source, Video};
pub use crate::transport::{EcnMode, Tcp};
use aqm_core::units::{Span, Time};
use serde::{Deserialize, Serialize};
pub use topology::Topology;

/// A dumbbell unless there is a topology: senders and receivers on either side of one bottleneck, with the AQM under
/// test in the forward direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The discipline on the bottleneck, in tc's notation, its `limit` included.
    pub aqm: String,
    /// Capacity of the bottleneck.
    pub capacity: Capacity,
    /// Base (propagation) round-trip time of flows without one of their own, nanoseconds.
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
    /// Time at the start that is not measured, nanoseconds.
    pub warmup_ns: u64,
    /// Whether a run's warm-up lasts longer where MSER-5 says so, of its goodput or queue delay. Such a run is made twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mser5: bool,
    /// Where every packet is recorded, if anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Tap>,
    /// Spacing of time-series samples, nanoseconds.
    pub sample_ns: u64,
    /// Whether every flow gets a time series of its own, up to 100 flows.
    #[serde(default = "defaults::flow_series")]
    pub flow_series: bool,
    /// Whether the run is also measured as ns-3's FlowMonitor is read by the authors of dAQM.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flow_monitor: bool,
    /// Random loss on the bottleneck link, behind the queue: a probability per packet.
    #[serde(default)]
    pub loss: f64,
    /// Random extra delay on the bottleneck link, uniform between zero and this many nanoseconds. It may reorder.
    #[serde(default)]
    pub jitter_ns: u64,
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

/// Where packets are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tap {
    /// At the flows' senders: data as they are sent, acknowledgments as they arrive.
    Senders,
    /// At their receivers: data as they arrive, marked or not, acknowledgments as they are sent.
    Receivers,
}

impl Scenario {
    /// Refuses scenarios that cannot end: nothing to send, rates and lengths of zero, probabilities above one.
    ///
    /// # Errors
    /// One line that names the option, the value and what is allowed, in the words and units in which people write them.
    pub fn check(&self) -> Result<(), String> {
        let positive = |key: &str, value: u64| {
            if value > 0 { Ok(()) } else { Err(format!("{key} is 0: it must be greater than zero")) }
        };
        positive("duration", self.duration_ns)?;
        positive("sample", self.sample_ns)?;
        positive("device_ring", u64::from(self.device_ring_packets))?;
        if let Capacity::RateBps(rate_bps) = self.capacity {
            positive("rate", rate_bps)?;
        }
        if let Some(rate_bps) = self.access_rate_bps {
            positive("access_rate", rate_bps)?;
        }
        if self.warmup_ns >= self.duration_ns {
            let [warmup, duration] = [self.warmup_ns, self.duration_ns].map(Span::from_nanos);
            return Err(format!("warmup is {warmup}: it must be less than the duration, {duration}"));
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
                    return Err(format!("flows: '{}': from and to are missing", group.name));
                }
                let mut ends = group.from.iter().chain(&group.to);
                if let Some(node) = ends.find(|name| !nodes.contains(name.as_str())) {
                    return Err(format!("flows: '{}': no link has a node '{node}'", group.name));
                }
            }
        }
        let connections = self.flows.iter().map(FlowGroup::connections).fold(0, u64::saturating_add);
        if connections > MOST_CONNECTIONS {
            return Err(format!(
                "flows: {connections} connections: at most {MOST_CONNECTIONS} can be simulated"
            ));
        }
        self.flows.iter().try_for_each(|group| {
            group.check().map_err(|problem| format!("flows: '{}': {problem}", group.name))
        })
    }
}

impl FlowGroup {
    /// How many flows its members have, both ways, at least.
    fn connections(&self) -> u64 {
        let each = match &self.source {
            Source::Rounds(round) => u64::from(round.connections) * (1 + u64::from(round.request.is_some())),
            Source::Video(_) | Source::Voip | Source::Replay { .. } => 2,
            Source::Arrivals { both_ways: true, .. } => 2,
            _ => 1,
        };
        u64::from(self.count) * each
    }

    fn check(&self) -> Result<(), String> {
        let positive = |key: &str, value: u64| {
            if value > 0 { Ok(()) } else { Err(format!("{key} is 0: it must be greater than zero")) }
        };
        positive("count", u64::from(self.count))?;
        if self.start_ns.1 < self.start_ns.0 {
            return Err("start: the latest is before the earliest".to_owned());
        }
        match &self.transport {
            Transport::Udp { packet_bytes, .. } => {
                if !(UDP_SMALLEST..=LARGEST).contains(packet_bytes) {
                    return Err(format!(
                        "packet is {packet_bytes}b: it must be within {UDP_SMALLEST}b (headers alone) and {LARGEST}b"
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
                if let Source::Bulk { stop_ns: Some(stop), .. } = self.source
                    && stop < self.start_ns.1
                {
                    let [stop, start] = [stop, self.start_ns.1].map(Time::from_nanos);
                    return Err(format!("stop is {stop}: it must not be before the latest start, {start}"));
                }
                tcp.check()?;
            }
            Transport::Rate(_) => {
                if matches!(self.source, Source::Bulk { stop_ns: Some(_), .. }) {
                    return Err("stop: only TCP flows stop at a time".to_owned());
                }
                if !matches!(self.source, Source::Bulk { .. } | Source::Workload { .. }) {
                    return Err("a rate-based sender needs a bulk source or a workload".to_owned());
                }
            }
        }
        if let (Transport::Udp { packet_bytes: UDP_SMALLEST, .. }, Source::Arrivals { size: Some(_), .. }) =
            (&self.transport, &self.source)
        {
            return Err(format!("packet is {UDP_SMALLEST}b: it must leave room for messages"));
        }
        self.source.check()
    }
}

/// Each takes some kilobytes, and events name it in 21 bits.
const MOST_CONNECTIONS: u64 = 1_000_000;

/// IPv4 and UDP headers, and the largest IP packet that a link is expected to take.
const UDP_SMALLEST: u32 = 28;
const LARGEST: u32 = 65_000;

/// Capacity of the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Capacity {
    /// Constant, bit/s.
    RateBps(u64),
    /// Delivery opportunities: the link trace of this name among the inputs.
    Trace(String),
}

/// Flows with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowGroup {
    /// Name of the group in metrics (`class.<name>.`).
    pub name: String,
    /// How many flows.
    pub count: u32,
    /// Earliest and latest start, nanoseconds; starts are uniform in between.
    pub start_ns: (u64, u64),
    /// How much later than the flow before each flow starts, nanoseconds, beside what is drawn.
    #[serde(default)]
    pub apart_ns: u64,
    /// Base round-trip time of these flows, nanoseconds; `None` means the scenario's.
    #[serde(default)]
    pub rtt_ns: Option<u64>,
    /// Where the flows begin, one node after the other. Without a topology: hosts that several flows share, as seen
    /// by disciplines that tell hosts apart; if none are given, each flow has hosts of its own.
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
        /// ECN field of its packets; nothing reacts to marks.
        #[serde(default)]
        ecn: EcnMode,
    },
    /// TCP.
    Tcp(Tcp),
    /// Datagrams as fast as a rate control says.
    Rate(Rated),
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
    fn scenarios_that_could_never_end_are_refused_by_name() {
        assert_eq!(scenario(|_| ()), Ok(()));
        for (pointer, value, names) in [
            ("/capacity/rate_bps", serde_json::json!(0), "rate is 0"),
            ("/warmup_ns", serde_json::json!(2), "warmup is 2ns: it must be less than the duration, 2ns"),
            ("/flows/0/count", serde_json::json!(0), "flows: 'bursts': count is 0"),
            ("/flows/0/transport/udp/packet_bytes", serde_json::json!(27), "packet is 27b"),
            ("/flows/0/source/on_off/on/constant/value", serde_json::json!(0), "on is 0"),
            ("/flows/0/source/on_off/rate_bps", serde_json::json!(0), "rate is 0"),
            ("/flows", serde_json::json!([]), "nothing would be sent"),
        ] {
            let problem = scenario(|json| *json.pointer_mut(pointer).unwrap() = value).unwrap_err();
            assert!(problem.contains(names), "{pointer}: {problem}");
        }
        let unknown = scenario(|json| json["wramup_ns"] = serde_json::json!(1)).unwrap_err();
        assert!(unknown.contains("wramup_ns"), "{unknown}");
    }
}
