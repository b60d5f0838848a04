"""What a sweep varies against what comes out: means with their 95 % intervals, one line per AQM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aqmlab import metrics
from aqmlab.errors import InputError, did_you_mean
from aqmlab.plots import style
from aqmlab.plots.model import Curve, Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

BESIDE = ("goodput_mbit", "loss_ratio")
# The axis is logarithmic where the largest mean is this many times the smallest.
WIDE = 20.0


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    known = {row.metric for curve in curves for row in curve.result.rows}
    if column not in known:
        names = metrics.ordered(known)
        raise InputError(f"sweep: there is no '{column}'{did_you_mean(column, names)}; there are {', '.join(names)}")
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


def _draw(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> Canvas:
    del warmup_s
    names = [name for name in dict.fromkeys((column, *BESIDE)) if name in table["metric"]]
    point = table.columns[1]
    places = {place: number for number, place in enumerate(table[point].unique(maintain_order=True))}
    canvas, panels = style.canvas(len(names), 1.9 * len(names) + 1.0)
    colours, dashes = style.colours(labels), style.dashes(labels)
    for axes, name in zip(panels, names, strict=True):
        for label in labels:
            rows = table.filter((pl.col("metric") == name) & (pl.col("aqm") == label))
            x = np.array([places[place] for place in rows[point]])
            mean = rows["mean"].to_numpy()
            ends = rows.select(pl.col("ci95_low", "ci95_high").fill_null(pl.col("mean"))).to_numpy()
            line = {"color": colours[label], "linestyle": dashes[label], "label": label, "marker": "o"}
            axes.errorbar(x, mean, np.abs(ends.T - mean), markersize=4, capsize=3, linewidth=1.4, **line)
        means = table.filter(pl.col("metric") == name)["mean"].to_numpy()
        if means.min(initial=np.inf) > 0.0 and means.max() / means.min() > WIDE:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda value, position: f"{value:g}")
        else:
            axes.set_ylim(0, axes.get_ylim()[1] * 1.05)
        axes.set_ylabel(metrics.find(name).title.replace(" (", "\n("))
    panels[-1].set_xticks(list(places.values()), list(places), rotation=20 if max(map(len, places)) > 12 else 0)
    panels[-1].set_xlabel(point.replace("_", " ").capitalize())
    style.legend(canvas, panels[0])
    return canvas


KIND = Kind(
    "sweep",
    "What the sweep changes",
    "qdelay_mean_ms",
    "; error bars: 95 % interval",
    _table,
    _draw,
    across=True,
)
