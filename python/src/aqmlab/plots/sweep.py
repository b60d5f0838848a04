"""Metrics against a swept value: means with their 95 % intervals, one line per AQM.

By the number of swept names: one is a line; two are small multiples, or heat maps where both have many values; three
are small multiples; a sample, or more names, is goodput against the metric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from aqmlab.plots import ticks
from aqmlab.plots.curves import Curve, FigureKind
from aqmlab.plots.panel import Axis, Mark, Panel
from aqmlab.vocabulary import metrics, quantities
from aqmlab.vocabulary.errors import InputError, did_you_mean

BESIDE = ("goodput_mbit", "loss_ratio")
# The axis is logarithmic where the largest mean is this many times the smallest.
WIDE = 20.0
# More panels side by side, or one below the other, are too small.
MOST_BESIDE = 5
# Two names with this many values each are heat maps.
LEAST_MAPPED = 5
HEADROOM = 1.06
# Of a logarithmic axis, at both ends: a marker on the edge would be cut.
LOG_HEADROOM = 1.4
# Names that are written in capitals.
SHORT = ("rtt",)


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    results = {id(curve.result): curve.result for curve in curves}
    known = {row.metric for result in results.values() for row in result.rows}
    if column not in known:
        every = metrics.ordered(known)
        raise InputError(f"sweep: there is no '{column}'{did_you_mean(column, every)}; known are {', '.join(every)}")
    wanted = list(dict.fromkeys((column, *_beside(column))))
    found = {
        (number, row.point, row.aqm, row.metric): row.estimate
        for number, result in results.items()
        for row in result.rows
        if row.metric in wanted
    }
    swept = {tuple(curve.result.points[0]) for curve in curves}
    # Results that sweep different things have only their places in common.
    names: tuple[str, ...] = swept.pop() if len(swept) == 1 else ()
    rows = [
        (curve.label, *_values(curve, names), name, estimate.value, estimate.low, estimate.high)
        for curve in curves
        for name in wanted
        if (estimate := found.get((id(curve.result), curve.point, curve.aqm, name)))
    ]
    texts = dict.fromkeys(("aqm", *(names or ("scenario",)), "metric"), pl.String)
    reals = dict.fromkeys(("mean", "ci95_low", "ci95_high"), pl.Float64)
    table = pl.DataFrame(rows, {**texts, **reals}, orient="row")
    if _is_grid(table) or _is_mapped(table):
        return table
    wide = table.pivot("metric", index=["aqm", *names], values="mean", maintain_order=True)
    return wide.filter(pl.all_horizontal(pl.col(column, BESIDE[0]).is_not_null()))


def _beside(column: str) -> tuple[str, ...]:
    """Return what is shown beside a column; the loss at a port beside its delay.

    >>> _beside("qdelay_mean_ms"), _beside("port.up.qdelay_mean_ms")
    (('goodput_mbit', 'loss_ratio'), ('goodput_mbit', 'port.up.loss_ratio'))

    """
    goodput, loss = BESIDE
    prefix = metrics.split(column)[0]
    return goodput, f"{prefix}{loss}" if prefix.startswith("port.") else loss


def _values(curve: Curve, names: Sequence[str]) -> tuple[str, ...]:
    point = curve.result.points[curve.point]
    return tuple(point[name] for name in names) if names else (curve.place,)


def _names(table: pl.DataFrame) -> list[str]:
    """Return the swept names of a table of metrics; that with most values first."""
    return sorted(table.columns[1 : table.columns.index("metric")], key=lambda name: -table[name].n_unique())


def _is_grid(table: pl.DataFrame) -> bool:
    """Whether small multiples can show it: all combinations of few values of up to three names."""
    across, *others = (table[name].n_unique() for name in _names(table))
    points = table.select(_names(table)).n_unique()
    return len(others) <= 2 and max(others, default=1) <= MOST_BESIDE and points == across * math.prod(others)


def _is_mapped(table: pl.DataFrame) -> bool:
    """Whether heat maps show it: all combinations of many values of two names."""
    counts = [table[name].n_unique() for name in _names(table)]
    return (
        len(counts) == 2 and min(counts) >= LEAST_MAPPED and table.select(_names(table)).n_unique() == math.prod(counts)
    )


def _panels(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> list[Panel]:
    del warmup_s
    if "metric" not in table.columns:
        return [_front(table, labels, column)]
    if _is_mapped(table):
        return _maps(table, labels, column)
    name, *others = _names(table)
    # Between names, as those of links, there is nothing that a line could lead through.
    mark: Mark = "beside" if quantities.read(table[name].unique()) is None else "line"
    across = Axis(_words(name), ticks=ticks.of(table[name].unique(maintain_order=True)))
    shown = [metric for metric in dict.fromkeys((column, *_beside(column))) if metric in table["metric"]]
    if len(others) == 2:
        shown = shown[:1]
    panels: list[Panel] = []
    for metric in shown:
        values = table.filter(pl.col("metric") == metric)
        axis = _axis(values, metrics.find(metric).title.replace(" (", "\n("))
        for rows in _others(table, others[1:]):
            for beside in _others(table, others[:1]):
                label = "\n".join([*(f"{_words(key)} {value}" for key, value in rows.items()), axis.label])
                panels.append(
                    Panel(
                        mark,
                        name,
                        "mean",
                        across,
                        replace(axis, label=label),
                        title=", ".join(f"{_words(key)} {value}" for key, value in beside.items())
                        if len(panels) < columns(table)
                        else "",
                        rows={"metric": metric, **rows, **beside},
                        labels=tuple(labels),
                        interval="whiskers",
                        has_points=True,
                    )
                )
    return panels


def columns(table: pl.DataFrame) -> int:
    """Return how many panels are side by side: one for each value of the second name."""
    if "metric" not in table.columns:
        return 1
    if _is_mapped(table):
        return table["aqm"].n_unique()
    others = _names(table)[1:]
    return table[others[0]].n_unique() if others else 1


def _maps(table: pl.DataFrame, labels: Sequence[str], column: str) -> list[Panel]:
    """Return a heat map for each AQM, side by side, of the metric and below of the goodput."""
    wider, other = _names(table)
    across, up = (
        Axis(_words(name), ticks={value: place for place, value in enumerate(table[name].unique(maintain_order=True))})
        for name in (wider, other)
    )
    panels: list[Panel] = []
    for metric in dict.fromkeys((column, BESIDE[0])):
        values = table.filter(pl.col("metric") == metric)
        if values.is_empty():
            continue
        ends = (float(values["mean"].to_numpy().min()), float(values["mean"].to_numpy().max()))
        colours = Axis(metrics.find(metric).title.replace(" (", "\n("), *ends, is_log=ends[1] > WIDE * ends[0] > 0.0)
        for label in labels:
            panels.append(
                Panel(
                    "map",
                    wider,
                    other,
                    across,
                    up,
                    title=label if len(panels) < len(labels) else "",
                    rows={"metric": metric, "aqm": label},
                    value="mean",
                    colours=colours,
                )
            )
    return panels


def _others(table: pl.DataFrame, names: Sequence[str]) -> list[dict[str, str]]:
    return [{name: value} for name in names for value in table[name].unique(maintain_order=True)] or [{}]


def _front(table: pl.DataFrame, labels: Sequence[str], column: str) -> Panel:
    """Return goodput against the metric, a dot for each scenario; what no other scenario beats in both is a line."""
    sideways, upwards = metrics.find(column), metrics.find(BESIDE[0])
    wide = _axis(table.rename({column: "mean"}).with_columns(ci95_high=pl.col("mean")), sideways.title)
    return Panel("front", column, upwards.name, wide, Axis(upwards.title), labels=tuple(labels))


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize() if name not in SHORT else name.upper()


def _axis(rows: pl.DataFrame, title: str) -> Axis:
    """Return the axis that panels of the same metric share."""
    values = rows["mean"].to_numpy()
    highest = max(values.max(initial=0.0), rows["ci95_high"].fill_null(0.0).max() or 0.0)
    wide = values.min(initial=np.inf) > 0.0 and values.max() / values.min() > WIDE
    room = LOG_HEADROOM if wide else HEADROOM
    return Axis(title, values.min() / room if wide else 0.0, highest * room or None, is_log=wide)


KIND = FigureKind(
    "sweep",
    "What the sweep changes",
    "qdelay_mean_ms",
    "; means; error bars of lines: 95 % interval",
    _table,
    _panels,
    across=True,
    height_in=1.9,
    columns=columns,
)
