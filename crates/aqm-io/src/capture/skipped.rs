//! Contents of a capture that are no packets of it: other than IP, or there already.

use super::link::types::name;
use std::collections::BTreeMap;
use std::fmt;

/// Why a frame was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SkipReason {
    /// ARP.
    Arp,
    /// Another protocol that is not IP.
    NotIp,
    /// A link type, by its number, in which no IP is known.
    UnsupportedLink(u16),
    /// Too little was captured to hold the IP header.
    CutHeader,
    /// The IP header contradicts itself.
    Malformed,
    /// An impossible IP length: shorter than the header, or longer than any host builds.
    BadLength,
    /// A pcapng packet of an interface that was not described.
    NoInterface,
    /// Encrypted on the link, as Wi-Fi is.
    Encrypted,
    /// A part of a packet, as the link layer cuts it.
    Fragment,
    /// Several packets in one frame of Wi-Fi (A-MSDU).
    Aggregate,
    /// A packet that the capture has more than once (of two interfaces, with and without a VLAN tag, on both sides of a
    /// NAT, from a mirror port): one of each is kept.
    Copy,
}

/// Frames left out, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped(BTreeMap<SkipReason, u64>);

impl Skipped {
    /// How many frames were left out.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// How many frames were left out for `reason`.
    pub fn count(&self, reason: SkipReason) -> u64 {
        self.0.get(&reason).copied().unwrap_or(0)
    }

    /// The same without a reason.
    pub fn without(&self, reason: SkipReason) -> Skipped {
        let mut rest = self.clone();
        rest.0.remove(&reason);
        rest
    }

    /// Every reason that occurred, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (SkipReason, u64)> + '_ {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }

    pub(super) fn add(&mut self, reason: SkipReason) {
        *self.0.entry(reason).or_default() += 1;
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::Arp => f.write_str("ARP"),
            SkipReason::NotIp => f.write_str("other non-IP"),
            SkipReason::UnsupportedLink(number) => match name(*number) {
                Some(name) => write!(f, "of link type {name} ({number}), which is not supported"),
                None => write!(f, "of unknown link type {number}"),
            },
            SkipReason::CutHeader => f.write_str("with the IP header cut off"),
            SkipReason::Malformed => f.write_str("with a malformed IP header"),
            SkipReason::BadLength => f.write_str("with an impossible IP length"),
            SkipReason::NoInterface => f.write_str("of an undescribed interface"),
            SkipReason::Encrypted => f.write_str("encrypted on the link"),
            SkipReason::Fragment => f.write_str("fragments of the link layer"),
            SkipReason::Aggregate => f.write_str("aggregates of Wi-Fi (A-MSDU)"),
            SkipReason::Copy => f.write_str("captured more than once"),
        }
    }
}

impl fmt::Display for Skipped {
    /// `12 ARP, 3 other non-IP`, or `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (index, (reason, count)) in self.iter().enumerate() {
            write!(f, "{}{count} {reason}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
