//! What has waited in a queue, over time.

use aqm_core::backlog::Backlog;
use aqm_core::units::Time;

/// Time-weighted sums of a backlog, and its maximum.
#[derive(Clone, Debug, Default)]
pub struct QueueOverTime {
    last: Time,
    packet_nanos: u128,
    byte_nanos: u128,
    /// The most packets that waited.
    pub max_packets: u64,
}

impl QueueOverTime {
    /// Measures from `now` on, when `queued` waits.
    pub fn since(now: Time, queued: Backlog) -> QueueOverTime {
        QueueOverTime { last: now, max_packets: queued.packets, ..QueueOverTime::default() }
    }

    /// `queued` has waited since the last call.
    #[inline]
    pub fn advance(&mut self, queued: Backlog, now: Time) {
        let passed = u128::from(now.since(self.last).as_nanos());
        self.packet_nanos += passed * u128::from(queued.packets);
        self.byte_nanos += passed * u128::from(queued.bytes);
        self.last = now;
    }

    /// So much waits after an arrival: only now is it known whether the packet stayed.
    #[inline]
    pub fn reach(&mut self, queued: Backlog) {
        self.max_packets = self.max_packets.max(queued.packets);
    }

    /// Packets times nanoseconds so far.
    pub fn packet_nanos(&self) -> u128 {
        self.packet_nanos
    }

    /// Means over `seconds`: packets and bytes.
    pub fn means(&self, seconds: f64) -> (f64, f64) {
        let mean = |sum: u128| sum as f64 / 1e9 / seconds;
        (mean(self.packet_nanos), mean(self.byte_nanos))
    }
}
