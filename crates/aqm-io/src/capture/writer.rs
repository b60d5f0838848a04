//! Writing captures: pcap with nanosecond times, and pcapng (draft-ietf-opsawg-pcapng) with comments.
//!
//! A writer collects bytes; [`PcapWriter::take`] and [`PcapngWriter::take`] return them, at the end or as often as
//! the caller likes.

use super::link::LinkType;
use aqm_core::units::Time;
use std::fmt;

/// The most that is written of one frame: libpcap's `MAXIMUM_SNAPLEN`.
const SNAPLEN: usize = 262_144;
const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A frame to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it was seen, since 1970.
    pub time: Time,
    /// Its bytes from the link layer on. Bytes beyond 262144 are left out, as in libpcap.
    pub data: &'a [u8],
    /// Its length on the wire, if not all bytes are there.
    pub wire_length: u32,
}

impl Frame<'_> {
    fn captured(&self) -> &[u8] {
        &self.data[..self.data.len().min(SNAPLEN)]
    }
}

/// A time that pcap cannot hold: its seconds have 32 bits and end in 2106. pcapng has larger ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLate(pub Time);

impl fmt::Display for TooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a packet at {} s is later than a pcap file can say (2^32 s): write pcapng",
            self.0.as_nanos() / NANOS_PER_SEC
        )
    }
}

impl std::error::Error for TooLate {}

/// Writes pcap with nanosecond times.
#[derive(Clone, Debug)]
pub struct PcapWriter {
    bytes: Vec<u8>,
}

impl PcapWriter {
    /// Starts a file of frames of one link type.
    pub fn new(link: LinkType) -> PcapWriter {
        let mut bytes = Vec::new();
        bytes.extend(0xa1b2_3c4d_u32.to_le_bytes());
        bytes.extend([2, 0, 4, 0]);
        for field in [0, 0, SNAPLEN as u32, u32::from(link.number())] {
            bytes.extend(field.to_le_bytes());
        }
        PcapWriter { bytes }
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// Its time is beyond 2^32 seconds; nothing is written then.
    pub fn add(&mut self, frame: &Frame<'_>) -> Result<(), TooLate> {
        let nanos = frame.time.as_nanos();
        let seconds = u32::try_from(nanos / NANOS_PER_SEC).map_err(|_| TooLate(frame.time))?;
        let captured = frame.captured();
        for field in [seconds, (nanos % NANOS_PER_SEC) as u32, captured.len() as u32, frame.wire_length] {
            self.bytes.extend(field.to_le_bytes());
        }
        self.bytes.extend(captured);
        Ok(())
    }

    /// The bytes written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Writes pcapng: one section, nanosecond times, Enhanced Packet Blocks.
#[derive(Clone, Debug)]
pub struct PcapngWriter {
    bytes: Vec<u8>,
}

impl PcapngWriter {
    const SECTION_HEADER: u32 = 0x0a0d_0d0a;
    const INTERFACE_DESCRIPTION: u32 = 1;
    const ENHANCED_PACKET: u32 = 6;
    const OPT_COMMENT: u16 = 1;
    const IF_NAME: u16 = 2;
    const IF_TSRESOL: u16 = 9;

    /// Starts a file of frames of one link type, seen by one interface.
    pub fn new(link: LinkType) -> PcapngWriter {
        PcapngWriter::with_interfaces(link, &[""])
    }

    /// Starts a file of frames of one link type, seen by interfaces of these names; "" is none.
    pub fn with_interfaces(link: LinkType, names: &[&str]) -> PcapngWriter {
        let mut writer = PcapngWriter { bytes: Vec::new() };
        // The byte-order magic, version 1.0, and a section length that is unknown as yet.
        let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
        section.extend([1, 0, 0, 0]);
        section.extend([0xff; 8]);
        writer.block(Self::SECTION_HEADER, &section);
        for name in names {
            let mut interface = link.number().to_le_bytes().to_vec();
            interface.extend([0, 0]);
            interface.extend((SNAPLEN as u32).to_le_bytes());
            if !name.is_empty() {
                option(&mut interface, Self::IF_NAME, name.as_bytes());
            }
            // Times count in units of 10^-9 s.
            option(&mut interface, Self::IF_TSRESOL, &[9]);
            end_of_options(&mut interface);
            writer.block(Self::INTERFACE_DESCRIPTION, &interface);
        }
        writer
    }

    /// Adds a frame of the first interface, and a comment on it that Wireshark shows. A comment is cut to 65535 bytes.
    pub fn add(&mut self, frame: &Frame<'_>, comment: Option<&str>) {
        self.add_at(0, frame, comment);
    }

    /// The same of any interface, counted from zero.
    pub fn add_at(&mut self, interface: u32, frame: &Frame<'_>, comment: Option<&str>) {
        let (nanos, captured) = (frame.time.as_nanos(), frame.captured());
        let mut body = Vec::with_capacity(captured.len() + 32);
        for field in [interface, (nanos >> 32) as u32, nanos as u32, captured.len() as u32, frame.wire_length]
        {
            body.extend(field.to_le_bytes());
        }
        body.extend(captured);
        pad(&mut body);
        if let Some(comment) = comment {
            let most = comment.floor_char_boundary(usize::from(u16::MAX));
            option(&mut body, Self::OPT_COMMENT, &comment.as_bytes()[..most]);
            end_of_options(&mut body);
        }
        self.block(Self::ENHANCED_PACKET, &body);
    }

    /// The bytes written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// A block: type, length, body, length again. The body is padded.
    fn block(&mut self, kind: u32, body: &[u8]) {
        let length = (body.len() as u32 + 12).to_le_bytes();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(length);
        self.bytes.extend(body);
        self.bytes.extend(length);
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

/// Fills up to a multiple of 32 bits, counted from the start of the body.
fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::super::packets::Capture;
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 datagram of UDP with a payload of zeros.
    fn datagram(ports: (u16, u16), traffic_class: u8, payload: u16) -> Vec<u8> {
        let mut packet = vec![0x45, traffic_class];
        packet.extend((28 + payload).to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
        packet.extend(ports.0.to_be_bytes());
        packet.extend(ports.1.to_be_bytes());
        packet.extend((8 + payload).to_be_bytes());
        packet.extend([0, 0]);
        packet.resize(28 + usize::from(payload), 0);
        packet
    }

    fn frame(time_ns: u64, data: &[u8]) -> Frame<'_> {
        Frame { time: Time::from_nanos(time_ns), data, wire_length: data.len() as u32 }
    }

    #[test]
    fn a_pcap_record_equals_the_format_byte_by_byte() {
        let mut writer = PcapWriter::new(LinkType::ETHERNET);
        writer.add(&Frame { wire_length: 60, ..frame(1_000_000_002, &[7, 8]) }).unwrap();
        let mut expected = vec![0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0];
        expected.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
        expected.extend([1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 60, 0, 0, 0, 7, 8]);
        assert_eq!(writer.take(), expected);
        assert!(writer.take().is_empty(), "what was taken is not given again");
    }

    #[test]
    fn a_pcapng_block_is_padded_and_holds_its_length_twice() {
        let mut writer = PcapngWriter::new(LinkType::RAW_IP);
        assert_eq!(writer.take().len(), 28 + 32);
        writer.add(&frame(1 << 32, &[7]), Some("ab"));
        let mut expected = vec![6, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([1, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0]);
        expected.extend([1, 0, 2, 0, b'a', b'b', 0, 0, 0, 0, 0, 0, 48, 0, 0, 0]);
        assert_eq!(writer.take(), expected);
    }

    #[test]
    fn pcap_refuses_times_after_2106_and_pcapng_takes_them() {
        let packet = datagram((1, 2), 0, 0);
        let late = frame((1 << 32) * NANOS_PER_SEC, &packet);
        let refusal = PcapWriter::new(LinkType::RAW_IP).add(&late).unwrap_err();
        assert!(refusal.to_string().starts_with("a packet at 4294967296 s is later than"), "{refusal}");
        let mut writer = PcapngWriter::new(LinkType::RAW_IP);
        writer.add(&late, None);
        assert_eq!(Capture::parse("late", &writer.take()).unwrap().packets().len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_again(
            start_ns in 0..4_000_000_000_000_000_000_u64,
            // Gaps below an hour: longer ones are taken for joined recordings.
            packets in prop::collection::vec(
                (0..3_600_000_000_000_u64, 1..5_u16, any::<u8>(), 0..2000_u16, prop::option::of(".{0,20}")), 1..40),
            cut in 28..3000_usize,
        ) {
            let (mut pcap, mut pcapng) = (PcapWriter::new(LinkType::RAW_IP), PcapngWriter::new(LinkType::RAW_IP));
            let (mut time_ns, mut files) = (start_ns, [Vec::new(), Vec::new()]);
            let mut expected = Vec::new();
            for (gap_ns, port, traffic_class, payload, comment) in &packets {
                let packet = datagram((*port, 80), *traffic_class, *payload);
                let data = &packet[..cut.min(packet.len())];
                let frame = Frame { wire_length: packet.len() as u32, ..frame(time_ns, data) };
                pcap.add(&frame).unwrap();
                pcapng.add(&frame, comment.as_deref());
                files[0].extend(pcap.take());
                files[1].extend(pcapng.take());
                expected.push((time_ns - start_ns, packet.len() as u32, *port, traffic_class >> 2, traffic_class & 3));
                time_ns += gap_ns;
            }
            for file in files {
                let capture = Capture::parse("written", &file).unwrap();
                prop_assert!(capture.warnings().iter().all(|warning| warning.contains("more than 1500 bytes")));
                let found: Vec<_> = capture.packets().iter().map(|packet| {
                    let port = capture.flow_of(packet).five_tuple.ports.0;
                    (packet.time.as_nanos(), packet.length, port, packet.dscp, packet.ecn as u8)
                }).collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
