//! A threshold on the sojourn time beyond which packets are marked, whatever the law says: `ce_threshold` of Linux's
//! `codel_dequeue()` (include/net/codel_impl.h).

use crate::cx::Cx;
use crate::packet::Packet;
use crate::signal::MarkReason;
use crate::units::Span;

/// The threshold, and the packets that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeThreshold {
    /// ECN-capable packets that waited longer are marked.
    pub above: Span,
    /// What the DS field must be under `mask`.
    pub selector: u8,
    /// The bits of the DS field that are compared; 0: every packet is meant.
    pub mask: u8,
}

impl CeThreshold {
    /// For every packet.
    pub const fn new(above: Span) -> CeThreshold {
        CeThreshold { above, selector: 0, mask: 0 }
    }

    /// Marks `packet`, about to leave, if it waited too long and is meant.
    #[inline]
    pub fn apply(self, packet: &mut Packet, cx: &mut Cx<'_>) {
        if cx.now.since(packet.arrival) > self.above && self.selects(packet) {
            cx.mark(packet, MarkReason::Threshold);
        }
    }

    /// The DS field: the code point in the upper six bits, ECN in the lower two (RFC 3168 section 5).
    const fn selects(self, packet: &Packet) -> bool {
        self.mask == 0 || ((packet.dscp << 2) | packet.ecn as u8) & self.mask == self.selector
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;

    fn selects(selector: u8, mask: u8, dscp: u8, ecn: Ecn) -> bool {
        let packet = Packet { dscp, ecn, ..Packet::new(0, 0, 100) };
        CeThreshold { selector, mask, ..CeThreshold::new(Span::ZERO) }.selects(&packet)
    }

    #[test]
    fn the_selector_compares_the_bits_of_its_mask() {
        for (ecn, is_l4s) in [(Ecn::NotEct, false), (Ecn::Ect1, true), (Ecn::Ect0, false), (Ecn::Ce, false)] {
            assert_eq!(selects(0x01, 0x03, 46, ecn), is_l4s, "{ecn:?}");
            assert!(selects(0, 0, 46, ecn) && selects(0xff, 0, 46, ecn), "no mask: every packet");
        }
        assert!(selects(46 << 2, 0xfc, 46, Ecn::Ect0));
        assert!(!selects(46 << 2, 0xfc, 10, Ecn::Ect0));
        assert!(!selects(0x02, 0x01, 0, Ecn::Ect0), "a bit outside the mask never compares equal");
    }
}
