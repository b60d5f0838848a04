//! Link layers: where the IP packet begins within a captured frame.

use super::skipped::SkipReason;

/// A link-layer header type that can hold IP, by its number at <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// 0 and 108: BSD loopback, an address family in front.
    Loopback,
    /// 1: Ethernet.
    Ethernet,
    /// 12, 14, 101, 228, 229: the IP packet itself.
    RawIp,
    /// 113: Linux "cooked" capture.
    LinuxSll,
    /// 276: Linux "cooked" capture, version 2.
    LinuxSll2,
}

impl LinkType {
    pub(super) fn new(number: u16) -> Result<LinkType, SkipReason> {
        match number {
            0 | 108 => Ok(LinkType::Loopback),
            1 => Ok(LinkType::Ethernet),
            12 | 14 | 101 | 228 | 229 => Ok(LinkType::RawIp),
            113 => Ok(LinkType::LinuxSll),
            276 => Ok(LinkType::LinuxSll2),
            other => Err(SkipReason::UnsupportedLink(other)),
        }
    }

    /// The number that stands for it in files; of several, the usual one.
    pub(super) fn number(self) -> u16 {
        match self {
            LinkType::Loopback => 0,
            LinkType::Ethernet => 1,
            LinkType::RawIp => 101,
            LinkType::LinuxSll => 113,
            LinkType::LinuxSll2 => 276,
        }
    }

    /// Offset of the IP header in `frame`.
    pub(super) fn ip_offset(self, frame: &[u8]) -> Result<usize, SkipReason> {
        match self {
            LinkType::RawIp => Ok(0),
            LinkType::Loopback => match *frame.first_chunk::<4>().ok_or(SkipReason::CutHeader)? {
                // The address family is in the byte order of the capturing host: AF_INET is 2 everywhere, AF_INET6 is
                // 24, 28 or 30 on the BSDs and 10 on Linux.
                [0, 0, 0, 2 | 10 | 24 | 28 | 30] | [2 | 10 | 24 | 28 | 30, 0, 0, 0] => Ok(4),
                _ => Err(SkipReason::NotIp),
            },
            LinkType::Ethernet => behind_ether_type(frame, 12, 14),
            LinkType::LinuxSll => behind_ether_type(frame, 14, 16),
            LinkType::LinuxSll2 => behind_ether_type(frame, 0, 20),
        }
    }
}

/// Skips VLAN tags from the EtherType at `at`, whose header ends at `end`, to the IP header.
fn behind_ether_type(frame: &[u8], mut at: usize, mut end: usize) -> Result<usize, SkipReason> {
    loop {
        let ether_type =
            frame.get(at..).and_then(|rest| rest.first_chunk::<2>()).ok_or(SkipReason::CutHeader)?;
        match u16::from_be_bytes(*ether_type) {
            0x0800 | 0x86dd => return Ok(end),
            // IEEE 802.1Q, 802.1ad and the older type for stacked tags.
            0x8100 | 0x88a8 | 0x9100 => (at, end) = (end + 2, end + 4),
            0x0806 => return Err(SkipReason::Arp),
            _ => return Err(SkipReason::NotIp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: usize, parts: &[(usize, u16)]) -> Vec<u8> {
        let mut frame = vec![0; length];
        for (at, value) in parts {
            frame[*at..*at + 2].copy_from_slice(&value.to_be_bytes());
        }
        frame
    }

    #[test]
    fn each_link_layer_has_its_offset() {
        assert_eq!(LinkType::Ethernet.ip_offset(&frame(34, &[(12, 0x0800)])), Ok(14));
        assert_eq!(LinkType::Ethernet.ip_offset(&frame(38, &[(12, 0x8100), (16, 0x86dd)])), Ok(18));
        assert_eq!(
            LinkType::Ethernet.ip_offset(&frame(42, &[(12, 0x88a8), (16, 0x8100), (20, 0x0800)])),
            Ok(22)
        );
        assert_eq!(LinkType::LinuxSll.ip_offset(&frame(36, &[(14, 0x0800)])), Ok(16));
        assert_eq!(LinkType::LinuxSll.ip_offset(&frame(40, &[(14, 0x8100), (18, 0x0800)])), Ok(20));
        assert_eq!(LinkType::LinuxSll2.ip_offset(&frame(40, &[(0, 0x86dd)])), Ok(20));
        assert_eq!(LinkType::Loopback.ip_offset(&[2, 0, 0, 0]), Ok(4));
        assert_eq!(LinkType::Loopback.ip_offset(&[0, 0, 0, 30]), Ok(4));
        assert_eq!(LinkType::RawIp.ip_offset(&[]), Ok(0));
    }

    #[test]
    fn everything_else_is_named() {
        assert_eq!(LinkType::Ethernet.ip_offset(&frame(60, &[(12, 0x0806)])), Err(SkipReason::Arp));
        assert_eq!(LinkType::Ethernet.ip_offset(&frame(60, &[(12, 0x88cc)])), Err(SkipReason::NotIp));
        assert_eq!(LinkType::Ethernet.ip_offset(&[0; 13]), Err(SkipReason::CutHeader));
        assert_eq!(LinkType::Ethernet.ip_offset(&frame(17, &[(12, 0x8100)])), Err(SkipReason::CutHeader));
        assert_eq!(LinkType::Loopback.ip_offset(&[7, 0, 0, 0]), Err(SkipReason::NotIp));
        assert_eq!(LinkType::Loopback.ip_offset(&[2, 0]), Err(SkipReason::CutHeader));
        assert_eq!(LinkType::new(105), Err(SkipReason::UnsupportedLink(105)));
    }
}
