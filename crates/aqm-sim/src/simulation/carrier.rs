//! What carries the data of a group of flows, as the run's inputs know it.

use crate::headers::{IPV6_EXTRA, TCP_HEADERS};
use crate::rate_control::RateSender;
use crate::report::RunError;
use crate::scenario::inputs::Inputs;
use crate::scenario::{EcnMode, FlowGroup, Tcp, Transport};
use crate::stack::StackConfig;
use crate::transport::socket::SocketConfig;

/// A transport that is ready to be connected.
pub(crate) enum Carrier<'a> {
    /// UDP, with its packets.
    Udp(u32, EcnMode),
    /// TCP, and its sockets where the flow says more of them.
    Tcp(&'a Tcp, Option<SocketConfig>),
    /// A rate-based sender.
    Rate(RateSender),
    /// A real transport.
    Stack(StackConfig),
}

impl Carrier<'_> {
    /// That of `group`.
    pub(crate) fn of<'a>(group: &'a FlowGroup, inputs: &Inputs) -> Result<Carrier<'a>, RunError> {
        let refused = |error| RunError::Input(group.refused(error));
        Ok(match &group.transport {
            Transport::Udp { packet_bytes, ecn } => Carrier::Udp(*packet_bytes, *ecn),
            Transport::Tcp(tcp) => {
                let socket = group.socket.as_ref().map(|named| inputs.socket(named, tcp)).transpose();
                Carrier::Tcp(tcp, socket.map_err(refused)?)
            }
            Transport::Rate(named) => Carrier::Rate(inputs.rate_sender(named).map_err(refused)?),
            Transport::Stack(named) => Carrier::Stack(inputs.stack_config(named).map_err(refused)?),
        })
    }

    /// Bytes of the largest IP packet.
    pub(crate) fn largest_packet(&self) -> u32 {
        match self {
            Carrier::Udp(packet_bytes, _) => *packet_bytes,
            Carrier::Tcp(tcp, _) => tcp.mss() + u32::from(TCP_HEADERS + IPV6_EXTRA),
            Carrier::Rate(rated) => rated.packet_bytes(),
            Carrier::Stack(stack) => stack.packet_bytes(),
        }
    }

    /// Bytes that a source hands over at a time: an IP packet, or a segment's payload unless the flow says otherwise (TCP).
    pub(crate) fn piece(&self) -> u32 {
        match self {
            Carrier::Tcp(tcp, socket) => {
                socket.as_ref().and_then(SocketConfig::write_bytes).unwrap_or(tcp.mss())
            }
            other => other.largest_packet(),
        }
    }
}
