"""Goodput against a metric, a cross of intervals for each AQM; the front of the means is a line."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.plots.axes import of_metric
from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Panel
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, did_you_mean

GOODPUT = "goodput_mbit"


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    rows = []
    for curve in curves:
        own = {
            row.metric: row.estimate for row in curve.result.rows if (row.point, row.aqm) == (curve.point, curve.aqm)
        }
        if column not in own or GOODPUT not in own or column == GOODPUT:
            known = metrics.ordered(set(own) - {GOODPUT})
            hint = did_you_mean(column, known)
            raise InputError(f"pareto: there is no '{column}'{hint}; known are {', '.join(known)}")
        ends = [
            (one.value, one.value if one.low is None else one.low, one.value if one.high is None else one.high)
            for one in (own[column], own[GOODPUT])
        ]
        rows.append((curve.label, *ends[0], *ends[1]))
    names = [f"{name}{end}" for name in (column, GOODPUT) for end in ("", "_low", "_high")]
    table = pl.DataFrame(rows, {"aqm": pl.String, **dict.fromkeys(names, pl.Float64)}, orient="row")
    return table.with_columns(is_best=pl.Series(_best(table[column].to_list(), table[GOODPUT].to_list(), column)))


def _best(values: Sequence[float], goodputs: Sequence[float], column: str) -> list[bool]:
    """Return which means are not beaten: by none that is as good in both and better in one."""
    sign = -1.0 if metrics.find(column).better == "higher" else 1.0
    points = [(sign * value, -goodput) for value, goodput in zip(values, goodputs, strict=True)]
    return [not any(other[0] <= own[0] and other[1] <= own[1] and other != own for other in points) for own in points]


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del table, warmup_s
    sideways, upwards = (of_metric(name, with_aim=True) for name in (column, GOODPUT))
    return [Panel("crosses", column, GOODPUT, sideways, upwards, labels=tuple(labels))]


KIND = FigureKind(
    "pareto",
    "The front of the means",
    "qdelay_mean_ms",
    "; cross: 95 % intervals, line: the front of the means, which says nothing about chance",
    _table,
    _panels,
    in_report=False,
)
