//! pcapng sections: interfaces, their link types and clocks (draft-ietf-opsawg-pcapng).

use super::link::{LinkType, link_type};
use super::record::Record;
use super::skipped::SkipReason;
use aqm_core::units::Time;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, InterfaceDescriptionBlock, OptionCode, SectionHeaderBlock};

/// The obsolete Packet Block (draft appendix A).
const OBSOLETE_PACKET_BLOCK: u32 = 2;
const NANOS_PER_SEC: i128 = 1_000_000_000;

/// A section: blocks refer to the interfaces described since its header.
#[derive(Default)]
pub(super) struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

impl Section {
    pub(super) fn new(header: &SectionHeaderBlock<'_>) -> Section {
        Section { big_endian: header.big_endian(), interfaces: Vec::new() }
    }

    /// Reads the next block: the frame in it, if it holds one.
    pub(super) fn record<'a>(&mut self, block: &'a Block<'_>) -> Option<Record<'a>> {
        match block {
            Block::InterfaceDescription(description) => {
                self.interfaces.push(Interface::new(description, self.big_endian));
                None
            }
            Block::EnhancedPacket(packet) => {
                let interface = self.interfaces.get(packet.if_id as usize);
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                Some(Record {
                    interface: packet.if_id,
                    link: interface.map_or(Err(SkipReason::NoInterface), |interface| interface.link),
                    time: interface.map(|interface| interface.clock.time(ticks)),
                    data: packet.packet_data(),
                    wire_length: packet.origlen,
                })
            }
            // A Simple Packet Block belongs to the first interface and has no time.
            Block::SimplePacket(packet) => Some(Record {
                interface: 0,
                link: self
                    .interfaces
                    .first()
                    .map_or(Err(SkipReason::NoInterface), |interface| interface.link),
                time: None,
                data: packet.packet_data(),
                wire_length: packet.origlen,
            }),
            Block::Unknown(other) if self.native(other.block_type) == OBSOLETE_PACKET_BLOCK => {
                Some(self.obsolete(other.data))
            }
            _ => None,
        }
    }

    /// An obsolete Packet Block: interface and drops in 16 bits each, then as an Enhanced Packet Block.
    fn obsolete<'a>(&self, body: &'a [u8]) -> Record<'a> {
        let cut =
            Record { interface: 0, link: Err(SkipReason::CutHeader), time: None, data: &[], wire_length: 0 };
        let field = |at: usize| {
            let bytes = *body.get(at..)?.first_chunk()?;
            Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
        };
        let fields = [0, 4, 8, 12, 16].map(field);
        let [Some(first), Some(high), Some(low), Some(captured), Some(wire_length)] = fields else {
            return cut;
        };
        let Some(data) = body[20..].get(..captured as usize) else { return cut };
        let number = if self.big_endian { first >> 16 } else { first & 0xffff };
        let interface = self.interfaces.get(number as usize);
        Record {
            interface: number,
            link: interface.map_or(Err(SkipReason::NoInterface), |interface| interface.link),
            time: interface.map(|interface| interface.clock.time(u64::from(high) << 32 | u64::from(low))),
            data,
            wire_length,
        }
    }

    /// The library gives block types as read from a little-endian file.
    fn native(&self, block_type: u32) -> u32 {
        if self.big_endian { block_type.swap_bytes() } else { block_type }
    }
}

struct Interface {
    link: Result<LinkType, SkipReason>,
    clock: Clock,
}

impl Interface {
    fn new(description: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Interface {
        let offset = description.options.iter().find(|option| option.code == OptionCode::IfTsoffset);
        let offset = offset.and_then(|option| option.value.get(..8)?.try_into().ok());
        let read = if big_endian { i64::from_be_bytes } else { i64::from_le_bytes };
        Interface {
            link: link_type((description.linktype.0 & 0xffff) as u16),
            clock: Clock { resolution: description.if_tsresol, offset_secs: offset.map_or(0, read) },
        }
    }
}

/// How an interface counts time.
struct Clock {
    /// `if_tsresol`: negative power of ten, or of two if the top bit is set.
    resolution: u8,
    /// `if_tsoffset`.
    offset_secs: i64,
}

impl Clock {
    /// The time of a counter value, rounded down to the nanosecond and limited to the range of [`Time`].
    fn time(&self, ticks: u64) -> Time {
        let exponent = u32::from(self.resolution & 0x7f);
        let nanos = i128::from(ticks) * NANOS_PER_SEC;
        // Finer than 10^-38 or 2^-126 s, the counter has not reached a nanosecond.
        let since_offset = match self.resolution & 0x80 {
            0 => 10i128.checked_pow(exponent).map_or(0, |per_second| nanos / per_second),
            _ => nanos >> exponent.min(126),
        };
        let nanos = since_offset + i128::from(self.offset_secs) * NANOS_PER_SEC;
        Time::from_nanos(nanos.clamp(0, i128::from(u64::MAX)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(resolution: u8, offset_secs: i64, ticks: u64) -> u64 {
        Clock { resolution, offset_secs }.time(ticks).as_nanos()
    }

    #[test]
    fn clocks_count_in_powers_of_ten_or_two() {
        assert_eq!(time(6, 0, 1_500_000), 1_500_000_000);
        assert_eq!(time(9, 0, 1_500_000_001), 1_500_000_001);
        assert_eq!(time(0, 0, 7), 7_000_000_000);
        assert_eq!(time(12, 0, 1_999), 1);
        assert_eq!(time(0x80 | 10, 0, 1536), 1_500_000_000);
        assert_eq!(time(6, 100, 1), 100_000_001_000);
        assert_eq!(time(6, -1, 3_000_000), 2_000_000_000);
    }

    #[test]
    fn impossible_clocks_stay_within_bounds() {
        for resolution in 0..=u8::MAX {
            for offset in [i64::MIN, -1, 0, i64::MAX] {
                for ticks in [0, 1, u64::MAX] {
                    time(resolution, offset, ticks);
                }
            }
        }
        assert_eq!(time(0, 0, u64::MAX), u64::MAX);
        assert_eq!(time(6, -1, 0), 0);
        assert_eq!(time(127, 0, u64::MAX), 0);
    }
}
