//! From a captured frame to the fields of an IP packet that a queue can see.

use super::flow::FiveTuple;
use super::record::Record;
use super::skipped::SkipReason;
use super::tunnel;
use aqm_core::packet::{Ecn, TcpView};
use etherparse::err::ip::LaxHeaderSliceError;
use etherparse::{IpNumber, LaxIpPayloadSlice, LaxIpSlice, TcpOptionElement, TcpOptionsIterator};

/// The largest packet that Linux builds with BIG TCP (`GSO_MAX_SIZE`).
const LARGEST_PACKET: usize = 8 * 65535;
/// Most tunnels in one another that are followed.
const MOST_TUNNELS: usize = 4;
/// A TCP header without options, and what of it must be captured: up to the flags.
const TCP_HEADER: usize = 20;
const TCP_UNTIL_FLAGS: usize = 14;
/// RFC 8200 section 4.7: nothing follows this header.
const IPV6_NO_NEXT_HEADER: u8 = 59;

/// An IP packet.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub(super) five_tuple: FiveTuple,
    /// Bytes on the wire from the IP header on.
    pub(super) length: u32,
    pub(super) tcp: Option<TcpView>,
    pub(super) options: Options,
    pub(super) dscp: u8,
    pub(super) ecn: Ecn,
    /// The transport header was not captured completely.
    pub(super) cut_transport: bool,
    /// The length in the IP header exceeds the frame.
    pub(super) beyond_frame: bool,
    /// Where the IP packet begins in the frame.
    pub(super) offset: usize,
    /// What was captured of the packet inside tunnels: from its IP header on, and from its transport header on.
    pub(super) header: &'a [u8],
    pub(super) payload: &'a [u8],
}

/// Options of TCP that tell of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Timestamps: that of the sender, and that which it echoes (RFC 7323).
    pub(super) stamps: Option<(u32, u32)>,
    /// SACK blocks: start and end (RFC 2018).
    pub(super) sack: [Option<(u32, u32)>; 4],
}

/// Reads the headers of a record, or says why it is left out.
pub(super) fn packet<'a>(record: &Record<'a>) -> Result<Decoded<'a>, SkipReason> {
    let offset = record.link?.ip_offset(record.data)?;
    let captured = &record.data[offset.min(record.data.len())..];
    // A file may state fewer bytes on the wire than it holds.
    let on_wire = (record.wire_length as usize).max(record.data.len()).saturating_sub(offset);
    let outer = Ip::read(captured, on_wire)?;
    let inner = outer.innermost();
    let payload = inner.slice.payload().clone();
    let transport = transport(&payload, inner.payload_length());
    // A queue sees the length and the traffic class of the whole packet, and the flow inside a tunnel.
    let traffic_class = match &outer.slice {
        LaxIpSlice::Ipv4(ip) => ip.header().slice()[1],
        LaxIpSlice::Ipv6(ip) => ip.header().traffic_class(),
    };
    Ok(Decoded {
        five_tuple: FiveTuple {
            source: inner.slice.source_addr(),
            destination: inner.slice.destination_addr(),
            protocol: payload.ip_number.0,
            ports: transport.ports,
        },
        length: outer.length as u32,
        tcp: transport.tcp,
        options: transport.options,
        dscp: traffic_class >> 2,
        ecn: ecn(traffic_class),
        cut_transport: transport.cut || inner.is_cut,
        beyond_frame: outer.length > on_wire,
        offset,
        header: inner.captured,
        payload: payload.payload,
    })
}

/// An IP header and what was captured behind it.
#[derive(Clone)]
struct Ip<'a> {
    slice: LaxIpSlice<'a>,
    captured: &'a [u8],
    /// Bytes on the wire from this header on.
    length: usize,
    /// Extension headers were not captured completely.
    is_cut: bool,
}

impl<'a> Ip<'a> {
    fn read(captured: &'a [u8], on_wire: usize) -> Result<Ip<'a>, SkipReason> {
        let (slice, extension_error) = LaxIpSlice::from_slice(captured).map_err(|error| match error {
            LaxHeaderSliceError::Len(_) => SkipReason::CutHeader,
            LaxHeaderSliceError::Content(_) => SkipReason::Malformed,
        })?;
        let length = match &slice {
            LaxIpSlice::Ipv4(ip) => ipv4_length(ip.header().slice(), on_wire)?,
            LaxIpSlice::Ipv6(ip) => ipv6_length(ip.header().slice(), on_wire)?,
        };
        Ok(Ip { slice, captured, length, is_cut: extension_error.is_some() })
    }

    /// Bytes on the wire behind its headers, and those of extensions.
    fn payload_length(&self) -> usize {
        let headers = self.slice.payload().payload.as_ptr().addr() - self.captured.as_ptr().addr();
        self.length.saturating_sub(headers)
    }

    /// The packet inside tunnels, as far as it was captured.
    fn innermost(&self) -> Ip<'a> {
        let mut ip = self.clone();
        for _ in 0..MOST_TUNNELS {
            let payload = ip.slice.payload();
            let offset = tunnel::inside(payload.ip_number, payload.payload).filter(|_| !payload.fragmented);
            let inside = offset.and_then(|offset| {
                let on_wire = ip.payload_length().saturating_sub(offset);
                Ip::read(payload.payload.get(offset..)?, on_wire).ok()
            });
            match inside {
                Some(inside) => ip = inside,
                None => break,
            }
        }
        ip
    }
}

/// Total length of an IPv4 packet. Zero means that the sending host's offload will still segment the packet: then the
/// length of the frame is used.
fn ipv4_length(header: &[u8], on_wire: usize) -> Result<usize, SkipReason> {
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    plausible(if total == 0 { on_wire } else { total }, header.len())
}

/// The same for IPv6, where zero may also mean a jumbogram (RFC 2675).
fn ipv6_length(header: &[u8], on_wire: usize) -> Result<usize, SkipReason> {
    let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let unknown = payload == 0 && header[6] != IPV6_NO_NEXT_HEADER;
    plausible(if unknown { on_wire } else { header.len() + payload }, header.len())
}

fn plausible(length: usize, header: usize) -> Result<usize, SkipReason> {
    if length < header || length > LARGEST_PACKET {
        return Err(SkipReason::BadLength);
    }
    Ok(length)
}

#[derive(Default)]
struct Transport {
    ports: (u16, u16),
    tcp: Option<TcpView>,
    options: Options,
    cut: bool,
}

/// Reads ports and TCP header; `length` is the transport's share of the packet on the wire.
///
/// Only the first fragment of a datagram has ports. As in Linux's flow dissector, no fragment gets any, so that all
/// belong to one flow.
fn transport(payload: &LaxIpPayloadSlice<'_>, length: usize) -> Transport {
    let with_ports = matches!(
        payload.ip_number,
        IpNumber::TCP | IpNumber::UDP | IpNumber::SCTP | IpNumber::DCCP | IpNumber::UDP_LITE
    );
    if payload.fragmented || !with_ports {
        return Transport::default();
    }
    let Some(&[a, b, c, d]) = payload.payload.first_chunk::<4>() else {
        return Transport { cut: true, ..Transport::default() };
    };
    let ports = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    if payload.ip_number != IpNumber::TCP {
        return Transport { ports, ..Transport::default() };
    }
    let Some((tcp, options, cut)) = tcp(payload.payload, length) else {
        return Transport { ports, cut: true, ..Transport::default() };
    };
    Transport { ports, tcp: Some(tcp), options, cut }
}

/// A TCP header (RFC 9293 section 3.1) of a segment of `length` bytes, and whether its end was cut off: a short snap
/// length leaves out options. None if it lacks the flags, or contradicts itself.
fn tcp(captured: &[u8], length: usize) -> Option<(TcpView, Options, bool)> {
    let fields: [u8; TCP_UNTIL_FLAGS] = *captured.first_chunk()?;
    let number = |at: usize| u32::from_be_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]]);
    let header = usize::from(fields[12] >> 4) * 4;
    if header < TCP_HEADER {
        return None;
    }
    let end = captured.len().min(header);
    let options = options(captured.get(TCP_HEADER..end).unwrap_or_default());
    let view = TcpView {
        seq: number(4),
        ack: number(8),
        payload: u16::try_from(length.saturating_sub(header)).unwrap_or(u16::MAX),
        flags: fields[13],
        has_sack: options.sack[0].is_some(),
    };
    Some((view, options, captured.len() < header))
}

/// Options behind one that is malformed or cut off are left out.
fn options(captured: &[u8]) -> Options {
    let mut found = Options::default();
    for option in TcpOptionsIterator::from_slice(captured).map_while(Result::ok) {
        match option {
            TcpOptionElement::Timestamp(own, echo) => found.stamps = Some((own, echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, [second, third, fourth]) => {
                found.sack = [Some(first), second, third, fourth];
            }
            _ => {}
        }
    }
    found
}

fn ecn(traffic_class: u8) -> Ecn {
    match traffic_class & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}
