//! What a discipline can see of a packet.
//!
//! The payload stays with the host (simulator, live link, ns-3); a discipline sees metadata and an opaque cookie.

use crate::units::Time;

/// The ECN field of the IP header (RFC 3168 section 5), with its bit values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// 00: the transport does not react to marks.
    #[default]
    NotEct = 0,
    /// 01: ECN-capable, the identifier of L4S (RFC 9331).
    Ect1 = 1,
    /// 10: ECN-capable.
    Ect0 = 2,
    /// 11: congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Whether the packet is ECN-capable (ECT(0), ECT(1) or already CE).
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// The parts of a TCP header that ACK filters read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpView {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Payload bytes.
    pub payload: u16,
    /// The flag byte as on the wire (FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128).
    pub flags: u8,
    /// Whether the segment carries SACK blocks.
    pub has_sack: bool,
}

/// Metadata of one packet.
///
/// Not `Clone`: a discipline that loses one without [`Cx::drop`](crate::cx::Cx::drop), or duplicates one, breaks
/// conservation, which the shell reports.
#[derive(Debug)]
pub struct Packet {
    /// The host's own reference to the packet; disciplines never read it.
    pub cookie: u64,
    /// Hash of the flow (usually the 5-tuple).
    pub flow: u64,
    /// When the packet entered the discipline; the shell stamps it at enqueue.
    pub arrival: Time,
    /// Hash of the source host.
    pub source: u32,
    /// Hash of the destination host.
    pub destination: u32,
    /// Bytes on the link, link-layer overhead included.
    pub length: u32,
    /// TCP header, where there is one.
    pub tcp: Option<TcpView>,
    /// Traffic class given by the host; classful schedulers map it to a child.
    pub class: u16,
    /// The port by which the packet came into the switch.
    pub ingress: u16,
    /// DiffServ code point (6 bits).
    pub dscp: u8,
    /// ECN field; change it with [`Cx::mark`](crate::cx::Cx::mark) only.
    pub ecn: Ecn,
    /// IP protocol number (6 TCP, 17 UDP).
    pub protocol: u8,
    /// The next hop on a medium that stations share (Wi-Fi), numbered by the host; 0 on other links.
    pub station: u8,
}

impl Packet {
    /// A packet of `length` bytes of flow `flow`, with defaults for everything else.
    pub const fn new(cookie: u64, flow: u64, length: u32) -> Packet {
        Packet {
            cookie,
            flow,
            arrival: Time::ZERO,
            source: 0,
            destination: 0,
            length,
            tcp: None,
            class: 0,
            ingress: 0,
            dscp: 0,
            ecn: Ecn::NotEct,
            protocol: 17,
            station: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_fits_seven_words() {
        assert!(size_of::<Packet>() <= 56, "{}", size_of::<Packet>());
    }
}
