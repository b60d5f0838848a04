"""Goodput against delay: one dot per run, and the ellipse of RFC 7928 section 2.7."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.plots.axes import of_metric
from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Panel
from aqmlab.vocabulary.errors import InputError, did_you_mean

GOODPUT = "goodput_mbit"


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    parts = []
    for curve in curves:
        runs = curve.runs
        if runs.schema.get(column) != pl.Float64 or GOODPUT not in runs.columns:
            known = [name for name, dtype in runs.schema.items() if dtype == pl.Float64]
            hint = did_you_mean(column, known)
            raise InputError(f"tradeoff: there is no '{column}'{hint}; known are {', '.join(known)}")
        wanted = list(dict.fromkeys((column, GOODPUT)))
        parts.append(runs.select(pl.lit(curve.label).alias("aqm"), "seed", *wanted).drop_nulls())
    return pl.concat(parts)


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del table, warmup_s
    return [
        Panel(
            "cloud",
            column,
            GOODPUT,
            of_metric(column, with_aim=True),
            of_metric(GOODPUT, with_aim=True),
            labels=tuple(labels),
        )
    ]


KIND = FigureKind(
    "tradeoff",
    "Goodput against queue delay",
    "qdelay_mean_ms",
    "; dot: the mean of a run, ring: mean of the runs, ellipse: one standard deviation of five or more; the axis "
    "of goodput need not begin at zero",
    _table,
    _panels,
    # A link with a command of the user's knows no goodput.
    is_occasional=True,
)
