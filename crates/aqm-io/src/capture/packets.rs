//! What a capture holds: IP packets with their times, and the flows that they belong to.

use super::flow::CapturedFlow;
use super::oddities::Oddities;
use super::skipped::Skipped;
use aqm_core::packet::{Ecn, TcpView};
use aqm_core::units::Span;

/// One IP packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time since the first IP packet of the capture. Never decreases.
    pub time: Span,
    /// Bytes of the IP packet on the wire, IP header included, link layer not.
    pub length: u32,
    /// Number of its flow: an index into [`Capture::flows`].
    pub flow: u32,
    /// The TCP header, if it is TCP, is no fragment and was captured whole.
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
    /// The file as it was named.
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

    /// What the file held beside IP packets.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// What was kept although something about it is unusual.
    pub fn oddities(&self) -> &Oddities {
        &self.oddities
    }
}
