//! The size of a packet on the bottleneck's link layer, which may differ from the one that the host sees.

use crate::link::Link;

/// tc-cake(8)'s keywords for link layers, the default first.
pub(super) const WORDS: &[&str] = &[
    "raw",
    "conservative",
    "pppoa-vcmux",
    "pppoa-llc",
    "pppoe-vcmux",
    "pppoe-llcsnap",
    "bridged-vcmux",
    "bridged-llcsnap",
    "ipoa-vcmux",
    "ipoa-llcsnap",
    "pppoe-ptm",
    "bridged-ptm",
    "docsis",
    "ethernet",
];

/// tc-cake(8)'s keywords for cells.
pub(super) const CELLS: &[&str] = &["noatm", "atm", "ptm"];

/// How packets are segmented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// Not at all.
    None,
    /// ATM: cells of 53 bytes carry 48.
    Atm,
    /// PTM: one byte more for every 64 or part of 64 (ITU G.992.3 annex N has 64b/65b).
    Ptm,
}

impl Cells {
    /// The cells of a keyword.
    pub(super) fn keyword(word: &str) -> Cells {
        match word {
            "atm" => Cells::Atm,
            "ptm" => Cells::Ptm,
            _ => Cells::None,
        }
    }
}

/// What a keyword for a link layer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLayer {
    /// Bytes around each IP packet.
    pub overhead: i32,
    /// Smallest size on the link.
    pub mpu: u32,
    /// The keyword of its cells.
    pub cells: &'static str,
}

impl LinkLayer {
    /// That of tc-cake(8)'s keyword; none of `raw`, where packets count as they are.
    pub fn keyword(word: &str) -> Option<LinkLayer> {
        let (overhead, mpu, cells) = match word {
            "conservative" => (48, 0, "atm"),
            "pppoa-vcmux" => (10, 0, "atm"),
            "pppoa-llc" => (14, 0, "atm"),
            "pppoe-vcmux" => (32, 0, "atm"),
            "pppoe-llcsnap" => (40, 0, "atm"),
            "bridged-vcmux" => (24, 0, "atm"),
            "bridged-llcsnap" => (32, 0, "atm"),
            "ipoa-vcmux" => (8, 0, "atm"),
            "ipoa-llcsnap" => (16, 0, "atm"),
            "pppoe-ptm" => (30, 0, "ptm"),
            "bridged-ptm" => (22, 0, "ptm"),
            "docsis" => (18, 64, "noatm"),
            "ethernet" => (38, 84, "noatm"),
            _ => return None,
        };
        Some(LinkLayer { overhead, mpu, cells })
    }
}

/// The size of packets on the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Framing {
    /// Bytes of a packet's length that do not count.
    pub(super) excluded: u32,
    /// Bytes around each IP packet.
    pub(super) overhead: i32,
    /// Smallest size on the link.
    pub(super) mpu: u32,
    /// How packets are segmented.
    pub(super) cells: Cells,
}

impl Framing {
    /// The framing of a keyword on `link`.
    pub(super) fn keyword(word: &str, link: &Link) -> Framing {
        let Some(LinkLayer { overhead, mpu, cells }) = LinkLayer::keyword(word) else {
            return Framing { excluded: 0, overhead: 0, mpu: 0, cells: Cells::None };
        };
        Framing { excluded: link.overhead, overhead, mpu, cells: Cells::keyword(cells) }
    }

    /// Bytes on the link of a packet of `length`.
    #[inline]
    pub(super) fn bytes(&self, length: u32) -> u64 {
        let packet = i64::from(length.saturating_sub(self.excluded));
        let framed = (packet + i64::from(self.overhead)).max(i64::from(self.mpu)).max(0) as u64;
        match self.cells {
            Cells::None => framed,
            Cells::Atm => framed.div_ceil(48) * 53,
            Cells::Ptm => framed + framed.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn bytes(word: &str, length: u32) -> u64 {
        Framing::keyword(word, &Link::new(Rate::from_bits_per_sec(1))).bytes(length)
    }

    #[test]
    fn a_raw_packet_counts_as_it_is() {
        assert_eq!([bytes("raw", 0), bytes("raw", 54), bytes("raw", 1514)], [0, 54, 1514]);
    }

    #[test]
    fn cells_are_counted_whole() {
        // An IP packet of 1500 bytes in ATM cells: 1500 + 48 = 1548 bytes in 33 cells, 33 * 53 = 1749.
        assert_eq!(bytes("conservative", 1514), 1749);
        // 40 bytes and PPPoA's 8 just fill a cell; 2 more need another.
        assert_eq!([bytes("ipoa-vcmux", 54), bytes("pppoa-vcmux", 54)], [53, 106]);
        // PTM: 1500 + 30 = 1530 bytes are 24 blocks of 64, the last one not full.
        assert_eq!(bytes("pppoe-ptm", 1514), 1554);
    }

    #[test]
    fn short_packets_are_filled_up() {
        // Ethernet: 40 + 38 bytes become 84; 1500 + 38 stay.
        assert_eq!([bytes("ethernet", 54), bytes("ethernet", 1514)], [84, 1538]);
        assert_eq!([bytes("docsis", 54), bytes("docsis", 1514)], [64, 1518]);
    }

    #[test]
    fn a_negative_overhead_never_makes_a_packet_negative() {
        let framing = Framing { excluded: 14, overhead: -64, mpu: 0, cells: Cells::None };
        assert_eq!([framing.bytes(10), framing.bytes(78), framing.bytes(80)], [0, 0, 2]);
    }

    #[test]
    fn every_keyword_has_a_different_meaning() {
        let link = Link::new(Rate::from_bits_per_sec(1));
        let raw = Framing::keyword("raw", &link);
        assert!(WORDS[1..].iter().all(|word| Framing::keyword(word, &link) != raw));
    }
}
