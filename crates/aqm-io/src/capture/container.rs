//! The file formats pcap and pcapng, read with `pcap-parser`.
//!
//! The library finds blocks. Here is the rest: telling damage from the end of the file, telling the user what a file
//! that is no capture seems to be, link types and times.

use super::link::{LinkType, link_type};
use super::pcapng::Section;
use super::record::Record;
use super::skipped::SkipReason;
use aqm_core::units::Time;
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, LegacyPcapReader, PcapBlockOwned, PcapError, PcapHeader, PcapNGReader};

/// Holds any packet record. Larger pcapng blocks (names, secrets) make the buffer grow up to [`LARGEST_BLOCK`].
const BUFFER: usize = 1 << 20;
const LARGEST_BLOCK: usize = 16 << 20;
/// Bytes that identify a format: the length of a pcap header.
const LONGEST_MAGIC: usize = 24;
/// The most that libpcap captures of one packet (`MAXIMUM_SNAPLEN`); a record with more is damaged.
const MAXIMUM_SNAPLEN: u32 = 262_144;

/// How reading ended.
pub(super) enum ReadEnd {
    /// At the end of the file, or because the caller stopped.
    Complete,
    /// In the middle of a record.
    Cut { byte: usize },
    /// At an invalid record.
    Damaged { byte: usize },
}

impl ReadEnd {
    /// Describes the damage, if there is any; `packets` is how many IP packets came before it.
    pub(super) fn damage(&self, packets: usize) -> Option<String> {
        match self {
            ReadEnd::Complete => None,
            ReadEnd::Cut { byte } => Some(format!(
                "truncated after {packets} packets: the file ends within the record at byte {byte}"
            )),
            ReadEnd::Damaged { byte } => Some(format!(
                "truncated after {packets} packets: the record at byte {byte} is damaged, what follows is left out"
            )),
        }
    }
}

/// Reads every frame of a file, until `take` returns false.
///
/// # Errors
/// If it is no capture: what is wrong with it, as a sentence without a subject.
pub(super) fn read_records(
    bytes: &[u8],
    take: &mut dyn FnMut(Record<'_>) -> bool,
) -> Result<ReadEnd, String> {
    let format = Format::of(head(bytes))?;
    Ok(read_blocks(format.blocks(bytes)?.as_mut(), take))
}

/// Refuses what does not begin as a capture does.
///
/// # Errors
/// What it seems to be, as a sentence without a subject.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    Format::of(head(bytes)).map(|_| ())
}

fn head(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(LONGEST_MAGIC)]
}

fn read_blocks(reader: &mut dyn PcapReaderIterator, take: &mut dyn FnMut(Record<'_>) -> bool) -> ReadEnd {
    let mut pcap = None;
    let mut section = Section::default();
    let mut capacity = BUFFER;
    loop {
        let byte = reader.consumed();
        match reader.next() {
            Ok((length, block)) => {
                let go_on = match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        pcap = Some(header);
                        true
                    }
                    PcapBlockOwned::Legacy(packet) if packet.caplen > MAXIMUM_SNAPLEN => {
                        return ReadEnd::Damaged { byte };
                    }
                    PcapBlockOwned::Legacy(packet) => take(Record {
                        interface: 0,
                        link: pcap.as_ref().map_or(Err(SkipReason::NoInterface), link_type_of),
                        time: pcap.as_ref().map(|header| pcap_time(header, packet.ts_sec, packet.ts_usec)),
                        data: packet.data,
                        wire_length: packet.origlen,
                    }),
                    PcapBlockOwned::NG(Block::SectionHeader(header)) => {
                        section = Section::new(&header);
                        true
                    }
                    PcapBlockOwned::NG(block) => section.record(&block).is_none_or(&mut *take),
                };
                reader.consume(length);
                if !go_on {
                    return ReadEnd::Complete;
                }
            }
            Err(PcapError::Eof) => return ReadEnd::Complete,
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() {
                    return ReadEnd::Cut { byte };
                }
            }
            Err(PcapError::BufferTooSmall) if capacity < LARGEST_BLOCK => {
                capacity *= 2;
                reader.grow(capacity);
                if reader.refill().is_err() {
                    return ReadEnd::Cut { byte };
                }
            }
            Err(PcapError::UnexpectedEof | PcapError::ReadError) => return ReadEnd::Cut { byte },
            Err(_) => return ReadEnd::Damaged { byte },
        }
    }
}

/// The link type of a pcap file. The upper half of the field may hold the length of the frame check sequence.
fn link_type_of(header: &PcapHeader) -> Result<LinkType, SkipReason> {
    link_type((header.network.0 & 0xffff) as u16)
}

fn pcap_time(header: &PcapHeader, seconds: u32, fraction: u32) -> Time {
    let unit = if header.is_nanosecond_precision() { 1 } else { 1000 };
    Time::from_nanos(u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * unit)
}

#[derive(Clone, Copy)]
enum Format {
    Pcap,
    Pcapng,
}

impl Format {
    /// Identifies the format by the first bytes; otherwise says what the file seems to be.
    fn of(head: &[u8]) -> Result<Format, String> {
        const WANTED: &str = "give a pcap or pcapng file";
        const OTHERS: &[(&[u8], &str)] = &[
            (&[0x1f, 0x8b], "gzip-compressed: decompress it first (gunzip)"),
            (&[0x28, 0xb5, 0x2f, 0xfd], "zstd-compressed: decompress it first (unzstd)"),
            (&[0xfd, b'7', b'z', b'X', b'Z'], "xz-compressed: decompress it first (unxz)"),
            (b"BZh", "bzip2-compressed: decompress it first (bunzip2)"),
            (b"PK\x03\x04", "a zip archive: unpack it first (unzip)"),
            (b"snoop\0", "a snoop capture: convert it first (editcap -F pcap)"),
            (b"<!DOCTYPE", "a web page"),
            (b"<html", "a web page"),
            (b"\x7fELF", "a program"),
            (b"PAR1", "a Parquet file"),
        ];
        match head {
            [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..]
            | [0x34, 0xcd, 0xb2, 0xa1, ..] => return Ok(Format::Pcap),
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => return Ok(Format::Pcapng),
            [] => return Err(format!("is empty: {WANTED}")),
            _ => {}
        }
        if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(format!("is not a capture but seems to be {what}"));
        }
        if head.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
            return Err(format!("is not a capture but seems to be text: {WANTED}"));
        }
        let bytes: Vec<String> = head.iter().take(4).map(|b| format!("{b:02x}")).collect();
        Err(format!("is not a capture (it begins with the bytes {}): {WANTED}", bytes.join(" ")))
    }

    /// The library's reader, if the file header is valid.
    fn blocks(self, bytes: &[u8]) -> Result<Box<dyn PcapReaderIterator + '_>, String> {
        let damaged = |name| format!("begins like a {name} file, but its header is cut off or damaged");
        match self {
            Format::Pcap => match LegacyPcapReader::new(BUFFER, bytes) {
                Ok(reader) => Ok(Box::new(reader)),
                Err(_) => Err(damaged("pcap")),
            },
            Format::Pcapng => match PcapNGReader::new(BUFFER, bytes) {
                Ok(reader) => Ok(Box::new(reader)),
                Err(_) => Err(damaged("pcapng")),
            },
        }
    }
}
