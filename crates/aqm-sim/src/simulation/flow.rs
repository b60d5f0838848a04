//! What a flow is: its way, its identity, both of its ends; and recorded packets that are played back.

use crate::metrics::SenderState;
use crate::network::LinkId;
use crate::traffic::Arrivals;
use crate::transport::{Receiver, Sender, Settings};
use aqm_core::packet::{Ecn, TcpView};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// One flow: where it goes, what it carries, both ends of it. What every packet touches is one cache line.
#[repr(align(64))]
pub(crate) struct Flow {
    pub(crate) endpoints: Endpoints,
    pub(super) identity: Identity,
    pub(super) forward: u32,
    pub(super) reverse: u32,
    /// Bytes of the IP and transport headers of a packet without SACK blocks.
    pub(super) headers: u32,
    /// Bytes that the source hands over at a time.
    pub(super) piece: u32,
    /// When so many bytes of payload have been delivered, the application hears of it; [`ENDLESS`] for never.
    pub(super) awaited: u64,
    pub(crate) session: Box<Session>,
}

/// Size of a flow without end.
pub(super) const ENDLESS: u64 = u64::MAX;

/// The application's side of a flow: touched when it has something to send, and at the end.
pub(crate) struct Session {
    pub(super) source: Option<Arrivals>,
    /// The application whose pipe this is, and which of its pipes.
    pub(super) user: Option<(u32, u32)>,
    /// Bytes that the application has written.
    pub(super) written: u64,
    /// Payload of a finite flow, [`ENDLESS`] otherwise.
    pub(super) size: u64,
    pub(crate) start: Time,
    pub(crate) finished: Option<Time>,
}

impl Flow {
    /// Whether the flow has a size.
    pub(crate) fn is_finite(&self) -> bool {
        self.session.size != ENDLESS
    }
}

/// What a discipline sees of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) hash: u64,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) class: u16,
    pub(crate) dscp: u8,
    pub(crate) protocol: u8,
    /// What datagrams and SYNs claim about ECN; for its data a TCP sender decides packet by packet.
    pub(crate) ecn: Ecn,
}

/// Both ends of a flow.
pub(crate) enum Endpoints {
    /// A TCP connection.
    Tcp(Box<Connection>),
    /// Datagrams.
    Datagrams,
}

impl Endpoints {
    /// The sender as the time series see it; none for datagrams.
    pub(super) fn state(&self) -> Option<SenderState> {
        match self {
            Endpoints::Tcp(connection) => {
                let sender = &connection.sender;
                Some(SenderState { cwnd: sender.cwnd(), rtt: sender.rtt().total() })
            }
            Endpoints::Datagrams => None,
        }
    }
}

/// Both ends of a TCP connection, side by side in memory.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The events that stand for their timers, [`Time::MAX`] for none.
    pub(super) sender_timer: Time,
    pub(super) receiver_timer: Time,
    /// Whether an event waits that lets the sender go on.
    pub(super) paced: bool,
}

/// What a flow is made of.
pub(crate) struct FlowSetup<'a> {
    pub(crate) group: usize,
    /// Whether its data go against the measured direction.
    pub(crate) back: bool,
    pub(crate) forward: &'a [LinkId],
    pub(crate) reverse: &'a [LinkId],
    pub(crate) propagation: Span,
    pub(crate) identity: Identity,
    /// With what the congestion control may draw from.
    pub(crate) tcp: Option<(&'a Settings, Random)>,
    pub(crate) headers: u32,
    pub(crate) source: Option<Arrivals>,
    pub(crate) piece: u32,
    pub(crate) start: Time,
    pub(crate) size: Option<u64>,
}

/// The way of one flow, there and back.
pub(crate) struct Way {
    pub(crate) forward: Vec<LinkId>,
    pub(crate) reverse: Vec<LinkId>,
    pub(crate) propagation: Span,
    pub(crate) rtt: Span,
}

/// What a flow is called in results.
pub(crate) struct Label {
    pub(crate) group: String,
    pub(crate) kind: &'static str,
    pub(crate) rtt: Span,
    /// Whether it is speech that somebody listens to.
    pub(crate) voice: bool,
}

/// Recorded packets, in order of time, and how far they have been sent.
pub(crate) struct Replay {
    pub(crate) packets: Vec<Recorded>,
    pub(crate) next: usize,
    pub(crate) start: Time,
}

/// A recorded packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) at: Span,
    pub(crate) flow: u32,
    pub(crate) ip_length: u32,
    pub(crate) payload: u32,
    pub(crate) ecn: Ecn,
    pub(crate) tcp: Option<TcpView>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_fits_one_cache_line() {
        assert_eq!(size_of::<Flow>(), 64);
    }
}
