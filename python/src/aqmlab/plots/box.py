"""A metric of every run: a box from the first to the third quartile, with the runs as points beside it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.plots.axes import of_metric
from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Panel
from aqmlab.vocabulary.errors import InputError, did_you_mean


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    parts = []
    for curve in curves:
        runs = curve.runs
        if runs.schema.get(column) != pl.Float64:
            known = [name for name, dtype in runs.schema.items() if dtype == pl.Float64]
            raise InputError(f"box: there is no '{column}'{did_you_mean(column, known)}; known are {', '.join(known)}")
        parts.append(runs.select(pl.lit(curve.label).alias("aqm"), "seed", column).drop_nulls())
    return pl.concat(parts)


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del table, warmup_s
    positions = {label: float(place) for place, label in enumerate(labels)}
    return [Panel("box", "aqm", column, Axis(ticks=positions), of_metric(column), labels=tuple(labels))]


KIND = FigureKind(
    "box",
    "How much the runs differ",
    "qdelay_mean_ms",
    "; box: first to third quartile with the median, whiskers: all runs, dots: runs",
    _table,
    _panels,
    height_in=3.6,
    in_report=False,
)
