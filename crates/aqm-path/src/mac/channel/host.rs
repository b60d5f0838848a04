//! What a channel and its host exchange: packets, and what becomes of them.

use super::super::category::Category;
use super::super::rates::Mode;
use aqm_core::stations::Stations;
use aqm_core::units::{Span, Time};

/// The access point as a node; stations are numbered from zero.
pub const ACCESS_POINT: u8 = 255;

/// A queue of packets: of a node, in a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queue {
    /// The access point or a station.
    pub node: u8,
    /// Its access category.
    pub category: Category,
}

/// A packet as the MAC takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msdu {
    /// The host's reference.
    pub id: u64,
    /// Octets of the IP packet.
    pub octets: u32,
}

/// The queues above the MAC.
pub trait Source {
    /// The receiver of the packet that this queue sends next: a station, or the access point. A queue with one for each
    /// station passes over those that may not have more, `except`; any other says nothing if its next packet is for such a one.
    fn peek(&mut self, queue: Queue, now: Time, except: Stations) -> Option<u8>;

    /// The next packet for `to`, if there is one. There is one for the receiver that [`Source::peek`] answered.
    fn take(&mut self, queue: Queue, to: u8, now: Time) -> Option<Msdu>;

    /// Whether packets for `to` wait in this queue, wherever: then its turn comes.
    fn waits(&mut self, queue: Queue, to: u8) -> bool;

    /// A transmission has ended: schedulers account for it before they are asked for more.
    fn ended(&mut self, _transmission: &Transmission) {}
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A burst has begun: [`released`](super::Channel::released) has what it delivers. Ask again.
    Begun,
    /// It has ended: [`ended`](super::Channel::ended) has what became of it. Ask again.
    Ended,
    /// Nothing before this instant, unless packets come.
    At(Time),
    /// Nothing until packets come.
    Idle,
}

/// A packet that its receiver gives to the layer above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// Where it came from.
    pub queue: Queue,
    /// The host's reference.
    pub id: u64,
    /// When the receiver gives it up: when it came, or when the last came that it waited for.
    pub at: Time,
    /// When it was taken from the queue above.
    pub taken: Time,
    /// When it was first sent.
    pub first_sent: Time,
    /// When it was received.
    pub received: Time,
}

/// Why the MAC gave up a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// It was sent as often as allowed.
    Retries,
    /// It was older than its lifetime.
    Lifetime,
    /// Its station has left.
    Left,
}

/// A packet that the MAC gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Where it came from.
    pub queue: Queue,
    /// The host's reference.
    pub id: u64,
    /// Why.
    pub cause: DropCause,
}

/// How a transmission ended for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A response came, for some of the MPDUs at least.
    Answered,
    /// Others sent at the same time.
    Collided,
    /// No response came.
    Unanswered,
}

/// A PPDU with all that belongs to it: requests before it, and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Who sent it.
    pub queue: Queue,
    /// Whom it was for.
    pub to: u8,
    /// When it began.
    pub start: Time,
    /// For how long the medium was busy with it.
    pub airtime: Span,
    /// The mode in which it was sent.
    pub mode: Mode,
    /// The PPDU alone.
    pub ppdu: Span,
    /// MPDUs in it, and those that were sent before.
    pub mpdus: u16,
    /// Of these, those that were sent again.
    pub again: u16,
    /// MPDUs that the response acknowledged.
    pub acknowledged: u16,
    /// Octets of IP packets that it acknowledged.
    pub octets: u64,
    /// How it ended.
    pub outcome: Outcome,
}

impl Transmission {
    /// The station at one end or the other.
    pub fn station(&self) -> u8 {
        if self.queue.node == ACCESS_POINT { self.to } else { self.queue.node }
    }
}
