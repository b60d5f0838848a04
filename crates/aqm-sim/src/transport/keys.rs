//! The keys of transports, each declared once. Parsing of flow specs and scenarios, help and documentation follow.
//!
//! A key of only one congestion control is declared in that control's file, a rule of a group in `rules`.

use super::control::controller::Info;
use super::ecn::EcnMode;
use super::relation::Relation;
use super::rules;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Bytes, Span};

/// The largest IP packet that a link accepts.
const LARGEST: f64 = 65_000.0;
/// IPv4 and UDP headers.
const UDP_SMALLEST: f64 = 28.0;
const WITHOUT_BOUND: f64 = 1e18;

/// UDP datagrams: nothing reacts.
pub static UDP: &[ParamSpec] = &[
    ParamSpec::new(
        "packet",
        Kind::Bytes,
        Value::Bytes(Bytes::new(1500)),
        (UDP_SMALLEST, LARGEST),
        "bytes of each IP packet, headers included",
        "Ethernet's payload",
    ),
    ECN,
];

/// Every key of a TCP connection with this congestion control.
pub fn tcp_keys(info: &'static Info) -> impl Iterator<Item = &'static [ParamSpec]> {
    [TCP, info.params].into_iter().chain(rules::GROUPS.iter().map(|group| group.keys))
}

/// The keys of every TCP connection that are in no group of rules.
static TCP: &[ParamSpec] = &[
    ParamSpec::new(
        "mss",
        Kind::Bytes,
        Value::Bytes(Bytes::new(1448)),
        (1.0, LARGEST),
        "payload of a full segment",
        "1500 bytes less headers and timestamps",
    ),
    ParamSpec::new(
        "iw",
        Kind::Count,
        Value::Count(10),
        (1.0, 10_000.0),
        "initial window, in segments",
        "RFC 6928",
    ),
    ECN,
    ParamSpec::new("window", Kind::Size, Value::Auto, (1.0, WITHOUT_BOUND), "cap on the window", "no cap")
        .or_auto("no cap"),
    ParamSpec::flag(
        "pacing",
        false,
        "segments spaced over the round trip; without RACK a full queue may drop retransmissions too",
        "Linux: with sch_fq only",
    ),
    ParamSpec::flag("sack", true, "selective acknowledgments", "RFC 2018, RFC 6675"),
    ParamSpec::new(
        "delack",
        Kind::Span,
        Value::Span(Span::from_millis(40)),
        (0.0, WITHOUT_BOUND),
        "longest ACK delay; every second segment is acknowledged at once, with off every one",
        "RFC 1122 section 4.2.3.2: below 500 ms; Linux: 40 ms",
    ),
    ParamSpec::new(
        "minrto",
        Kind::Span,
        Value::Span(Span::from_millis(200)),
        (1.0, WITHOUT_BOUND),
        "smallest retransmission timeout",
        "RFC 6298 section 2.4: 1 s; Linux: 200 ms",
    ),
    ParamSpec::flag(
        "handshake",
        false,
        "open with SYN and SYN-ACK, which may be lost",
        "RFC 9293 section 3.5",
    ),
    ParamSpec::flag("ipv6", false, "IPv6 instead of IPv4: 20 bytes more per packet", "RFC 8200"),
];

const ECN: ParamSpec = ParamSpec::choice::<EcnMode>(
    "ecn",
    "ECN; classic is RFC 3168 (ECT(0)), l4s is RFC 9331 (ECT(1); prague and udp)",
    "RFC 3168, RFC 9331",
);

/// Relations between the keys of a TCP connection with this congestion control.
pub fn relations(info: &'static Info) -> impl Iterator<Item = &'static Relation> {
    rules::GROUPS.iter().flat_map(|group| group.relations).chain(info.relations)
}
