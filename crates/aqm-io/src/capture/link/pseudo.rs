//! Headers that were on no wire: the capturing host puts them in front of a frame or packet.

use super::super::skipped::SkipReason;
use super::field::{be16, be32, byte, bytes, host_length, le16, le32};
use super::layer::{Inner, Layer};
use super::step::{Next, Step};
use super::types::LinkType;
use super::{ether, llc};

/// Values of AF_INET and AF_INET6: 2 everywhere; 24 on NetBSD and OpenBSD, 28 on FreeBSD, 30 on macOS, 10 on Linux, 26
/// on Solaris.
const FAMILIES: [u8; 7] = [2, 10, 24, 26, 28, 30, 23];
/// The longest of these headers.
const LONGEST: u32 = 4096;

fn of_family(family: u8, at: usize) -> Next {
    if FAMILIES.contains(&family) { Ok(Step::Ip(at)) } else { Err(SkipReason::NotIp) }
}

/// An address family in the byte order of the capturing host.
pub(super) fn loopback(frame: &[u8], at: usize) -> Next {
    match bytes(frame, at)? {
        [0, 0, 0, family] | [family, 0, 0, 0] => of_family(family, at + 4),
        // Some systems put an EtherType there.
        [0, 0, _, _] => Ok(Step::Inside(Layer::EtherType, at + 2)),
        _ => Err(SkipReason::NotIp),
    }
}

/// Linux's "cooked" capture: the protocol is an EtherType, but for a few values.
pub(super) fn linux_sll(frame: &[u8], at: usize) -> Next {
    cooked(be16(frame, at + 2)?, be16(frame, at + 14)?, frame, at + 16)
}

pub(super) fn linux_sll2(frame: &[u8], at: usize) -> Next {
    cooked(be16(frame, at + 8)?, be16(frame, at)?, frame, at + 20)
}

fn cooked(hardware: u16, protocol: u16, frame: &[u8], behind: usize) -> Next {
    // ARPHRD values of `if_arp.h` under which the field is no EtherType.
    const NETLINK: u16 = 824;
    const FRAME_RELAY: u16 = 770;
    const RADIOTAP: u16 = 803;
    const IEEE80211: u16 = 801;
    match (hardware, protocol) {
        (NETLINK, _) => Err(SkipReason::NotIp),
        (FRAME_RELAY, 0) => Ok(Step::Inside(Layer::FrameRelay, behind)),
        (RADIOTAP, 0..=4) => Ok(Step::Inside(Layer::Radiotap, behind)),
        (IEEE80211, 0..=4) => Ok(Step::Inside(Layer::Ieee80211, behind)),
        // ETH_P_802_2.
        (_, 4) => llc::llc(frame, behind),
        (_, 0x0600..) => ether::by_type(protocol, behind),
        _ => Err(SkipReason::NotIp),
    }
}

/// Version, flags, length, and the link type behind the header.
pub(super) fn ppi(frame: &[u8], at: usize) -> Next {
    let length = usize::from(le16(frame, at + 2)?);
    with_link_type(le32(frame, at + 4)?, at + length.max(8))
}

/// Apple's `pktap_header`: its length, what follows, and the link type of that.
pub(super) fn pktap(frame: &[u8], at: usize) -> Next {
    const NOTHING_FOLLOWS: u32 = 0;
    let length = host_length(frame, at, LONGEST)?;
    if le32(frame, at + 4)? == NOTHING_FOLLOWS {
        return Err(SkipReason::NotIp);
    }
    let link_type = host_length(frame, at + 8, u32::from(u16::MAX))? as u32;
    with_link_type(link_type, at + length.max(12))
}

fn with_link_type(number: u32, at: usize) -> Next {
    let number = u16::try_from(number).map_err(|_| SkipReason::NotIp)?;
    Ok(Step::Inside(LinkType::new(number).ok_or(SkipReason::UnsupportedLink(number))?.layer(), at))
}

/// The length is without the padding to four bytes.
pub(super) fn pflog(frame: &[u8], at: usize) -> Next {
    let [length, family] = bytes(frame, at)?;
    of_family(family, at + usize::from(length).next_multiple_of(4).max(4))
}

/// An address family in the byte order of the capturing host, an SPI and flags.
pub(super) fn enc(frame: &[u8], at: usize) -> Next {
    match bytes(frame, at)? {
        [0, 0, 0, family] | [family, 0, 0, 0] => of_family(family, at + 12),
        _ => Err(SkipReason::NotIp),
    }
}

/// Address family, version and resource, then attributes: lengths and types are in the byte order of the capturing
/// host.
pub(super) fn nflog(frame: &[u8], at: usize) -> Next {
    const PAYLOAD: u16 = 9;
    const HEADER: usize = 4;
    let family = byte(frame, at)?;
    let mut place = at + HEADER;
    loop {
        let [a, b, c, d] = bytes(frame, place)?;
        let little = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        // A type has few bits in use: the order in which it is small is that of the host.
        let (length, kind) =
            if little.1 < 0x100 { little } else { (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])) };
        if kind == PAYLOAD {
            return of_family(family, place + HEADER);
        }
        place += usize::from(length).max(HEADER).next_multiple_of(4);
    }
}

/// `dl_ipnetinfo_t`.
pub(super) fn ipnet(frame: &[u8], at: usize) -> Next {
    const HEADER: usize = 24;
    of_family(byte(frame, at + 1)?, at + HEADER)
}

pub(super) fn symantec(frame: &[u8], at: usize) -> Next {
    const HEADER: usize = 44;
    ether::by_type(be16(frame, at + 6)?, at + HEADER)
}

/// A magic number, flags, and perhaps extensions with their length. Without link layer, the packet is behind a protocol
/// family.
pub(super) fn juniper(frame: &[u8], at: usize, inner: Inner) -> Next {
    const MAGIC: u32 = 0x4d47_4300;
    const WITHOUT_LINK_LAYER: u8 = 0x02;
    const EXTENSIONS: u8 = 0x80;
    let head = be32(frame, at)?;
    if head & 0xffff_ff00 != MAGIC {
        return Err(SkipReason::NotIp);
    }
    let flags = head as u8;
    let mut behind = at + 4;
    if flags & EXTENSIONS != 0 {
        behind += 2 + usize::from(be16(frame, behind)?);
    }
    if flags & WITHOUT_LINK_LAYER != 0 {
        return match bytes(frame, behind)? {
            [0, 0, 0, family] | [family, 0, 0, 0] => of_family(family, behind + 4),
            _ => Err(SkipReason::NotIp),
        };
    }
    Ok(Step::Inside(inner.layer(), behind))
}
