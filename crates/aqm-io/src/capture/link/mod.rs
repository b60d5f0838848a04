//! Link layers: where the IP packet begins in a captured frame.
//!
//! A frame is a chain of layers. Each step reads one header and names the next layer, until the IP header. `types`
//! lists the link types of files, `layer` dispatches the steps, and the other files hold the layers: `ether`, `llc`,
//! `ppp`, `wan` (Frame Relay, Cisco HDLC, ATM), `wireless` (IEEE 802.11), `legacy` (media before Ethernet), `pseudo`
//! (headers that the capturing host adds).

mod ether;
mod field;
mod layer;
mod legacy;
mod llc;
mod ppp;
mod pseudo;
#[cfg(test)]
mod tests;
mod types;
mod wan;
mod wireless;

pub use types::LinkType;
pub(super) use types::name;

use super::flow::Hash;
use super::skipped::SkipReason;
use layer::{Layer, Step};

/// Most layers in front of an IP packet. Real stacks (PKTAP, Ethernet, two VLAN tags, PPPoE, MPLS) have fewer than ten.
const MOST_LAYERS: usize = 32;

impl LinkType {
    /// Offset of the IP header in `frame`.
    pub(super) fn ip_offset(self, frame: &[u8]) -> Result<usize, SkipReason> {
        ip_offset(self.layer(), frame, 0)
    }

    /// A number for the interface that captured `frame`, where the link layer tells; the direction, where it tells that
    /// alone.
    pub(super) fn vantage(self, frame: &[u8]) -> u64 {
        let field = match self.layer() {
            // Sent to this host or by it: an incoming packet leaves by another interface.
            Layer::LinuxSll => 0..2,
            Layer::LinuxSll2 => 4..8,
            // The name of the interface.
            Layer::Pktap => 12..36,
            _ => return 0,
        };
        Hash::new().add(frame.get(field).unwrap_or_default()).finish()
    }
}

/// Offset of the IP header in `frame`, whose header at `at` is the bytes behind a GRE header of this protocol type
/// (RFC 2784 section 2.4).
pub(super) fn ip_offset_in_gre(protocol: u16, frame: &[u8], at: usize) -> Result<usize, SkipReason> {
    match ether::by_type(protocol, at)? {
        Step::Ip(offset) => Ok(offset),
        Step::Inside(layer, at) => ip_offset(layer, frame, at),
    }
}

fn ip_offset(mut layer: Layer, frame: &[u8], mut at: usize) -> Result<usize, SkipReason> {
    for _ in 0..MOST_LAYERS {
        match layer.step(frame, at)? {
            Step::Ip(offset) => return Ok(offset),
            Step::Inside(next, begin) => (layer, at) = (next, begin),
        }
    }
    Err(SkipReason::NotIp)
}
