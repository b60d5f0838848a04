//! What a discipline knows about its link.

use crate::units::Rate;

/// The link of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its rate (the mean rate where it varies).
    pub rate: Rate,
    /// Bytes of a full packet on it.
    pub mtu: u32,
    /// Bytes of link-layer framing in every packet's length: the rest is the IP packet.
    pub overhead: u32,
}

impl Link {
    /// A link of `rate` that carries full Ethernet frames.
    pub const fn new(rate: Rate) -> Link {
        Link { rate, mtu: 1514, overhead: 14 }
    }
}
