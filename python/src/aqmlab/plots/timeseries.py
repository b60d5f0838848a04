"""A delay and the goodput over time: the mean over the seeds with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab import metrics, statistics
from aqmlab.errors import InputError, did_you_mean
from aqmlab.plots.curves import Curve, Kind
from aqmlab.plots.model import Axis, Panel

GOODPUT = "goodput_mbit"
# The delay axis is logarithmic where the highest peak is this many times the median.
WIDE = 30.0
LABELS = {
    "qdelay_ms": "Queue delay (ms)",
    "queue_packets": "Queue (packets)",
    "queue_bytes": "Queue (bytes)",
    "drops": "Drops (packets)",
    "marks": "CE marks (packets)",
}


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    known = sorted({name for curve in curves for name in curve.result.series["name"].unique()})
    if column not in known:
        hint = did_you_mean(column, known)
        raise InputError(f"timeseries: there is no '{column}'{hint}; known are {', '.join(known)}")
    parts = [_spread(curve, list(dict.fromkeys((column, GOODPUT)))) for curve in curves]
    labelled = zip(curves, parts, strict=True)
    return pl.concat([part.select(pl.lit(curve.label).alias("aqm"), pl.all()) for curve, part in labelled])


def _spread(curve: Curve, names: Sequence[str]) -> pl.DataFrame:
    value = pl.col("value")
    spread = (
        curve.of(curve.result.series)
        .filter(pl.col("name").is_in(names))
        .group_by("name", "time_s")
        .agg(value.mean().alias("mean"), value.std().alias("deviation"), value.count().alias("n"))
        .sort("name", "time_s")
    )
    factors = {n: statistics.t_factor(n) for n in spread["n"].unique().to_list()}
    half = pl.col("deviation") * pl.col("n").replace_strict(factors, return_dtype=pl.Float64)
    return spread.select(
        "name",
        "time_s",
        "mean",
        (pl.col("mean") - half).alias("ci95_low"),
        (pl.col("mean") + half).alias("ci95_high"),
    )


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    return [
        Panel(
            "line",
            "time_s",
            "mean",
            Axis("Time (s)"),
            _axis(name, table.filter(pl.col("name") == name)["mean"]),
            rows={"name": name},
            labels=tuple(labels),
            interval="band",
            shaded=(warmup_s, "warm-up") if warmup_s > 0 else None,
        )
        for name in dict.fromkeys((column, GOODPUT))
        if name in table["name"]
    ]


def _axis(name: str, means: pl.Series) -> Axis:
    """Return an axis, logarithmic if peaks would flatten everything else."""
    title = LABELS.get(name, metrics.find(name).title)
    median, largest = means.drop_nulls().median(), means.max()
    wide = isinstance(median, float) and isinstance(largest, float) and 0.0 < median < largest / WIDE
    if wide and name != GOODPUT and isinstance(median, float):
        return Axis(title, median / 50, is_log=True)
    return Axis(title, 0.0)


KIND = Kind(
    "timeseries",
    "Queue delay and goodput over time",
    "qdelay_ms",
    "; line: mean over the seeds, band: 95 % interval",
    _table,
    _panels,
    height_in=2.5,
)
