//! What became of a transmission on a medium that stations share.

use crate::units::{Rate, Span};

/// The end of a transmission: an aggregate of packets to one station, or one that a station sent here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The station at the other end.
    pub station: u8,
    /// Traffic class of its packets.
    pub class: u16,
    /// Packets that were delivered; others were lost, or wait to be sent again.
    pub delivered: u16,
    /// Transmissions of its packets, those that were sent again included.
    pub attempts: u16,
    /// The time for which it kept the medium busy, without waiting for it.
    pub airtime: Span,
    /// Whether the station sent it.
    pub received: bool,
    /// What the station is expected to get when it has the medium alone; `None` if that is unknown.
    pub expected: Option<Rate>,
}
