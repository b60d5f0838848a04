//! Groups of flows: what carries them, and when they start.

use crate::traffic::source::Source;
use crate::transport::{EcnMode, Tcp, TransportSpec};
use aqm_core::input_error::InputError;
use aqm_core::units::Time;
use serde::{Deserialize, Serialize};

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
    pub spacing_ns: u64,
    /// Base round-trip time of these flows, nanoseconds; `None` means the scenario's.
    #[serde(default)]
    pub rtt_ns: Option<u64>,
    /// The nodes of the topology where the flows begin, one after the other. On a dumbbell none: each flow has hosts
    /// of its own.
    #[serde(default)]
    pub from: Vec<String>,
    /// Where they end, likewise.
    #[serde(default)]
    pub to: Vec<String>,
    /// What carries the data.
    pub transport: Transport,
    /// How the ends of its connections use their sockets, which the run's inputs know; of TCP alone.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "socket")]
    pub socket: Option<TransportSpec>,
    /// What is sent.
    pub source: Source,
    /// Traffic class of the packets: 0 for the first band or child of a classful scheduler, and so on.
    #[serde(default)]
    pub class: u16,
    /// DiffServ code point of the packets.
    #[serde(default)]
    pub dscp: u8,
}

impl FlowGroup {
    /// `count` flows that always have data, and start within the first second.
    pub fn bulk(name: &str, count: u32, transport: Transport) -> FlowGroup {
        FlowGroup {
            name: name.to_owned(),
            count,
            start_ns: (0, 1_000_000_000),
            spacing_ns: 0,
            rtt_ns: None,
            from: Vec::new(),
            to: Vec::new(),
            transport,
            socket: None,
            source: Source::Bulk { size_bytes: None, stop_ns: None },
            class: 0,
            dscp: 0,
        }
    }
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
    /// Datagrams as fast as a rate control says, which the run's inputs know.
    Rate(#[serde(with = "rate_control")] TransportSpec),
    /// A real transport, which the run's inputs have.
    Stack(#[serde(with = "stack")] TransportSpec),
}

/// How a scenario writes a rate control.
mod rate_control {
    use crate::transport::TransportSpec;
    use serde::{Deserializer, Serializer};

    const KIND: &str = "rate_control";

    pub(super) fn serialize<S: Serializer>(named: &TransportSpec, serializer: S) -> Result<S::Ok, S::Error> {
        named.write(KIND, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TransportSpec, D::Error> {
        TransportSpec::read(KIND, deserializer)
    }
}

/// How a scenario writes a real transport.
mod stack {
    use crate::stack::STACK;
    use crate::transport::TransportSpec;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(named: &TransportSpec, serializer: S) -> Result<S::Ok, S::Error> {
        named.write(STACK, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TransportSpec, D::Error> {
        TransportSpec::read(STACK, deserializer)
    }
}

/// How a scenario writes sockets.
mod socket {
    use crate::transport::TransportSpec;
    use crate::transport::socket::SOCKET;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        named: &Option<TransportSpec>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match named {
            Some(named) => named.write(SOCKET, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<TransportSpec>, D::Error> {
        TransportSpec::read(SOCKET, deserializer).map(Some)
    }
}

impl FlowGroup {
    /// How many flows its members have in both directions, at least.
    pub(super) fn connections(&self) -> u64 {
        let each = match &self.source {
            Source::Rounds(round) => u64::from(round.connections) * (1 + u64::from(round.request.is_some())),
            Source::Video(_) | Source::Voip | Source::Replay { .. } => 2,
            Source::Arrivals { both_ways: true, .. } => 2,
            _ => 1,
        };
        u64::from(self.count) * each
    }

    /// An error about something in the group.
    pub(crate) fn refused(&self, error: InputError) -> InputError {
        error.within(format!("'{}'", self.name)).of_option("flows")
    }

    pub(super) fn check(&self) -> Result<(), InputError> {
        let positive = |key: &str, value: u64| {
            if value > 0 { Ok(()) } else { Err(InputError::field(key, 0, "it must be greater than zero")) }
        };
        positive("count", u64::from(self.count))?;
        if self.start_ns.1 < self.start_ns.0 {
            return Err(InputError::new("the latest is before the earliest").within("start"));
        }
        if let Source::Bulk { stop_ns: Some(stop), .. } = self.source
            && stop < self.start_ns.1
        {
            let [stop, start] = [stop, self.start_ns.1].map(Time::from_nanos);
            return Err(InputError::field(
                "stop",
                stop,
                format_args!("it must not be before the latest start, {start}"),
            ));
        }
        if let Some(socket) = &self.socket
            && !matches!(self.transport, Transport::Tcp(_))
        {
            return Err(InputError::value(&socket.name, "is of flows over TCP alone").within("socket"));
        }
        match &self.transport {
            Transport::Udp { packet_bytes, .. } => {
                if !(UDP_SMALLEST..=LARGEST).contains(packet_bytes) {
                    return Err(InputError::field(
                        "packet",
                        format_args!("{packet_bytes}b"),
                        format_args!("it must be within {UDP_SMALLEST}b (headers alone) and {LARGEST}b"),
                    ));
                }
                if matches!(self.source, Source::Bulk { .. }) {
                    return Err(InputError::new("udp needs a rate: a bulk source has none"));
                }
                if matches!(
                    self.source,
                    Source::Rounds(_) | Source::Workload { .. } | Source::Video(_) | Source::Replay { .. }
                ) {
                    return Err(InputError::new(
                        "udp cannot carry a source that waits for delivery: it needs tcp",
                    ));
                }
            }
            Transport::Tcp(tcp) => {
                if self.source == Source::Voip {
                    return Err(InputError::new("a call needs udp"));
                }
                tcp.check()?;
            }
            Transport::Rate(_) => {
                if matches!(self.source, Source::Bulk { stop_ns: Some(_), .. }) {
                    return Err(InputError::new("rate-based senders do not stop at a time").within("stop"));
                }
                if !matches!(self.source, Source::Bulk { .. } | Source::Workload { .. }) {
                    return Err(InputError::new("a rate-based sender needs a bulk source or a workload"));
                }
            }
            Transport::Stack(_) => {
                if !matches!(self.source, Source::Bulk { .. } | Source::Workload { .. })
                    && !self.source.is_written_one_way()
                {
                    return Err(InputError::new(
                        "a real transport cannot carry a source that waits for delivery, nor one in both directions",
                    ));
                }
            }
        }
        if let (Transport::Udp { packet_bytes: UDP_SMALLEST, .. }, Source::Arrivals { size: Some(_), .. }) =
            (&self.transport, &self.source)
        {
            return Err(InputError::field(
                "packet",
                format_args!("{UDP_SMALLEST}b"),
                "it must leave room for messages",
            ));
        }
        self.source.check()
    }
}

/// IPv4 and UDP headers, and the largest IP packet that a link is expected to take.
const UDP_SMALLEST: u32 = 28;
const LARGEST: u32 = 65_000;
