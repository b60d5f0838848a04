//! Every metric, declared once: its name, what it means, its unit, which way is better, and how it is shown and
//! aggregated over seeds.
//!
//! A value is put under its declaration ([`super::values::Values`]), never under a text. Python, its tables, figures
//! and `docs/reference/metrics.md` follow from this list.

use Better::{Higher, Lower, Neither};
use Unit::{Bytes, Kbit, Mbit, Ms, One, Packets, Seconds, Share, Us};

/// A metric. This file makes those of the simulator, an [`observer`](crate::observer) its own.
#[derive(Debug)]
pub struct Metric {
    name: &'static str,
    /// How figures and tables name it.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Decimals shown.
    pub decimals: u8,
    /// Which way is better.
    pub better: Better,
    /// What it is of one run and of several.
    pub kind: MetricKind,
    /// Whether `compare` tests it for differences between AQMs. A percentile is none of these.
    pub is_compared: bool,
    /// What is measured.
    pub meaning: &'static str,
}

/// The unit of a metric; its name ends in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number, or a count of what is no packet.
    One,
    /// A part of the whole, shown in percent.
    Share,
    /// Megabits per second.
    Mbit,
    /// Kilobits per second.
    Kbit,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    Seconds,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is.
    Lower,
    /// More is.
    Higher,
    /// It depends.
    Neither,
}

/// What a metric is of one run, and of several.
#[derive(Clone, Copy, Debug)]
pub enum MetricKind {
    /// A number; of several runs the mean.
    Value,
    /// The same, and a part of a whole or an index: from 0 to 1, which every run checks.
    Fraction,
    /// A percentile, which is never averaged: of several runs that of all together.
    Percentile {
        /// Of what.
        of: &'static Distribution,
        /// Which, from 0 to 1.
        quantile: f64,
    },
}

/// What percentiles are of.
#[derive(Debug)]
pub struct Distribution {
    /// Its name in results.
    pub name: &'static str,
    /// Where the values are.
    pub source: Source,
}

/// Where the values of a distribution are.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// In a histogram of durations.
    Histogram,
    /// One for each completed flow.
    Flows {
        /// The column of flows that has them.
        column: &'static str,
        /// Flows of more bytes of payload than this.
        above: u64,
        /// Flows of at most this many bytes, if there is a limit.
        up_to: Option<u64>,
    },
}

/// Metrics of a part of the whole: their names begin with that of the family and the part, as in
/// `class.web.goodput_mbit`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Family {
    /// How their names begin.
    pub name: &'static str,
    /// The word between the label of a metric and the name of the part.
    pub preposition: &'static str,
    /// Whether names of parts may have dots.
    pub is_dotted: bool,
}

/// Which part of the whole a value is of, as the beginning of its name.
#[derive(PartialEq, Clone, Debug, Default)]
pub(crate) struct Part(String);

/// Groups of flows.
pub(crate) static CLASS: Family = Family { name: "class", preposition: "of", is_dotted: false };
/// Ports, and the priorities of each.
pub(crate) static PORT: Family = Family { name: "port", preposition: "at", is_dotted: true };
/// Stations of a shared medium.
pub(crate) static STATION: Family = Family { name: "station", preposition: "of", is_dotted: false };
/// Every family.
pub static FAMILIES: &[&Family] = &[&CLASS, &PORT, &STATION];

impl Metric {
    /// Its name, without that of a part.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// A value, of which nothing is compared.
    pub const fn new(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        decimals: u8,
        better: Better,
        meaning: &'static str,
    ) -> Metric {
        Metric { name, label, unit, decimals, better, kind: MetricKind::Value, is_compared: false, meaning }
    }

    const fn percentile(self, of: &'static Distribution, quantile: f64) -> Metric {
        Metric { kind: MetricKind::Percentile { of, quantile }, ..self }
    }

    const fn fraction(self) -> Metric {
        Metric { kind: MetricKind::Fraction, ..self }
    }

    const fn compared(self) -> Metric {
        Metric { is_compared: true, ..self }
    }
}

impl Unit {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            One | Share => "",
            Mbit => "Mbit/s",
            Kbit => "kbit/s",
            Us => "us",
            Ms => "ms",
            Seconds => "s",
            Packets => "packets",
            Bytes => "bytes",
        }
    }

    /// Milliseconds in this unit of time.
    pub(crate) fn of_ms(self, ms: f64) -> f64 {
        if self == Seconds { ms / 1e3 } else { ms }
    }
}

impl Distribution {
    /// Its percentiles, and which they are.
    pub(crate) fn percentiles(&'static self) -> impl Iterator<Item = (&'static Metric, f64)> {
        METRICS.iter().filter_map(move |metric| match metric.kind {
            MetricKind::Percentile { of, quantile } if of.name == self.name => Some((*metric, quantile)),
            _ => None,
        })
    }

    /// Whether a flow of this many bytes of payload is one of its flows.
    pub(crate) fn takes(&self, bytes: u64) -> bool {
        match self.source {
            Source::Histogram => false,
            Source::Flows { above, up_to, .. } => above < bytes && up_to.is_none_or(|most| bytes <= most),
        }
    }
}

impl Family {
    /// A part by its name.
    pub(crate) fn part(&self, name: &str) -> Part {
        Part([self.name, ".", name, "."].concat())
    }
}

impl Part {
    /// Everything.
    pub(crate) const WHOLE: Part = Part(String::new());

    /// The name of a metric, histogram or series of it.
    pub(crate) fn of(&self, plain: &str) -> String {
        [self.0.as_str(), plain].concat()
    }

    /// Whether `name` is that of its `plain`.
    #[inline]
    pub(crate) fn is_of(&self, name: &str, plain: &str) -> bool {
        name.strip_prefix(self.0.as_str()) == Some(plain)
    }

    /// What its metrics called `name.` belong to.
    pub(crate) fn within(&self, name: &str) -> Part {
        Part([self.0.as_str(), name, "."].concat())
    }
}

const fn histogram(name: &'static str) -> Distribution {
    Distribution { name, source: Source::Histogram }
}

const fn of_flows(name: &'static str, column: &'static str, above: u64, up_to: Option<u64>) -> Distribution {
    Distribution { name, source: Source::Flows { column, above, up_to } }
}

const fn metric(
    name: &'static str,
    label: &'static str,
    unit: Unit,
    decimals: u8,
    better: Better,
    meaning: &'static str,
) -> Metric {
    Metric::new(name, label, unit, decimals, better, meaning)
}

/// Small flows have at most this payload, medium ones at most the other, as in pFabric (Alizadeh et al., SIGCOMM 2013,
/// section 5), MQ-ECN and TCN.
const SMALL: u64 = 100_000;
const MEDIUM: u64 = 10_000_000;

declare! {
    /// Every distribution.
    DISTRIBUTIONS: Distribution;
    QDELAY = histogram("qdelay");
    OWD = histogram("owd");
    PDV = histogram("pdv");
    TRANSFER = histogram("transfer");
    RPC_LATENCY = histogram("rpc_latency");
    PAGE_LOAD = histogram("page_load");
    QUERY = histogram("query");
    EXCHANGE = histogram("exchange");
    PING = histogram("ping");
    FCT = of_flows("fct", "fct_s", 0, None);
    SLOWDOWN = of_flows("slowdown", "slowdown", 0, None);
    SLOWDOWN_SMALL = of_flows("slowdown_small", "slowdown", 0, Some(SMALL));
    SLOWDOWN_MEDIUM = of_flows("slowdown_medium", "slowdown", SMALL, Some(MEDIUM));
    SLOWDOWN_LARGE = of_flows("slowdown_large", "slowdown", MEDIUM, None);
}

declare! {
    /// Every metric, in the order of tables.
    METRICS: Metric;
    GOODPUT_MBIT = metric("goodput_mbit", "Goodput", Mbit, 3, Higher,
        "payload that arrived while measuring and was delivered in order to the receivers of all flows, per second; what \
         came before and waited beyond a gap does not count").compared();
    THROUGHPUT_MBIT = metric("throughput_mbit", "Throughput", Mbit, 3, Higher,
        "bytes that left the bottleneck, headers included, per second");
    UTILIZATION = metric("utilization", "Utilization", Share, 4, Higher,
        "bytes sent, parts of packets included, over the capacity offered; of a trace, its opportunities")
        .fraction().compared();
    QUEUE_MEAN_PACKETS = metric("queue_mean_packets", "Mean queue", Packets, 1, Lower,
        "backlog of the discipline, averaged over time; the device ring is not counted");
    QUEUE_MEAN_BYTES = metric("queue_mean_bytes", "Mean queue", Bytes, 0, Lower,
        "the same in bytes");
    QUEUE_MAX_PACKETS = metric("queue_max_packets", "Longest queue", Packets, 0, Lower,
        "largest backlog of the discipline");
    QDELAY_MEAN_MS = metric("qdelay_mean_ms", "Mean queue delay", Ms, 2, Lower,
        "sojourn time in the discipline of the packets that left it").compared();
    QDELAY_P50_MS = metric("qdelay_p50_ms", "Median queue delay", Ms, 2, Lower,
        "its median").percentile(&QDELAY, 0.5);
    QDELAY_P95_MS = metric("qdelay_p95_ms", "95th percentile of queue delay", Ms, 2, Lower,
        "its 95th percentile").percentile(&QDELAY, 0.95);
    QDELAY_P99_MS = metric("qdelay_p99_ms", "99th percentile of queue delay", Ms, 2, Lower,
        "its 99th percentile").percentile(&QDELAY, 0.99);
    QDELAY_P999_MS = metric("qdelay_p999_ms", "99.9th percentile of queue delay", Ms, 2, Lower,
        "its 99.9th percentile").percentile(&QDELAY, 0.999);
    OWD_MEAN_MS = metric("owd_mean_ms", "Mean one-way delay", Ms, 2, Lower,
        "time from sender to receiver of the packets that were delivered");
    OWD_P99_MS = metric("owd_p99_ms", "99th percentile of one-way delay", Ms, 2, Lower,
        "its 99th percentile").percentile(&OWD, 0.99);
    JITTER_IPDV_MEAN_MS = metric("jitter_ipdv_mean_ms", "Mean delay variation", Ms, 3, Lower,
        "absolute difference of the one-way delays of consecutive packets of a flow (RFC 3393), averaged");
    JITTER_PDV_P99_MS = metric("jitter_pdv_p99_ms", "99th percentile of delay variation", Ms, 2, Lower,
        "one-way delay beyond the flow's smallest (RFC 5481), 99th percentile").percentile(&PDV, 0.99);
    JITTER_SD_MS = metric("jitter_sd_ms", "Standard deviation of one-way delay", Ms, 3, Lower,
        "of a flow's one-way delays about their mean, all flows pooled; from their histogram, whose buckets are \
         about one percent wide");
    RTT_MEAN_MS = metric("rtt_mean_ms", "Mean round-trip time", Ms, 2, Lower,
        "round-trip times as the TCP senders sampled them");
    RTT_BASE_MS = metric("rtt_base_ms", "Base round-trip time", Ms, 2, Neither,
        "smallest base (propagation) round-trip time of the flows");
    PING_MEAN_MS = metric("ping_mean_ms", "Mean ping", Ms, 2, Lower,
        "of a live link: round trips of pings beside the traffic, through both queues, of those that were answered")
        .compared();
    PING_P99_MS = metric("ping_p99_ms", "99th percentile of pings", Ms, 2, Lower,
        "its 99th percentile").percentile(&PING, 0.99);
    PINGS_UNANSWERED = metric("pings_unanswered", "Pings without an answer", Packets, 1, Lower,
        "of a live link: pings that waited longer than any answer took");
    LOSS_RATIO = metric("loss_ratio", "Loss", Share, 5, Lower,
        "of the packets that arrived at the bottleneck after the warm-up, the share that was dropped there, filtered \
         acknowledgments left out")
        .fraction().compared();
    PATH_LOSS_RATIO = metric("path_loss_ratio", "Loss on the path", Share, 5, Lower,
        "of the packets that were delivered or lost anywhere on the way, the share that was lost").fraction();
    UNDELIVERED_RATIO = metric("undelivered_ratio", "Not delivered by the end", Share, 5, Lower,
        "of these packets and those that are in flight at the end, the share that was not delivered")
        .fraction();
    DROPS_EARLY = metric("drops_early", "Drops (AQM)", Packets, 0, Neither,
        "of the packets that arrived after the warm-up, those that the AQM decided to drop");
    DROPS_OVERFLOW = metric("drops_overflow", "Drops (queue full)", Packets, 0, Neither,
        "of the packets that arrived after the warm-up, those dropped because the queue was full");
    ACK_DROPS = metric("ack_drops", "Filtered ACKs", Packets, 0, Neither,
        "of the packets that arrived after the warm-up, the acknowledgments dropped since a later one says the same \
         (CAKE's ACK filter): no loss");
    MARKS = metric("marks", "CE marks", Packets, 0, Neither,
        "of the packets that arrived after the warm-up, those marked CE instead of dropped (RFC 3168)");
    BUFFER_DROPS = metric("buffer_drops", "Drops at the shared buffer's threshold", Packets, 0, Neither,
        "packets that found their queue at the dynamic threshold of a switch's shared buffer");
    BUFFER_MAX_BYTES = metric("buffer_max_bytes", "Largest use of the shared buffer", Bytes, 0, Neither,
        "largest use of a switch's shared buffer");
    PROGRAM_DROPS = metric("program_drops", "Drops by programs of switches", Packets, 0, Neither,
        "packets that programs dropped before the queue");
    PAUSE_FRAMES = metric("pause_frames", "PAUSE frames", One, 0, Neither,
        "PAUSE frames that stop a sender (IEEE 802.1Qbb)");
    RESUME_FRAMES = metric("resume_frames", "PAUSE frames (resume)", One, 0, Neither,
        "PAUSE frames that let it go on");
    PAUSED_S = metric("paused_s", "Time paused, sum over ports", Seconds, 3, Neither,
        "time for which ports were paused, added up over ports and priorities");
    PFC_HEADROOM_BYTES = metric("pfc_headroom_bytes", "Headroom needed", Bytes, 0, Neither,
        "headroom that was used at most beyond XOFF");
    PFC_HEADROOM_LIMIT_BYTES = metric("pfc_headroom_limit_bytes", "Headroom configured", Bytes, 0, Neither,
        "headroom that was configured");
    PFC_LOSSES = metric("pfc_losses", "Losses despite flow control", Packets, 0, Neither,
        "packets of a flow-controlled priority that found no headroom left, or that the AQM behind dropped");
    PFC_DEADLOCK_S = metric("pfc_deadlock_s", "Flow-control deadlock detected at", Seconds, 2, Neither,
        "when ports were first seen to wait for each other in a circle");
    AIRTIME_SHARE = metric("airtime_share", "Share of the air", Share, 3, Neither,
        "on Wi-Fi: the time of transmissions to and from a station, over that of all stations").fraction();
    AGGREGATE_MEAN_PACKETS = metric("aggregate_mean_packets", "Packets of an aggregate", Packets, 1, Higher,
        "packets of the transmissions to a station, on average");
    AGGREGATE_MEAN_US = metric("aggregate_mean_us", "Length of an aggregate", Us, 0, Neither,
        "time of these on the air with preamble, without the response");
    RETRY_RATIO = metric("retry_ratio", "Sent again on the air", Share, 3, Lower,
        "of the packets in transmissions to a station, those that were in one before").fraction();
    COLLISION_RATIO = metric("collision_ratio", "Collisions", Share, 3, Lower,
        "of the transmissions to and from a station, those that collided").fraction();
    DELAY_DISCIPLINE_MS = metric("delay_discipline_ms", "Delay in the AQM", Ms, 2, Lower,
        "mean time of packets for a station in the discipline, until the driver or the hardware took them");
    DELAY_DRIVER_MS = metric("delay_driver_ms", "Delay in driver and hardware", Ms, 2, Lower,
        "from there until they were first sent");
    DELAY_AIR_MS = metric("delay_air_ms", "Delay on the air", Ms, 2, Lower,
        "from there until they were received, retries included");
    DELAY_REORDER_MS = metric("delay_reorder_ms", "Delay in the reorder buffer", Ms, 2, Lower,
        "from there until the receiver had all before them");
    DELAY_TOTAL_MS = metric("delay_total_ms", "Delay of a station", Ms, 2, Lower,
        "the sum of these four: from the discipline to the receiver's application");
    BUSY_SHARE = metric("busy_share", "Medium busy", Share, 3, Neither,
        "share of time in which somebody sent on Wi-Fi, responses and the gaps before them included").fraction();
    AIRTIME_JAIN = metric("airtime_jain", "Jain index of airtime", One, 3, Higher,
        "Jain's index of the airtimes of all stations: 1 is equal, 1/n is one station alone").fraction();
    FEEDBACK_SENT = metric("feedback_sent", "Feedback sent", Packets, 0, Neither,
        "packets about congestion that disciplines, switches or receivers sent to sources");
    FEEDBACK_DELIVERED = metric("feedback_delivered", "Feedback delivered", Packets, 0, Neither,
        "those that reached a source");
    FEEDBACK_LOST = metric("feedback_lost", "Feedback lost", Packets, 0, Neither,
        "those that were lost on the way");
    FEEDBACK_UNADDRESSED = metric("feedback_unaddressed", "Feedback without an address", Packets, 0, Neither,
        "packets that were not sent, because their source is unknown");
    FEEDBACK_IGNORED = metric("feedback_ignored", "Feedback not believed", Packets, 0, Neither,
        "of those delivered, those with an impossible value: a rate of zero, or above the line's");
    TELEMETRY_PACKETS = metric("telemetry_packets", "Packets with telemetry", Packets, 0, Neither,
        "packets that reported to their receiver what the queues of switches were (INT)");
    TELEMETRY_HOPS = metric("telemetry_hops", "Hops reported", One, 0, Neither,
        "entries of these, one for each switch");
    TELEMETRY_QUEUE_MAX_PACKETS = metric("telemetry_queue_max_packets", "Longest queue reported",
        Packets, 0, Neither,
        "largest queue that an entry names");
    JAIN_INDEX = metric("jain_index", "Jain index", One, 4, Higher,
        "Jain's fairness index of the flows' goodputs: 1 is equal, 1/n is one flow alone; flows that come \
         and go count for what they got").fraction().compared();
    CLASSIFIER_ACCURACY = metric("classifier_accuracy", "Classifier, packets: accuracy", One, 4, Higher,
        "packets that a classifier takes for what they are, over all; those of UDP flows are non-responsive")
        .fraction();
    CLASSIFIER_PPV = metric("classifier_ppv", "Classifier, packets: PPV (precision)", One, 4, Higher,
        "of the packets that it reports, the share of UDP's (precision)").fraction();
    CLASSIFIER_TNR = metric("classifier_tnr", "Classifier, packets: TNR", One, 4, Higher,
        "of TCP's packets, the share that it does not report").fraction();
    CLASSIFIER_NPV = metric("classifier_npv", "Classifier, packets: NPV", One, 4, Higher,
        "of the packets that it does not report, the share of TCP's (eq. 6 of SQM-LRU's paper, called TNR)")
        .fraction();
    CLASSIFIER_RECALL = metric("classifier_recall", "Classifier, packets: recall", One, 4, Higher,
        "of UDP's packets, the share that it reports").fraction();
    CLASSIFIER_F1 = metric("classifier_f1", "Classifier, packets: F1", One, 4, Higher,
        "harmonic mean of precision and recall").fraction();
    CLASSIFIER_FLOW_ACCURACY = metric("classifier_flow_accuracy", "Classifier, flows: accuracy",
        One, 4, Higher,
        "the same by flows: one is reported if more than half of its packets are").fraction();
    CLASSIFIER_FLOW_PPV = metric("classifier_flow_ppv", "Classifier, flows: PPV (precision)", One, 4, Higher,
        "of the flows that it reports, the share of UDP flows").fraction();
    CLASSIFIER_FLOW_TNR = metric("classifier_flow_tnr", "Classifier, flows: TNR", One, 4, Higher,
        "of the TCP flows, the share that it does not report").fraction();
    CLASSIFIER_FLOW_NPV = metric("classifier_flow_npv", "Classifier, flows: NPV", One, 4, Higher,
        "of the flows that it does not report, the share of TCP flows").fraction();
    CLASSIFIER_FLOW_RECALL = metric("classifier_flow_recall", "Classifier, flows: recall", One, 4, Higher,
        "of the UDP flows, the share that it reports").fraction();
    CLASSIFIER_FLOW_F1 = metric("classifier_flow_f1", "Classifier, flows: F1", One, 4, Higher,
        "harmonic mean of both by flows").fraction();
    CLASSIFIER_READS = metric("classifier_reads", "Classifier: records read per packet", One, 3, Lower,
        "records of its tables that a classifier reads to find, enter and forget flows, per packet; all else that it \
         does takes a fixed number of steps");
    REPORTED_RATIO = metric("reported_ratio", "Packets reported as non-responsive", One, 4, Neither,
        "of the packets that a classifier looked at, the share that it reported").fraction();
    FCT_MEAN_S = metric("fct_mean_s", "Mean completion time", Seconds, 3, Lower,
        "time from start to delivery of the last byte, of finite flows that completed");
    FCT_RESTRICTED_S = metric("fct_restricted_s", "Restricted mean completion time", Seconds, 3, Lower,
        "mean of the completion time or the horizon, whichever is less, of all finite flows that started: one that \
         does not complete counts as far as it could be watched (Kaplan and Meier 1958)");
    FCT_HORIZON_S = metric("fct_horizon_s", "Horizon of completion times", Seconds, 3, Neither,
        "its horizon: half of the flows started so long before the end of the run, or longer");
    FCT_P99_S = metric("fct_p99_s", "99th percentile of completion time", Seconds, 3, Lower,
        "its 99th percentile").percentile(&FCT, 0.99);
    SLOWDOWN_MEAN = metric("slowdown_mean", "Mean slowdown", One, 2, Lower,
        "completion time of finite flows over that in an empty network: one packet behind the other on \
         every link of the path, and propagation");
    SLOWDOWN_P99 = metric("slowdown_p99", "99th percentile of slowdown", One, 2, Lower,
        "its 99th percentile").percentile(&SLOWDOWN, 0.99);
    SLOWDOWN_SMALL_MEAN = metric("slowdown_small_mean", "Mean slowdown, small flows", One, 2, Lower,
        "the same of flows of at most 100 kB (1000 bytes) of payload");
    SLOWDOWN_SMALL_P99 = metric("slowdown_small_p99", "99th percentile of slowdown, small flows",
        One, 2, Lower,
        "its 99th percentile").percentile(&SLOWDOWN_SMALL, 0.99);
    SLOWDOWN_MEDIUM_MEAN = metric("slowdown_medium_mean", "Mean slowdown, medium flows", One, 2, Lower,
        "the same of flows of more, up to 10 MB");
    SLOWDOWN_MEDIUM_P99 = metric("slowdown_medium_p99", "99th percentile of slowdown, medium flows",
        One, 2, Lower,
        "its 99th percentile").percentile(&SLOWDOWN_MEDIUM, 0.99);
    SLOWDOWN_LARGE_MEAN = metric("slowdown_large_mean", "Mean slowdown, large flows", One, 2, Lower,
        "the same of flows of more than 10 MB");
    SLOWDOWN_LARGE_P99 = metric("slowdown_large_p99", "99th percentile of slowdown, large flows",
        One, 2, Lower,
        "its 99th percentile").percentile(&SLOWDOWN_LARGE, 0.99);
    RETRANSMISSIONS = metric("retransmissions", "Sent again", Packets, 0, Neither,
        "segments or packets that senders sent again, rightly or not");
    ECN_ECT0_PACKETS = metric("ecn_ect0_packets", "Received with ECT(0)", Packets, 0, Neither,
        "datagrams with ECT(0) that receivers of real transports got, as they report them to their senders");
    ECN_ECT1_PACKETS = metric("ecn_ect1_packets", "Received with ECT(1)", Packets, 0, Neither,
        "the same with ECT(1)");
    ECN_CE_PACKETS = metric("ecn_ce_packets", "Received with CE", Packets, 0, Neither,
        "the same with CE");
    COMPLETED_FLOWS = metric("completed_flows", "Completed flows", One, 0, Higher,
        "finite flows that completed");
    STARTED_FLOWS = metric("started_flows", "Started flows", One, 0, Neither,
        "finite flows that started, and may have completed");
    TRANSFER_MEAN_S = metric("transfer_mean_s", "Mean transfer time", Seconds, 3, Lower,
        "time of the transfers of a workload, of those that completed");
    TRANSFER_P99_S = metric("transfer_p99_s", "99th percentile of transfer time", Seconds, 3, Lower,
        "its 99th percentile").percentile(&TRANSFER, 0.99);
    TRANSFERS_COMPLETED = metric("transfers_completed", "Transfers completed", One, 0, Higher,
        "transfers that completed");
    TRANSFERS_REQUESTED = metric("transfers_requested", "Transfers requested", One, 0, Neither,
        "transfers that began");
    RPC_LATENCY_MEAN_MS = metric("rpc_latency_mean_ms", "Mean RPC latency", Ms, 2, Lower,
        "time from request to the end of the response, of those that completed");
    RPC_LATENCY_P99_MS = metric("rpc_latency_p99_ms", "99th percentile of RPC latency", Ms, 2, Lower,
        "its 99th percentile").percentile(&RPC_LATENCY, 0.99);
    RPCS_COMPLETED = metric("rpcs_completed", "RPCs completed", One, 0, Higher,
        "responses that arrived whole");
    RPCS_REQUESTED = metric("rpcs_requested", "RPCs requested", One, 0, Neither,
        "requests that were made");
    PAGE_LOAD_MEAN_S = metric("page_load_mean_s", "Mean page-load time", Seconds, 3, Lower,
        "time until the last object of a web page has arrived, of pages that completed");
    PAGE_LOAD_P95_S = metric("page_load_p95_s", "95th percentile of page-load time", Seconds, 3, Lower,
        "its 95th percentile").percentile(&PAGE_LOAD, 0.95);
    PAGES_COMPLETED = metric("pages_completed", "Pages completed", One, 0, Higher,
        "pages that completed");
    PAGES_REQUESTED = metric("pages_requested", "Pages requested", One, 0, Neither,
        "pages that were requested");
    QUERY_MEAN_MS = metric("query_mean_ms", "Mean completion time of queries", Ms, 2, Lower,
        "time until the last server's answer to a query has arrived (incast)");
    QUERY_P99_MS = metric("query_p99_ms", "99th percentile of completion time of queries", Ms, 2, Lower,
        "its 99th percentile").percentile(&QUERY, 0.99);
    QUERIES_COMPLETED = metric("queries_completed", "Queries completed", One, 0, Higher,
        "queries that all servers answered");
    QUERIES_REQUESTED = metric("queries_requested", "Queries requested", One, 0, Neither,
        "queries that were made");
    EXCHANGE_MEAN_MS = metric("exchange_mean_ms", "Mean request-response time", Ms, 2, Lower,
        "time from a request to the end of its answer");
    EXCHANGE_P99_MS = metric("exchange_p99_ms", "99th percentile of request-response time", Ms, 2, Lower,
        "its 99th percentile").percentile(&EXCHANGE, 0.99);
    EXCHANGES_COMPLETED = metric("exchanges_completed", "Requests answered", One, 0, Higher,
        "requests that were answered");
    MOS_MEAN = metric("mos_mean", "Mean opinion score of calls", One, 2, Higher,
        "quality of calls from 1 to 4.5 by the E-model (ITU-T G.107), as the callee hears it");
    MOS_MIN = metric("mos_min", "Mean opinion score of the worst call", One, 2, Higher,
        "that of the worst call");
    MOS_BACK_MEAN = metric("mos_back_mean", "Mean opinion score of calls at the caller", One, 2, Higher,
        "the same as the caller hears it");
    MOS_BACK_MIN = metric("mos_back_min", "Mean opinion score of the worst call at the caller", One, 2, Higher,
        "that of the worst call");
    VIDEO_BITRATE_MBIT = metric("video_bitrate_mbit", "Video bitrate", Mbit, 3, Higher,
        "bitrate of the segments that were fetched");
    VIDEO_STALL_S = metric("video_stall_s", "Video stall time", Seconds, 2, Lower,
        "time for which playback waited after it had begun, per viewer");
    VIDEO_STALLS = metric("video_stalls", "Video stalls", One, 1, Lower,
        "how often it waited, per viewer");
    VIDEO_SWITCHES = metric("video_switches", "Video bitrate switches", One, 1, Lower,
        "changes of bitrate from one segment to the next, per viewer");
    VIDEO_STARTUP_S = metric("video_startup_s", "Video start-up delay", Seconds, 3, Lower,
        "time until playback began, of the viewers for whom it did");
    WARMUP_S = metric("warmup_s", "Warm-up", Seconds, 2, Neither,
        "with `warmup mser5`: time at the start of the run that was not measured");
    PACKETS_ARRIVED = metric("packets_arrived", "Packets arrived", Packets, 0, Neither,
        "packets that arrived at the bottleneck");
    PACKETS_DELIVERED = metric("packets_delivered", "Packets delivered", Packets, 0, Neither,
        "packets that reached their receivers");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_differ_and_end_in_their_units() {
        let names: BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS {
            let ending = match metric.unit {
                Mbit => "_mbit",
                Kbit => "_kbit",
                Us => "_us",
                Ms => "_ms",
                Seconds => "_s",
                Bytes => "_bytes",
                One | Share | Packets => "",
            };
            assert!(metric.name.ends_with(ending), "{}", metric.name);
        }
    }

    #[test]
    fn a_percentile_is_of_a_declared_distribution_and_those_of_histograms_are_times() {
        for metric in METRICS {
            let MetricKind::Percentile { of, quantile } = metric.kind else { continue };
            assert!(DISTRIBUTIONS.iter().any(|known| known.name == of.name), "{}", metric.name);
            assert!(0.0 < quantile && quantile < 1.0 && !metric.is_compared, "{}", metric.name);
            let is_time = matches!(metric.unit, Ms | Seconds);
            assert!(is_time || matches!(of.source, Source::Flows { .. }), "{}", metric.name);
        }
        for distribution in DISTRIBUTIONS {
            assert!(distribution.percentiles().next().is_some(), "{}", distribution.name);
        }
    }
}
