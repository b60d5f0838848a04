//! The IP packet inside a tunnel: IP in IP, and GRE.
//!
//! As in Linux's flow dissector, a tunnel's packets belong to the flows inside: on a line with DS-Lite (RFC 6333), 6in4
//! or GRE, everything would be one flow otherwise.

use super::link;
use etherparse::IpNumber;

const IPV4: IpNumber = IpNumber(4);
const IPV6: IpNumber = IpNumber(41);
const GRE: IpNumber = IpNumber(47);
/// Bits of GRE's first two bytes (RFC 2784, RFC 2890; the acknowledgment is of RFC 2637).
const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ACKNOWLEDGMENT: u16 = 0x0080;
const VERSION: u16 = 0x0007;
/// RFC 2637 section 4.1: PPP in version 1.
const PPTP: u16 = 1;

/// Offset of an IP packet in what follows an IP header.
pub(super) fn inside(protocol: IpNumber, payload: &[u8]) -> Option<usize> {
    match protocol {
        IPV4 | IPV6 => Some(0),
        GRE => gre(payload),
        _ => None,
    }
}

fn gre(payload: &[u8]) -> Option<usize> {
    let [a, b, c, d] = *payload.first_chunk()?;
    let (flags, protocol) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let version = flags & VERSION;
    if flags & ROUTING != 0 || version > PPTP {
        return None;
    }
    let optional = [CHECKSUM, KEY, SEQUENCE, if version == PPTP { ACKNOWLEDGMENT } else { 0 }];
    let present = optional.into_iter().filter(|bit| flags & bit != 0).count();
    link::ip_offset_in_gre(protocol, payload, 4 + 4 * present).ok()
}
