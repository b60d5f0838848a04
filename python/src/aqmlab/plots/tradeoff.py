"""Goodput against delay: one dot per run, and the ellipse of RFC 7928 section 2.7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aqmlab import metrics
from aqmlab.errors import InputError, did_you_mean
from aqmlab.plots import style
from aqmlab.plots.model import Curve, Kind
from aqmlab.statistics import Reals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

GOODPUT = "goodput_mbit"
# The goodput axis spans at least this share of its middle: smaller differences look small.
LEAST_SPAN = 0.02


def _table(curves: Sequence[Curve], column: str) -> pl.DataFrame:
    parts = []
    for curve in curves:
        runs = curve.runs
        if runs.schema.get(column) != pl.Float64 or GOODPUT not in runs.columns:
            known = [name for name, dtype in runs.schema.items() if dtype == pl.Float64]
            hint = did_you_mean(column, known)
            raise InputError(f"tradeoff: there is no '{column}'{hint}; there are {', '.join(known)}")
        wanted = list(dict.fromkeys((column, GOODPUT)))
        parts.append(runs.select(pl.lit(curve.label).alias("aqm"), "seed", *wanted).drop_nulls())
    return pl.concat(parts)


def _draw(table: pl.DataFrame, labels: Sequence[str], column: str, warmup_s: float) -> Canvas:
    del warmup_s
    canvas, (axes,) = style.canvas()
    colours = style.colours(labels)
    for label in labels:
        rows, colour = table.filter(pl.col("aqm") == label), colours[label]
        if rows.is_empty():
            continue
        x, y = rows[column].to_numpy(), rows[GOODPUT].to_numpy()
        axes.scatter(x, y, s=14, color=colour, alpha=0.45, linewidths=0)
        if len(rows) > 2:
            outline = _ellipse(x, y)
            axes.plot(*outline, color=colour, linewidth=1.4)
            axes.fill(*outline, color=colour, alpha=0.12, linewidth=0)
        ring: Any = {"markersize": 7, "markerfacecolor": "white", "markeredgewidth": 1.8, "linestyle": "none"}
        axes.plot(np.median(x), np.median(y), marker="o", color=colour, label=label, **ring)
    axes.margins(0.08)
    _widen(axes)
    axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    x_title, y_title = metrics.find(column), metrics.find(GOODPUT)
    axes.set_xlabel(f"{x_title.title}{_better(x_title.better)}")
    axes.set_ylabel(f"{y_title.title}{_better(y_title.better)}")
    style.legend(canvas, axes)
    return canvas


def _ellipse(x: Reals, y: Reals) -> tuple[Reals, Reals]:
    """Return the contour at one standard deviation of the maximum-likelihood Gaussian."""
    lengths, directions = np.linalg.eigh(np.cov(x, y, ddof=0))
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    outline = directions @ (np.sqrt(np.maximum(lengths, 0.0))[:, None] * circle)
    return x.mean() + outline[0], y.mean() + outline[1]


def _widen(axes: Axes) -> None:
    low, high = axes.get_ylim()
    middle = (low + high) / 2
    least = LEAST_SPAN * abs(middle)
    if high - low < least:
        axes.set_ylim(middle - least / 2, middle + least / 2)


def _better(which: str) -> str:
    return f", {which} is better" if which else ""


KIND = Kind(
    "tradeoff",
    "Goodput against queue delay",
    "qdelay_mean_ms",
    "; dot: a run, ring: median, ellipse: one standard deviation",
    _table,
    _draw,
)
