//! What a run of the link has shown.

use crate::config::DataPath;
use aqm_io::histogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// A run of the link.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How the command has ended.
    pub command: Ended,
    /// When measuring began, in seconds since the start.
    pub warmup_s: f64,
    /// How long was measured, in seconds.
    pub duration_s: f64,
    /// From the far end to the command.
    pub down: Port,
    /// From the command to the far end.
    pub up: Port,
    /// What carried packets between the ends and the link.
    pub path: DataPath,
    /// Whether the thread that moves packets had real-time priority.
    pub real_time: bool,
    /// Processor time of that thread, in seconds; what the kernel does for the packets in its name is included.
    pub cpu_s: f64,
    /// What both kernels' TCP was set to.
    pub tcp: BTreeMap<&'static str, String>,
    /// What went wrong on the way.
    pub faults: Vec<String>,
}

/// How a process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ended {
    /// Its status, as a shell says it: 128 and the number of the signal that killed it.
    pub status: i32,
    /// That signal.
    pub signal: Option<i32>,
}

/// One direction.
#[derive(Clone, Debug, Serialize)]
pub struct Port {
    /// Metrics, by the names that the simulator gives them.
    pub metrics: BTreeMap<&'static str, f64>,
    /// Sojourn times: the middles of buckets in nanoseconds, and how many packets are in each.
    pub sojourn: Vec<(u64, u32)>,
    /// How much too late packets left.
    pub lateness_ms: Option<Lateness>,
    /// Packets that came while the ring was full: the machine did not keep up.
    pub missed: u64,
    /// Packets that the kernel had no room for at the end.
    pub refused: u64,
    /// Frames that are no packets of this link: too large, or shorter than a header.
    pub malformed: u64,
    /// Packets lost at random behind the queue.
    pub lost: u64,
    /// Packets that were sent twice behind the queue.
    pub duplicated: u64,
    /// Rows of the log.
    pub log_rows: Option<u64>,
    /// Whether the log lacks rows: it could not be written to its end.
    pub is_log_cut: bool,
}

/// The 50th, 99th and 99.9th percentile and the largest of some delays, in milliseconds.
pub type Lateness = [f64; 4];

/// Those of a histogram, unless it is empty.
pub(crate) fn lateness(delays: &Histogram) -> Option<Lateness> {
    let [p50, p99, p999, most] = [0.5, 0.99, 0.999, 1.0].map(|quantile| delays.quantile_ms(quantile));
    Some([p50?, p99?, p999?, most?])
}
