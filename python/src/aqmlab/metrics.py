"""The metrics: name, unit, display, and how each is aggregated over seeds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Metric:
    """A metric: its measurement and its display.

    ``better`` is higher, lower or nothing; ``histogram`` and ``quantile`` define a percentile over all seeds.
    """

    name: str
    label: str
    unit: str
    decimals: int
    better: str = ""
    histogram: str = ""
    quantile: float = 0.0
    about: str = ""

    @property
    def title(self) -> str:
        """The label with its unit; that of a share is ``share``, which figures show in percent."""
        unit = "share" if self.is_share else self.unit
        return f"{self.label} ({unit})" if unit else self.label

    @property
    def aim(self) -> str:
        """The title, and which way is better."""
        aim = f"{self.label}, {self.better} is better" if self.better else self.label
        return replace(self, label=aim).title

    @property
    def phrase(self) -> str:
        """The label within a sentence."""
        return self.label if self.label.split()[0] in ("CE", "Jain") else f"{self.label[0].lower()}{self.label[1:]}"

    @property
    def is_share(self) -> bool:
        """Whether it is a share of the whole, shown in percent."""
        return split(self.name)[1] in SHARES

    @property
    def is_percentile(self) -> bool:
        """Whether the metric is a percentile, which is never averaged."""
        return bool(self.histogram)


SHARES = ("utilization", "loss_ratio", "path_loss_ratio", "undelivered_ratio")

# fmt: off
METRICS: tuple[Metric, ...] = (
    Metric("goodput_mbit", "Goodput", "Mbit/s", 3, "higher",
           about="payload delivered in order to the receivers of all flows, per second"),
    Metric("throughput_mbit", "Throughput", "Mbit/s", 3, "higher",
           about="bytes that left the bottleneck, headers included, per second"),
    Metric("utilization", "Utilization", "", 4, "higher",
           about="bytes sent, parts of packets included, over the capacity offered; of a trace, its opportunities"),
    Metric("queue_mean_packets", "Mean queue", "packets", 1, "lower",
           about="backlog of the discipline, averaged over time; the device ring is not counted"),
    Metric("queue_mean_bytes", "Mean queue", "bytes", 0, "lower",
           about="the same in bytes"),
    Metric("queue_max_packets", "Longest queue", "packets", 0, "lower",
           about="largest backlog of the discipline"),
    Metric("queue_ewma_packets", "Weighted mean queue", "packets", 1, "lower",
           about="backlog at arrivals, exponentially weighted as RED does, averaged over arrivals (S-PIE, eq. 11)"),
    Metric("qdelay_mean_ms", "Mean queue delay", "ms", 2, "lower",
           about="sojourn time in the discipline of the packets that left it"),
    Metric("qdelay_p50_ms", "Median queue delay", "ms", 2, "lower",
           histogram="qdelay", quantile=0.5, about="its median"),
    Metric("qdelay_p95_ms", "95th percentile of queue delay", "ms", 2, "lower",
           histogram="qdelay", quantile=0.95, about="its 95th percentile"),
    Metric("qdelay_p99_ms", "99th percentile of queue delay", "ms", 2, "lower",
           histogram="qdelay", quantile=0.99, about="its 99th percentile"),
    Metric("qdelay_p999_ms", "99.9th percentile of queue delay", "ms", 2, "lower",
           histogram="qdelay", quantile=0.999, about="its 99.9th percentile"),
    Metric("owd_mean_ms", "Mean one-way delay", "ms", 2, "lower",
           about="time from sender to receiver of the packets that were delivered"),
    Metric("owd_p99_ms", "99th percentile of one-way delay", "ms", 2, "lower",
           histogram="owd", quantile=0.99, about="its 99th percentile"),
    Metric("jitter_ipdv_mean_ms", "Mean delay variation", "ms", 3, "lower",
           about="absolute difference of the one-way delays of consecutive packets of a flow (RFC 3393), averaged"),
    Metric("jitter_pdv_p99_ms", "99th percentile of delay variation", "ms", 2, "lower",
           histogram="pdv", quantile=0.99,
           about="one-way delay beyond the flow's smallest (RFC 5481), 99th percentile"),
    Metric("rtt_mean_ms", "Mean round-trip time", "ms", 2, "lower",
           about="round-trip times as the TCP senders sampled them"),
    Metric("rtt_base_ms", "Base round-trip time", "ms", 2,
           about="smallest base (propagation) round-trip time of the flows"),
    Metric("loss_ratio", "Loss", "", 5, "lower",
           about="of the packets that arrived at the bottleneck after the warm-up, the share that was dropped there"),
    Metric("path_loss_ratio", "Loss on the path", "", 5, "lower",
           about="of the packets that were delivered or lost anywhere on the way, the share that was lost"),
    Metric("undelivered_ratio", "Not delivered by the end", "", 5, "lower",
           about="of these packets and those that are under way at the end, the share that was not delivered"),
    Metric("drops_early", "Drops (AQM)", "packets", 0,
           about="of the packets that arrived after the warm-up, those that the AQM decided to drop"),
    Metric("drops_overflow", "Drops (queue full)", "packets", 0,
           about="of the packets that arrived after the warm-up, those dropped because the queue was full"),
    Metric("marks", "CE marks", "packets", 0,
           about="of the packets that arrived after the warm-up, those marked CE instead of dropped (RFC 3168)"),
    Metric("buffer_drops", "Drops at the shared buffer's threshold", "packets", 0,
           about="packets that found their queue at the dynamic threshold of a switch's shared buffer"),
    Metric("buffer_max_bytes", "Largest use of the shared buffer", "bytes", 0,
           about="largest use of a switch's shared buffer"),
    Metric("program_drops", "Drops by programs of switches", "packets", 0,
           about="packets that programs dropped before the queue"),
    Metric("pause_frames", "PAUSE frames", "", 0,
           about="PAUSE frames that stop a sender (IEEE 802.1Qbb)"),
    Metric("resume_frames", "PAUSE frames (resume)", "", 0,
           about="PAUSE frames that let it go on"),
    Metric("paused_s", "Time paused, sum over ports", "s", 3,
           about="time for which ports were paused, added up over ports and priorities"),
    Metric("pfc_headroom_bytes", "Headroom needed", "bytes", 0,
           about="headroom that was used at most beyond XOFF"),
    Metric("pfc_headroom_limit_bytes", "Headroom configured", "bytes", 0,
           about="headroom that was configured"),
    Metric("pfc_losses", "Losses despite flow control", "packets", 0,
           about="packets of a flow-controlled priority that found no headroom left, or that the AQM behind dropped"),
    Metric("pfc_deadlock_s", "Flow-control deadlock detected at", "s", 2,
           about="when ports were first seen to wait for each other in a circle"),
    Metric("feedback_sent", "Feedback sent", "packets", 0,
           about="packets about congestion that disciplines, switches or receivers sent to sources"),
    Metric("feedback_delivered", "Feedback delivered", "packets", 0,
           about="those that reached a source"),
    Metric("feedback_lost", "Feedback lost", "packets", 0,
           about="those that were lost on the way"),
    Metric("feedback_unaddressed", "Feedback without an address", "packets", 0,
           about="packets that were not sent, because their source is unknown"),
    Metric("feedback_ignored", "Feedback not believed", "packets", 0,
           about="of those delivered, those that said what cannot be: a rate of zero, or above the line's"),
    Metric("telemetry_packets", "Packets with telemetry", "packets", 0,
           about="packets that told their receiver what the queues of switches were (INT)"),
    Metric("telemetry_hops", "Hops told", "", 0,
           about="entries of these, one for each switch"),
    Metric("telemetry_queue_max_packets", "Longest queue told", "packets", 0,
           about="largest queue that an entry names"),
    Metric("flowmon_delay_ms", "Delay (as FlowMonitor is read)", "ms", 1,
           about="with `flow_monitor`: delay of each flow's packets since the start, acknowledgments being flows, "
           "averaged over flows and samples"),
    Metric("flowmon_loss_ratio", "Loss (as FlowMonitor is read)", "", 4,
           about="with `flow_monitor`: drops, each counted twice, over packets sent, averaged over flows and "
           "the samples above zero"),
    Metric("flowmon_throughput_kbit", "Throughput (as FlowMonitor is read)", "kbit/s", 1,
           about="with `flow_monitor`: bytes received over the time from first to last packet, averaged over flows and "
           "samples"),
    Metric("flowmon_fct_s", "Completion time (as FlowMonitor is read)", "s", 3,
           about="with `flow_monitor`: time from a flow's first packet to its last so far, averaged over flows and "
           "samples"),
    Metric("flowmon_queue_packets", "Queue (as traces are read)", "packets", 1,
           about="with `flow_monitor`: lengths of all queues after each arrival and departure, without zeros, "
           "averaged"),
    Metric("flowmon_queue_with_zeros_packets", "Queue at arrivals and departures", "packets", 1,
           about="with `flow_monitor`: the same with zeros"),
    Metric("flowmon_sojourn_ms", "Sojourn time (as traces are read)", "ms", 1,
           about="with `flow_monitor`: sojourn times in all queues in whole milliseconds, without zeros, averaged"),
    Metric("all_queues_mean_packets", "Mean of all queues together", "packets", 1,
           about="with `flow_monitor`: packets that wait in any queue with a discipline, averaged over time"),
    Metric("all_queues_sojourn_mean_ms", "Mean queue delay, all queues", "ms", 2,
           about="with `flow_monitor`: sojourn time of every packet that left any queue with a discipline, averaged"),
    Metric("jain_index", "Jain index", "", 4, "higher",
           about="Jain's fairness index of the flows' goodputs: 1 is equal, 1/n is one flow alone; "
                 "flows that come and go count for what they got"),
    Metric("classifier_accuracy", "Classifier, packets: accuracy", "", 4, "higher",
           about="packets that a classifier takes for what they are, over all; those of UDP flows are non-responsive"),
    Metric("classifier_ppv", "Classifier, packets: PPV (precision)", "", 4, "higher",
           about="of the packets that it reports, the share of UDP's (precision)"),
    Metric("classifier_tnr", "Classifier, packets: TNR", "", 4, "higher",
           about="of TCP's packets, the share that it does not report"),
    Metric("classifier_npv", "Classifier, packets: NPV", "", 4, "higher",
           about="of the packets that it does not report, the share of TCP's (eq. 6 of SQM-LRU's paper, called TNR)"),
    Metric("classifier_recall", "Classifier, packets: recall", "", 4, "higher",
           about="of UDP's packets, the share that it reports"),
    Metric("classifier_f1", "Classifier, packets: F1", "", 4, "higher",
           about="harmonic mean of precision and recall"),
    Metric("classifier_flow_accuracy", "Classifier, flows: accuracy", "", 4, "higher",
           about="the same by flows: one is reported if more than half of its packets are"),
    Metric("classifier_flow_ppv", "Classifier, flows: PPV (precision)", "", 4, "higher",
           about="of the flows that it reports, the share of UDP flows"),
    Metric("classifier_flow_tnr", "Classifier, flows: TNR", "", 4, "higher",
           about="of the TCP flows, the share that it does not report"),
    Metric("classifier_flow_npv", "Classifier, flows: NPV", "", 4, "higher",
           about="of the flows that it does not report, the share of TCP flows"),
    Metric("classifier_flow_recall", "Classifier, flows: recall", "", 4, "higher",
           about="of the UDP flows, the share that it reports"),
    Metric("classifier_flow_f1", "Classifier, flows: F1", "", 4, "higher",
           about="harmonic mean of both by flows"),
    Metric("reported_ratio", "Packets reported as non-responsive", "", 4,
           about="of the packets that a classifier looked at, the share that it reported"),
    Metric("fct_mean_s", "Mean completion time", "s", 3, "lower",
           about="time from start to delivery of the last byte, of finite flows that completed"),
    Metric("fct_p99_s", "99th percentile of completion time", "s", 3, "lower",
           histogram="fct", quantile=0.99, about="its 99th percentile"),
    Metric("slowdown_mean", "Mean slowdown", "", 2, "lower",
           about="completion time of finite flows over that in an empty network: one packet behind the other on every "
           "link of the path, and propagation"),
    Metric("slowdown_p99", "99th percentile of slowdown", "", 2, "lower",
           histogram="slowdown", quantile=0.99, about="its 99th percentile"),
    Metric("slowdown_small_mean", "Mean slowdown, small flows", "", 2, "lower",
           about="the same of flows of at most 100 kB (1000 bytes) of payload"),
    Metric("slowdown_small_p99", "99th percentile of slowdown, small flows", "", 2, "lower",
           histogram="slowdown_small", quantile=0.99, about="its 99th percentile"),
    Metric("slowdown_medium_mean", "Mean slowdown, medium flows", "", 2, "lower",
           about="the same of flows of more, up to 10 MB"),
    Metric("slowdown_medium_p99", "99th percentile of slowdown, medium flows", "", 2, "lower",
           histogram="slowdown_medium", quantile=0.99, about="its 99th percentile"),
    Metric("slowdown_large_mean", "Mean slowdown, large flows", "", 2, "lower",
           about="the same of flows of more than 10 MB"),
    Metric("slowdown_large_p99", "99th percentile of slowdown, large flows", "", 2, "lower",
           histogram="slowdown_large", quantile=0.99, about="its 99th percentile"),
    Metric("retransmissions", "Sent again", "packets", 0,
           about="segments or packets that senders sent again, rightly or not"),
    Metric("completed_flows", "Completed flows", "", 0, "higher",
           about="finite flows that completed"),
    Metric("started_flows", "Started flows", "", 0,
           about="finite flows that started, and may have completed"),
    Metric("transfer_mean_s", "Mean transfer time", "s", 3, "lower",
           about="time of the transfers of a workload, of those that completed"),
    Metric("transfer_p99_s", "99th percentile of transfer time", "s", 3, "lower",
           histogram="transfer", quantile=0.99, about="its 99th percentile"),
    Metric("transfers_completed", "Transfers completed", "", 0, "higher",
           about="transfers that completed"),
    Metric("transfers_requested", "Transfers requested", "", 0,
           about="transfers that began"),
    Metric("rpc_latency_mean_ms", "Mean RPC latency", "ms", 2, "lower",
           about="time from request to the end of the response, of those that completed"),
    Metric("rpc_latency_p99_ms", "99th percentile of RPC latency", "ms", 2, "lower",
           histogram="rpc_latency", quantile=0.99, about="its 99th percentile"),
    Metric("rpcs_completed", "RPCs completed", "", 0, "higher",
           about="responses that arrived whole"),
    Metric("rpcs_requested", "RPCs requested", "", 0,
           about="requests that were made"),
    Metric("page_load_mean_s", "Mean page-load time", "s", 3, "lower",
           about="time until the last object of a web page has arrived, of pages that completed"),
    Metric("page_load_p95_s", "95th percentile of page-load time", "s", 3, "lower",
           histogram="page_load", quantile=0.95, about="its 95th percentile"),
    Metric("pages_completed", "Pages completed", "", 0, "higher",
           about="pages that completed"),
    Metric("pages_requested", "Pages requested", "", 0,
           about="pages that were requested"),
    Metric("query_mean_ms", "Mean completion time of queries", "ms", 2, "lower",
           about="time until the last server's answer to a query has arrived (incast)"),
    Metric("query_p99_ms", "99th percentile of completion time of queries", "ms", 2, "lower",
           histogram="query", quantile=0.99, about="its 99th percentile"),
    Metric("queries_completed", "Queries completed", "", 0, "higher",
           about="queries that all servers answered"),
    Metric("queries_requested", "Queries requested", "", 0,
           about="queries that were made"),
    Metric("exchange_mean_ms", "Mean request-response time", "ms", 2, "lower",
           about="time from a request to the end of its answer"),
    Metric("exchange_p99_ms", "99th percentile of request-response time", "ms", 2, "lower",
           histogram="exchange", quantile=0.99, about="its 99th percentile"),
    Metric("exchanges_completed", "Requests answered", "", 0, "higher",
           about="requests that were answered"),
    Metric("mos_mean", "Mean opinion score of calls", "", 2, "higher",
           about="quality of calls from 1 to 4.5 by the E-model (ITU-T G.107), as the callee hears it"),
    Metric("mos_min", "Mean opinion score of the worst call", "", 2, "higher",
           about="that of the worst call"),
    Metric("mos_back_mean", "Mean opinion score of calls, way back", "", 2, "higher",
           about="the same as the caller hears it"),
    Metric("mos_back_min", "Mean opinion score of the worst call, way back", "", 2, "higher",
           about="that of the worst call"),
    Metric("video_bitrate_mbit", "Video bitrate", "Mbit/s", 3, "higher",
           about="bitrate of the segments that were fetched"),
    Metric("video_stall_s", "Video stall time", "s", 2, "lower",
           about="time for which playback waited after it had begun, per viewer"),
    Metric("video_stalls", "Video stalls", "", 1, "lower",
           about="how often it waited, per viewer"),
    Metric("video_switches", "Video bitrate switches", "", 1, "lower",
           about="changes of bitrate from one segment to the next, per viewer"),
    Metric("video_startup_s", "Video start-up delay", "s", 3, "lower",
           about="time until playback began, of the viewers for whom it did"),
    Metric("warmup_s", "Warm-up", "s", 2,
           about="with `warmup mser5`: time at the start of the run that was not measured"),
    Metric("packets_arrived", "Packets arrived", "packets", 0,
           about="packets that arrived at the bottleneck"),
    Metric("packets_delivered", "Packets delivered", "packets", 0,
           about="packets that reached their receivers"),
)
# fmt: on
_BY_NAME = {metric.name: metric for metric in METRICS}
_ORDER = {metric.name: number for number, metric in enumerate(METRICS)}

# Metrics that `compare` tests for differences between AQMs: means over a run, never percentiles.
COMPARED = ("goodput_mbit", "utilization", "qdelay_mean_ms", "loss_ratio", "jain_index")


def find(name: str) -> Metric:
    """Return the metric of this name, prefixes included; an unknown one has its name as label."""
    prefix, plain = split(name)
    known = _BY_NAME.get(plain)
    if known is None:
        return Metric(name, name, "", 4)
    if not prefix:
        return known
    group = prefix.partition(".")[2].removesuffix(".")
    histogram = f"{prefix}{known.histogram}" if known.histogram else ""
    place = "at" if prefix.startswith("port.") else "of"
    return replace(known, name=name, label=f"{known.label} {place} {group}", histogram=histogram)


def split(name: str) -> tuple[str, str]:
    """Split a name into the prefix of its group or port and the plain name.

    >>> split("class.cubic.goodput_mbit"), split("loss_ratio")
    (('class.cubic.', 'goodput_mbit'), ('', 'loss_ratio'))
    >>> split("port.leaf0->h0.1.qdelay_mean_ms")
    ('port.leaf0->h0.1.', 'qdelay_mean_ms')

    """
    match = re.fullmatch(r"(class\.[^.]+\.|port\..+\.)(.+)", name)
    return (match.group(1), match.group(2)) if match else ("", name)


def is_metric(name: str) -> bool:
    """Whether there is a metric of this name, prefixes included.

    >>> is_metric("class.cubic.goodput_mbit"), is_metric("rtt_ms")
    (True, False)

    """
    return split(name)[1] in _BY_NAME


def ordered(names: set[str]) -> list[str]:
    """Return names in the order of the table, then by name; groups come after the whole."""

    def rank(name: str) -> tuple[str, int, str]:
        prefix, plain = split(name)
        return (prefix, _ORDER.get(plain, len(_ORDER)), plain)

    return sorted(names, key=rank)


def number(value: float) -> str:
    """Write a number with at least three significant digits, without exponent.

    >>> number(0.85712), number(81.3), number(11400.0)
    ('0.857', '81.3', '11400')

    """
    if value == 0.0:
        return "0"
    digits = 0
    while abs(value) * 10.0**digits < 99.95 and digits < 6:
        digits += 1
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits > 3 else text
