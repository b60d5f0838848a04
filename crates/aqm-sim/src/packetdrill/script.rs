//! A script: events with their times.

use super::code::Code;
use super::shell::Command;
use aqm_core::packet::Ecn;
use aqm_core::units::Span;

/// What a script has.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) options: Options,
    pub(super) events: Vec<Event>,
}

/// Its options.
#[derive(Debug)]
pub(super) struct Options {
    /// By how much a segment may be early or late, or by which part of the time since the event before, in thousandths of a
    /// percent, if that is more.
    pub(super) tolerance: Span,
    pub(super) tolerance_share: u64,
    /// Time between two values of a timestamp (RFC 7323).
    pub(super) tick: Span,
    /// Whether a segment of the script is one segment of the sender, and not several.
    pub(super) strict: bool,
    /// Our own: the congestion control and its keys in the notation of flows, instead of Linux with the script's sysctls.
    pub(super) tcp: Option<String>,
    /// Our own: at the end no segment may be left that no line expected.
    pub(super) complete: bool,
}

impl Default for Options {
    /// packetdrill's own: 4 ms or 12.5 %, and Linux's clock of timestamps.
    fn default() -> Options {
        Options {
            tolerance: Span::from_millis(4),
            tolerance_share: 12_500,
            tick: Span::from_millis(1),
            strict: false,
            tcp: None,
            complete: false,
        }
    }
}

/// Something that happens, or is expected.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) line: usize,
    pub(super) when: When,
    pub(super) action: Action,
}

/// A time, or the first and the last that are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum When {
    /// Since the start.
    At(Span, Span),
    /// Since the event before.
    After(Span, Span),
    /// Any.
    Any,
}

#[derive(Debug)]
pub(super) enum Action {
    /// A segment arrives from the peer.
    Inject(Packet),
    /// A segment is sent to the peer.
    Expect(Packet),
    Call(Call),
    Check(Code),
    Shell(Vec<Command>),
}

/// A TCP segment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Packet {
    /// The ECN field of the IP header, if the line has one.
    pub(super) ecn: Option<Codepoints>,
    /// Bits as in [`flags`](crate::transport::flags), without PSH.
    pub(super) flags: u8,
    pub(super) seq: u64,
    pub(super) payload: u64,
    pub(super) ack: Option<u64>,
    pub(super) window: Option<u64>,
    /// The options, unless the line leaves them open.
    pub(super) options: Option<TcpOptions>,
}

/// Which ECN fields are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codepoints {
    Exactly(Ecn),
    /// ECT(0) or ECT(1).
    Capable,
}

/// TCP options.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TcpOptions {
    pub(super) mss: Option<u32>,
    pub(super) sack_permitted: bool,
    pub(super) wscale: Option<u8>,
    /// Value and echo (RFC 7323).
    pub(super) timestamp: Option<(u32, u32)>,
    /// Blocks, the most recent first (RFC 2018).
    pub(super) sack: Vec<(u64, u64)>,
    /// AccECN's counter of bytes that came with CE (RFC 9768).
    pub(super) ce_bytes: Option<u32>,
}

/// A system call of the application.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Call {
    Connect,
    Listen,
    /// The descriptor of the connection.
    Accept(i64),
    /// So many bytes are written.
    Write {
        bytes: u64,
        more: bool,
        ends_record: bool,
    },
    Close(i64),
    /// SHUT_WR, or SHUT_RDWR.
    Shutdown,
    /// `TCP_MAXSEG` before the handshake.
    SetMss(u32),
    /// `TCP_MAXSEG` as the socket answers.
    GetMss(u32),
    Nodelay(bool),
    Cork(bool),
    SetControl(String),
    /// What changes nothing about a sender.
    Nothing,
}
