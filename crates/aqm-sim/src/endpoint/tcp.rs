//! Both ends of a TCP connection.

use crate::transport::{Receiver, Sender, Tcp};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// Both ends of a TCP connection, side by side in memory.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The events that stand for their timers, [`Time::MAX`] for none.
    pub(crate) sender_timer: Time,
    pub(crate) receiver_timer: Time,
    /// Whether an event waits that lets the sender go on.
    pub(crate) paced: bool,
    /// Whether the source's first event opens the connection, and no more.
    pub(crate) connects_ahead: bool,
    /// From when on SYNs are answered.
    pub(crate) listens: Time,
    /// How long the first SYN and the first answer will wait for an address; zero once they have.
    pub(crate) resolve: [Span; 2],
}

impl Connection {
    /// A connection with these settings; `random` is what the congestion control may draw from.
    pub(crate) fn new(settings: &Tcp, random: Random) -> Connection {
        let app = settings.app();
        Connection {
            sender: Sender::new(settings, random),
            receiver: Receiver::new(settings),
            sender_timer: Time::MAX,
            receiver_timer: Time::MAX,
            paced: false,
            connects_ahead: app.connects_ahead,
            listens: Time::ZERO + app.listen,
            resolve: [app.arp; 2],
        }
    }
}
