"""The metrics: what each is called, its unit, how it is shown, and how it is summed up over seeds."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A metric. ``histogram`` and ``quantile`` say where a percentile over all seeds comes from."""

    name: str
    label: str
    unit: str
    decimals: int
    better: str = ""
    histogram: str = ""
    quantile: float = 0.0

    @property
    def title(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def phrase(self) -> str:
        """The label in the middle of a sentence."""
        return self.label if self.label.split()[0] in ("CE", "Jain") else f"{self.label[0].lower()}{self.label[1:]}"

    @property
    def is_percentile(self) -> bool:
        """Whether the metric is a percentile, which is never averaged."""
        return bool(self.histogram)


METRICS: tuple[Metric, ...] = (
    Metric("goodput_mbit", "Goodput", "Mbit/s", 3, "higher"),
    Metric("throughput_mbit", "Throughput", "Mbit/s", 3, "higher"),
    Metric("utilization", "Utilization", "", 4, "higher"),
    Metric("queue_mean_packets", "Mean queue", "packets", 1, "lower"),
    Metric("queue_mean_bytes", "Mean queue", "bytes", 0, "lower"),
    Metric("queue_max_packets", "Longest queue", "packets", 0, "lower"),
    Metric("queue_ewma_packets", "Weighted mean queue", "packets", 1, "lower"),
    Metric("qdelay_mean_ms", "Mean queue delay", "ms", 2, "lower"),
    Metric("qdelay_p50_ms", "Median queue delay", "ms", 2, "lower", "qdelay", 0.5),
    Metric("qdelay_p95_ms", "95th percentile of queue delay", "ms", 2, "lower", "qdelay", 0.95),
    Metric("qdelay_p99_ms", "99th percentile of queue delay", "ms", 2, "lower", "qdelay", 0.99),
    Metric("qdelay_p999_ms", "99.9th percentile of queue delay", "ms", 2, "lower", "qdelay", 0.999),
    Metric("owd_mean_ms", "Mean one-way delay", "ms", 2, "lower"),
    Metric("owd_p99_ms", "99th percentile of one-way delay", "ms", 2, "lower", "owd", 0.99),
    Metric("jitter_ipdv_mean_ms", "Mean delay variation", "ms", 3, "lower"),
    Metric("jitter_pdv_p99_ms", "99th percentile of delay variation", "ms", 2, "lower", "pdv", 0.99),
    Metric("rtt_mean_ms", "Mean round-trip time", "ms", 2, "lower"),
    Metric("rtt_base_ms", "Base round-trip time", "ms", 2),
    Metric("loss_ratio", "Loss", "", 5, "lower"),
    Metric("path_loss_ratio", "Loss on the path", "", 5, "lower"),
    Metric("undelivered_ratio", "Not delivered by the end", "", 5, "lower"),
    Metric("drops_early", "Drops (AQM)", "packets", 0),
    Metric("drops_overflow", "Drops (queue full)", "packets", 0),
    Metric("marks", "CE marks", "packets", 0),
    Metric("buffer_drops", "Drops at the shared buffer's threshold", "packets", 0),
    Metric("buffer_max_bytes", "Largest use of the shared buffer", "bytes", 0),
    Metric("pause_frames", "PAUSE frames", "", 0),
    Metric("resume_frames", "PAUSE frames (resume)", "", 0),
    Metric("paused_s", "Time paused, sum over ports", "s", 3),
    Metric("pfc_headroom_bytes", "Headroom needed", "bytes", 0),
    Metric("pfc_headroom_limit_bytes", "Headroom configured", "bytes", 0),
    Metric("pfc_losses", "Losses despite flow control", "packets", 0),
    Metric("pfc_deadlock_s", "Flow-control deadlock detected at", "s", 2),
    Metric("jain_index", "Jain index", "", 4, "higher"),
    Metric("fct_mean_s", "Mean completion time", "s", 3, "lower"),
    Metric("fct_p99_s", "99th percentile of completion time", "s", 3, "lower", "fct", 0.99),
    Metric("completed_flows", "Completed flows", "", 0, "higher"),
    Metric("transfer_mean_s", "Mean transfer time", "s", 3, "lower"),
    Metric("transfer_p99_s", "99th percentile of transfer time", "s", 3, "lower", "transfer", 0.99),
    Metric("transfers_completed", "Transfers completed", "", 0, "higher"),
    Metric("transfers_requested", "Transfers requested", "", 0),
    Metric("rpc_latency_mean_ms", "Mean RPC latency", "ms", 2, "lower"),
    Metric("rpc_latency_p99_ms", "99th percentile of RPC latency", "ms", 2, "lower", "rpc_latency", 0.99),
    Metric("rpcs_completed", "RPCs completed", "", 0, "higher"),
    Metric("rpcs_requested", "RPCs requested", "", 0),
    Metric("page_load_mean_s", "Mean page-load time", "s", 3, "lower"),
    Metric("page_load_p95_s", "95th percentile of page-load time", "s", 3, "lower", "page_load", 0.95),
    Metric("pages_completed", "Pages completed", "", 0, "higher"),
    Metric("pages_requested", "Pages requested", "", 0),
    Metric("query_mean_ms", "Mean completion time of queries", "ms", 2, "lower"),
    Metric("query_p99_ms", "99th percentile of completion time of queries", "ms", 2, "lower", "query", 0.99),
    Metric("queries_completed", "Queries completed", "", 0, "higher"),
    Metric("queries_requested", "Queries requested", "", 0),
    Metric("exchange_mean_ms", "Mean request-response time", "ms", 2, "lower"),
    Metric("exchange_p99_ms", "99th percentile of request-response time", "ms", 2, "lower", "exchange", 0.99),
    Metric("exchanges_completed", "Requests answered", "", 0, "higher"),
    Metric("mos_mean", "Mean opinion score of calls", "", 2, "higher"),
    Metric("mos_min", "Mean opinion score of the worst call", "", 2, "higher"),
    Metric("mos_back_mean", "Mean opinion score of calls, way back", "", 2, "higher"),
    Metric("mos_back_min", "Mean opinion score of the worst call, way back", "", 2, "higher"),
    Metric("video_bitrate_mbit", "Video bitrate", "Mbit/s", 3, "higher"),
    Metric("video_stall_s", "Video stall time", "s", 2, "lower"),
    Metric("video_stalls", "Video stalls", "", 1, "lower"),
    Metric("video_switches", "Video bitrate switches", "", 1, "lower"),
    Metric("video_startup_s", "Video start-up delay", "s", 3, "lower"),
    Metric("packets_arrived", "Packets arrived", "packets", 0),
    Metric("packets_delivered", "Packets delivered", "packets", 0),
)
_BY_NAME = {metric.name: metric for metric in METRICS}
_ORDER = {metric.name: number for number, metric in enumerate(METRICS)}

# What `compare` tests for differences between AQMs: means over a run, never percentiles.
COMPARED = ("goodput_mbit", "utilization", "qdelay_mean_ms", "loss_ratio", "jain_index")


def find(name: str) -> Metric:
    """Return the metric of this name, prefixes included; an unknown one explains itself by its name."""
    prefix, plain = split(name)
    known = _BY_NAME.get(plain)
    if known is None:
        return Metric(name, name, "", 4)
    if not prefix:
        return known
    group = prefix.partition(".")[2].removesuffix(".")
    histogram = f"{prefix}{known.histogram}" if known.histogram else ""
    place = "at" if prefix.startswith("port.") else "of"
    return Metric(
        name, f"{known.label} {place} {group}", known.unit, known.decimals, known.better, histogram, known.quantile
    )


def split(name: str) -> tuple[str, str]:
    """Split a name into the prefix of its group or port and the plain name.

    >>> split("class.cubic.goodput_mbit"), split("loss_ratio")
    (('class.cubic.', 'goodput_mbit'), ('', 'loss_ratio'))
    >>> split("port.leaf0->h0.1.qdelay_mean_ms")
    ('port.leaf0->h0.1.', 'qdelay_mean_ms')

    """
    match = re.fullmatch(r"(class\.[^.]+\.|port\..+\.)(.+)", name)
    return (match.group(1), match.group(2)) if match else ("", name)


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
