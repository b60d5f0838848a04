//! What is counted in one direction: its queue by the meter of all hosts, and what becomes of packets behind it.

use aqm_core::backlog::Backlog;
use aqm_core::units::Time;
use aqm_io::histogram::Histogram;
use aqm_path::meter;

/// Counts and sums since measuring began.
#[derive(Default)]
pub(crate) struct Meter {
    pub(crate) queue: meter::Meter,
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
}

impl Meter {
    /// Measures from `now` on, when `queued` waits.
    pub(crate) fn since(now: Time, queued: Backlog) -> Meter {
        Meter { queue: meter::Meter::since(now, queued), ..Meter::default() }
    }

    /// When measuring began.
    pub(crate) fn began(&self) -> Time {
        self.queue.signals.began()
    }

    /// A packet that arrived at `arrival` and was due at `due` was sent to the end.
    pub(crate) fn deliver(&mut self, arrival: Time, due: Time, now: Time) {
        self.delivered += 1;
        self.lateness.record(now.since(due).as_nanos());
        let one_way = now.since(arrival).as_nanos();
        self.one_way.record(one_way);
        self.one_way_sum += u128::from(one_way);
    }
}
