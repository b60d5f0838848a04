//! The source of a flow, fully resolved.

use super::distribution::Distribution;
use super::workload::MOST_LOAD;
use aqm_core::choices;
use aqm_core::input_error::InputError;
use aqm_core::units::Span;
use serde::{Deserialize, Serialize};

/// The data that a flow has to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// As much as the transport takes: `size_bytes` of payload, or without end; nothing new after `stop_ns`.
    Bulk {
        /// Payload bytes of a finite flow.
        size_bytes: Option<u64>,
        /// When it stops (TCP), nanoseconds; what is lost is still repeated.
        #[serde(default)]
        stop_ns: Option<u64>,
    },
    /// A constant rate of IP bytes (UDP) or payload (others), bit/s.
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
    /// Full packets at exponential intervals.
    Poisson {
        /// Mean rate in bit/s, of IP bytes (UDP) or payload (others).
        rate_bps: u64,
    },
    /// A rate that changes in steps, drawn each time.
    Steps {
        /// Bit/s, of IP bytes (UDP) or payload (others).
        rate: Distribution,
        /// How long each rate lasts, nanoseconds.
        every: Distribution,
    },
    /// Messages at random times.
    Arrivals {
        /// Times between messages, nanoseconds.
        gap: Distribution,
        /// Payload bytes of a message, sent in as many packets as it takes (over UDP at most 16 MiB); `None` for one
        /// full packet.
        #[serde(default)]
        size: Option<Distribution>,
        /// Whether the receiver sends such messages too, at times of its own.
        #[serde(default)]
        both_ways: bool,
    },
    /// A telephone call over UDP: G.711 in frames of 20 ms, in both directions, without silence.
    Voip,
    /// Adaptive streaming over TCP.
    Video(Video),
    /// Replay of the TCP connections of a capture (pcap, pcapng) over simulated TCP, so that they react. Sizes and
    /// think times are the capture's; servers send in the measured direction.
    Replay {
        /// The capture.
        file: String,
    },
    /// Rounds of requests and responses, over TCP.
    Rounds(Round),
    /// Finite flows over TCP with Poisson arrivals, all members of the group together.
    Workload {
        /// Payload bytes of a flow.
        size: Distribution,
        /// Payload offered, as a share of the bottleneck's (mean) rate.
        load: f64,
    },
}

/// A client that repeats: it asks for objects, waits for all of them, and pauses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// What a round is to the user: decides the names of the metrics.
    pub exchange: Exchange,
    /// Connections, each to a server of its own if it is a query; they stay open.
    #[serde(default = "one")]
    pub connections: u32,
    /// Objects of a round; `None` for one per connection.
    #[serde(default)]
    pub objects: Option<Distribution>,
    /// Bytes of a request, sent against the measured direction; `None` if the server sends unasked.
    #[serde(default)]
    pub request: Option<Distribution>,
    /// Bytes of an object.
    pub size: Distribution,
    /// Pause from the end of a round to the next, nanoseconds.
    pub pause: Distribution,
}

/// The video of a player.
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

choices! {
    /// What a round is to its user.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Exchange {
        /// A file.
        Transfer = "transfer",
        /// A remote procedure call.
        Rpc = "rpc",
        /// A web page.
        Page = "page",
        /// A query that many servers answer at once (incast).
        Query = "query",
    }
}

/// Most connections of one client.
pub(super) const MOST_CONNECTIONS: u32 = 10_000;

fn one() -> u32 {
    1
}

impl Source {
    /// Whether an application writes over time, in one direction, and waits for nothing.
    pub(crate) fn is_written_one_way(&self) -> bool {
        matches!(
            self,
            Source::Cbr { .. }
                | Source::OnOff { .. }
                | Source::Poisson { .. }
                | Source::Steps { .. }
                | Source::Arrivals { both_ways: false, .. }
        )
    }

    /// Refuses sources that could never end.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        let positive = |key: &str, value: u64| {
            if value > 0 { Ok(()) } else { Err(InputError::field(key, 0, "it must be greater than zero")) }
        };
        match self {
            Source::Bulk { size_bytes, .. } => size_bytes.map_or(Ok(()), |size| positive("size", size)),
            Source::Cbr { rate_bps } | Source::Poisson { rate_bps } => positive("rate", *rate_bps),
            Source::OnOff { rate_bps, on, off } => {
                positive("rate", *rate_bps)?;
                on.check_positive("on")?;
                off.check("off")
            }
            Source::Steps { rate, every } => {
                rate.check_positive("rate")?;
                every.check_positive("every")
            }
            Source::Voip | Source::Replay { .. } => Ok(()),
            Source::Video(video) => {
                positive("segment", video.segment_ns)?;
                if video.buffer_ns < 2 * video.segment_ns {
                    let buffer = Span::from_nanos(video.buffer_ns);
                    return Err(InputError::field("buffer", buffer, "it must hold two segments"));
                }
                positive("rates", video.rates_bps.first().copied().unwrap_or(0))?;
                if !video.rates_bps.is_sorted_by(|low, high| low < high) {
                    return Err(InputError::new("rates do not ascend"));
                }
                Ok(())
            }
            Source::Arrivals { gap, size, .. } => {
                gap.check_positive("gap")?;
                size.as_ref().map_or(Ok(()), |size| size.check_positive("size"))
            }
            Source::Rounds(round) => {
                if !(1..=MOST_CONNECTIONS).contains(&round.connections) {
                    return Err(InputError::field(
                        "connections",
                        round.connections,
                        format_args!("it must be within 1 and {MOST_CONNECTIONS}"),
                    ));
                }
                round.objects.as_ref().map_or(Ok(()), |objects| objects.check_positive("objects"))?;
                round.size.check_positive("size")?;
                round.pause.check("pause")?;
                round.request.as_ref().map_or(Ok(()), |request| request.check_positive("request"))
            }
            Source::Workload { size, load } => {
                size.check_positive("size")?;
                if !size.mean().is_finite() {
                    return Err(InputError::new(
                        "size has no mean, which a load needs: its shape must be above 1",
                    ));
                }
                if !(*load > 0.0 && *load <= MOST_LOAD) {
                    return Err(InputError::field(
                        "load",
                        load,
                        format_args!("it must be above 0 and at most {MOST_LOAD}"),
                    ));
                }
                Ok(())
            }
        }
    }
}
