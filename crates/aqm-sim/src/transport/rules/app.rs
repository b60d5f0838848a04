//! How an application uses its socket. Only the senders of one paper's program (dAQM's, in ns-3) differ here from all
//! others, so lists and help for the field leave these keys out.

use super::group::Group;
use crate::transport::relation::Relation;
use crate::transport::values::Values;
use aqm_core::choices;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Size, Span};

pub(super) const GROUP: Group = Group {
    name: "app",
    summary: "ns-3's OnOffApplication and its socket",
    keys: KEYS,
    of_profiles: false,
    relations: &[Relation { given: ("app.connect", Connect::Ahead.word()), needs: ("handshake", "on") }],
    linux: &[],
    ns3: &[],
};

choices! {
    /// When a source connects.
    enum Connect {
        ToWrite = "to_write",
        Ahead = "ahead",
    }
}

const KEYS: &[ParamSpec] = &[
    ParamSpec::choice::<Connect>(
        "app.connect",
        "whether a source connects with its first write, or ahead of it: then the first write comes a gap later",
        "ns-3's OnOffApplication connects when it starts, and writes once its rate has made up a packet",
    ),
    ParamSpec::new(
        "app.listen",
        Kind::Span,
        Value::Span(Span::ZERO),
        (0.0, 1e18),
        "time of the run from which on SYNs are accepted; before, they are refused, and repeated all the same",
        "ns-3: a PacketSink listens from its start on, and a reset in SYN-SENT is ignored",
    ),
    ParamSpec::new(
        "app.arp",
        Kind::Span,
        Value::Span(Span::ZERO),
        (0.0, 1e10),
        "how long the first SYN and its answer wait at their hosts for an address (ARP)",
        "RFC 826; ns-3: up to 10 ms at random before the request",
    ),
    ParamSpec::new(
        "app.write",
        Kind::Bytes,
        Value::Auto,
        (1.0, 65_000.0),
        "what a source with a rate writes at a time",
        "a full segment; ns-3's OnOffApplication has a PacketSize of its own",
    )
    .or_auto("mss"),
    ParamSpec::new(
        "app.sndbuf",
        Kind::Size,
        Value::Auto,
        (1.0, 1e18),
        "what a source's socket holds until it is acknowledged; what the source writes beyond is not sent",
        "no limit; ns-3's OnOffApplication goes on without what its socket refuses",
    )
    .or_auto("no limit"),
];

/// How the application of a connection uses its socket.
#[derive(Clone, Debug)]
pub(crate) struct AppRules {
    pub(crate) connects_ahead: bool,
    pub(crate) listen: Span,
    pub(crate) arp: Span,
    /// Bytes of a write, if it is no full segment.
    pub(crate) write: Option<u32>,
    pub(crate) sndbuf: Option<Size>,
}

impl AppRules {
    pub(crate) fn of(values: &Values) -> AppRules {
        AppRules {
            connects_ahead: values.choice::<Connect>("app.connect") == Connect::Ahead,
            listen: values.span("app.listen"),
            arp: values.span("app.arp"),
            write: values.bytes("app.write").map(|bytes| bytes.as_u64() as u32),
            sndbuf: values.size("app.sndbuf"),
        }
    }
}
