//! What a flow is: its routes, its identity, both of its ends.

use super::rate_sender::RateEndpoints;
use super::stack::StackEnds;
use super::tcp::Connection;
use crate::measure::ledger::Ledger;
use crate::measure::metrics::SenderState;
use crate::measure::observer::AnySender;
use crate::network::graph::LinkId;
use crate::network::hosts::Ends;
use crate::network::routes::Route;
use crate::traffic::arrivals::Arrivals;
use crate::transport::Losses;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};

/// One flow: where it goes, what it carries, both ends of it. What every packet touches is one cache line.
#[repr(align(64))]
pub(crate) struct Flow {
    pub(crate) endpoints: Endpoints,
    pub(crate) identity: Identity,
    pub(crate) forward: Route,
    pub(crate) reverse: Route,
    /// When so many bytes of payload have been delivered, the application is notified; [`ENDLESS`] for never.
    pub(crate) notify_at: u64,
    pub(crate) session: Box<Session>,
}

/// Size of a flow without end.
pub(crate) const ENDLESS: u64 = u64::MAX;

/// The application's side of a flow: touched when it has something to send, and at the end.
pub(crate) struct Session {
    pub(crate) source: Option<Arrivals>,
    /// Both ends of a flow of a rate-based sender.
    pub(crate) rate_endpoints: Option<Box<RateEndpoints>>,
    /// Both ends of a flow of a real transport.
    pub(crate) stack: Option<Box<StackEnds>>,
    /// Bytes that the source hands over at a time.
    pub(crate) piece: u32,
    /// The application that sends in it, and which of its directions it is.
    pub(crate) user: Option<(u32, u32)>,
    /// Bytes that the application has written.
    pub(crate) written: u64,
    /// Payload of a finite flow, [`ENDLESS`] otherwise.
    pub(crate) size: u64,
    pub(crate) start: Time,
    /// When it stops; [`Time::MAX`] for never.
    pub(crate) stop: Time,
    pub(crate) finished: Option<Time>,
    /// What its ends have sent and received, without what a TCP connection counts: [`Flow::ledger`] has all.
    pub(crate) ledger: Ledger,
}

impl Flow {
    /// What its ends have sent and received.
    pub(crate) fn ledger(&self) -> Ledger {
        let mut ledger = self.session.ledger;
        if let Endpoints::Tcp(connection) = &self.endpoints {
            let (sender, receiver) = (connection.sender_counts, connection.receiver_counts);
            ledger.sent.data += sender.sent;
            ledger.received.data += receiver.received;
            ledger.sent.control += receiver.sent;
            ledger.received.control += sender.received;
        }
        ledger
    }

    /// What sends in it, for observers.
    pub(crate) fn sender(&self) -> AnySender<'_> {
        match (&self.endpoints, &self.session.stack) {
            (Endpoints::Tcp(connection), _) => AnySender::Tcp(&connection.sender),
            (Endpoints::Datagrams, Some(ends)) => AnySender::Stack(ends.client()),
            (Endpoints::Datagrams, None) => AnySender::Other,
        }
    }

    /// Its sender, for the time series; none for datagrams that nothing controls.
    pub(crate) fn sender_state(&self) -> Option<SenderState> {
        match &self.endpoints {
            Endpoints::Tcp(connection) => Some(SenderState::Window { cwnd: connection.sender.cwnd() }),
            Endpoints::Datagrams => match &self.session.stack {
                Some(ends) => Some(SenderState::Window { cwnd: ends.window()? }),
                None => Some(self.session.rate_endpoints.as_ref()?.state()),
            },
        }
    }

    /// What its sender lost and sent again.
    pub(crate) fn losses(&self) -> Losses {
        match &self.endpoints {
            Endpoints::Tcp(connection) => connection.sender.losses(),
            Endpoints::Datagrams => match (&self.session.stack, &self.session.rate_endpoints) {
                (Some(ends), _) => ends.losses(),
                (None, Some(ends)) => ends.losses(),
                (None, None) => Losses::default(),
            },
        }
    }

    /// Why its connection has ended before its work was done, if it has and reports why.
    pub(crate) fn failure(&self) -> Option<String> {
        self.session.stack.as_ref()?.failure()
    }

    /// Sum and number of its sender's round-trip times.
    pub(crate) fn round_trips(&self) -> (Span, u64) {
        match &self.endpoints {
            Endpoints::Tcp(connection) => connection.sender.rtt().total(),
            Endpoints::Datagrams => {
                self.session.stack.as_ref().map(|ends| ends.round_trips).unwrap_or_default()
            }
        }
    }

    /// From its start to the delivery of its last byte.
    pub(crate) fn completion(&self) -> Option<Span> {
        Some(self.session.finished?.since(self.session.start))
    }

    /// Whether the flow has a size.
    pub(crate) fn is_finite(&self) -> bool {
        self.session.size != ENDLESS
    }
}

/// What the headers of a flow's packets say, and how long they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) hash: u64,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) class: u16,
    /// Bytes of the IP and transport headers of a packet without SACK blocks.
    pub(crate) headers: u16,
    pub(crate) dscp: u8,
    pub(crate) protocol: u8,
    /// What datagrams and SYNs claim about ECN; for its data a TCP sender decides packet by packet.
    pub(crate) ecn: Ecn,
    /// Whether its data go against the measured direction.
    pub(crate) back: bool,
}

/// Both ends of a flow.
pub(crate) enum Endpoints {
    /// A TCP connection.
    Tcp(Box<Connection>),
    /// Datagrams; where a rate control says how fast, or a real transport what they are, the session has it, so that every
    /// flow stays one cache line and TCP is recognised by a pointer.
    Datagrams,
}

/// What a flow is made of.
pub(crate) struct FlowSetup<'a> {
    pub(crate) group: usize,
    pub(crate) forward: &'a [LinkId],
    pub(crate) reverse: &'a [LinkId],
    pub(crate) propagation: Span,
    pub(crate) identity: Identity,
    pub(crate) endpoints: Endpoints,
    pub(crate) rate_endpoints: Option<Box<RateEndpoints>>,
    pub(crate) stack: Option<Box<StackEnds>>,
    pub(crate) source: Option<Arrivals>,
    pub(crate) piece: u32,
    pub(crate) start: Time,
    pub(crate) stop: Time,
    pub(crate) size: Option<u64>,
}

/// What a flow is called in results.
pub(crate) struct Label {
    pub(crate) group: String,
    pub(crate) kind: &'static str,
    pub(crate) rtt: Span,
    /// Of a finite flow, the completion time that it would have if the network were its own.
    pub(crate) ideal: Option<Span>,
    /// Whether it is speech that somebody listens to.
    pub(crate) voice: bool,
    /// Whether it goes from the group's sink to its source.
    pub(crate) back: bool,
    /// Its hosts.
    pub(crate) ends: Ends,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_fits_one_cache_line() {
        assert_eq!(size_of::<Flow>(), 64);
    }
}
