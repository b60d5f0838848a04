//! The keys of transports, each declared once. Parsing of flow specs and scenarios, help and documentation follow.
//!
//! A key of only one congestion control is declared in that control's file.

use super::ecn::EcnMode;
use aqm_core::params::{Kind, ParamSpec, Preset, Value};
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

/// Every TCP connection, with any congestion control.
pub static TCP: &[ParamSpec] = &[
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
    ParamSpec::flag("sack", true, "selective acknowledgments", "RFC 2018, RFC 6675"),
    ECN,
    ParamSpec::new(
        "delack",
        Kind::Span,
        Value::Span(Span::from_millis(40)),
        (0.0, WITHOUT_BOUND),
        "longest ACK delay; every second segment is acknowledged at once, with off every one",
        "RFC 1122 section 4.2.3.2: below 500 ms; Linux: 40 ms",
    ),
    ParamSpec::new(
        "delackmax",
        Kind::Span,
        Value::Span(Span::ZERO),
        (0.0, WITHOUT_BOUND),
        "up to which delack adapts: to twice the time between segments, doubled where it passes in vain, within a round trip",
        "RFC 1122 section 4.2.3.2; Linux: 200 ms (TCP_DELACK_MAX; measured)",
    ),
    ParamSpec::new(
        "minrto",
        Kind::Span,
        Value::Span(Span::from_millis(200)),
        (1.0, WITHOUT_BOUND),
        "smallest retransmission timeout",
        "RFC 6298 section 2.4: 1 s; Linux: 200 ms",
    ),
    ParamSpec::choice(
        "rto",
        &["whole", "variation"],
        "what minrto is the least of: the timeout, or the part of it that variation adds to the smoothed RTT",
        "RFC 6298 section 2.4; Linux: variation (tcp_rtt_estimator)",
    ),
    ParamSpec::choice(
        "ssthresh",
        &["flight", "pipe", "window"],
        "what congestion reduces: the flight, RFC 6675's pipe as in ns-3 (at losses; needs sack), or the window",
        "RFC 5681 equation 4; RFC 6675; Linux: window (tcp_reno_ssthresh)",
    ),
    ParamSpec::flag(
        "relower",
        true,
        "a retransmission that is lost, and a timeout within a recovery, lower ssthresh again",
        "RFC 5681 sections 3.1 and 4.3; Linux: off (tcp_enter_loss)",
    ),
    ParamSpec::flag(
        "relapse",
        false,
        "a recovery that ends while later segments are known to be lost is followed by another at once; needs sack",
        "RFC 5681 section 4.3; Linux: on (tcp_time_to_recover)",
    ),
    ParamSpec::choice(
        "count",
        &["bytes", "segments"],
        "what reductions and prr count in; segments: a half of 5 is 2, and a started one is sent",
        "RFC 5681 section 2; Linux: segments (snd_cwnd)",
    ),
    ParamSpec::flag(
        "sackgrow",
        false,
        "the window grows by what is delivered: what SACK reports with an ACK that advances (and, once the path has reordered, without), less what duplicate ACKs stood for",
        "RFC 3465 section 2.1; Linux: on (tcp_cong_avoid is given acked_sacked, tcp_may_raise_cwnd)",
    ),
    ParamSpec::new(
        "sslimit",
        Kind::Count,
        Value::Count(2),
        (0.0, 10_000.0),
        "most segments that an acknowledgment adds in slow start; 0: no limit, also in HyStart++, which has 8",
        "RFC 3465 section 2.2; Linux: none (tcp_slow_start)",
    ),
    ParamSpec::new("window", Kind::Size, Value::Auto, (1.0, WITHOUT_BOUND), "cap on the window", "no cap")
        .or_auto("no cap"),
    ParamSpec::flag(
        "pacing",
        false,
        "segments spaced over the round trip; without rack=on a full queue may drop retransmissions too",
        "Linux: with sch_fq only",
    ),
    ParamSpec::flag("hystart", false, "HyStart++ in the first slow start", "RFC 9406"),
    ParamSpec::choice(
        "detect",
        &["rounds", "classic", "classic_first"],
        "how hystart finds that the pipe is full: rounds of a longer RTT, or in any slow start trains of ACKs and delays, in rounds from 16 segments on or (classic_first) from the first ACK",
        "RFC 9406; Ha, Rhee 2008; Linux: classic_first (hystart_update), 5.16 to 6.13 classic",
    ),
    ParamSpec::flag(
        "handshake",
        false,
        "open with SYN and SYN-ACK, which may be lost",
        "RFC 9293 section 3.5",
    ),
    ParamSpec::new(
        "synrto",
        Kind::Span,
        Value::Span(Span::from_secs(1)),
        (1e6, WITHOUT_BOUND),
        "when a SYN is repeated first; then twice as long each time",
        "RFC 6298 section 2.1; RFC 1122 section 4.2.3.1 and ns-3: 3 s",
    ),
    ParamSpec::choice(
        "synloss",
        &["respected", "ignored"],
        "whether a repeated SYN leaves a window of one segment and a timeout of 3 s",
        "RFC 5681 section 3.1, RFC 6298 section 5.7; ns-3 ignores it",
    ),
    ParamSpec::choice(
        "connect",
        &["to_write", "ahead"],
        "whether a source opens its connection with its first write, or ahead of it: then the first write comes a gap later",
        "ns-3's OnOffApplication connects when it starts, and writes once its rate has made up a packet",
    ),
    ParamSpec::new(
        "listen",
        Kind::Span,
        Value::Span(Span::ZERO),
        (0.0, WITHOUT_BOUND),
        "time of the run from which on SYNs are accepted; before, they are refused, and repeated all the same",
        "ns-3: a PacketSink listens from its start on, and a reset in SYN-SENT is ignored",
    ),
    ParamSpec::new(
        "resolve",
        Kind::Span,
        Value::Span(Span::ZERO),
        (0.0, 1e10),
        "how long the first SYN and its answer wait at their hosts for an address (ARP)",
        "RFC 826; ns-3: up to 10 ms at random before the request",
    ),
    ParamSpec::new(
        "write",
        Kind::Bytes,
        Value::Auto,
        (1.0, LARGEST),
        "what a source with a rate writes at a time",
        "a full segment; ns-3's OnOffApplication has a PacketSize of its own",
    )
    .or_auto("mss"),
    ParamSpec::new(
        "sndbuf",
        Kind::Size,
        Value::Auto,
        (1.0, WITHOUT_BOUND),
        "what a source's socket holds until it is acknowledged; what the source writes beyond is not sent",
        "no limit; ns-3's OnOffApplication goes on without what its socket refuses",
    )
    .or_auto("no limit"),
    ParamSpec::choice(
        "synecn",
        &["kept", "dropped"],
        "whether a connection with ECN still has it if its SYN had to be repeated",
        "RFC 3168 section 6.1.1.1 allows both; Linux: dropped (tcp_ecn_fallback)",
    ),
    ParamSpec::flag("ecnsyn", false, "SYN and SYN-ACK are ECT if ecn is on", "RFC 8311 section 4.3"),
    ParamSpec::new(
        "quickack",
        Kind::Count,
        Value::Count(0),
        (0.0, 1000.0),
        "first segments that are acknowledged at once",
        "RFC 5681 section 4.2; Linux: 16",
    ),
    ParamSpec::new(
        "rcvbuf",
        Kind::Bytes,
        Value::Auto,
        (1.0, WITHOUT_BOUND),
        "receive buffer whose window grows with what round trips bring: while it does, segments are acknowledged at once",
        "none; Linux: tcp_rmem's default, 131072 (tcp_grow_window, tcp_rcv_space_adjust; measured)",
    )
    .or_auto("none"),
    ParamSpec::flag(
        "quicken",
        false,
        "16 segments after a duplicate or a pause longer than a timeout, 2 after CE (dctcp: 1 at a change), and CWR's, are acknowledged at once",
        "RFC 5681 section 4.2, RFC 8257 section 3.2; Linux: on (tcp_data_queue, tcp_event_data_recv, __tcp_ecn_check_ce, tcp_ecn_accept_cwr, dctcp_ece_ack_update)",
    ),
    ParamSpec::flag(
        "push",
        false,
        "two of 39 segments, which a sender of bulk data says to push, are acknowledged at once",
        "RFC 9293 section 3.9.1; Linux: on (tcp_measure_rcv_mss, forced_push; measured)",
    ),
    ParamSpec::flag("eifel", false, "undo spurious retransmissions", "RFC 3522, RFC 4015"),
    ParamSpec::flag(
        "frto",
        false,
        "after a timeout, new data are sent to find out whether it was spurious; needs sack",
        "RFC 5682; Linux: on (tcp_process_loss)",
    ),
    ParamSpec::flag("prr", false, "proportional rate reduction in recovery; needs sack", "RFC 6937"),
    ParamSpec::flag(
        "markprr",
        false,
        "prr spreads what a mark takes from newreno, cubic and dctcp as well, and the window does not grow meanwhile",
        "RFC 3168 section 6.1.2; Linux: on (tcp_enter_cwr, tcp_cwnd_reduction)",
    ),
    ParamSpec::flag(
        "safeack",
        false,
        "prr sends a segment more than arrived only if the ACK advanced and no loss is new",
        "RFC 9937 (SafeACK); Linux: on (tcp_cwnd_reduction)",
    ),
    ParamSpec::flag(
        "timerprr",
        false,
        "prr counts a segment as arrived when a timer, and no ACK, finds the loss (rack)",
        "RFC 9937 counts what ACKs report; Linux: on (tcp_rack_reo_timeout)",
    ),
    ParamSpec::flag("rack", false, "RACK-TLP: loss found by time; needs sack", "RFC 8985"),
];

/// The IP header of a TCP connection.
pub static IP: &[ParamSpec] =
    &[ParamSpec::flag("ipv6", false, "IPv6 instead of IPv4: 20 bytes more per packet", "RFC 8200")];

const ECN: ParamSpec = ParamSpec::choice(
    "ecn",
    EcnMode::WORDS,
    "ECN; classic is RFC 3168 (ECT(0)), l4s is RFC 9331 (ECT(1); prague and udp)",
    "RFC 3168, RFC 9331",
);

/// A value of one key that needs a value of another key: `rack=on` needs `sack=on`.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// The key and its value.
    pub given: (&'static str, &'static str),
    /// The other key and the value that it must have.
    pub needs: (&'static str, &'static str),
}

/// Relations of every TCP connection.
pub static RELATIONS: &[Relation] = &[
    Relation { given: ("prr", "on"), needs: ("sack", "on") },
    Relation { given: ("rack", "on"), needs: ("sack", "on") },
    Relation { given: ("frto", "on"), needs: ("sack", "on") },
    Relation { given: ("relapse", "on"), needs: ("sack", "on") },
    Relation { given: ("connect", "ahead"), needs: ("handshake", "on") },
    Relation { given: ("ssthresh", "pipe"), needs: ("sack", "on") },
];

/// How an implementation sets the keys of TCP. `profile=` chooses one, as `name:preset` does for a discipline. Keys of
/// only one congestion control are set in that control's file.
pub static PROFILES: &[Preset] = &[
    Preset {
        name: "rfc",
        source: "the RFCs' mandatory parts with the defaults of docs/reference/transports, but for RFC 5681 section 4.3 (relapse); minrto and delack as in Linux",
        values: &[],
    },
    Preset {
        name: "linux",
        source: "Linux 6.12 net/ipv4 with its sysctls' defaults: tcp_recovery=1 and tcp_early_retrans=3 (RACK-TLP), \
                 PRR (tcp_input.c, tcp_cwnd_reduction), ssthresh from snd_cwnd (tcp_reno_ssthresh) and not again within \
                 a recovery (tcp_enter_loss), RTO of srtt and at least TCP_RTO_MIN (tcp_rtt_estimator), TCP_MAX_QUICKACKS 16, TCP_RTO_MIN 200 ms, TCP_DELACK_MIN \
                 40 ms, TCP_DELACK_MAX 200 ms, undo by timestamps (tcp_packet_delayed), \
                 TCP_INIT_CWND 10 also after one lost SYN (tcp_init_transfer), tcp_ecn=2 (not asked for by clients)",
        values: &[
            ("delackmax", Value::Span(Span::from_millis(200))),
            ("handshake", Value::Flag(true)),
            ("quickack", Value::Count(16)),
            ("rcvbuf", Value::Bytes(Bytes::new(131_072))),
            ("quicken", Value::Flag(true)),
            ("push", Value::Flag(true)),
            ("eifel", Value::Flag(true)),
            ("frto", Value::Flag(true)),
            ("synecn", Value::Choice("dropped")),
            ("synloss", Value::Choice("ignored")),
            ("prr", Value::Flag(true)),
            ("markprr", Value::Flag(true)),
            ("rack", Value::Flag(true)),
            ("rto", Value::Choice("variation")),
            ("ssthresh", Value::Choice("window")),
            ("relower", Value::Flag(false)),
            ("relapse", Value::Flag(true)),
            ("count", Value::Choice("segments")),
            ("safeack", Value::Flag(true)),
            ("timerprr", Value::Flag(true)),
            ("sackgrow", Value::Flag(true)),
            ("sslimit", Value::Count(0)),
        ],
    },
    Preset {
        name: "ns3",
        source: "ns-3.44 src/internet/model: TcpSocket SegmentSize 536, InitialCwnd 10, DelAckCount 2, DelAckTimeout \
                 200 ms; TcpSocketBase MinRto 1 s, Sack on, UseEcn Off; TcpL4Protocol RecoveryType TcpPrrRecovery",
        values: &[
            ("mss", Value::Bytes(Bytes::new(536))),
            ("delack", Value::Span(Span::from_millis(200))),
            ("minrto", Value::Span(Span::from_secs(1))),
            ("handshake", Value::Flag(true)),
            ("prr", Value::Flag(true)),
        ],
    },
];
