//! An Ethernet frame as a queue sees it, and the mark that a queue leaves in it.

use super::decode;
use super::flow::hashes;
use super::link::LinkType;
use super::record::Record;
use aqm_core::packet::Packet;

/// An Ethernet header without tags.
pub const ETHERNET_HEADER_BYTES: usize = 14;

/// What a discipline can see of a frame that takes `length` bytes on the link; `cookie` is the host's.
///
/// What is no readable IP packet (ARP, anything malformed) has protocol 0, is not ECN-capable, and is one flow together.
pub fn metadata(frame: &[u8], cookie: u64, length: u32) -> Packet {
    let wire_length = frame.len() as u32;
    let record = Record { interface: 0, link: Ok(LinkType::ETHERNET), time: None, data: frame, wire_length };
    let Ok(decoded) = decode::packet(&record) else {
        return Packet { protocol: 0, ..Packet::new(cookie, 0, length) };
    };
    let (flow, source, destination) = hashes(&decoded.five_tuple);
    Packet {
        source,
        destination,
        tcp: decoded.tcp,
        dscp: decoded.dscp,
        ecn: decoded.ecn,
        protocol: decoded.five_tuple.protocol,
        ..Packet::new(cookie, flow, length)
    }
}

/// Sets CE (RFC 3168 section 5) in the IP header of a frame, and mends the checksum of IPv4 (RFC 1624, equation 3).
/// Without such a header nothing changes.
pub fn set_ce(frame: &mut [u8]) {
    let Ok(offset) = LinkType::ETHERNET.ip_offset(frame) else { return };
    match frame.get_mut(offset..).unwrap_or_default() {
        header @ [0x40..=0x4f, _, ..] if header.len() >= 20 => {
            let before = u16::from_be_bytes([header[0], header[1]]);
            header[1] |= 0b11;
            let after = u16::from_be_bytes([header[0], header[1]]);
            let sum = u32::from(!u16::from_be_bytes([header[10], header[11]]));
            let mut sum = sum + u32::from(!before) + u32::from(after);
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        }
        [0x60..=0x6f, second, ..] => *second |= 0b11 << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::packet::Ecn;
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    fn udp(version: u8, dscp_ecn: u8, payload: &[u8]) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let builder = if version == 4 {
            builder.ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
        } else {
            builder.ipv6([1; 16], [2; 16], 64)
        };
        let mut frame = Vec::new();
        builder.udp(1000, 2000).write(&mut frame, payload).unwrap();
        if version == 4 {
            frame[15] = dscp_ecn;
            let header = etherparse::Ipv4Header::from_slice(&frame[14..]).unwrap().0;
            frame[24..26].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
        } else {
            frame[14] |= dscp_ecn >> 4;
            frame[15] |= dscp_ecn << 4;
        }
        frame
    }

    #[test]
    fn ce_is_set_with_the_right_checksum_and_nothing_else_changes() {
        for (version, class) in [4, 6].into_iter().flat_map(|version| (0..=255).map(move |c| (version, c))) {
            let before = udp(version, class, b"text");
            let mut after = before.clone();
            set_ce(&mut after);
            assert_eq!(after, udp(version, class | 3, b"text"), "IPv{version}, traffic class {class}");
            let seen = metadata(&after, 7, 60);
            assert_eq!((seen.ecn, seen.dscp, seen.protocol), (Ecn::Ce, class >> 2, 17));
            assert_eq!((seen.cookie, seen.length), (7, 60));
            assert_eq!(seen.flow, metadata(&before, 0, 0).flow);
        }
    }

    #[test]
    fn what_is_not_ip_is_one_flow_that_is_not_ecn_capable() {
        let mut arp = vec![0xff; 42];
        arp[12..14].copy_from_slice(&[8, 6]);
        let seen = metadata(&arp, 1, 42);
        assert_eq!((seen.protocol, seen.ecn, seen.flow), (0, Ecn::NotEct, 0));
        let before = arp.clone();
        set_ce(&mut arp);
        assert_eq!(arp, before);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_packet_and_only_an_ip_header_is_marked(mut frame in prop::collection::vec(any::<u8>(), 0..80)) {
            let seen = metadata(&frame, 1, 100);
            prop_assert_eq!((seen.cookie, seen.length), (1, 100));
            let before = frame.clone();
            set_ce(&mut frame);
            prop_assert_eq!(&frame[..frame.len().min(14)], &before[..before.len().min(14)]);
            if seen.ecn != Ecn::NotEct {
                prop_assert_eq!(metadata(&frame, 1, 100).ecn, Ecn::Ce);
            }
        }
    }
}
