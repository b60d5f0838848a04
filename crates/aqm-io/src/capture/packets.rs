//! The contents of a capture: IP packets with their times, and their flows.

use super::flow::CapturedFlow;
use super::oddities::Oddities;
use super::skipped::Skipped;
use aqm_core::packet::{Ecn, TcpView};
use aqm_core::units::Span;

/// One IP packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedPacket {
    /// Time since the first IP packet of the capture. Never decreases.
    pub time: Span,
    /// Bytes of the IP packet on the wire, IP header included, link layer not.
    pub length: u32,
    /// Index of its flow in [`Capture::flows`].
    pub flow: u32,
    /// The TCP header, if the packet is TCP, not a fragment, and was captured up to the flags.
    pub tcp: Option<TcpView>,
    /// DiffServ code point.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
}

/// The IP packets of a capture file, in the order of the file.
#[derive(Clone, Debug)]
pub struct Capture {
    pub(super) name: String,
    pub(super) packets: Vec<CapturedPacket>,
    pub(super) flows: Vec<CapturedFlow>,
    pub(super) skipped: Skipped,
    pub(super) oddities: Oddities,
    pub(super) damage: Option<String>,
}

impl Capture {
    /// The file name as given by the user.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The packets, in the order of the file; never empty.
    pub fn packets(&self) -> &[CapturedPacket] {
        &self.packets
    }

    /// The flows, in the order in which they first appear.
    pub fn flows(&self) -> &[CapturedFlow] {
        &self.flows
    }

    /// The flow of a packet of this capture.
    pub fn flow_of(&self, packet: &CapturedPacket) -> &CapturedFlow {
        &self.flows[packet.flow as usize]
    }

    /// Time between the first and the last packet.
    pub fn duration(&self) -> Span {
        self.packets.last().map_or(Span::ZERO, |last| last.time)
    }

    /// Counts of everything that is not an IP packet.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Counts of unusual things that were kept.
    pub fn oddities(&self) -> &Oddities {
        &self.oddities
    }
}
