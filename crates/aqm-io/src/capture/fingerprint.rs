//! What stays the same in a packet wherever it is captured, so that copies of it are known.
//!
//! A router changes the hop limit, a NAT one address and port, and checksums; offloads change where segments end. The
//! rest stays: the identification of IPv4, the numbers and timestamps of TCP, the beginning of other payload.

use super::decode::Decoded;
use super::flow::Hash;
use etherparse::IpNumber;
use std::net::IpAddr;

const SYN: u8 = 2;
const END: u8 = 1 | 4;
/// Payload that is compared, and how much may tell packets apart.
const MOST_PAYLOAD: usize = 64;
const LEAST_PAYLOAD: usize = 16;
/// Ports, length and checksum of UDP; type, checksum and identifier of ICMP: a NAT changes some of them.
const CHANGED: usize = 8;

/// The hash of what stays the same; None where nothing distinguishes a packet from its successors.
pub(super) fn fingerprint(decoded: &Decoded<'_>) -> Option<u64> {
    // With the offset of a fragment.
    let identification = match decoded.header {
        [0x40..=0x4f, _, _, _, a, b, c, d, ..] => [*a, *b, *c, *d],
        _ => [0; 4],
    };
    let is_identified = identification[..2] != [0, 0];
    let hash = Hash::new().add(&[decoded.five_tuple.protocol]).add(&identification);
    if let Some(tcp) = decoded.tcp {
        let stamps = decoded.options.stamps;
        let is_told_apart = is_identified || stamps.is_some() || tcp.payload > 0 || tcp.flags & SYN != 0;
        let hash = hash
            .add(&tcp.seq.to_be_bytes())
            .add(&tcp.ack.to_be_bytes())
            .add(&[tcp.flags & (SYN | END), u8::from(tcp.payload > 0)])
            .add(&numbers(stamps))
            .add(&numbers(decoded.options.sack[0]));
        return is_told_apart.then(|| hash.finish());
    }
    let start = match IpNumber(decoded.five_tuple.protocol) {
        IpNumber::UDP | IpNumber::ICMP | IpNumber::IPV6_ICMP => CHANGED,
        _ => 0,
    };
    let payload = decoded.payload.get(start..).unwrap_or_default();
    let payload = &payload[..payload.len().min(MOST_PAYLOAD)];
    let is_told_apart = is_identified || payload.len() >= LEAST_PAYLOAD;
    is_told_apart.then(|| hash.add(&decoded.length.to_be_bytes()).add(payload).finish())
}

fn numbers(pair: Option<(u32, u32)>) -> [u8; 8] {
    pair.map_or([0; 8], |(first, second)| (u64::from(first) << 32 | u64::from(second)).to_be_bytes())
}

/// Of each end, what identifies the packet together with it: a NAT changes one end only.
pub(super) fn by_end(fingerprint: u64, decoded: &Decoded<'_>) -> [u64; 2] {
    let tuple = &decoded.five_tuple;
    let key = |end: u8, address: IpAddr, port: u16| {
        let hash = Hash::new().add(&fingerprint.to_be_bytes()).add(&[end]);
        hash.add_address(address).add(&port.to_be_bytes()).finish()
    };
    [key(0, tuple.source, tuple.ports.0), key(1, tuple.destination, tuple.ports.1)]
}
