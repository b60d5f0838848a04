//! The counters of a discipline: packets and bytes that arrived, departed, were dropped and marked.

use crate::packet::Packet;
use crate::signal::DropReason;
use crate::units::Span;

/// Counts since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets handed to the discipline.
    pub arrived: u64,
    /// Bytes handed to the discipline.
    pub arrived_bytes: u64,
    /// Packets that left it.
    pub departed: u64,
    /// Bytes that left it.
    pub departed_bytes: u64,
    /// Packets dropped, by the number of the reason.
    pub dropped: [u64; DropReason::COUNT],
    /// Bytes dropped.
    pub dropped_bytes: u64,
    /// Packets marked CE.
    pub marked: u64,
    /// Packets that the discipline asked to send.
    pub emitted: u64,
    /// Packets that a classifier looked at.
    pub classified: u64,
    /// Packets of them that it took for those of a non-responsive long-term fast flow.
    pub reported: u64,
    /// Sum of the sojourn times of packets that left.
    pub sojourn_sum: Span,
    /// Longest sojourn time of a packet that left.
    pub sojourn_max: Span,
}

impl Counters {
    /// Packets dropped for any reason.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Packets that were lost: all that were dropped but filtered acknowledgments.
    pub fn lost(&self) -> u64 {
        self.dropped_total() - self.filtered()
    }

    /// Acknowledgments that were dropped as redundant.
    pub const fn filtered(&self) -> u64 {
        self.dropped[DropReason::Redundant as usize]
    }

    /// Packets that the AQM chose to drop, filtered acknowledgments left out.
    pub fn dropped_early(&self) -> u64 {
        let early = DropReason::ALL.into_iter().filter(|reason| reason.is_early());
        early.map(|reason| self.dropped[reason as usize]).sum()
    }

    pub(crate) fn count_drop(&mut self, packet: &Packet, reason: DropReason) {
        self.dropped[reason as usize] += 1;
        self.dropped_bytes += u64::from(packet.length);
    }
}
