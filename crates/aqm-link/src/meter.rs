//! What is counted in one direction. Names and definitions are those of the simulator's metrics.

use aqm_core::backlog::Backlog;
use aqm_core::packet::Packet;
use aqm_core::signal::DropReason;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;

/// Counts and sums since measuring began.
#[derive(Default)]
pub(crate) struct Meter {
    /// When measuring began.
    pub(crate) since: Time,
    /// Sojourn times of packets that left the discipline.
    pub(crate) sojourn: Histogram,
    /// From the arrival at the discipline to the end of the wire.
    pub(crate) one_way: Histogram,
    pub(crate) one_way_sum: u128,
    /// By how much packets left the wire too late.
    pub(crate) lateness: Histogram,
    pub(crate) delivered: u64,
    /// Bytes that the device has sent, and those of them that are IP packets.
    pub(crate) sent_bytes: u64,
    pub(crate) sent_ip_bytes: u64,
    /// Lost at random behind the queue.
    pub(crate) lost: u64,
    /// Sent twice behind the queue.
    pub(crate) duplicated: u64,
    /// Frames that are larger than the link carries.
    pub(crate) oversized: u64,
    /// Packets that the kernel would not take at the far end.
    pub(crate) refused: u64,
    /// Of the packets that arrived since: dropped by the AQM, dropped by a full queue, and marked.
    pub(crate) drops_early: u64,
    pub(crate) drops_overflow: u64,
    /// Filtered acknowledgments, which are not lost.
    pub(crate) ack_drops: u64,
    pub(crate) marks: u64,
    /// The largest backlog, in packets.
    pub(crate) queue_max: u64,
    packet_nanos: u128,
    byte_nanos: u128,
    last: Time,
}

impl Meter {
    /// Measures from `now` on, when `queued` waits.
    pub(crate) fn since(now: Time, queued: Backlog) -> Meter {
        Meter { since: now, last: now, queue_max: queued.packets, ..Meter::default() }
    }

    /// The discipline drops a packet.
    pub(crate) fn drop(&mut self, packet: &Packet, reason: DropReason) {
        if packet.arrival < self.since {
            return;
        }
        if !reason.is_loss() {
            self.ack_drops += 1;
        } else if reason.is_early() {
            self.drops_early += 1;
        } else {
            self.drops_overflow += 1;
        }
    }

    /// The discipline marks a packet.
    pub(crate) fn mark(&mut self, packet: &Packet) {
        self.marks += u64::from(packet.arrival >= self.since);
    }

    /// `queued` has waited since the last call.
    pub(crate) fn advance(&mut self, queued: Backlog, now: Time) {
        let passed = u128::from(now.since(self.last).as_nanos());
        self.packet_nanos += passed * u128::from(queued.packets);
        self.byte_nanos += passed * u128::from(queued.bytes);
        self.last = now;
    }

    /// A packet that arrived at `arrival` and was due at `due` was sent to the end.
    pub(crate) fn deliver(&mut self, arrival: Time, due: Time, now: Time) {
        self.delivered += 1;
        self.lateness.record(now.since(due).as_nanos());
        let one_way = now.since(arrival).as_nanos();
        self.one_way.record(one_way);
        self.one_way_sum += u128::from(one_way);
    }

    /// Time-weighted means over `time`: packets and bytes.
    pub(crate) fn queue_means(&self, time: Span) -> (f64, f64) {
        let mean = |sum: u128| sum as f64 / time.as_nanos().max(1) as f64;
        (mean(self.packet_nanos), mean(self.byte_nanos))
    }
}
