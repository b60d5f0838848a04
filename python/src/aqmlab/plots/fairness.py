"""What a flow gets against its round-trip time: a fair discipline draws a flat line."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.stats import statistics
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, did_you_mean

RTT = "rtt_base_ms"
SIZE = "size_bytes"


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    rows = []
    for curve in curves:
        flows = curve.of(curve.result.flows)
        if flows.schema.get(column) != pl.Float64:
            known = [name for name, dtype in flows.schema.items() if dtype == pl.Float64]
            hint = did_you_mean(column, known)
            raise InputError(f"fairness: there is no '{column}'{hint}; known are {', '.join(known)}")
        if RTT not in flows.columns:
            raise InputError(f"fairness: there is no '{RTT}': the result is of a version that did not write it")
        # What a call, a page or a video gets is decided by what it asks for; a flow with an end, by its size.
        asks = pl.col("kind").str.contains("^udp|-back$").any().over("group", "seed")
        flows = flows.filter(~asks)
        if SIZE in flows.columns:
            flows = flows.filter(pl.col(SIZE).is_null())
        known_rtt = flows.select("seed", pl.col(RTT).round_sig_figs(3), column).drop_nulls()
        # The mean of a run's flows is one value: its flows are not independent.
        runs = known_rtt.group_by(RTT, "seed").agg(pl.col(column).mean()).sort(RTT, "seed")
        for (rtt_ms,), part in runs.group_by(RTT, maintain_order=True):
            one = statistics.mean(part[column].to_list())
            rows.append((curve.label, rtt_ms, one.value, one.low, one.high))
    reals = dict.fromkeys((RTT, "mean", "ci95_low", "ci95_high"), pl.Float64)
    table = pl.DataFrame(rows, {"aqm": pl.String, **reals}, orient="row")
    if table[RTT].n_unique() < 2:
        raise InputError("fairness: all bulk flows have the same base round-trip time; rtt= gives some another")
    return table


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del warmup_s
    low, high = table[RTT].min(), table[RTT].max()
    wide = isinstance(low, float) and isinstance(high, float) and high >= 4 * low > 0
    across = Axis("Base round-trip time of the flow (ms)", is_log=wide)
    upwards = Axis(f"{metrics.find(column).title}, per flow", 0.0)
    return [Panel("line", RTT, "mean", across, upwards, labels=tuple(labels), interval="whiskers", has_points=True)]


KIND = FigureKind(
    "fairness",
    "Goodput by round-trip time",
    "goodput_mbit",
    "; mean of the bulk flows of a round-trip time, error bars: 95 % interval over the seeds",
    _table,
    _panels,
    height_in=3.6,
    is_occasional=True,
)
