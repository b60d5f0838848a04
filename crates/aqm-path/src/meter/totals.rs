//! What the metrics of packets at a queue are of counts and sums, by their names in the contract.

use aqm_io::histogram::Histogram;

/// Sojourn times of which the contract has a metric: its name, and the share of packets that waited no longer.
pub const QUANTILES: [(&str, f64); 4] =
    [("qdelay_p50_ms", 0.5), ("qdelay_p95_ms", 0.95), ("qdelay_p99_ms", 0.99), ("qdelay_p999_ms", 0.999)];

/// Counts and sums of packets at a queue, all or those of some flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Packets that arrived.
    pub arrived: u64,
    /// Those of them that were lost, and that were marked.
    pub dropped: u64,
    /// Marked.
    pub marks: u64,
    /// Packets that left, their bytes on the link, and how long they had waited together.
    pub departed: u64,
    /// Bytes.
    pub bytes: u64,
    /// Nanoseconds.
    pub sojourn_nanos: u128,
}

impl Totals {
    /// Bits on the link over `seconds`, Mbit/s.
    pub fn throughput_mbit(&self, seconds: f64) -> f64 {
        self.bytes as f64 * 8.0 / 1e6 / seconds
    }

    /// Share of what arrived that was lost.
    pub fn loss_ratio(&self) -> f64 {
        self.dropped as f64 / self.arrived as f64
    }

    /// Mean time in the queue, ms.
    pub fn qdelay_mean_ms(&self) -> f64 {
        self.sojourn_nanos as f64 / self.departed as f64 / 1e6
    }

    /// All of them over `seconds`.
    pub fn named(&self, seconds: f64) -> [(&'static str, f64); 5] {
        [
            ("throughput_mbit", self.throughput_mbit(seconds)),
            ("packets_arrived", self.arrived as f64),
            ("loss_ratio", self.loss_ratio()),
            ("marks", self.marks as f64),
            ("qdelay_mean_ms", self.qdelay_mean_ms()),
        ]
    }
}

/// The quantiles of sojourn times; no numbers without any.
pub fn quantiles(sojourn: &Histogram) -> impl Iterator<Item = (&'static str, f64)> {
    QUANTILES.into_iter().map(|(name, share)| (name, sojourn.quantile_ms(share).unwrap_or(f64::NAN)))
}
