//! Headers of every link layer, made by hand.

use super::super::skipped::SkipReason;
use super::types::{WITH_IP, name};
use super::*;
use proptest::prelude::*;

/// Bytes from hexadecimal digits with blanks; `[n]` stands for n bytes of zero.
fn hex(text: &str) -> Vec<u8> {
    let part = |part: &str| match part.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(count) => vec![0; count.parse().unwrap()],
        None => {
            (0..part.len()).step_by(2).map(|at| u8::from_str_radix(&part[at..at + 2], 16).unwrap()).collect()
        }
    };
    text.split_whitespace().flat_map(part).collect()
}

/// Link types and headers that lead to an IPv4 packet directly behind them.
const LEADS_TO_IP: &[(u16, &str)] = &[
    (0, "02000000"),
    (0, "0000001e"),
    (0, "0000 0800"),
    (1, "[12] 0800"),
    (1, "[12] 86dd"),
    (1, "[12] 8100 0005 86dd"),
    (1, "[12] 88a8 0005 8100 0006 0800"),
    (1, "[12] 8864 11 00 0001 0000 0021"),
    (1, "[12] 8864 11 00 0001 0000 0057"),
    (1, "[12] 8864 11 00 0001 0000 21"),
    (1, "[12] 8100 0007 8864 11 00 0001 0000 0021"),
    (1, "[12] 88a8 0007 8100 0007 8864 11 00 0001 0000 0021"),
    (1, "[12] 8847 00010040 00010140"),
    (1, "[12] 8847 00010140 00000000 [12] 0800"),
    (1, "[12] 8864 11 00 0001 0000 0281 00010140"),
    (1, "[12] 0040 aaaa03 000000 0800"),
    (1, "[12] 0040 060603"),
    (1, "[12] 88e7 00000000 [12] 0800"),
    (1, "[12] 893f [6] 0800"),
    (1, "[12] 88e5 00 00 00000001 0800"),
    (1, "[12] 88e5 20 00 00000001 [8] 0800"),
    (6, "10 40 [12] aaaa03 000000 0800"),
    (6, "10 40 [6] 80 [5] 06 [5] aaaa03 000000 0800"),
    (7, "01 02 d4 00 0001"),
    (7, "01 02 f0"),
    (8, "[16]"),
    (9, "ff03 0021"),
    (9, "0021"),
    (9, "21"),
    (9, "ff03 003d c0 000000 0021"),
    (10, "57 [12] aaaa03 000000 0800"),
    (12, ""),
    (14, ""),
    (50, "ff03 0021"),
    (50, "0f00 0800"),
    (51, "11 00 0001 0000 0021"),
    (99, "[6] 0800 [36]"),
    (100, "aaaa03 000000 0800"),
    (100, "aaaa03 0080c2 0007 0000 [12] 0800"),
    (100, "fefe03 cc"),
    (100, "fefe03 cf 0021"),
    (100, "0021"),
    (100, "0000 [12] 0800"),
    (100, ""),
    (101, ""),
    (104, "0f00 0800"),
    (104, "8f00 8847 00010140"),
    (105, "0801 [22] aaaa03 000000 0800"),
    (105, "8802 [24] aaaa03 000000 0800"),
    (105, "8803 [30] aaaa03 000000 0800"),
    (105, "8881 [28] aaaa03 000000 86dd"),
    (106, "aaaa03 000000 0800"),
    (106, ""),
    (107, "1841 03 cc"),
    (107, "1840 0041 03 cc"),
    (107, "1841 03 00 80 000000 0800"),
    (107, "1841 0800"),
    (107, "1841 03 80 0080c2 0007 [12] 0800"),
    (108, "00000002"),
    (109, "02000000 [8]"),
    (110, "0000 [12] 0800"),
    (113, "[14] 0800"),
    (113, "[14] 8864 11 00 0001 0000 0021"),
    (113, "[14] 8100 0005 0800"),
    (113, "[14] 0004 aaaa03 000000 0800"),
    (113, "0000 0302 [12] 1841 03 cc"),
    (117, "3d 02 [62]"),
    (119, "44000000 0c000000 [4] 0801 [22] aaaa03 000000 0800"),
    (119, "80211001 00000010 [8] 0801 [22] aaaa03 000000 0800"),
    (122, "[16] aaaa03 000000 0800"),
    (123, "02 00 0020 aaaa03 000000 0800"),
    (123, "01 00 0020 0000 [12] 0800"),
    (127, "00 00 0800 00000000 0801 [22] aaaa03 000000 0800"),
    (127, "00 00 1900 03000000 [8] 20 [8] 8802 [26] aaaa03 000000 0800"),
    (127, "00 00 0d00 020000a0 00000000 20 8802 [26] aaaa03 000000 0800"),
    (129, "01 02 0000 d4 00 0001"),
    (138, "[16] 0800"),
    (163, "80211001 00000010 [8] 0801 [22] aaaa03 000000 0800"),
    (166, "01 00 0021"),
    (167, "4d4743 00 [12] 8864 11 00 0001 0000 0021"),
    (178, "4d4743 80 0004 [4] [12] 0800"),
    (178, "4d4743 82 0004 [4] 02000000"),
    (179, "4d4743 01 0021"),
    (180, "4d4743 00 1841 03 cc"),
    (181, "4d4743 00 0f00 0800"),
    (182, "c001 1841 03 cc"),
    (192, "00 00 0800 01000000 [12] 0800"),
    (192, "00 00 0c00 69000000 [4] 0801 [22] aaaa03 000000 0800"),
    (204, "01 ff03 0021"),
    (205, "00 0f00 0800"),
    (206, "00 1841 03 cc"),
    (219, "00010140"),
    (226, "01 02 [22]"),
    (228, ""),
    (229, ""),
    (239, "02 00 0000 0800 0a00 [4] 0500 0700 00 000000 3000 0900"),
    (239, "02 00 0000 0008 000a [4] 0030 0009"),
    (240, "[4] [12] 0800"),
    (241, "[12] [12] 0800"),
    (242, "[40] 0800 0000"),
    (258, "6c000000 01000000 01000000 [96] [12] 0800"),
    (258, "6c000000 01000000 0c000000 [96]"),
    (276, "0800 [18]"),
    (276, "8864 [18] 11 00 0001 0000 0021"),
    (281, "[12] 00000000 0800"),
    (282, "00000000 [12] 0800"),
    (284, "[12] 00000000 0800"),
    (285, "[12] dada0000 00000000 0800"),
];

const ARP: SkipReason = SkipReason::Arp;
const NOT_IP: SkipReason = SkipReason::NotIp;

/// Frames without an IP packet, or without one that can be found.
const NO_IP: &[(u16, &str, SkipReason)] = &[
    (0, "07000000", NOT_IP),
    (1, "[12] 0806 [46]", ARP),
    (1, "[12] 88cc [46]", NOT_IP),
    (1, "[12] 8863 11 09 0000 0000", NOT_IP),
    (1, "[12] 8864 11 00 0001 0000 c021 [20]", NOT_IP),
    (1, "[12] 8864 21 00 0001 0000 0021 [20]", NOT_IP),
    (1, "[12] 8847 00010140 f0 [20]", NOT_IP),
    (1, "[12] 0040 424203 [20]", NOT_IP),
    (1, "[12] 88e5 0c 00 00000001 0800 [20]", SkipReason::Encrypted),
    (9, "ff03 00fd [20]", SkipReason::Encrypted),
    (9, "ff03 003d 80 000000 0021 [20]", SkipReason::Fragment),
    (104, "0f00 8035 [20]", NOT_IP),
    (105, "8000 [40]", NOT_IP),
    (105, "4801 [40]", NOT_IP),
    (105, "0841 [40]", SkipReason::Encrypted),
    (105, "0801 [20] 0100 [20]", SkipReason::Fragment),
    (105, "8802 [22] 8000 [40]", SkipReason::Aggregate),
    (107, "1800 0000 00 [20]", SkipReason::Malformed),
    (182, "8001 [20]", SkipReason::Fragment),
    (192, "00 00 0800 bd000000 [20]", SkipReason::UnsupportedLink(189)),
    (239, "07 00 0000 3000 0900 [20]", NOT_IP),
    (258, "6c000000 00000000 01000000 [96] [12] 0800", NOT_IP),
    (276, "0800 [6] 0338 [20]", NOT_IP),
];

fn found(number: u16, frame: &[u8]) -> Result<usize, SkipReason> {
    link_type(number)?.ip_offset(frame)
}

#[test]
fn every_link_layer_leads_to_its_ip_packet() {
    for (number, header) in LEADS_TO_IP {
        let header = hex(header);
        let frame = [&header[..], &[0x45; 20]].concat();
        assert_eq!(found(*number, &frame), Ok(header.len()), "link type {number}: {header:02x?}");
    }
    for (number, name, _) in WITH_IP {
        assert!(LEADS_TO_IP.iter().any(|(known, _)| known == number), "no frame of {name} ({number})");
    }
}

#[test]
fn everything_else_is_named() {
    for (number, frame, reason) in NO_IP {
        assert_eq!(found(*number, &hex(frame)), Err(*reason), "link type {number}: {frame}");
    }
    assert_eq!(link_type(189), Err(SkipReason::UnsupportedLink(189)));
    assert_eq!((name(189), name(12345)), (Some("USB_LINUX"), None));
}

#[test]
fn numbers_and_constants_are_listed_once() {
    let numbers: std::collections::BTreeSet<u16> = WITH_IP.iter().map(|(number, _, _)| *number).collect();
    assert_eq!(numbers.len(), WITH_IP.len());
    for number in 0..=u16::MAX {
        assert_eq!(LinkType::new(number).is_some(), numbers.contains(&number), "{number}");
    }
    for known in
        [LinkType::LOOPBACK, LinkType::ETHERNET, LinkType::RAW_IP, LinkType::LINUX_SLL, LinkType::LINUX_SLL2]
    {
        assert_eq!(LinkType::new(known.number()), Some(known));
    }
}

#[test]
fn headers_in_headers_without_end_are_left() {
    // Per-packet information that announces itself again.
    let frame = hex("00 00 0800 c0000000").repeat(1000);
    assert_eq!(found(192, &frame), Err(NOT_IP));
}

/// A header and where it is damaged.
fn specimen() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let chosen = prop::sample::select(LEADS_TO_IP);
    let hits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (chosen, hits).prop_map(|((number, header), hits)| {
        let mut frame = [hex(header), vec![0x45; 20]].concat();
        for (index, value) in hits {
            let index = index.index(frame.len());
            frame[index] = value;
        }
        (number, frame)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_header_that_is_cut_off_is_called_so(
        (number, header) in prop::sample::select(LEADS_TO_IP), cut in any::<prop::sample::Index>()
    ) {
        let header = hex(header);
        prop_assume!(!header.is_empty());
        // The IP packet alone may be what makes the offset known.
        match found(number, &header[..cut.index(header.len())]) {
            Ok(offset) => prop_assert!(offset >= cut.index(header.len())),
            Err(reason) => prop_assert!(matches!(reason, SkipReason::CutHeader | SkipReason::NotIp | SkipReason::Fragment)),
        }
    }

    #[test]
    fn damage_never_panics((number, frame) in specimen()) {
        let _ = found(number, &frame);
    }

    #[test]
    fn random_bytes_never_panic(
        (number, _, _) in prop::sample::select(WITH_IP), frame in prop::collection::vec(any::<u8>(), 0..300)
    ) {
        let _ = found(number, &frame);
    }

    #[test]
    fn what_carries_ethernet_carries_what_is_inside(
        (_, inner) in prop::sample::select(LEADS_TO_IP.iter().filter(|(number, _)| *number == 1).collect::<Vec<_>>()),
        (number, outer) in prop::sample::select(vec![
            (192, "00 00 0800 01000000"),
            (258, "6c000000 01000000 01000000 [96]"),
            (240, "[4]"),
            (178, "4d4743 00"),
        ]),
    ) {
        let frame = [hex(outer), hex(inner), vec![0x45; 20]].concat();
        prop_assert_eq!(found(number, &frame), Ok(frame.len() - 20));
    }
}
