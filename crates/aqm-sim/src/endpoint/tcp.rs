//! Both ends of a TCP connection.

use crate::measure::ledger::PacketCounts;
use crate::transport::socket::Socket;
use crate::transport::{Receiver, Sender, Tcp};
use aqm_core::random::Random;
use aqm_core::units::Time;

/// Both ends of a TCP connection, side by side in memory.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The events that stand for their timers, [`Time::MAX`] for none.
    pub(crate) sender_timer: Time,
    pub(crate) receiver_timer: Time,
    /// What its ends have sent and received.
    pub(crate) sender_counts: PacketCounts,
    pub(crate) receiver_counts: PacketCounts,
    /// Whether an event waits that lets the sender go on.
    pub(crate) paced: bool,
    /// The sockets of its ends, where its flow says more of them than that they write and answer.
    pub(crate) socket: Option<Box<dyn Socket>>,
}

impl Connection {
    /// A connection with these settings; `random` is what the congestion control may draw from.
    pub(crate) fn new(settings: &Tcp, socket: Option<Box<dyn Socket>>, random: Random) -> Connection {
        Connection {
            sender: Sender::new(settings, random),
            receiver: Receiver::new(settings),
            sender_timer: Time::MAX,
            receiver_timer: Time::MAX,
            sender_counts: PacketCounts::default(),
            receiver_counts: PacketCounts::default(),
            paced: false,
            socket,
        }
    }

    /// Whether the sender's socket takes `bytes` more of a source that does not wait for room.
    pub(crate) fn takes(&self, bytes: u64) -> bool {
        self.socket.as_ref().is_none_or(|socket| socket.takes(self.sender.held(), bytes))
    }
}
