//! What is simulated, fully resolved: every quantity in base units, every default filled in.
//!
//! The Python package reads what people write (`10mbit`, `1bdp`, `10*cubic`) and hands over this form as JSON.
//! Unknown keys are refused.

pub use crate::topology::Topology;
pub use crate::traffic::distribution::Distribution;
use aqm_core::packet::Ecn;
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
                if !(1..=LARGEST).contains(&tcp.mss_bytes) {
                    return Err(format!("mss_bytes is {}: it must be within 1 and {LARGEST}", tcp.mss_bytes));
                }
                positive("initial_window", u64::from(tcp.initial_window))?;
                positive("delack_segments", u64::from(tcp.delack_segments))?;
                positive("min_rto_ns", tcp.min_rto_ns)?;
                if tcp.ecn == EcnMode::L4s && tcp.congestion_control != CongestionControl::Prague {
                    return Err("ecn l4s needs a congestion control that is made for it: prague".to_owned());
                }
                if tcp.halve_pipe && tcp.congestion_control != CongestionControl::Newreno {
                    return Err("halve_pipe is on: that is for newreno".to_owned());
                }
                for (key, on) in [("prr", tcp.prr), ("rack", tcp.rack), ("halve_pipe", tcp.halve_pipe)] {
                    if on && !tcp.sack {
                        return Err(format!("{key} is on: it needs sack"));
                    }
                }
                if !tcp.byte_counting && (tcp.congestion_control != CongestionControl::Newreno || tcp.hystart)
                {
                    return Err("byte_counting is off: that is for newreno, without hystart".to_owned());
                }
                tcp.check_model()?;
                if let Some(window) = tcp.window_bytes
                    && window < u64::from(tcp.mss_bytes)
                {
                    return Err(format!(
                        "window_bytes is {window}: it must hold a segment of {}",
                        tcp.mss_bytes
                    ));
                }
                if tcp.congestion_control == CongestionControl::Fixed && tcp.window_bytes.is_none() {
                    return Err("a fixed window needs window_bytes".to_owned());
                }
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
    /// Spaces segments in time even where the congestion control has no rate of its own.
    #[serde(default)]
    pub pacing: bool,
    /// HyStart++ (RFC 9406) in the first slow start.
    #[serde(default)]
    pub hystart: bool,
    /// The connection is opened by a SYN and its answer, which may be lost, instead of being there from the start.
    #[serde(default)]
    pub handshake: bool,
    /// SYN and its answer claim to understand marks (RFC 8311 section 4.3 allows it; draft-ietf-tcpm-generalized-ecn).
    #[serde(default)]
    pub ecn_syn: bool,
    /// Segments at the start of which each is acknowledged at once (Linux: 16 at most).
    #[serde(default)]
    pub quickack_segments: u32,
    /// A retransmission that turns out to have been needless is taken back (RFC 3522, RFC 4015).
    #[serde(default)]
    pub eifel: bool,
    /// Proportional rate reduction in recovery (RFC 6937); needs `sack`.
    #[serde(default)]
    pub prr: bool,
    /// Loss detection by time, with tail loss probes (RFC 8985); needs `sack`.
    #[serde(default)]
    pub rack: bool,
    /// The window grows by the bytes acknowledged (RFC 3465); else, with NewReno, once per acknowledgment (RFC 5681).
    #[serde(default = "defaults::byte_counting")]
    pub byte_counting: bool,
    /// A loss found by SACK halves what is believed to be in the network (RFC 6675's pipe, as in ns-3) and not, as RFC 5681
    /// says, all that is outstanding; for NewReno, needs `sack`.
    #[serde(default)]
    pub halve_pipe: bool,
}

impl Tcp {
    /// BBR has its own way to begin and to recover, counts what SACK reports, and its drafts name no response to marks.
    fn check_model(&self) -> Result<(), String> {
        if !matches!(self.congestion_control, CongestionControl::Bbr1 | CongestionControl::Bbr3) {
            return Ok(());
        }
        if !self.sack {
            return Err("sack is off: bbr needs it".to_owned());
        }
        for (key, on) in [("ecn", self.ecn != EcnMode::Off), ("hystart", self.hystart), ("prr", self.prr)] {
            if on {
                return Err(format!("{key} is on: bbr has no use for it"));
            }
        }
        Ok(())
    }
}

/// Congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// RFC 5681, RFC 6582.
    Newreno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257; wants `ecn`.
    Dctcp,
    /// RFC 6817.
    Ledbat,
    /// TCP Prague, as the draft has it; wants `ecn`. Not validated against an implementation.
    Prague,
    /// draft-cardwell-iccrg-bbr-congestion-control-00: the first version of BBR, which Linux calls bbr.
    Bbr1,
    /// draft-ietf-ccwg-bbr-06. Not validated against an implementation.
    Bbr3,
    /// Keeps the window at its cap whatever happens: an instrument, not a transport.
    Fixed,
}

/// Explicit congestion notification of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnMode {
    /// Packets are Not-ECT.
    #[default]
    Off,
    /// RFC 3168: ECT(0), one reaction per round trip.
    Classic,
    /// RFC 9331: ECT(1), which asks for the low-latency queue.
    L4s,
}

impl EcnMode {
    /// What packets carry.
    pub const fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
        }
    }
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

    pub(super) fn byte_counting() -> bool {
        true
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
    fn bbr_is_refused_what_it_has_no_use_for() {
        let with = |control: &str, key: &str, value: serde_json::Value| {
            let mut tcp = serde_json::json!({"congestion_control": control, "mss_bytes": 1448, "initial_window": 10,
                "sack": true, "ecn": "off", "delack_segments": 2, "delack_ns": 1, "min_rto_ns": 1, "window_bytes": null});
            tcp[key] = value;
            scenario(|json| json["flows"][0]["transport"] = serde_json::json!({ "tcp": tcp }))
        };
        for control in ["bbr1", "bbr3"] {
            assert_eq!(with(control, "rack", true.into()), Ok(()));
            for (key, value) in [
                ("sack", false.into()),
                ("ecn", "classic".into()),
                ("hystart", true.into()),
                ("prr", true.into()),
            ] {
                assert!(
                    with(control, key, value).unwrap_err().contains(&format!("'bursts': {key} is")),
                    "{key}"
                );
            }
        }
    }

    #[test]
    fn of_tcp_prague_alone_may_ask_for_the_low_latency_queue() {
        let with = |control: &str| {
            let tcp = serde_json::json!({"tcp": {"congestion_control": control, "mss_bytes": 1448, "initial_window": 10,
                "sack": true, "ecn": "l4s", "delack_segments": 2, "delack_ns": 1, "min_rto_ns": 1, "window_bytes": null}});
            scenario(|json| json["flows"][0]["transport"] = tcp)
        };
        assert_eq!(with("prague"), Ok(()));
        for control in ["newreno", "cubic", "dctcp", "ledbat"] {
            assert!(with(control).unwrap_err().contains("'bursts': ecn l4s"), "{control}");
        }
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
