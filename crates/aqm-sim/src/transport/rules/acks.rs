//! When a receiver acknowledges, beside `delack` and `sack`.

use super::group::Group;
use crate::transport::values::Values;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Bytes, Span};

pub(super) const GROUP: Group = Group {
    name: "acks",
    summary: "when the receiver acknowledges",
    keys: KEYS,
    relations: &[],
    linux: &[
        ("acks.delack_max", Value::Span(Span::from_millis(200))),
        ("acks.quickack", Value::Count(16)),
        ("acks.quickack_mode", Value::Flag(true)),
        ("acks.psh", Value::Flag(true)),
        ("acks.rcvbuf", Value::Bytes(Bytes::new(131_072))),
    ],
    ns3: &[],
};

const KEYS: &[ParamSpec] = &[
    ParamSpec::new(
        "acks.delack_max",
        Kind::Span,
        Value::Span(Span::ZERO),
        (0.0, 1e18),
        "longest delayed-ACK timer where delack adapts: to twice the time between segments, doubled if it fires, within an RTT",
        "RFC 1122 section 4.2.3.2; Linux: 200 ms (TCP_DELACK_MAX; measured)",
    ),
    ParamSpec::new(
        "acks.quickack",
        Kind::Count,
        Value::Count(0),
        (0.0, 1000.0),
        "first segments that are acknowledged at once",
        "RFC 5681 section 4.2; Linux: 16 (TCP_MAX_QUICKACKS)",
    ),
    ParamSpec::flag(
        "acks.quickack_mode",
        false,
        "acknowledge at once 16 segments after a duplicate or a pause longer than an RTO, 2 after CE (dctcp: 1 at a change), and CWR's",
        "RFC 5681 section 4.2, RFC 8257 section 3.2; Linux: on (tcp_enter_quickack_mode, tcp_event_data_recv, __tcp_ecn_check_ce, tcp_ecn_accept_cwr, dctcp_ece_ack_update)",
    ),
    ParamSpec::flag(
        "acks.psh",
        false,
        "acknowledge PSH segments at once; senders of bulk data set it on 2 of 39",
        "RFC 9293 section 3.9.1; Linux: on (tcp_measure_rcv_mss, forced_push; measured)",
    ),
    ParamSpec::new(
        "acks.rcvbuf",
        Kind::Bytes,
        Value::Auto,
        (1.0, 1e18),
        "initial receive buffer, auto-tuned; while its window grows, segments are acknowledged at once",
        "none; Linux: tcp_rmem's default, 131072 (tcp_grow_window, tcp_rcv_space_adjust; measured)",
    )
    .or_auto("none"),
];

/// The rules of a receiver.
#[derive(Clone, Debug)]
pub(crate) struct AckRules {
    pub(crate) delack_max: Span,
    pub(crate) quickack: u32,
    pub(crate) quickack_mode: bool,
    pub(crate) psh: bool,
    /// Bytes of the receive buffer, if its window grows.
    pub(crate) rcvbuf: Option<u64>,
}

impl AckRules {
    pub(crate) fn of(values: &Values) -> AckRules {
        AckRules {
            delack_max: values.span("acks.delack_max"),
            quickack: values.count("acks.quickack"),
            quickack_mode: values.flag("acks.quickack_mode"),
            psh: values.flag("acks.psh"),
            rcvbuf: values.bytes("acks.rcvbuf").map(Bytes::as_u64),
        }
    }
}
