//! The result of a run.

use crate::metrics::values::Values;
use aqm_core::input_error::InputError;
use aqm_io::histogram;
use aqm_io::input_error::InputError as FileError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Results of one run. Names are those of the metrics contract; every column name ends in its unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Metric name to value. Undefined values (no finite flow completed, say) are absent.
    pub metrics: Values,
    /// One row per flow.
    pub flows: Vec<FlowRow>,
    /// Time series: common instants and named columns of the same length.
    pub series: Series,
    /// Delay histograms by name (`qdelay`, `owd`, `pdv`, and `class.<name>.` the same).
    pub histograms: BTreeMap<String, Histogram>,
    /// Every packet at one end of the flows as pcapng, if the scenario wants it recorded.
    pub packets: Vec<u8>,
    /// Every packet and acknowledgment at the senders, if the scenario wants it traced.
    pub trace: Vec<TraceRow>,
    /// The senders of flows and the queues as qlog has them, if the scenario wants them logged.
    pub logs: Vec<Log>,
    /// Counters of every queue of the graph.
    pub queues: Vec<QueueRow>,
    /// Warnings for the user about this run.
    pub warnings: Vec<String>,
    /// Events that the engine handled.
    pub events: u64,
    /// Packets that left the bottleneck, warm-up included.
    pub bottleneck_packets: u64,
}

/// One flow of a run, measured after the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlowRow {
    /// Number of the flow, from zero.
    pub id: u32,
    /// Group of the flow.
    pub group: String,
    /// Its kind: `newreno`, `cubic`, `udp`, `capture`.
    pub kind: String,
    /// When it started, seconds.
    pub start_s: f64,
    /// Base round-trip time.
    pub rtt_base_ms: f64,
    /// Payload delivered in order.
    pub goodput_mbit: f64,
    /// Bytes that left the bottleneck.
    pub throughput_mbit: f64,
    /// Packets that arrived at the bottleneck.
    pub packets_arrived: u64,
    /// Those of them that were dropped there.
    pub packets_dropped: u64,
    /// Packets that reached the receiver.
    pub packets_delivered: u64,
    /// Those that arrived at the bottleneck and were marked there.
    pub marks: u64,
    /// Mean one-way delay.
    pub owd_mean_ms: f64,
    /// Mean sojourn time in the bottleneck's queue.
    pub qdelay_mean_ms: f64,
    /// Mean of the sender's RTT samples; `NaN` without samples.
    pub rtt_mean_ms: f64,
    /// Segments or packets sent again.
    pub retransmissions: u64,
    /// Windows in which loss was found by duplicate acknowledgments or SACK; of go-back-N, NAKs that sent the sender back.
    pub recoveries: u64,
    /// Retransmission timeouts, those of the same segment counted once.
    pub timeouts: u64,
    /// Completion time of a finite flow; `NaN` otherwise.
    pub fct_s: f64,
    /// Payload of a finite flow; `NaN` otherwise.
    pub size_bytes: f64,
    /// Its completion time over that in an empty network; `NaN` unless it has completed.
    pub slowdown: f64,
}

/// Time series with common instants.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Series {
    /// End of each sampling period, seconds.
    pub time_s: Vec<f64>,
    /// Name to values: `queue_packets`, `queue_bytes`, `qdelay_ms` (mean of the period), `throughput_mbit`,
    /// `goodput_mbit`, `rtt_ms` (mean of the senders' samples in the period), `jain_index` (over
    /// what every flow got since the start), `drops`, `drops_early` (those of them that were not because of a full
    /// queue), `marks`, `class.<name>.goodput_mbit`, `flow.<id>.delivered_bytes` (payload since the start),
    /// `flow.<id>.cwnd_bytes` of TCP, `flow.<id>.rate_mbit` and `flow.<id>.target_mbit` of rate-based senders (all for up
    /// to 100 flows, if the scenario wants `flow_series`),
    /// `classifier_accuracy`, `_ppv`, `_tnr`, `_npv`, `_recall` and `_f1` (of the period's packets, where a classifier
    /// is), `probe.<name>`.
    pub columns: BTreeMap<String, Vec<f64>>,
}

/// A histogram as two columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Histogram {
    /// Middle of each bucket that is not empty, nanoseconds, ascending.
    pub value_ns: Vec<u64>,
    /// How many.
    pub count: Vec<u64>,
}

impl From<&histogram::Histogram> for Histogram {
    fn from(histogram: &histogram::Histogram) -> Histogram {
        let (value_ns, count) = histogram.iter().map(|(nanos, count)| (nanos, u64::from(count))).unzip();
        Histogram { value_ns, count }
    }
}

/// Counters of one queue, warm-up included.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QueueRow {
    /// Where it is, as `from->to`.
    pub link: String,
    /// The discipline, canonical.
    pub discipline: String,
    /// Packets and bytes in.
    pub arrived: u64,
    /// Bytes in.
    pub arrived_bytes: u64,
    /// Packets out.
    pub departed: u64,
    /// Bytes out.
    pub departed_bytes: u64,
    /// Packets dropped by decision of the AQM.
    pub dropped_early: u64,
    /// Packets dropped because a queue was full.
    pub dropped_overflow: u64,
    /// Acknowledgments dropped as redundant, which are no loss.
    pub ack_drops: u64,
    /// CE marks.
    pub marked: u64,
    /// Packets left at the end.
    pub backlog: u64,
}

/// One packet at its sender, or one acknowledgment that comes back to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceRow {
    /// When it was sent, or came back.
    pub time_ns: u64,
    /// Its flow.
    pub flow: u32,
    /// Whether it is an acknowledgment.
    pub is_ack: bool,
    /// The first byte of data, from zero; or what is acknowledged.
    pub number: u64,
    /// Bytes of payload.
    pub length: u32,
    /// Of an acknowledgment, where the highest block ends that it reports (SACK); 0 without.
    pub edge: u64,
    /// Whether an acknowledgment echoes a mark.
    pub echo: bool,
    /// What became of it.
    pub fate: Fate,
    /// TCP's sender: when data is sent, or before the acknowledgment is handled.
    pub sender: SenderRow,
}

/// What happened at one sender or in one queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Log {
    /// Where.
    pub place: Place,
    /// Events of qlog, each a record of a JSON text sequence (RFC 7464).
    pub events: Vec<u8>,
}

/// Where events are logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Place {
    /// At the sender of the flow of this number.
    Sender(u32),
    /// In the queue of the link of this name.
    Queue(String),
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Fate {
    /// Nobody knows: it was in flight at the end, or lost on a link.
    UnderWay,
    /// It reached its receiver.
    Delivered,
    /// It reached its receiver with a CE mark.
    Marked,
    /// A discipline dropped it.
    Dropped,
}

/// The windows and timers of a sender of TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SenderRow {
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; `u64::MAX` while there is none.
    pub ssthresh_bytes: u64,
    /// Smoothed round-trip time.
    pub srtt_ns: u64,
    /// Retransmission timeout.
    pub rto_ns: u64,
    /// 0: no loss known; 1: loss recovery; 2: after a timeout.
    pub phase: u8,
}

/// Watches a run from outside, and can stop it.
#[derive(Debug, Default)]
pub struct Monitor {
    reached_ns: AtomicU64,
    cancelled: AtomicBool,
}

impl Monitor {
    /// Simulated time reached so far, nanoseconds.
    pub fn reached_ns(&self) -> u64 {
        self.reached_ns.load(Ordering::Relaxed)
    }

    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn report(&self, now_ns: u64) -> bool {
        self.reached_ns.store(now_ns, Ordering::Relaxed);
        !self.cancelled.load(Ordering::Relaxed)
    }
}

/// Why a run gave no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An input is wrong; the text names file, key and value.
    #[error("{0}")]
    Input(InputError),
    /// The run broke one of its own checks: a defect of this program.
    #[error("check failed: {0}")]
    Check(String),
    /// Stopped through the monitor.
    #[error("cancelled")]
    Cancelled,
}

impl From<InputError> for RunError {
    fn from(error: InputError) -> RunError {
        RunError::Input(error)
    }
}

impl From<FileError> for RunError {
    fn from(error: FileError) -> RunError {
        RunError::Input(error.into())
    }
}
