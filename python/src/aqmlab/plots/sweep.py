"""Metrics against a swept value: means with their 95 % intervals, one line per AQM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from aqmlab import metrics
from aqmlab.errors import InputError, did_you_mean
from aqmlab.plots import places
from aqmlab.plots.curves import Curve, Kind
from aqmlab.plots.model import Axis, Panel

BESIDE = ("goodput_mbit", "loss_ratio")
# The axis is logarithmic where the largest mean is this many times the smallest.
WIDE = 20.0


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    known = {row.metric for curve in curves for row in curve.result.rows}
    if column not in known:
        names = metrics.ordered(known)
        raise InputError(f"sweep: there is no '{column}'{did_you_mean(column, names)}; known are {', '.join(names)}")
    wanted = list(dict.fromkeys((column, *BESIDE)))
    rows = [
        (curve.label, curve.place, row.metric, row.estimate.value, row.estimate.low, row.estimate.high)
        for curve in curves
        for row in curve.result.rows
        if row.point == curve.point and row.aqm == curve.aqm and row.metric in wanted
    ]
    reals = dict.fromkeys(("mean", "ci95_low", "ci95_high"), pl.Float64)
    swept = {", ".join(curve.result.points[0]) for curve in curves}
    point = swept.pop() if len(swept) == 1 else ""
    return pl.DataFrame(
        rows, {"aqm": pl.String, point or "scenario": pl.String, "metric": pl.String, **reals}, orient="row"
    )


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del warmup_s
    point = table.columns[1]
    across = Axis(point.replace("_", " ").capitalize(), places=places.of(table[point].unique(maintain_order=True)))
    return [
        Panel(
            "line",
            point,
            "mean",
            across,
            _axis(table.filter(pl.col("metric") == name)["mean"], metrics.find(name).title.replace(" (", "\n(")),
            rows={"metric": name},
            labels=tuple(labels),
            interval="whiskers",
            has_points=True,
        )
        for name in dict.fromkeys((column, *BESIDE))
        if name in table["metric"]
    ]


def _axis(means: pl.Series, title: str) -> Axis:
    values = means.to_numpy()
    wide = values.min(initial=np.inf) > 0.0 and values.max() / values.min() > WIDE
    return Axis(title, is_log=True) if wide else Axis(title, 0.0)


KIND = Kind(
    "sweep",
    "What the sweep changes",
    "qdelay_mean_ms",
    "; error bars: 95 % interval",
    _table,
    _panels,
    across=True,
    height_in=1.9,
)
