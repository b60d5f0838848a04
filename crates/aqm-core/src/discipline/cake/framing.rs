//! The size of a packet on the bottleneck's link layer, which may differ from the one that the host sees.

use crate::choices;
use crate::link::Link;
use crate::params::Choice;

choices! {
    /// tc-cake(8)'s keywords for link layers.
    pub(super) enum Layer {
        /// Packets count as they are.
        Raw = "raw",
        Conservative = "conservative",
        PppoaVcmux = "pppoa-vcmux",
        PppoaLlc = "pppoa-llc",
        PppoeVcmux = "pppoe-vcmux",
        PppoeLlcsnap = "pppoe-llcsnap",
        BridgedVcmux = "bridged-vcmux",
        BridgedLlcsnap = "bridged-llcsnap",
        IpoaVcmux = "ipoa-vcmux",
        IpoaLlcsnap = "ipoa-llcsnap",
        PppoePtm = "pppoe-ptm",
        BridgedPtm = "bridged-ptm",
        Docsis = "docsis",
        Ethernet = "ethernet",
    }
}

choices! {
    /// How packets are segmented, by tc-cake(8)'s keywords.
    pub enum Cells {
        /// Not at all.
        None = "noatm",
        /// ATM: cells of 53 bytes carry 48.
        Atm = "atm",
        /// PTM: one byte more for every 64 or part of 64 (ITU G.992.3 annex N has 64b/65b).
        Ptm = "ptm",
    }
}

/// What a keyword for a link layer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLayer {
    /// Bytes around each IP packet.
    pub overhead: i32,
    /// Smallest size on the link.
    pub mpu: u32,
    /// How packets are segmented.
    pub cells: Cells,
}

impl LinkLayer {
    /// That of tc-cake(8)'s keyword; none of `raw`, where packets count as they are, and of other words.
    pub fn keyword(word: &str) -> Option<LinkLayer> {
        Layer::of_word(word).and_then(LinkLayer::of)
    }

    fn of(layer: Layer) -> Option<LinkLayer> {
        let (overhead, mpu, cells) = match layer {
            Layer::Raw => return None,
            Layer::Conservative => (48, 0, Cells::Atm),
            Layer::PppoaVcmux => (10, 0, Cells::Atm),
            Layer::PppoaLlc => (14, 0, Cells::Atm),
            Layer::PppoeVcmux => (32, 0, Cells::Atm),
            Layer::PppoeLlcsnap => (40, 0, Cells::Atm),
            Layer::BridgedVcmux => (24, 0, Cells::Atm),
            Layer::BridgedLlcsnap => (32, 0, Cells::Atm),
            Layer::IpoaVcmux => (8, 0, Cells::Atm),
            Layer::IpoaLlcsnap => (16, 0, Cells::Atm),
            Layer::PppoePtm => (30, 0, Cells::Ptm),
            Layer::BridgedPtm => (22, 0, Cells::Ptm),
            Layer::Docsis => (18, 64, Cells::None),
            Layer::Ethernet => (38, 84, Cells::None),
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
    /// The framing of `layer` on `link`.
    pub(super) fn new(layer: Layer, link: &Link) -> Framing {
        let Some(LinkLayer { overhead, mpu, cells }) = LinkLayer::of(layer) else {
            return Framing { excluded: 0, overhead: 0, mpu: 0, cells: Cells::None };
        };
        Framing { excluded: link.overhead, overhead, mpu, cells }
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

    fn bytes(layer: Layer, length: u32) -> u64 {
        Framing::new(layer, &Link::new(Rate::from_bits_per_sec(1))).bytes(length)
    }

    #[test]
    fn a_raw_packet_counts_as_it_is() {
        assert_eq!([bytes(Layer::Raw, 0), bytes(Layer::Raw, 54), bytes(Layer::Raw, 1514)], [0, 54, 1514]);
    }

    #[test]
    fn cells_are_counted_whole() {
        // An IP packet of 1500 bytes in ATM cells: 1500 + 48 = 1548 bytes in 33 cells, 33 * 53 = 1749.
        assert_eq!(bytes(Layer::Conservative, 1514), 1749);
        // 40 bytes and PPPoA's 8 just fill a cell; 2 more need another.
        assert_eq!([bytes(Layer::IpoaVcmux, 54), bytes(Layer::PppoaVcmux, 54)], [53, 106]);
        // PTM: 1500 + 30 = 1530 bytes are 24 blocks of 64, the last one not full.
        assert_eq!(bytes(Layer::PppoePtm, 1514), 1554);
    }

    #[test]
    fn short_packets_are_filled_up() {
        // Ethernet: 40 + 38 bytes become 84; 1500 + 38 stay.
        assert_eq!([bytes(Layer::Ethernet, 54), bytes(Layer::Ethernet, 1514)], [84, 1538]);
        assert_eq!([bytes(Layer::Docsis, 54), bytes(Layer::Docsis, 1514)], [64, 1518]);
    }

    #[test]
    fn a_negative_overhead_never_makes_a_packet_negative() {
        let framing = Framing { excluded: 14, overhead: -64, mpu: 0, cells: Cells::None };
        assert_eq!([framing.bytes(10), framing.bytes(78), framing.bytes(80)], [0, 0, 2]);
    }

    #[test]
    fn every_keyword_has_a_different_meaning() {
        let link = Link::new(Rate::from_bits_per_sec(1));
        let raw = Framing::new(Layer::Raw, &link);
        assert!(Layer::ALL[1..].iter().all(|layer| Framing::new(*layer, &link) != raw));
    }
}
