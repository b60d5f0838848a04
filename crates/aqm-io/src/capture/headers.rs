//! The headers of a packet that was never on a wire, for a capture of it: IPv4, and TCP or UDP.

use aqm_core::packet::Ecn;
use aqm_core::units::Time;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};

const TTL: u8 = 64;
/// Large enough never to be what limits a sender.
const WINDOW: u16 = u16::MAX;
const UDP_HEADER: u16 = 8;

/// A packet to be written.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    /// IPv4 address and port of the source.
    pub source: ([u8; 4], u16),
    /// Those of the destination.
    pub destination: ([u8; 4], u16),
    /// Its DSCP, of six bits.
    pub dscp: u8,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Bytes of payload.
    pub payload: u16,
    /// What the transport says.
    pub transport: Transport,
}

/// What the transport says.
#[derive(Clone, Copy, Debug)]
pub enum Transport {
    /// A datagram of UDP.
    Udp,
    /// A segment of TCP.
    Tcp {
        /// Sequence number.
        sequence: u32,
        /// Acknowledgment number, valid if the flags say so.
        acknowledgment: u32,
        /// Flags as on the wire.
        flags: u8,
        /// The times of the timestamps option, which count in microseconds: the segment's, and that which it echoes.
        stamps: (Time, Time),
        /// SACK blocks, at most three.
        sack: [Option<(u32, u32)>; 3],
    },
}

impl Headers {
    /// Its headers as on the wire; checksums that cover the payload are zero, which stands for none.
    pub fn bytes(&self) -> Vec<u8> {
        let (transport, protocol) = match self.transport {
            Transport::Udp => {
                let header = UdpHeader {
                    source_port: self.source.1,
                    destination_port: self.destination.1,
                    length: self.payload.saturating_add(UDP_HEADER),
                    checksum: 0,
                };
                (header.to_bytes().to_vec(), IpNumber::UDP)
            }
            Transport::Tcp { sequence, acknowledgment, flags, stamps, sack } => {
                let mut header = TcpHeader::new(self.source.1, self.destination.1, sequence, WINDOW);
                header.acknowledgment_number = acknowledgment;
                let micros = |time: Time| (time.as_nanos() / 1000) as u32;
                let mut options = vec![
                    TcpOptionElement::Noop,
                    TcpOptionElement::Noop,
                    TcpOptionElement::Timestamp(micros(stamps.0), micros(stamps.1)),
                ];
                if let Some(first) = sack[0] {
                    options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
                    options.push(TcpOptionElement::SelectiveAcknowledgement(first, [sack[1], sack[2], None]));
                }
                // Three blocks beside timestamps fill the forty bytes (RFC 2018 section 3).
                header.set_options(&options).expect("at most forty bytes of options");
                let mut bytes = header.to_bytes().to_vec();
                bytes[13] = flags;
                (bytes, IpNumber::TCP)
            }
        };
        let length = u16::try_from(transport.len()).unwrap_or(u16::MAX);
        let length =
            if protocol == IpNumber::TCP { length + self.payload } else { self.payload + UDP_HEADER };
        let mut ip = Ipv4Header::new(length, TTL, protocol, self.source.0, self.destination.0)
            .expect("a payload of 16 bits less the headers fits");
        ip.dscp = IpDscp::try_new(self.dscp & 0x3f).unwrap_or_default();
        ip.ecn = IpEcn::try_new(self.ecn as u8).unwrap_or_default();
        ip.header_checksum = ip.calc_header_checksum();
        let mut bytes = ip.to_bytes().to_vec();
        bytes.extend(transport);
        bytes
    }

    /// Bytes of the whole packet.
    pub fn wire_length(&self, headers: &[u8]) -> u32 {
        headers.len() as u32 + u32::from(self.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::Capture;
    use super::super::{Frame, LinkType, PcapngWriter};
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let tcp = Headers {
            source: ([10, 0, 0, 1], 49152),
            destination: ([10, 128, 0, 1], 5201),
            dscp: 46,
            ecn: Ecn::Ce,
            payload: 1448,
            transport: Transport::Tcp {
                sequence: 7,
                acknowledgment: 9,
                flags: 0x10,
                stamps: (Time::from_nanos(5_000), Time::ZERO),
                sack: [Some((20, 30)), Some((40, 50)), Some((60, 70))],
            },
        };
        let udp = Headers { transport: Transport::Udp, payload: 172, ..tcp };
        let mut writer = PcapngWriter::new(LinkType::RAW_IP);
        for one in [tcp, udp] {
            let data = one.bytes();
            writer.add(&Frame { time: Time::ZERO, data: &data, wire_length: one.wire_length(&data) }, None);
        }
        let capture = Capture::parse("written", &writer.take()).unwrap();
        let [first, second] = capture.packets() else { panic!("two packets") };
        // IPv4 20, TCP 20, timestamps 12, three SACK blocks 28.
        assert_eq!((first.length, second.length), (1448 + 80, 172 + 28));
        assert_eq!((first.dscp, first.ecn), (46, Ecn::Ce));
        let view = first.tcp.unwrap();
        assert_eq!((view.seq, view.ack, view.payload, view.flags, view.has_sack), (7, 9, 1448, 0x10, true));
        assert!(second.tcp.is_none());
        assert_eq!(capture.flow_of(first).five_tuple.ports, (49152, 5201));
    }
}
