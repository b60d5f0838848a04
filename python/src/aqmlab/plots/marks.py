"""Marks on axes: one function for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aqmlab import metrics
from aqmlab.plots import style
from aqmlab.plots.looks import Look
from aqmlab.plots.model import Mark, Panel
from aqmlab.statistics import Reals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A vertical axis spans at least this share of its middle, so that small differences look small.
LEAST_SPAN = 0.02


Looks = Mapping[str, Look]


def _line(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    for label in panel.labels:
        own = rows.filter(pl.col(panel.by) == label).drop_nulls(panel.y)
        parts = [part for _, part in own.group_by(panel.group, maintain_order=True)] if panel.group else [own]
        for rank, part in enumerate(parts or [own]):
            x = _places(part, panel)
            y = part[panel.y].to_numpy()
            if panel.y_axis.is_log:
                y = np.where(y > 0.0, y, np.nan)
            look = looks[label]
            line: dict[str, Any] = {
                "color": look.colour,
                "linestyle": style.dash(look) if rank == 0 else (0, (2, 1)),
                "label": label if rank == 0 else None,
                "marker": look.marker if panel.has_points else None,
                "markersize": 4,
            }
            if panel.interval == "whiskers":
                ends = part.select(pl.col("ci95_low", "ci95_high").fill_null(pl.col(panel.y))).to_numpy()
                axes.errorbar(x, y, np.abs(ends.T - y), capsize=3, **line)
                continue
            axes.plot(x, y, **line)
            if panel.interval == "band":
                known = part["ci95_low"].is_not_null().to_numpy()
                low = part["ci95_low"].clip(lower_bound=panel.y_axis.low or 0.0).to_numpy()
                high = part["ci95_high"].to_numpy()
                axes.fill_between(x, low, high, where=known, color=look.colour, alpha=0.13, linewidth=0)
        if label in panel.numbers:
            dashed: dict[str, Any] = {"linestyle": (0, (6, 4)), "linewidth": 0.9, "alpha": 0.8}
            axes.axhline(panel.numbers[label], color=looks[label].colour, **dashed)
    if not panel.has_points:
        axes.margins(x=0)


def _step(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    for label in panel.labels:
        own = rows.filter(pl.col(panel.by) == label)
        if len(own):
            x, y = own[panel.x].to_numpy(), own[panel.y].to_numpy()
            look = looks[label]
            line: dict[str, Any] = {"color": look.colour, "linestyle": style.dash(look), "label": label}
            axes.step(np.insert(x, 0, x[0]), np.insert(y, 0, 0.0), where="post", **line)


def _cloud(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    """Paint a dot for each row, the median as a ring, and the ellipse of RFC 7928 section 2.7."""
    for label in panel.labels:
        own, look = rows.filter(pl.col(panel.by) == label), looks[label]
        colour = look.colour
        if own.is_empty():
            continue
        x, y = own[panel.x].to_numpy(), own[panel.y].to_numpy()
        axes.scatter(x, y, s=14, color=colour, marker=look.marker, alpha=0.45, linewidths=0)
        if len(own) > 2:
            outline = _ellipse(x, y)
            axes.plot(*outline, color=colour, linestyle=style.dash(look), linewidth=1.4)
            axes.fill(*outline, color=colour, alpha=0.12, linewidth=0)
        ring: Any = {"markersize": 7, "markerfacecolor": "white", "markeredgewidth": 1.8, "linestyle": "none"}
        axes.plot(np.median(x), np.median(y), marker=look.marker, color=colour, label=label, **ring)
    axes.margins(0.08)
    low, high = axes.get_ylim()
    middle, least = (low + high) / 2, LEAST_SPAN * abs(low + high) / 2
    if high - low < least:
        axes.set_ylim(middle - least / 2, middle + least / 2)
    axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))


def _ellipse(x: Reals, y: Reals) -> tuple[Reals, Reals]:
    """Return the contour at one standard deviation of the maximum-likelihood Gaussian."""
    lengths, directions = np.linalg.eigh(np.cov(x, y, ddof=0))
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    outline = directions @ (np.sqrt(np.maximum(lengths, 0.0))[:, None] * circle)
    return x.mean() + outline[0], y.mean() + outline[1]


def _front(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    """Paint a dot for each row, and through those that no other beats (left and above) a line: the Pareto front."""
    for label in panel.labels:
        own = rows.filter(pl.col(panel.by) == label).sort(panel.x, pl.col(panel.y), descending=[False, True])
        if own.is_empty():
            continue
        x, y, look = own[panel.x].to_numpy(), own[panel.y].to_numpy(), looks[label]
        axes.scatter(x, y, s=14, color=look.colour, marker=look.marker, alpha=0.45, linewidths=0)
        best = y > np.concatenate([[-np.inf], np.maximum.accumulate(y)[:-1]])
        line: dict[str, Any] = {"color": look.colour, "linestyle": style.dash(look), "label": label}
        axes.plot(x[best], y[best], marker=look.marker, markersize=5, **line)
    axes.margins(0.06)


def _bars(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    for place, label in enumerate(panel.labels):
        own = rows.filter(pl.col(panel.by) == label)
        for mean, low, high in own.select(panel.y, "ci95_low", "ci95_high").iter_rows():
            ends = [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
            bar: dict[str, Any] = {"color": looks[label].colour, "hatch": looks[label].hatch, "edgecolor": "white"}
            axes.bar(place, mean, 0.66, label=label, yerr=ends, ecolor=style.INK, capsize=3, **bar)
            axes.annotate(
                metrics.number(mean), (place, high), (0, 3), textcoords="offset points", ha="center", fontsize=8
            )
        if label in panel.numbers:
            dashed: dict[str, Any] = {"color": style.INK, "linestyle": (0, (3, 2)), "linewidth": 1.2}
            axes.hlines(panel.numbers[label], place - 0.45, place + 0.45, **dashed)
    axes.grid(visible=False, axis="x")


def _stacks(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    places = sorted(panel.x_axis.places.values())
    width = 0.8 / max(len(panel.labels), 1)
    groups = rows[panel.group].unique(maintain_order=True).to_list()
    for place, label in enumerate(panel.labels):
        bottom = np.zeros(len(places))
        for rank, group in enumerate(groups):
            part = rows.filter((pl.col(panel.by) == label) & (pl.col(panel.group) == group)).sort(panel.x)
            x = np.array(places) + (place - (len(panel.labels) - 1) / 2) * width
            y = part[panel.y].to_numpy()
            bar: dict[str, Any] = {"color": looks[label].colour, "alpha": 1.0 if rank == 0 else 0.45}
            axes.bar(x, y, width * 0.92, bottom=bottom, label=label if rank == 0 else None, **bar)
            bottom = bottom + y
            # The interval of a part, at its upper end.
            half = part["ci95_high"].to_numpy() - y
            axes.errorbar(x, bottom, half, linestyle="none", ecolor=style.INK, elinewidth=0.9, capsize=width * 8)
    axes.grid(visible=False, axis="x")


def _heat(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    """Paint a cell for each value, darker with its square root and never darker than for 1, with its percentage."""
    del looks
    names = rows[panel.y].to_list() if panel.columns else rows[panel.y].unique(maintain_order=True).to_list()
    shape = (len(names), len(panel.x_axis.places))
    cells = rows.select(panel.columns).to_numpy() if panel.columns else rows[panel.value].to_numpy().reshape(shape)
    strong = rows[panel.strong].to_numpy().reshape(shape) if panel.strong else np.ones(shape, bool)
    shown = np.where(strong, np.sqrt(np.minimum(cells, 1.0)), 0.0)
    axes.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.25, aspect="auto", interpolation="nearest")
    for (row, column), value in np.ndenumerate(cells):
        pale = "#a0a8b0" if not strong[row, column] else style.INK
        colour = "white" if shown[row, column] > 0.75 else pale
        axes.text(column, row, _percent(value), ha="center", va="center", fontsize=7, color=colour)
    axes.set_yticks(range(len(names)), names if panel.has_names else [""] * len(names), fontsize=8)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if panel.group:
        _group(axes, rows[panel.group].to_list())


def _dots(axes: Axes, rows: pl.DataFrame, panel: Panel, looks: Looks) -> None:
    """Paint a dot for each row and column, one row below the other."""
    places = np.arange(len(rows))
    for label, column in zip(panel.labels, panel.columns, strict=True):
        colour = looks[label].colour
        axes.plot(rows[column].to_numpy(), places, looks[label].marker, color=colour, markersize=5, label=label)
        if label in panel.numbers:
            axes.axvline(panel.numbers[label], color=colour, linestyle=(0, (5, 2)), linewidth=1.0)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(places, rows[panel.y].to_list() if panel.has_names else [""] * len(rows), fontsize=8)
    if panel.group:
        _divide(axes, rows[panel.group].to_list())


def _group(axes: Axes, groups: Sequence[str]) -> None:
    """Write the name of each group beside its rows."""
    for group in dict.fromkeys(groups):
        first = groups.index(group)
        last = first + groups.count(group) - 1
        place = (-0.3, (first + last) / 2)
        axes.text(*place, group, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=8)
    _divide(axes, groups)


def _divide(axes: Axes, groups: Sequence[str]) -> None:
    for place, (one, other) in enumerate(pairwise(groups)):
        if one != other:
            axes.axhline(place + 0.5, color="#8c959f", linewidth=0.7)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}" if share < 9.995 else f"{share:.0f}x"


def _places(rows: pl.DataFrame, panel: Panel) -> Reals:
    """Return the horizontal positions of rows: texts have places."""
    named = panel.x_axis.places
    if named:
        return np.array([named[str(text)] for text in rows[panel.x]])
    return rows[panel.x].to_numpy().astype(float)


MARKS: dict[Mark, Callable[[Axes, pl.DataFrame, Panel, Looks], None]] = {
    "line": _line,
    "step": _step,
    "cloud": _cloud,
    "front": _front,
    "bars": _bars,
    "stacks": _stacks,
    "heat": _heat,
    "dots": _dots,
}
