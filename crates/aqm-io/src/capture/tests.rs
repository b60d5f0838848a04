//! Captures made by hand, byte by byte.

use super::*;
use aqm_core::packet::{Ecn, TcpView};
use aqm_core::units::Rate;
use proptest::prelude::*;

/// Byte order.
#[derive(Clone, Copy)]
enum Endian {
    Little,
    Big,
}

impl Endian {
    fn u16(self, value: u16) -> [u8; 2] {
        match self {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        match self {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        }
    }
}

const MICROS: u32 = 0xa1b2_c3d4;
const NANOS: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;

/// A pcap file of `(seconds, fraction, frame)`.
fn pcap(endian: Endian, magic: u32, link: u32, records: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(endian.u32(magic));
    file.extend(endian.u16(2));
    file.extend(endian.u16(4));
    file.extend([0, 0, 65535, link].map(|value| endian.u32(value)).concat());
    for (seconds, fraction, frame) in records {
        let length = frame.len() as u32;
        file.extend([*seconds, *fraction, length, length].map(|value| endian.u32(value)).concat());
        file.extend(frame);
    }
    file
}

/// A pcapng block.
fn block(endian: Endian, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = endian.u32((12 + body.len() + padding) as u32);
    [&endian.u32(kind), &length, body, &[0; 3][..padding], &length].concat()
}

fn section(endian: Endian) -> Vec<u8> {
    block(
        endian,
        0x0a0d_0d0a,
        &[&endian.u32(0x1a2b_3c4d)[..], &endian.u16(1), &endian.u16(0), &[0xff; 8]].concat(),
    )
}

/// An interface description with `if_tsresol`.
fn interface(endian: Endian, link: u16, resolution: u8) -> Vec<u8> {
    let option = [&endian.u16(9)[..], &endian.u16(1), &[resolution, 0, 0, 0], &[0; 4]].concat();
    block(endian, 1, &[&endian.u16(link)[..], &[0; 2], &endian.u32(0), &option].concat())
}

fn enhanced(endian: Endian, interface: u32, ticks: u64, frame: &[u8]) -> Vec<u8> {
    let length = frame.len() as u32;
    let head = [interface, (ticks >> 32) as u32, ticks as u32, length, length]
        .map(|value| endian.u32(value))
        .concat();
    block(endian, 6, &[&head, frame].concat())
}

/// An obsolete Packet Block.
fn obsolete(endian: Endian, interface: u16, ticks: u64, frame: &[u8]) -> Vec<u8> {
    let length = frame.len() as u32;
    let fields = [(ticks >> 32) as u32, ticks as u32, length, length].map(|value| endian.u32(value)).concat();
    block(endian, 2, &[&endian.u16(interface)[..], &endian.u16(0xffff), &fields, frame].concat())
}

fn simple(endian: Endian, frame: &[u8]) -> Vec<u8> {
    block(endian, 3, &[&endian.u32(frame.len() as u32), frame].concat())
}

fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&[0; 12], &ether_type.to_be_bytes()[..], payload].concat()
}

/// From 192.0.2.1 to 192.0.2.2, with `traffic_class` as DSCP and ECN.
fn ipv4(protocol: u8, traffic_class: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len()) as u16;
    let mut packet = vec![0x45, traffic_class];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 7]);
    packet.extend(fragment.to_be_bytes());
    packet.extend([64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    packet.extend(payload);
    packet
}

/// From 2001:db8::1 to 2001:db8::2.
fn ipv6(next_header: u8, traffic_class: u8, payload: &[u8]) -> Vec<u8> {
    let address = |last| [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    let mut packet = vec![0x60 | traffic_class >> 4, traffic_class << 4, 0, 0];
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next_header, 64]);
    packet.extend(address(1));
    packet.extend(address(2));
    packet.extend(payload);
    packet
}

fn udp(source: u16, destination: u16, payload: usize) -> Vec<u8> {
    let length = (8 + payload) as u16;
    [&source.to_be_bytes()[..], &destination.to_be_bytes(), &length.to_be_bytes(), &[0; 2], &vec![0; payload]]
        .concat()
}

/// A segment from port 5001 to port 80 with sequence number 1000, acknowledgment number 2000.
fn tcp(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let offset = ((20 + options.len()) / 4) as u8;
    let ports_and_numbers =
        [&[0x13, 0x89, 0, 80][..], &1000u32.to_be_bytes(), &2000u32.to_be_bytes()].concat();
    [&ports_and_numbers[..], &[offset << 4, flags, 0, 255, 0, 0, 0, 0], options, &vec![0; payload]].concat()
}

fn dns() -> Vec<u8> {
    ethernet(0x0800, &ipv4(17, 0, 0, &udp(5353, 53, 30)))
}

fn read(bytes: &[u8]) -> Capture {
    Capture::parse("hand.pcap", bytes).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    Capture::parse("hand.pcap", bytes).unwrap_err().to_string()
}

/// The only packet of a capture with this frame.
fn only(link: u32, frame: Vec<u8>) -> (CapturedPacket, CapturedFlow) {
    let capture = read(&pcap(Endian::Little, MICROS, link, &[(0, 0, frame)]));
    assert_eq!(capture.packets().len(), 1);
    (capture.packets()[0], *capture.flow_of(&capture.packets()[0]))
}

/// Why a frame is left out.
fn skipped(frame: Vec<u8>) -> Vec<(SkipReason, u64)> {
    let capture = read(&pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, dns()), (0, 0, frame)]));
    assert_eq!(capture.packets().len(), 1);
    capture.skipped().iter().collect()
}

fn times(capture: &Capture) -> Vec<u64> {
    capture.packets().iter().map(|packet| packet.time.as_nanos()).collect()
}

#[test]
fn a_packet_is_half_a_cache_line() {
    assert!(size_of::<CapturedPacket>() <= 32, "{}", size_of::<CapturedPacket>());
}

#[test]
fn pcap_is_read_in_both_byte_orders_and_both_resolutions() {
    for endian in [Endian::Little, Endian::Big] {
        let records = [(10, 999_999, dns()), (11, 1, dns())];
        assert_eq!(times(&read(&pcap(endian, MICROS, ETHERNET, &records))), [0, 2_000]);
        assert_eq!(times(&read(&pcap(endian, NANOS, ETHERNET, &records))), [0, 999_000_002]);
    }
}

#[test]
fn the_link_type_field_may_hold_the_length_of_the_checksum() {
    let file = pcap(Endian::Little, MICROS, 0x5400_0000 | ETHERNET, &[(0, 0, dns())]);
    assert_eq!(read(&file).packets().len(), 1);
}

#[test]
fn pcapng_interfaces_have_their_own_link_type_and_clock() {
    for endian in [Endian::Little, Endian::Big] {
        let ip = ipv4(17, 0, 0, &udp(1, 2, 10));
        let file = [
            section(endian),
            interface(endian, 1, 6),
            interface(endian, 101, 9),
            enhanced(endian, 0, 5_000_000, &dns()),
            enhanced(endian, 1, 5_000_000_123, &ip),
            simple(endian, &dns()),
            enhanced(endian, 2, 0, &ip),
            // A new section forgets the interfaces.
            section(endian),
            interface(endian, 101, 0x80 | 10),
            enhanced(endian, 0, 6 * 1024 + 512, &ip),
            obsolete(endian, 0, 7 * 1024, &ip),
            obsolete(endian, 3, 0, &ip),
            block(endian, 2, &[0; 8]),
        ]
        .concat();
        let capture = read(&file);
        assert_eq!(times(&capture), [0, 123, 123, 1_500_000_000, 2_000_000_000]);
        assert_eq!(capture.oddities().untimed, 1);
        let left_out: Vec<_> = capture.skipped().iter().collect();
        assert_eq!(left_out, [(SkipReason::CutHeader, 1), (SkipReason::NoInterface, 2)]);
    }
}

#[test]
fn sections_may_differ_in_byte_order() {
    let part = |endian, ticks| {
        [section(endian), interface(endian, 1, 6), enhanced(endian, 0, ticks, &dns())].concat()
    };
    assert_eq!(times(&read(&[part(Endian::Big, 1), part(Endian::Little, 3)].concat())), [0, 2_000]);
}

#[test]
fn length_is_that_of_the_ip_packet_not_of_the_frame() {
    let mut padded = dns();
    let length = padded.len() as u32 - 14;
    padded.resize(100, 0);
    assert_eq!(only(ETHERNET, padded).0.length, length);
}

#[test]
fn a_short_snap_length_does_not_shorten_packets() {
    let frame = ethernet(0x0800, &ipv4(6, 0, 0, &tcp(0x10, &[], 1400)));
    let mut file = pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, frame[..54].to_vec())]);
    file[24 + 12..24 + 16].copy_from_slice(&(frame.len() as u32).to_le_bytes());
    let packet = read(&file).packets()[0];
    assert_eq!((packet.length, packet.tcp.unwrap().payload), (1440, 1400));
}

#[test]
fn tcp_headers_are_seen() {
    // Timestamps (8), then SACK (5) with one block, padded by NOPs (1).
    let mut options = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 10];
    options.extend([0; 8]);
    let (packet, flow) = only(ETHERNET, ethernet(0x0800, &ipv4(6, 0x2a, 0, &tcp(0xd8, &options, 7))));
    let expected = TcpView { seq: 1000, ack: 2000, payload: 7, flags: 0xd8, has_sack: true };
    assert_eq!(packet.tcp, Some(expected));
    assert_eq!((packet.dscp, packet.ecn), (10, Ecn::Ect0));
    assert_eq!((flow.five_tuple.protocol, flow.five_tuple.ports), (6, (5001, 80)));
    let (packet, _) = only(ETHERNET, ethernet(0x0800, &ipv4(6, 0, 0, &tcp(0x02, &[], 0))));
    assert!(!packet.tcp.unwrap().has_sack);
}

#[test]
fn a_cut_tcp_header_keeps_its_flow() {
    let frame = ethernet(0x0800, &ipv4(6, 0, 0, &tcp(0x10, &[], 100)));
    let mut file = pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, frame[..44].to_vec())]);
    file[24 + 12..24 + 16].copy_from_slice(&(frame.len() as u32).to_le_bytes());
    let capture = read(&file);
    assert_eq!(capture.packets()[0].tcp, None);
    assert_eq!(capture.flows()[0].five_tuple.ports, (5001, 80));
    assert_eq!(capture.oddities().cut_transport, 1);
}

#[test]
fn ipv6_extension_headers_lead_to_the_transport() {
    // Hop-by-hop options, then destination options, then UDP.
    let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let destination = [17, 0, 1, 4, 0, 0, 0, 0];
    let packet = ipv6(0, 0xb9, &[&hop_by_hop[..], &destination, &udp(4000, 53, 12)].concat());
    let (packet, flow) = only(ETHERNET, ethernet(0x86dd, &packet));
    assert_eq!(packet.length, 40 + 16 + 20);
    assert_eq!((packet.dscp, packet.ecn), (46, Ecn::Ect1));
    assert_eq!((flow.five_tuple.protocol, flow.five_tuple.ports), (17, (4000, 53)));
    assert_eq!(flow.five_tuple.source.to_string(), "2001:db8::1");
}

#[test]
fn tcp_payload_does_not_count_extension_headers() {
    let hop_by_hop = [6, 0, 1, 4, 0, 0, 0, 0];
    let packet = ipv6(0, 0, &[&hop_by_hop[..], &tcp(0x10, &[], 33)].concat());
    assert_eq!(only(ETHERNET, ethernet(0x86dd, &packet)).0.tcp.unwrap().payload, 33);
}

#[test]
fn fragments_of_a_datagram_stay_together() {
    const MORE: u16 = 0x2000;
    let first = ethernet(0x0800, &ipv4(17, 0, MORE, &udp(1, 2, 1000)));
    let rest = ethernet(0x0800, &ipv4(17, 0, 126, &[9; 500]));
    // IPv6: fragment header, first fragment and rest.
    let fragment = |offset_and_more: u16, payload: &[u8]| {
        let header = [&[17, 0][..], &offset_and_more.to_be_bytes(), &[0, 0, 0, 5]].concat();
        ethernet(0x86dd, &ipv6(44, 0, &[&header[..], payload].concat()))
    };
    let (first6, rest6) = (fragment(1, &udp(1, 2, 1000)), fragment(1008, &[9; 500]));
    let records = [first, rest, first6, rest6].map(|frame| (0, 0, frame));
    let capture = read(&pcap(Endian::Little, MICROS, ETHERNET, &records));
    assert_eq!(capture.packets().iter().map(|packet| packet.flow).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!(capture.flows().iter().map(|flow| flow.five_tuple.ports).collect::<Vec<_>>(), [(0, 0); 2]);
    assert_eq!(capture.flows().iter().map(|flow| flow.five_tuple.protocol).collect::<Vec<_>>(), [17, 17]);
}

#[test]
fn packets_that_offloads_still_segment_are_kept_and_counted() {
    let mut joined = ipv4(6, 0, 0, &tcp(0x10, &[], 9000));
    assert_eq!(only(ETHERNET, ethernet(0x0800, &joined)).0.length, 9040);
    joined[2..4].fill(0);
    let mut jumbo6 = ipv6(6, 0, &tcp(0x10, &[], 9000));
    jumbo6[4..6].fill(0);
    let records = [(0, 0, ethernet(0x0800, &joined)), (0, 0, ethernet(0x86dd, &jumbo6))];
    let capture = read(&pcap(Endian::Little, MICROS, ETHERNET, &records));
    assert_eq!(capture.packets().iter().map(|packet| packet.length).collect::<Vec<_>>(), [9040, 9060]);
    assert!(capture.packets().iter().all(|packet| packet.tcp.unwrap().payload == 9000));
    assert_eq!(capture.oddities().oversized, 2);
    assert!(capture.warnings()[0].starts_with("hand.pcap: packets of more than 1500 bytes"));
}

#[test]
fn an_ipv6_packet_may_have_nothing_in_it() {
    let mut frame = ethernet(0x86dd, &ipv6(59, 0, &[]));
    frame.resize(60, 0);
    assert_eq!(only(ETHERNET, frame).0.length, 40);
}

#[test]
fn other_link_layers_are_read() {
    let ip = ipv4(17, 0, 0, &udp(1, 2, 10));
    let vlan = ethernet(0x8100, &[&[0, 5, 0x08, 0x00][..], &ip].concat());
    let sll = [&[0; 14][..], &[0x08, 0x00], &ip].concat();
    let sll2 = [&[0x08, 0x00][..], &[0; 18], &ip].concat();
    let null = [&[2, 0, 0, 0][..], &ip].concat();
    for (link, frame) in
        [(1, vlan), (113, sll), (276, sll2), (0, null.clone()), (108, null), (101, ip.clone()), (228, ip)]
    {
        let (packet, flow) = only(link, frame);
        assert_eq!((packet.length, flow.five_tuple.ports), (38, (1, 2)), "link type {link}");
    }
}

/// A segment of a flow with its own numbers, timestamps and identification.
fn segment(source: [u8; 4], destination: [u8; 4], ports: (u16, u16), number: u32, payload: usize) -> Vec<u8> {
    let stamp = [&[1, 1, 8, 10][..], &(number / 3).to_be_bytes(), &[0; 4]].concat();
    let mut segment = tcp(0x10, &stamp, payload);
    segment[..2].copy_from_slice(&ports.0.to_be_bytes());
    segment[2..4].copy_from_slice(&ports.1.to_be_bytes());
    segment[4..8].copy_from_slice(&(number * 1000).to_be_bytes());
    let mut packet = ipv4(6, 0, 0, &segment);
    packet[4..6].copy_from_slice(&[0, 0]);
    packet[12..16].copy_from_slice(&source);
    packet[16..20].copy_from_slice(&destination);
    packet
}

const LAN: [u8; 4] = [192, 168, 1, 2];
const WAN: [u8; 4] = [84, 10, 20, 30];
const SERVER: [u8; 4] = [198, 51, 100, 7];

/// Linux "cooked" capture, version 2, of an interface.
fn cooked(interface: u8, packet: &[u8]) -> Vec<u8> {
    [&[0x08, 0, 0, 0, 0, 0, 0, interface], &[0; 12][..], packet].concat()
}

/// The packets of a capture in which frame `n` passes at `n` ms.
fn in_turn(link: u32, frames: Vec<Vec<u8>>) -> Capture {
    let records: Vec<_> = frames
        .into_iter()
        .enumerate()
        .map(|(number, frame)| (1 + number as u32 / 1000, number as u32 % 1000 * 1000, frame))
        .collect();
    read(&pcap(Endian::Little, MICROS, link, &records))
}

#[test]
fn a_packet_on_both_sides_of_a_nat_counts_once() {
    let mut frames = Vec::new();
    for number in 0..40 {
        // Upwards the LAN comes first, downwards the WAN does.
        frames.push(cooked(3, &segment(LAN, SERVER, (5001, 443), number, 1000)));
        frames.push(cooked(2, &segment(WAN, SERVER, (61001, 443), number, 1000)));
        frames.push(cooked(2, &segment(SERVER, WAN, (443, 61001), number, 0)));
        frames.push(cooked(3, &segment(SERVER, LAN, (443, 5001), number, 0)));
        // The router's own traffic has no copy.
        frames.push(cooked(2, &segment(WAN, SERVER, (53, 53), 7000 + number, 10)));
    }
    let capture = in_turn(276, frames);
    assert_eq!((capture.packets().len(), capture.skipped().count(SkipReason::Copy)), (120, 80));
    let sources: Vec<_> = capture.flows().iter().map(|flow| flow.five_tuple.source.to_string()).collect();
    assert_eq!(sources, ["192.168.1.2", "198.51.100.7", "84.10.20.30"]);
    assert!(capture.warnings()[0].contains("packets captured more than once"), "{:?}", capture.warnings());
    assert_eq!(capture.warnings().len(), 1, "{:?}", capture.warnings());
    assert!(
        capture.summary().to_string().ends_with("left out: 80 captured more than once"),
        "{}",
        capture.summary()
    );
}

#[test]
fn a_packet_of_two_interfaces_counts_once_even_where_an_offload_merges_segments() {
    let mut frames = Vec::new();
    for number in 0..40 {
        // Interface 2 has two segments in one.
        frames.push(cooked(2, &segment(SERVER, LAN, (443, 5001), 2 * number, 2000)));
        frames.push(cooked(3, &segment(SERVER, LAN, (443, 5001), 2 * number, 1000)));
        frames.push(cooked(3, &segment(SERVER, LAN, (443, 5001), 2 * number + 1, 1000)));
    }
    let capture = in_turn(276, frames);
    let payload: u32 = capture.packets().iter().map(|packet| u32::from(packet.tcp.unwrap().payload)).sum();
    assert_eq!(payload, 80_000);
}

#[test]
fn a_packet_with_and_without_a_tag_counts_once() {
    let frames = (0..40).flat_map(|number| {
        let packet = segment(LAN, SERVER, (5001, 443), number, 1000);
        [ethernet(0x0800, &packet), ethernet(0x8100, &[&[0, 5, 8, 0][..], &packet].concat())]
    });
    let capture = in_turn(1, frames.collect());
    assert_eq!((capture.packets().len(), capture.skipped().count(SkipReason::Copy)), (40, 40));
}

#[test]
fn a_packet_that_a_mirror_port_gives_twice_counts_once() {
    let mut frames = Vec::new();
    for number in 0..40 {
        for hops in [64, 63] {
            let mut packet = segment(LAN, SERVER, (5001, 443), number, 1000);
            packet[8] = hops;
            frames.push(ethernet(0x0800, &packet));
        }
        // A direction that is mirrored once.
        frames.push(ethernet(0x0800, &segment(SERVER, LAN, (443, 5001), number, 0)));
    }
    let capture = in_turn(1, frames);
    assert_eq!((capture.packets().len(), capture.skipped().count(SkipReason::Copy)), (80, 40));
}

#[test]
fn what_is_sent_again_is_no_copy() {
    // Every fifth segment is sent again at once with its timestamp, and few are seen on another interface.
    let mut frames = Vec::new();
    for number in 0..100 {
        let packet = segment(LAN, SERVER, (5001, 443), number, 1000);
        frames.push(cooked(3, &packet));
        if number % 5 == 0 {
            frames.push(cooked(3, &packet));
        }
    }
    frames.extend((0..5).map(|number| cooked(2, &segment(LAN, SERVER, (5001, 443), 95 + number, 1000))));
    let capture = in_turn(276, frames);
    assert_eq!((capture.packets().len(), capture.skipped().count(SkipReason::Copy)), (125, 0));
}

#[test]
fn two_hosts_that_ask_a_server_the_same_are_no_copies() {
    let frames = (0..40).flat_map(|number| {
        [LAN, [192, 168, 1, 3]].map(|host| {
            ethernet(0x0800, &segment(host, SERVER, (5001, 443), number + u32::from(host[3]) * 1000, 100))
        })
    });
    assert_eq!(in_turn(1, frames.collect()).skipped().count(SkipReason::Copy), 0);
}

#[test]
fn packets_that_are_all_alike_are_no_copies() {
    let constant = |host: u8| {
        let mut packet = ipv4(17, 0, 0, &udp(5001, 53, 200));
        packet[4..6].copy_from_slice(&[0, 0]);
        packet[15] = host;
        ethernet(0x0800, &packet)
    };
    let capture = in_turn(1, (0..80).map(|number| constant(number % 2)).collect());
    assert_eq!((capture.packets().len(), capture.skipped().count(SkipReason::Copy)), (80, 0));
    // Nor are those of which too little was captured.
    let cut = segment(LAN, SERVER, (5001, 443), 1, 1000)[..24].to_vec();
    let capture = in_turn(101, (0..40).map(|_| cut.clone()).collect());
    assert_eq!((capture.packets().len(), capture.skipped().count(SkipReason::Copy)), (40, 0));
}

#[test]
fn a_short_snap_length_leaves_the_numbers_of_tcp() {
    let packet = segment(LAN, SERVER, (5001, 443), 9, 1000);
    for (captured, has_tcp, is_cut) in
        [(20, false, true), (24, false, true), (34, true, true), (44, true, true), (52, true, false)]
    {
        let frame = ethernet(0x0800, &packet);
        let (length, captured) = (frame.len() as u32, &frame[..14 + captured]);
        let e = Endian::Little;
        let head = [0, 0, 0, captured.len() as u32, length].map(|value| e.u32(value)).concat();
        let file = [section(e), interface(e, 1, 6), block(e, 6, &[&head, captured].concat())].concat();
        let capture = read(&file);
        let [packet] = capture.packets() else { panic!("one packet") };
        assert_eq!(packet.length, 1052);
        let found = packet.tcp.map(|tcp| (tcp.seq, tcp.ack, tcp.payload));
        assert_eq!(found, has_tcp.then_some((9000, 2000, 1000)), "{captured:?}");
        assert_eq!(capture.oddities().cut_transport, u64::from(is_cut));
    }
}

#[test]
fn a_tunnel_has_the_flows_inside_and_the_length_outside() {
    let inner = ipv4(6, 0, 0, &tcp(0x10, &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], 200));
    let inner6 = ipv6(6, 0, &tcp(0x10, &[], 200));
    let gre = |header: &[u8], payload: &[u8]| [header, payload].concat();
    let ports = (5001, 80);
    for (tunnel, overhead, payload) in [
        (ipv4(4, 0b1011_1001, 0, &inner), 20, 200),
        (ipv4(41, 0b1011_1001, 0, &inner6), 20, 200),
        (ipv6(4, 0b1011_1001, &inner), 40, 200),
        (ipv4(47, 0b1011_1001, 0, &gre(&[0, 0, 8, 0], &inner)), 24, 200),
        (
            ipv4(47, 0b1011_1001, 0, &gre(&[0xb0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1], &inner)),
            36,
            200,
        ),
        (ipv4(47, 0b1011_1001, 0, &gre(&[0, 0, 0x65, 0x58], &ethernet(0x86dd, &inner6))), 38, 200),
        (
            ipv4(
                47,
                0b1011_1001,
                0,
                &gre(&[0x30, 0x81, 0x88, 0x0b, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0x21], &inner),
            ),
            38,
            200,
        ),
        (ipv6(4, 0b1011_1001, &ipv4(47, 0, 0, &gre(&[0, 0, 8, 0], &inner))), 64, 200),
    ] {
        let (packet, flow) = only(101, tunnel);
        let length = if flow.five_tuple.source.is_ipv6() { inner6.len() } else { inner.len() };
        assert_eq!((flow.five_tuple.protocol, flow.five_tuple.ports), (6, ports));
        assert_eq!(packet.length as usize, length + overhead);
        assert_eq!((packet.tcp.unwrap().payload, packet.dscp, packet.ecn), (payload, 46, Ecn::Ect1));
    }
}

#[test]
fn a_tunnel_whose_inside_cannot_be_read_is_a_flow_of_its_own() {
    let inner = ipv4(6, 0, 0, &tcp(0x10, &[], 200));
    for (protocol, tunnel) in [
        // Cut within the inner header; a fragment; GRE with routing; GRE with something else; an impossible length.
        (4, ipv4(4, 0, 0, &inner)[..30].to_vec()),
        (4, ipv4(4, 0, 0x2000, &inner)),
        (47, ipv4(47, 0, 0, &[&[0x40, 0, 8, 0][..], &inner].concat())),
        (47, ipv4(47, 0, 0, &[&[0, 0, 0x88, 0xcc][..], &inner].concat())),
        (47, ipv4(47, 0, 0, &[0, 0, 8])),
    ] {
        let (packet, flow) = only(101, tunnel);
        assert_eq!((flow.five_tuple.protocol, flow.five_tuple.ports), (protocol, (0, 0)));
        assert!(packet.tcp.is_none());
    }
    // Tunnels in tunnels are followed so far.
    let nested = (0..100).fold(inner, |inside, _| ipv4(4, 0, 0, &inside));
    assert_eq!(only(101, nested).1.five_tuple.protocol, 4);
}

#[test]
fn everything_but_ip_packets_is_counted_by_kind() {
    let ip = ipv4(17, 0, 0, &udp(1, 2, 10));
    assert_eq!(skipped(ethernet(0x0806, &[0; 28])), [(SkipReason::Arp, 1)]);
    assert_eq!(skipped(ethernet(0x88cc, &[0; 28])), [(SkipReason::NotIp, 1)]);
    assert_eq!(skipped(vec![0; 60]), [(SkipReason::NotIp, 1)]);
    assert_eq!(skipped(vec![0; 5]), [(SkipReason::CutHeader, 1)]);
    assert_eq!(skipped(ethernet(0x0800, &ip[..19])), [(SkipReason::CutHeader, 1)]);
    assert_eq!(skipped(ethernet(0x0800, &[&[0x44], &ip[1..]].concat())), [(SkipReason::Malformed, 1)]);
    assert_eq!(skipped(ethernet(0x0800, &[&[0x75], &ip[1..]].concat())), [(SkipReason::Malformed, 1)]);
    let with_length = |low| ethernet(0x0800, &[&ip[..2], &[0, low], &ip[4..]].concat());
    assert_eq!(skipped(with_length(19)), [(SkipReason::BadLength, 1)]);
}

#[test]
fn an_ip_length_beyond_the_frame_is_used() {
    let mut ip = ipv4(17, 0, 0, &udp(1, 2, 10));
    ip[2..4].copy_from_slice(&1000u16.to_be_bytes());
    let capture = read(&pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, ethernet(0x0800, &ip))]));
    assert_eq!((capture.packets()[0].length, capture.oddities().beyond_frame), (1000, 1));
    assert!(capture.warnings()[0].starts_with("hand.pcap: packets longer by their IP header"));
}

#[test]
fn time_never_goes_backwards() {
    let records = [(5, 0, dns()), (4, 0, dns()), (6, 0, dns()), (5, 999_999, dns())];
    let capture = read(&pcap(Endian::Little, MICROS, ETHERNET, &records));
    assert_eq!(times(&capture), [0, 0, 1_000_000_000, 1_000_000_000]);
    assert_eq!(capture.oddities().backward, 2);
    assert_eq!(
        capture.warnings(),
        ["hand.pcap: packets earlier than the one in front, which were given its time: 2"]
    );
}

#[test]
fn time_starts_at_the_first_ip_packet() {
    let records = [(1, 0, ethernet(0x0806, &[0; 28])), (5, 0, dns()), (6, 0, dns())];
    assert_eq!(times(&read(&pcap(Endian::Little, MICROS, ETHERNET, &records))), [0, 1_000_000_000]);
}

#[test]
fn a_cut_off_file_gives_the_packets_before() {
    let file = pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, dns()), (0, 1, dns()), (0, 2, dns())]);
    let record = 16 + dns().len();
    for cut in 1..record {
        let capture = read(&file[..file.len() - cut]);
        assert_eq!(capture.packets().len(), 2);
        let byte = 24 + 2 * record;
        assert_eq!(
            capture.warnings(),
            [format!("hand.pcap: truncated after 2 packets: the file ends within the record at byte {byte}")]
        );
    }
    let file =
        [section(Endian::Big), interface(Endian::Big, 1, 6), enhanced(Endian::Big, 0, 0, &dns())].concat();
    let end = file.len();
    let file = [file, enhanced(Endian::Big, 0, 0, &dns())].concat();
    for cut in end + 1..file.len() {
        let capture = read(&file[..cut]);
        assert_eq!(capture.packets().len(), 1);
        assert!(capture.warnings()[0].contains("truncated after 1 packets"), "{:?}", capture.warnings());
    }
    assert!(read(&file[..end]).warnings().is_empty());
}

#[test]
fn a_damaged_record_ends_the_capture() {
    let mut file = pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, dns()), (0, 1, dns()), (0, 2, dns())]);
    let second = 24 + 16 + dns().len();
    for length in [0x0004_0001_u32, 0x7fff_ffff, u32::MAX] {
        file[second + 8..second + 12].copy_from_slice(&length.to_le_bytes());
        // There are enough bytes behind it that the record would even fit.
        let mut file = file.clone();
        file.resize(400_000, 0);
        let capture = read(&file);
        assert_eq!(capture.packets().len(), 1);
        assert!(
            capture.warnings()[0].starts_with("hand.pcap: truncated after 1 packets"),
            "{:?}",
            capture.warnings()
        );
    }
}

#[test]
fn large_blocks_are_skipped() {
    let e = Endian::Little;
    let secrets =
        block(e, 10, &[&e.u32(0x544c_534b)[..], &e.u32(3_000_000), &vec![b'x'; 3_000_000]].concat());
    let file = [section(e), interface(e, 1, 6), secrets, enhanced(e, 0, 0, &dns())].concat();
    assert_eq!(read(&file).packets().len(), 1);
}

#[test]
fn a_file_that_is_no_capture_is_refused_with_what_it_seems_to_be() {
    assert_eq!(refusal(b""), "hand.pcap: is empty: give a pcap or pcapng file");
    assert_eq!(
        refusal(b"[scenario]\nrate = 3\n"),
        "hand.pcap: is not a capture but seems to be text: give a pcap or pcapng file"
    );
    assert!(refusal(&[0x1f, 0x8b, 8, 0]).contains("seems to be gzip-compressed: decompress it first"));
    assert!(refusal(b"<!DOCTYPE html>").contains("seems to be a web page"));
    assert!(refusal(&[1, 2, 3, 4, 5]).contains("it begins with the bytes 01 02 03 04"));
    let file = pcap(Endian::Little, MICROS, ETHERNET, &[]);
    assert!(refusal(&file[..20]).contains("begins like a pcap file, but its header is cut off"));
    assert!(
        refusal(&section(Endian::Big)[..20]).contains("begins like a pcapng file, but its header is cut off")
    );
}

#[test]
fn a_capture_without_ip_packets_says_what_it_holds() {
    let none = pcap(Endian::Little, MICROS, ETHERNET, &[]);
    assert_eq!(refusal(&none), "hand.pcap: is a capture without IP packets: it is empty");
    let arp =
        pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, ethernet(0x0806, &[0; 28])), (0, 0, vec![0; 60])]);
    assert_eq!(refusal(&arp), "hand.pcap: is a capture without IP packets: only 1 ARP, 1 other non-IP");
    let usb = pcap(Endian::Little, MICROS, 189, &[(0, 0, dns())]);
    assert_eq!(
        refusal(&usb),
        "hand.pcap: is a capture without IP packets: only 1 of link type USB_LINUX (189), which is not supported"
    );
    let unknown = pcap(Endian::Little, MICROS, 9999, &[(0, 0, dns())]);
    assert!(refusal(&unknown).ends_with("only 1 of unknown link type 9999"));
    let cut = pcap(Endian::Little, MICROS, ETHERNET, &[(0, 0, dns())]);
    assert!(refusal(&cut[..50]).contains("without IP packets: truncated after 0 packets"));
    let untimed = [section(Endian::Big), interface(Endian::Big, 1, 6), simple(Endian::Big, &dns())].concat();
    assert!(refusal(&untimed).contains("gives no packet a time"));
}

#[test]
fn the_summary_has_the_figures() {
    let reply = ethernet(0x86dd, &ipv6(6, 0, &tcp(0x10, &[], 0)));
    let records = [(0, 0, dns()), (1, 0, dns()), (2, 0, reply), (2, 0, ethernet(0x0806, &[0; 28]))];
    let summary = read(&pcap(Endian::Little, MICROS, ETHERNET, &records)).summary();
    assert_eq!(summary.mean_rate(), Some(Rate::from_bits_per_sec((58 + 58 + 60) * 8 / 2)));
    assert_eq!(
        summary.to_string(),
        "3 packets (2 IPv4, 1 IPv6), 176 bytes in 2.000 s, 0.001 Mbit/s on average\nflows: 1 TCP, 1 UDP\nleft out: 1 ARP"
    );
}

/// Valid files of both formats, to be damaged.
fn sound_files() -> Vec<Vec<u8>> {
    let frames = [
        dns(),
        ethernet(0x0800, &ipv4(6, 0, 0, &tcp(0x10, &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], 200))),
        ethernet(
            0x8100,
            &[
                &[0, 5, 0x86, 0xdd][..],
                &ipv6(0, 0, &[&[17, 0, 1, 4, 0, 0, 0, 0][..], &udp(1, 2, 3)].concat()),
            ]
            .concat(),
        ),
        ethernet(0x86dd, &ipv6(44, 0, &[&[17, 0, 0, 1, 0, 0, 0, 5][..], &udp(1, 2, 30)].concat())),
    ];
    let mut files = Vec::new();
    for endian in [Endian::Little, Endian::Big] {
        let records: Vec<_> = frames.iter().map(|frame| (1, 2, frame.clone())).collect();
        files.push(pcap(endian, NANOS, ETHERNET, &records));
        let mut file = [section(endian), interface(endian, 1, 9), interface(endian, 113, 0x8a)].concat();
        for (index, frame) in frames.iter().enumerate() {
            file.extend(enhanced(endian, index as u32 % 2, index as u64, frame));
            file.extend(simple(endian, frame));
        }
        files.push(file);
    }
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_never_panics(
        file in prop::sample::select(sound_files()),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        cut_it in any::<bool>(),
    ) {
        let mut file = file;
        for (index, value) in hits {
            let index = index.index(file.len());
            file[index] = value;
        }
        if cut_it {
            file.truncate(cut.index(file.len()));
        }
        match Capture::parse("damaged", &file) {
            Ok(capture) => {
                prop_assert!(capture.packets().is_sorted_by_key(|packet| packet.time));
                prop_assert_eq!(capture.flows().iter().map(|flow| flow.packets).sum::<u64>(), capture.packets().len() as u64);
                capture.summary().to_string();
                capture.warnings();
            }
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }

    #[test]
    fn random_bytes_after_a_magic_number_never_panic(
        magic in prop::sample::select(vec![MICROS, NANOS, 0xa1b2_cd34, 0x0a0d_0d0a]),
        noise in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let _ = Capture::parse("noise", &[&magic.to_be_bytes(), noise.as_slice()].concat());
        let _ = Capture::parse("noise", &[&magic.to_le_bytes(), noise.as_slice()].concat());
    }
}
