"""Marks on axes: one function for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.colors import LogNorm, Normalize

from aqmlab.plots import style
from aqmlab.plots.label_styles import LabelStyle, part_styles
from aqmlab.plots.panel import Mark, Panel
from aqmlab.plots.ticks import names
from aqmlab.stats.statistics import Reals
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A line over time is broken where so many of its usual steps have no sample.
LEAST_GAP = 4.0
# How many letters of numbers stand above bars.
LETTERS_PER_INCH = 13
# Width of a map's cells that have numbers.
LEAST_CELL_PT = 21.0
# A part of a bar has its number where it is at least this share of the axis.
LEAST_PART = 0.08

LabelStyles = Mapping[str, LabelStyle]


def _line(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    for label in panel.labels:
        own = rows.filter(pl.col(panel.by) == label).drop_nulls(panel.y)
        parts = [part for _, part in own.group_by(panel.group, maintain_order=True)] if panel.group else [own]
        for rank, found in enumerate(parts or [own]):
            part = found if panel.has_points else _broken(found, panel.x)
            x = _positions(part, panel)
            y = part[panel.y].to_numpy()
            if panel.y_axis.is_log:
                y = np.where(y > 0.0, y, np.nan)
            own_style = styles[label]
            line: dict[str, Any] = {
                "color": own_style.colour,
                "linestyle": "solid"
                if len(parts) > 1 and rank == 0
                else (0, (2, 1))
                if rank
                else style.dash(own_style),
                "label": label if rank == 0 else None,
                "marker": own_style.marker if panel.has_points else None,
                "markersize": _size(0.7),
            }
            if panel.interval == "whiskers":
                axes.errorbar(x, y, _whiskers(part, panel), capsize=3, **line)
                continue
            axes.plot(x, y, **line)
            if panel.interval == "band":
                known = part["ci95_low"].is_not_null().to_numpy()
                low = part["ci95_low"].clip(lower_bound=panel.y_axis.low or 0.0).to_numpy()
                high = part["ci95_high"].to_numpy()
                axes.fill_between(x, low, high, where=known, color=own_style.colour, alpha=0.13, linewidth=0)
        if label in panel.numbers:
            dashed: dict[str, Any] = {"linestyle": (0, (6, 4)), "linewidth": 0.9, "alpha": 0.8}
            axes.axhline(panel.numbers[label], color=styles[label].colour, **dashed)
        _hollow(axes, panel, label, styles[label])
    if not panel.has_points:
        axes.margins(x=0)


def _broken(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return rows with one of nothing in each gap: a line across would show a slow change where nothing was seen.

    >>> seen = pl.DataFrame({"time_s": [0.1, 0.2, 0.3, 0.9], "mean": [5.0, 6.0, 7.0, 1.0]})
    >>> _broken(seen, "time_s")["mean"].to_list()
    [5.0, 6.0, 7.0, None, 1.0]

    """
    steps = rows[column].diff()
    usual = steps.median()
    if not isinstance(usual, float):
        return rows
    ends = rows.filter(steps > LEAST_GAP * usual)
    return pl.concat([rows, ends.select(pl.col(column) - usual)], how="diagonal").sort(column, maintain_order=True)


def _step(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    for label in panel.labels:
        own = rows.filter(pl.col(panel.by) == label)
        if len(own):
            x, y = own[panel.x].to_numpy(), own[panel.y].to_numpy()
            own_style = styles[label]
            line: dict[str, Any] = {"color": own_style.colour, "linestyle": style.dash(own_style), "label": label}
            if panel.y_axis.is_log:
                y = np.where(y > 0.0, y, np.nan)
            axes.step(x, y, where="post", **line)


# From so many rows on a cloud has an ellipse.
LEAST_CLOUD = 5


def _cloud(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a dot for each row, their mean as a ring, as tables have it, and the ellipse of RFC 7928 section 2.7.

    Of few rows the ellipse is a line that says nothing.
    """
    for label in panel.labels:
        own, own_style = rows.filter(pl.col(panel.by) == label), styles[label]
        colour = own_style.colour
        if own.is_empty():
            continue
        x, y = own[panel.x].to_numpy(), own[panel.y].to_numpy()
        axes.scatter(x, y, s=14, color=colour, marker=own_style.marker, alpha=0.45, linewidths=0)
        if len(own) >= LEAST_CLOUD:
            outline = _ellipse(x, y)
            axes.plot(*outline, color=colour, linestyle=style.dash(own_style), linewidth=1.4)
            axes.fill(*outline, color=colour, alpha=0.12, linewidth=0)
        ring: Any = {"markersize": _size(1.2), "markerfacecolor": "white", "markeredgewidth": 1.8, "linestyle": "none"}
        axes.plot(x.mean(), y.mean(), marker=own_style.marker, color=colour, label=label, **ring)
    axes.margins(0.08)


def _ellipse(x: Reals, y: Reals) -> tuple[Reals, Reals]:
    """Return the contour at one standard deviation of the maximum-likelihood Gaussian."""
    lengths, directions = np.linalg.eigh(np.cov(x, y, ddof=0))
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    outline = directions @ (np.sqrt(np.maximum(lengths, 0.0))[:, None] * circle)
    return x.mean() + outline[0], y.mean() + outline[1]


def _front(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a dot for each row, and through those that no other beats (left and above) a line: the Pareto front."""
    for label in panel.labels:
        own = rows.filter(pl.col(panel.by) == label).sort(panel.x, pl.col(panel.y), descending=[False, True])
        if own.is_empty():
            continue
        x, y, own_style = own[panel.x].to_numpy(), own[panel.y].to_numpy(), styles[label]
        axes.scatter(x, y, s=14, color=own_style.colour, marker=own_style.marker, alpha=0.45, linewidths=0)
        best = y > np.concatenate([[-np.inf], np.maximum.accumulate(y)[:-1]])
        line: dict[str, Any] = {"color": own_style.colour, "linestyle": style.dash(own_style), "label": label}
        axes.plot(x[best], y[best], marker=own_style.marker, markersize=_size(0.8), **line)
    axes.margins(0.06)


def _crosses(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a point with its intervals for each label, and a line through those that no other mean beats: the front."""
    ends = [f"{panel.x}_low", f"{panel.x}_high", f"{panel.y}_low", f"{panel.y}_high"]
    best = rows.filter(pl.col("is_best")).sort(panel.x)
    axes.plot(best[panel.x].to_numpy(), best[panel.y].to_numpy(), color="#afb8c1", linewidth=3.0, zorder=1)
    for label in panel.labels:
        for x, y, *around in rows.filter(pl.col(panel.by) == label).select(panel.x, panel.y, *ends).iter_rows():
            left, right, low, high = around
            # As with whiskers: nothing reaches below an axis that has an end.
            left = left if panel.x_axis.low is None else max(left, panel.x_axis.low)
            point: dict[str, Any] = {"color": styles[label].colour, "marker": styles[label].marker, "label": label}
            axes.errorbar(
                x, y, [[y - low], [high - y]], [[x - left], [right - x]],
                linestyle="none", elinewidth=1.0, capsize=2, markersize=_size(1.0), **point,
            )  # fmt: skip
    axes.margins(0.08)


def _box(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a box from the first to the third quartile, its median, whiskers to the ends, and every point."""
    for label, place in panel.x_axis.ticks.items():
        own = rows.filter(pl.col(panel.by) == label)[panel.y].drop_nulls().to_numpy()
        if not len(own):
            continue
        own_style = styles[label]
        box: Any = {"facecolor": f"{own_style.colour}26", "edgecolor": own_style.colour, "hatch": own_style.hatch}
        line: Any = {"color": own_style.colour, "linewidth": 1.2}
        axes.boxplot(
            own, positions=[place], widths=0.5, whis=(0, 100), showcaps=False, patch_artist=True,
            boxprops=box, whiskerprops=line, medianprops={**line, "linewidth": 2.2}, manage_ticks=False,
        )  # fmt: skip
        # Side by side, so that equal values stay apart; the same in every drawing.
        beside = place + 0.36 + 0.05 * (np.arange(len(own)) % 3 - 1)
        axes.plot(beside, own, own_style.marker, color=own_style.colour, markersize=_size(0.5), alpha=0.7)
    axes.grid(visible=False, axis="x")


def _ticks(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a tick for each row, a line for each label; what the second group counts hangs below the line."""
    for label, place in panel.y_axis.ticks.items():
        own = rows.filter(pl.col(panel.by) == label)
        axes.axhline(place, color="#d8dee4", linewidth=0.6)
        for (group,), part in own.group_by(panel.group, maintain_order=True):
            ends = (place, place - 0.4) if group == "drops" else (place, place + 0.4)
            axes.vlines(part[panel.x].to_numpy(), *ends, color=styles[label].colour, linewidth=0.8)
    axes.set_ylim(len(panel.y_axis.ticks) - 0.4, -0.6)
    axes.grid(visible=False)


def _points(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a dot for each row: the first label's pale, the second's joined by a line, the others' large."""
    for rank, label in enumerate(panel.labels):
        own, own_style = rows.filter(pl.col(panel.by) == label).sort(panel.x), styles[label]
        x, y = own[panel.x].to_numpy(), own[panel.y].to_numpy()
        if rank == 0:
            axes.scatter(x, y, s=12, color=style.FAINT, alpha=0.4, linewidths=0, label=label)
            continue
        line: Any = (
            {"linestyle": style.dash(own_style), "markersize": _size(1.0)} if rank == 1 else {"linestyle": "none"}
        )
        axes.plot(x, y, marker=own_style.marker, color=own_style.colour, label=label, **line)
    axes.margins(0.06)


def _bars(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    _, factor = panel.y_axis.readable(panel.y_axis.high or float(rows["ci95_high"].to_numpy().max(initial=0.0)))
    texts = {label: metrics.number(mean * factor) for label, mean in rows.select(panel.by, panel.y).iter_rows()}
    subplot = axes.get_subplotspec()
    beside = subplot.get_gridspec().ncols if subplot else 1
    # Numbers that would run into one another are in the table only.
    is_narrow = sum(len(text) + 2 for text in texts.values()) * beside > LETTERS_PER_INCH * _figure(axes).get_figwidth()
    for place, label in enumerate(panel.labels):
        own = rows.filter(pl.col(panel.by) == label)
        for mean, low, high in own.select(panel.y, "ci95_low", "ci95_high").iter_rows():
            # What an axis from zero shows has no values below it, and so no whisker.
            floor = low if panel.y_axis.low is None else max(low, panel.y_axis.low)
            ends = [[max(mean - floor, 0.0)], [max(high - mean, 0.0)]]
            bar: dict[str, Any] = {"color": styles[label].colour, "hatch": styles[label].hatch, "edgecolor": "white"}
            axes.bar(place, mean, 0.66, yerr=ends, ecolor=style.INK, capsize=3, **bar)
            if not is_narrow:
                text_style: Any = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
                axes.annotate(texts[label], (place, high), (0, 3), **text_style)
        if label in panel.numbers:
            dashed: dict[str, Any] = {"color": style.INK, "linestyle": (0, (3, 2)), "linewidth": 1.2}
            axes.hlines(panel.numbers[label], place - 0.45, place + 0.45, **dashed)
    axes.grid(visible=False, axis="x")


def _stacks(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    positions = sorted(panel.x_axis.ticks.values())
    width = 0.8 / max(len(panel.labels), 1)
    groups = rows[panel.group].unique(maintain_order=True).to_list()
    for place, label in enumerate(panel.labels):
        bottom = np.zeros(len(positions))
        for rank, group in enumerate(groups):
            part = rows.filter((pl.col(panel.by) == label) & (pl.col(panel.group) == group)).sort(panel.x)
            x = np.array(positions) + (place - (len(panel.labels) - 1) / 2) * width
            y = part[panel.y].to_numpy()
            bar: dict[str, Any] = {"color": styles[label].colour, "hatch": styles[label].hatch, "edgecolor": "white"}
            bar["alpha"] = 1.0 if rank == 0 else 0.45
            axes.bar(x, y, width * 0.92, bottom=bottom, label=label if rank == 0 else None, **bar)
            bottom = bottom + y
            # The interval of a part, at its upper end.
            half = part["ci95_high"].to_numpy() - y
            axes.errorbar(x, bottom, half, linestyle="none", ecolor=style.INK, elinewidth=0.9, capsize=width * 8)
        _hollow(axes, panel, label, styles[label], (place - (len(panel.labels) - 1) / 2) * width)
    axes.grid(visible=False, axis="x")


def _parts(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a bar for each place of the axis, in which the labels' values stand on one another, with their sum."""
    del styles
    _, factor = panel.y_axis.readable(panel.y_axis.high or 0.0)
    bottom = dict.fromkeys(panel.x_axis.ticks, 0.0)
    end = panel.y_axis.high or 1.0
    for label, own_style in part_styles(panel.labels).items():
        values = dict(rows.filter(pl.col(panel.by) == label).select(panel.x, panel.y).iter_rows())
        bar: dict[str, Any] = {"color": own_style.colour, "hatch": own_style.hatch, "edgecolor": "white"}
        x = [panel.x_axis.ticks[name] for name in values]
        y = list(values.values())
        axes.bar(x, y, 0.66, bottom=[bottom[name] for name in values], label=label, **bar)
        for name, value in values.items():
            if value >= LEAST_PART * end:
                place = (panel.x_axis.ticks[name], bottom[name] + value / 2)
                paper = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
                text = metrics.number(value * factor)
                axes.text(*place, text, ha="center", va="center", fontsize="small", color=style.INK, bbox=paper)
            bottom[name] += value
    for name, total in bottom.items():
        # A bar that fills the axis is a whole, and says nothing by its height.
        if 0.0 < total < 0.99 * end:
            text = metrics.number(total * factor)
            place = (panel.x_axis.ticks[name], total)
            axes.annotate(text, place, (0, 3), textcoords="offset points", ha="center", fontsize="small")
    axes.grid(visible=False, axis="x")


def _hollow(axes: Axes, panel: Panel, label: str, own: LabelStyle, shift: float = 0.0) -> None:
    """Paint a label's reference values at the places that are on the axis."""
    named = panel.x_axis.ticks
    for place, value in panel.references.get(label, ()):
        x = named.get(place) if isinstance(place, str) else place
        if x is not None:
            hollow: Any = {"markerfacecolor": "white", "markeredgecolor": own.colour, "linestyle": "none", "zorder": 4}
            axes.plot(x + shift, value, marker=own.marker, markersize=_size(1.3), markeredgewidth=1.4, **hollow)


def _beside(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a point with its interval for each label, side by side at each place."""
    step = 0.84 / len(panel.labels)
    for rank, label in enumerate(panel.labels):
        own = rows.filter(pl.col(panel.by) == label).drop_nulls(panel.y)
        x = _positions(own, panel) + (rank - (len(panel.labels) - 1) / 2) * step
        y = own[panel.y].to_numpy()
        point: dict[str, Any] = {"color": styles[label].colour, "marker": styles[label].marker, "label": label}
        axes.errorbar(x, y, _whiskers(own, panel), linestyle="none", elinewidth=0.9, markersize=_size(0.8), **point)
    for place in panel.x_axis.ticks.values():
        axes.axvline(place + 0.5, color="#d8dee4", linewidth=0.6)
    axes.set_xlim(min(panel.x_axis.ticks.values()) - 0.5, max(panel.x_axis.ticks.values()) + 0.5)
    axes.grid(visible=False, axis="x")


def _heat(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a cell for each value, darker with its square root and never darker than for 1, with its percentage."""
    del styles
    names = rows[panel.y].to_list() if panel.columns else rows[panel.y].unique(maintain_order=True).to_list()
    shape = (len(names), len(panel.x_axis.ticks))
    cells = rows.select(panel.columns).to_numpy() if panel.columns else rows[panel.value].to_numpy().reshape(shape)
    strong = rows[panel.strong].to_numpy().reshape(shape) if panel.strong else np.ones(shape, bool)
    shown = np.where(strong, np.sqrt(np.minimum(cells, 1.0)), 0.0)
    axes.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.25, aspect="auto", interpolation="nearest")
    for (row, column), value in np.ndenumerate(cells):
        pale = "#a0a8b0" if not strong[row, column] else style.INK
        colour = "white" if shown[row, column] > 0.75 else pale
        axes.text(column, row, _percent(value), ha="center", va="center", fontsize="x-small", color=colour)
    axes.set_yticks(range(len(names)), names if panel.has_names else [""] * len(names), fontsize="small")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if panel.group:
        _group(axes, rows[panel.group].to_list())


def _map(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a cell for each pair of values; the panels of a figure share their colours, and few cells have numbers."""
    del styles
    assert panel.colours is not None
    low, high = panel.colours.low or 0.0, panel.colours.high or 0.0
    _, factor = panel.colours.readable(high)
    across, up = list(panel.x_axis.ticks), list(panel.y_axis.ticks)
    cells = np.full((len(up), len(across)), np.nan)
    for x, y, value in rows.select(panel.x, panel.y, panel.value).iter_rows():
        cells[up.index(y), across.index(x)] = value * factor
    scale = (LogNorm if panel.colours.is_log else Normalize)(low * factor, high * factor)
    axes.imshow(cells, cmap="cividis", norm=scale, aspect="auto", origin="lower", interpolation="nearest")
    if axes.get_position().width * 72.0 * _figure(axes).get_figwidth() / len(across) >= LEAST_CELL_PT:
        for (row, column), value in np.ndenumerate(cells):
            colour = "white" if scale(value) < 0.5 else "black"
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize="x-small", color=colour)
    axes.set_yticks(range(len(up)), list(names(up).values()))
    axes.grid(visible=False)
    axes.tick_params(length=0)


def _dots(axes: Axes, rows: pl.DataFrame, panel: Panel, styles: LabelStyles) -> None:
    """Paint a dot for each row and column, one row below the other."""
    positions = np.arange(len(rows))
    for label, column in zip(panel.labels, panel.columns, strict=True):
        colour = styles[label].colour
        axes.plot(
            rows[column].to_numpy(), positions, styles[label].marker, color=colour, markersize=_size(0.8), label=label
        )
        if label in panel.numbers:
            axes.axvline(panel.numbers[label], color=colour, linestyle=(0, (5, 2)), linewidth=1.0)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(positions, rows[panel.y].to_list() if panel.has_names else [""] * len(rows), fontsize="small")
    if panel.group:
        _divide(axes, rows[panel.group].to_list())


def _group(axes: Axes, groups: Sequence[str]) -> None:
    """Write the name of each group beside its rows."""
    for group in dict.fromkeys(groups):
        first = groups.index(group)
        last = first + groups.count(group) - 1
        place = (-0.3, (first + last) / 2)
        axes.text(*place, group, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize="small")
    _divide(axes, groups)


def _divide(axes: Axes, groups: Sequence[str]) -> None:
    for place, (one, other) in enumerate(pairwise(groups)):
        if one != other:
            axes.axhline(place + 0.5, color="#8c959f", linewidth=0.7)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}" if share < 9.995 else f"{share:.0f}x"


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _size(share: float) -> float:
    """Return a share of the layout's size of markers, in points."""
    return share * float(mpl.rcParams["lines.markersize"])


def _whiskers(rows: pl.DataFrame, panel: Panel) -> Reals:
    """Return how far intervals reach below and above their means; not below the end of an axis that has one."""
    ends = rows.select(pl.col("ci95_low", "ci95_high").fill_null(pl.col(panel.y))).to_numpy()
    low = ends[:, 0] if panel.y_axis.low is None else np.maximum(ends[:, 0], panel.y_axis.low)
    y = rows[panel.y].to_numpy()
    return np.stack([np.maximum(y - low, 0.0), np.maximum(ends[:, 1] - y, 0.0)])


def _positions(rows: pl.DataFrame, panel: Panel) -> Reals:
    """Return the horizontal positions of rows: texts have ticks."""
    named = panel.x_axis.ticks
    if named:
        return np.array([named[str(text)] for text in rows[panel.x]])
    return rows[panel.x].to_numpy().astype(float)


MARKS: dict[Mark, Callable[[Axes, pl.DataFrame, Panel, LabelStyles], None]] = {
    "line": _line,
    "step": _step,
    "cloud": _cloud,
    "front": _front,
    "crosses": _crosses,
    "box": _box,
    "points": _points,
    "bars": _bars,
    "stacks": _stacks,
    "parts": _parts,
    "beside": _beside,
    "ticks": _ticks,
    "heat": _heat,
    "map": _map,
    "dots": _dots,
}
