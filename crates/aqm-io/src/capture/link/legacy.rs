//! Media other than Ethernet: Token Ring, FDDI, ARCNET, SLIP, Fibre Channel, FireWire, InfiniBand.

use super::super::skipped::SkipReason;
use super::field::{be16, byte};
use super::layer::Layer;
use super::step::{Next, Step};

/// RFC 2625: the network header.
pub(super) const FC_ADDRESSES: usize = 16;
/// Two addresses of eight bytes, as Apple captures IP over IEEE 1394.
pub(super) const IEEE1394_ADDRESSES: usize = 16;
const TOKEN_RING_HEADER: usize = 14;
const FDDI_HEADER: usize = 13;
/// In front of it there is a global routing header (RFC 4391 section 6 has the four bytes behind it).
const INFINIBAND_ADDRESSES: usize = 40;
/// Direction, and the compressed header if there was one.
const SLIP_HEADER: usize = 16;
/// RFC 1201 and RFC 1051.
const ARCNET_IP: u8 = 212;
const ARCNET_OLD_IP: u8 = 240;

/// Access control, frame control, addresses; the highest bit of the source announces a route.
pub(super) fn token_ring(frame: &[u8], at: usize) -> Next {
    let is_llc = byte(frame, at + 1)? & 0xc0 == 0x40;
    if !is_llc {
        return Err(SkipReason::NotIp);
    }
    let has_route = byte(frame, at + 8)? & 0x80 != 0;
    let route = if has_route { usize::from(byte(frame, at + TOKEN_RING_HEADER)? & 0x1f) } else { 0 };
    Ok(Step::Inside(Layer::Llc, at + TOKEN_RING_HEADER + route))
}

pub(super) fn fddi(frame: &[u8], at: usize) -> Next {
    let is_llc = byte(frame, at)? & 0xf0 == 0x50;
    if is_llc { Ok(Step::Inside(Layer::Llc, at + FDDI_HEADER)) } else { Err(SkipReason::NotIp) }
}

/// Source, destination, protocol; then, except in the old form, flag and sequence number.
pub(super) fn arcnet(frame: &[u8], at: usize) -> Next {
    arcnet_protocol(frame, at + 2)
}

/// With two bytes of offset in front of the protocol.
pub(super) fn arcnet_linux(frame: &[u8], at: usize) -> Next {
    arcnet_protocol(frame, at + 4)
}

fn arcnet_protocol(frame: &[u8], at: usize) -> Next {
    match byte(frame, at)? {
        ARCNET_OLD_IP => Ok(Step::Ip(at + 1)),
        ARCNET_IP if byte(frame, at + 1)? == 0 => Ok(Step::Ip(at + 4)),
        ARCNET_IP => Err(SkipReason::Fragment),
        _ => Err(SkipReason::NotIp),
    }
}

pub(super) fn slip(at: usize) -> Next {
    Ok(Step::Ip(at + SLIP_HEADER))
}

pub(super) fn infiniband(frame: &[u8], at: usize) -> Next {
    match be16(frame, at + INFINIBAND_ADDRESSES)? {
        0x0800 | 0x86dd => Ok(Step::Ip(at + INFINIBAND_ADDRESSES + 4)),
        0x0806 => Err(SkipReason::Arp),
        _ => Err(SkipReason::NotIp),
    }
}
