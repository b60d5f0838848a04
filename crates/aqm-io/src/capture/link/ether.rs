//! Ethernet, its tags, and what its EtherTypes announce.

use super::super::skipped::SkipReason;
use super::field::{be16, be32, byte};
use super::layer::Layer;
use super::step::{Next, Step};

const ADDRESSES: usize = 12;
/// Below it, the field is the length of an IEEE 802.3 frame.
const LEAST_ETHER_TYPE: u16 = 0x0600;
/// RFC 3032 section 2.1: the bottom of the stack.
const MPLS_BOTTOM: u32 = 0x100;
/// IEEE 802.1AE 9.5: the tag has an SCI; the content is encrypted, or changed.
const MACSEC_SCI: u8 = 0x20;
const MACSEC_ENCRYPTED: u8 = 0x08;
const MACSEC_CHANGED: u8 = 0x04;

pub(super) fn ethernet(at: usize) -> Next {
    Ok(Step::Inside(Layer::EtherType, at + ADDRESSES))
}

/// Switches of the Distributed Switch Architecture put their tag behind the addresses.
pub(super) fn with_tag(at: usize, tag: u8) -> Next {
    Ok(Step::Inside(Layer::EtherType, at + ADDRESSES + usize::from(tag)))
}

pub(super) fn ether_type(frame: &[u8], at: usize) -> Next {
    match be16(frame, at)? {
        0x88e5 => macsec(frame, at + 2),
        value => by_type(value, at + 2),
    }
}

/// What an EtherType announces at `at`.
pub(super) fn by_type(ether_type: u16, at: usize) -> Next {
    let inside = |layer, offset| Ok(Step::Inside(layer, at + offset));
    match ether_type {
        0x0800 | 0x86dd => Ok(Step::Ip(at)),
        // IEEE 802.1Q and 802.1ad, and the older types for stacked tags: two bytes of tag, then the next type.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => inside(Layer::EtherType, 2),
        // IEEE 802.1BR: six bytes of E-TAG.
        0x893f => inside(Layer::EtherType, 6),
        // IEEE 802.1ah: four bytes of I-TAG, then the customer's frame.
        0x88e7 => inside(Layer::Ethernet, 4),
        0x8864 => inside(Layer::Pppoe, 0),
        0x880b => inside(Layer::Ppp, 0),
        0x8847 | 0x8848 => inside(Layer::Mpls, 0),
        // Transparent Ethernet Bridging, in GRE and others (RFC 1701).
        0x6558 => inside(Layer::Ethernet, 0),
        // LLC in frames longer than the length field can say (draft-ietf-isis-ext-eth).
        0x8870 => inside(Layer::Llc, 0),
        0x0806 | 0x8035 => Err(SkipReason::Arp),
        length if length < LEAST_ETHER_TYPE => inside(Layer::Llc, 0),
        _ => Err(SkipReason::NotIp),
    }
}

/// A tag that only protects integrity leaves the content as it is.
fn macsec(frame: &[u8], at: usize) -> Next {
    let control = byte(frame, at)?;
    if control & (MACSEC_ENCRYPTED | MACSEC_CHANGED) != 0 {
        return Err(SkipReason::Encrypted);
    }
    let length = if control & MACSEC_SCI == 0 { 6 } else { 14 };
    Ok(Step::Inside(Layer::EtherType, at + length))
}

/// No field names the content: IP by its version, else a pseudowire of Ethernet with its control word (RFC 4448,
/// RFC 4928 section 3).
pub(super) fn mpls(frame: &[u8], mut at: usize) -> Next {
    while be32(frame, at)? & MPLS_BOTTOM == 0 {
        at += 4;
    }
    at += 4;
    match byte(frame, at)? >> 4 {
        4 | 6 => Ok(Step::Ip(at)),
        0 => Ok(Step::Inside(Layer::Ethernet, at + 4)),
        _ => Err(SkipReason::NotIp),
    }
}
