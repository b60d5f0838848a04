//! PPP (RFC 1661), on serial lines, on Ethernet and in tunnels.

use super::super::skipped::SkipReason;
use super::field::{be16, byte, bytes};
use super::layer::Layer;
use super::step::{Next, Step};

/// RFC 2516 section 4: the code of session data.
const SESSION: u8 = 0;
const PPPOE_HEADER: usize = 6;
/// RFC 1662 section 3.1: the address of all stations, and unnumbered information.
const ALL_STATIONS: u8 = 0xff;
const UNNUMBERED: u8 = 0x03;
/// Addresses of Cisco HDLC: unicast and broadcast.
const CISCO_ADDRESSES: [u8; 2] = [0x0f, 0x8f];

pub(super) fn pppoe(frame: &[u8], at: usize) -> Next {
    match bytes(frame, at)? {
        [0x11, SESSION] => Ok(Step::Inside(Layer::Ppp, at + PPPOE_HEADER)),
        _ => Err(SkipReason::NotIp),
    }
}

pub(super) fn or_cisco_hdlc(frame: &[u8], at: usize) -> Next {
    let is_cisco = CISCO_ADDRESSES.contains(&byte(frame, at)?);
    Ok(Step::Inside(if is_cisco { Layer::CiscoHdlc } else { Layer::Ppp }, at))
}

/// Address and control may be left out, and so may the first byte of the protocol if it is zero (RFC 1661 section 6.5
/// and 6.6): the last byte of a protocol is odd.
pub(super) fn ppp(frame: &[u8], mut at: usize) -> Next {
    if frame.get(at..at.saturating_add(2)) == Some(&[ALL_STATIONS, UNNUMBERED]) {
        at += 2;
    }
    let first = byte(frame, at)?;
    let (protocol, behind) =
        if first & 1 == 1 { (u16::from(first), at + 1) } else { (be16(frame, at)?, at + 2) };
    match protocol {
        0x0021 | 0x0057 => Ok(Step::Ip(behind)),
        // RFC 3032 section 4.
        0x0281 | 0x0283 => Ok(Step::Inside(Layer::Mpls, behind)),
        0x003d => multilink(frame, behind),
        // RFC 3078: MPPE has no number of its own.
        0x0053 | 0x00fd => Err(SkipReason::Encrypted),
        _ => Err(SkipReason::NotIp),
    }
}

/// RFC 1990 section 3: a fragment that begins and ends a packet holds all of it. Long sequence numbers are the default.
fn multilink(frame: &[u8], at: usize) -> Next {
    if byte(frame, at)? & 0xc0 != 0xc0 {
        return Err(SkipReason::Fragment);
    }
    Ok(Step::Inside(Layer::Ppp, at + 4))
}
