//! Links of wide-area networks: Cisco HDLC, Frame Relay, ATM.

use super::super::skipped::SkipReason;
use super::field::{be16, byte, bytes};
use super::layer::Layer;
use super::llc;
use super::step::{Next, Step};

/// RFC 2427 section 3: the control field, and network-layer protocol IDs.
const UNNUMBERED: u8 = 0x03;
const NLPID_IPV4: u8 = 0xcc;
const NLPID_IPV6: u8 = 0x8e;
const NLPID_PPP: u8 = 0xcf;
const NLPID_SNAP: u8 = 0x80;
/// The longest address of Frame Relay (Q.922).
const LONGEST_ADDRESS: usize = 4;

/// Address and control, then an EtherType.
pub(super) fn cisco_hdlc(frame: &[u8], at: usize) -> Next {
    // Behind a length-like value there is no LLC here.
    match be16(frame, at + 2)? {
        0x0800 | 0x86dd | 0x8847 | 0x8848 | 0x8864 | 0x8100 | 0x6558 => {
            Ok(Step::Inside(Layer::EtherType, at + 2))
        }
        _ => Err(SkipReason::NotIp),
    }
}

/// The last byte of the address is odd.
pub(super) fn frame_relay(frame: &[u8], at: usize) -> Next {
    let mut length = 1;
    while byte(frame, at + length - 1)? & 1 == 0 {
        length += 1;
        if length > LONGEST_ADDRESS {
            return Err(SkipReason::Malformed);
        }
    }
    if length == 1 {
        return Err(SkipReason::Malformed);
    }
    let behind = at + length;
    if byte(frame, behind)? == UNNUMBERED {
        return nlpid(frame, behind + 1);
    }
    // Cisco's encapsulation: an EtherType.
    match be16(frame, behind)? {
        0x0800 | 0x86dd | 0x8847 | 0x8848 => Ok(Step::Inside(Layer::EtherType, behind)),
        _ => Err(SkipReason::NotIp),
    }
}

/// A byte of zero may pad.
fn nlpid(frame: &[u8], at: usize) -> Next {
    let at = at + usize::from(byte(frame, at)? == 0);
    match byte(frame, at)? {
        NLPID_IPV4 | NLPID_IPV6 => Ok(Step::Ip(at + 1)),
        NLPID_PPP => Ok(Step::Inside(Layer::Ppp, at + 1)),
        NLPID_SNAP => llc::snap(frame, at + 1, 0),
        _ => Err(SkipReason::NotIp),
    }
}

/// FRF.16.1: of three bits, a fragment that begins and ends a frame has the first two; the third marks control.
pub(super) fn multilink_frame_relay(frame: &[u8], at: usize) -> Next {
    match byte(frame, at)? & 0xe0 {
        0xc0 => Ok(Step::Inside(Layer::FrameRelay, at + 2)),
        0x80 | 0x40 | 0x00 => Err(SkipReason::Fragment),
        _ => Err(SkipReason::NotIp),
    }
}

/// LLC (RFC 2684 section 5) or, as neither says which, one protocol alone: PPP (RFC 2364), bridged Ethernet or IP (RFC 2684
/// section 6).
pub(super) fn atm(frame: &[u8], at: usize) -> Next {
    match bytes(frame, at)? {
        [0xaa, 0xaa, UNNUMBERED] => llc::snap(frame, at + 3, 2),
        [0xfe, 0xfe, UNNUMBERED] => nlpid(frame, at + 3),
        [0x00, 0x21 | 0x57, _] | [0xff, UNNUMBERED, _] => Ok(Step::Inside(Layer::Ppp, at)),
        [0x00, 0x00, _] => Ok(Step::Inside(Layer::Ethernet, at + 2)),
        [0x40..=0x4f | 0x60..=0x6f, _, _] => Ok(Step::Ip(at)),
        _ => Err(SkipReason::NotIp),
    }
}

/// Flags, whose lower half names the content, then the virtual path and circuit.
pub(super) fn sun_atm(frame: &[u8], at: usize) -> Next {
    match byte(frame, at)? & 0x0f {
        // LAN emulation: two bytes of the client, then Ethernet.
        1 => Ok(Step::Inside(Layer::Ethernet, at + 6)),
        2 => Ok(Step::Inside(Layer::Atm, at + 4)),
        _ => Err(SkipReason::NotIp),
    }
}

pub(super) fn classical_ip(frame: &[u8], at: usize) -> Next {
    let is_llc = bytes::<3>(frame, at)? == [0xaa, 0xaa, UNNUMBERED];
    if is_llc { llc::snap(frame, at + 3, 2) } else { Ok(Step::Ip(at)) }
}
