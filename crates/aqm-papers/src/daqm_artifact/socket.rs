//! The sockets of the authors' senders: ns-3's OnOffApplication and PacketSink, and the addresses that their hosts look for.

use aqm_core::choices;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Span, Time};
use aqm_sim::scenario::Tcp;
use aqm_sim::transport::socket::{Info, Socket};
use aqm_sim::transport::{Relation, Values};

/// The registry entry.
pub(crate) static INFO: Info = Info {
    name: "app",
    summary: "ns-3's OnOffApplication and its socket",
    keys: KEYS,
    relations: &[Relation { given: ("app.connect", Connect::Ahead.word()), needs: ("handshake", "on") }],
    write_bytes: |values| values.bytes("app.write").map(|bytes| bytes.as_u64() as u32),
    build: |values, tcp| Box::new(OnOff::new(values, tcp)),
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

/// The sockets of one connection.
struct OnOff {
    /// Whether the source's next event opens the connection.
    connects_ahead: bool,
    listen: Time,
    /// How long the first SYN and the first answer will wait for an address; zero once they have.
    arp: [Span; 2],
    sndbuf: u64,
}

impl OnOff {
    fn new(values: &Values, tcp: &Tcp) -> OnOff {
        OnOff {
            connects_ahead: values.choice::<Connect>("app.connect") == Connect::Ahead,
            listen: Time::ZERO + values.span("app.listen"),
            arp: [values.span("app.arp"); 2],
            sndbuf: values.size("app.sndbuf").map_or(u64::MAX, |size| tcp.payload(size)),
        }
    }
}

impl Socket for OnOff {
    fn opens(&mut self) -> bool {
        std::mem::take(&mut self.connects_ahead)
    }

    fn wait(&mut self, is_answer: bool) -> Span {
        std::mem::take(&mut self.arp[usize::from(is_answer)])
    }

    fn listens(&self, now: Time) -> bool {
        now >= self.listen
    }

    fn takes(&self, held: u64, bytes: u64) -> bool {
        held + bytes <= self.sndbuf
    }
}
