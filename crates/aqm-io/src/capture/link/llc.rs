//! Logical Link Control (IEEE 802.2).

use super::super::skipped::SkipReason;
use super::field::{be16, bytes};
use super::layer::Layer;
use super::step::{Next, Step};

/// Addresses of SNAP and of IP, and the control field of unnumbered information.
const SNAP: u8 = 0xaa;
const IP: u8 = 0x06;
const UNNUMBERED: u8 = 0x03;
/// Organizations whose protocol numbers are EtherTypes: RFC 1042, IEEE 802.1H, Cisco.
const WITH_ETHER_TYPES: [[u8; 3]; 3] = [[0, 0, 0], [0, 0, 0xf8], [0, 0, 0x0c]];
/// IEEE 802.1, whose protocol numbers name bridged media (RFC 2684 section 5.2, RFC 2427 section 4.2).
const BRIDGED: [u8; 3] = [0, 0x80, 0xc2];

pub(super) fn llc(frame: &[u8], at: usize) -> Next {
    match bytes(frame, at)? {
        // The lowest bit of an address marks group addresses and responses.
        [to, from, UNNUMBERED] if to & 0xfe == SNAP && from & 0xfe == SNAP => snap(frame, at + 3, 0),
        [IP, IP, UNNUMBERED] => Ok(Step::Ip(at + 3)),
        _ => Err(SkipReason::NotIp),
    }
}

/// An organization and its protocol number. `padding` is what bridged Ethernet has in front of it.
pub(super) fn snap(frame: &[u8], at: usize, padding: usize) -> Next {
    let organization: [u8; 3] = bytes(frame, at)?;
    let protocol = be16(frame, at + 3)?;
    if WITH_ETHER_TYPES.contains(&organization) {
        return Ok(Step::Inside(Layer::EtherType, at + 3));
    }
    match (organization, protocol) {
        // Ethernet with its checksum and without.
        (BRIDGED, 0x0001 | 0x0007) => Ok(Step::Inside(Layer::Ethernet, at + 5 + padding)),
        _ => Err(SkipReason::NotIp),
    }
}
