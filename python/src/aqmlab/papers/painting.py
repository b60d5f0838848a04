"""Panels side by side, painted from their table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aqmlab.papers.figures import Panel
from aqmlab.papers.table import number
from aqmlab.plots import style
from aqmlab.units import parse_rate, parse_size, parse_span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

HEADROOM = 1.06
SWEPT = ("sweep", "cost", "sketch")
AXES = {"time": "Time (s)", "seeds": "Experiment (seed)", "cost": "Flows", "sketch": "Width (counters per row)"}


@dataclass(frozen=True)
class Sheet:
    """What is painted on one panel: its rows, its AQMs in order and how they look, the paper's numbers."""

    panel: Panel
    rows: pl.DataFrame
    aqms: Sequence[str]
    colours: dict[str, str]
    dashes: dict[str, Any]
    numbers: dict[str, float]


def paint(
    table: pl.DataFrame, panels: Sequence[Panel], aqms: Sequence[Sequence[str]], numbers: Sequence[dict[str, float]]
) -> Canvas:
    """Return the figure of some panels: the AQMs of each, and the paper's numbers for each."""
    canvas, axes = style.panels(len(panels))
    labels = list(dict.fromkeys(aqm for names in aqms for aqm in names))
    colours, dashes = style.colours(labels), style.dashes(labels)
    painters: dict[str, Callable[[Axes, Sheet], None]] = {
        "time": _paint_lines,
        "seeds": _paint_lines,
        "sweep": _paint_lines,
        "cost": _paint_lines,
        "sketch": _paint_lines,
        "bars": _paint_bars,
        "periods": _paint_periods,
    }
    for panel, own, names, given in zip(panels, axes, aqms, numbers, strict=True):
        rows = table.filter(pl.col("panel") == panel.title)
        painters[panel.kind](own, Sheet(panel, rows, names, colours, dashes, given))
        own.set_ylabel(panel.label)
        own.set_title(panel.title, fontsize=10, loc="left")
        if panel.logarithmic:
            own.set_yscale("log")
        else:
            own.set_ylim(bottom=panel.bottom, top=panel.top or own.dataLim.y1 * HEADROOM)
    fullest = max(range(len(panels)), key=lambda place: len(aqms[place]))
    style.legend(canvas, axes[fullest])
    return canvas


def _paint_lines(axes: Axes, sheet: Sheet) -> None:
    ticks: dict[float, str] = {}
    for aqm in sheet.aqms:
        own = sheet.rows.filter(pl.col("aqm") == aqm)
        for rank, group in enumerate(own["group"].unique(maintain_order=True)):
            part = own.filter(pl.col("group") == group)
            x = part["x"].to_numpy()
            if sheet.panel.kind in SWEPT:
                x, ticks = _places(part, ticks)
            dash = sheet.dashes[aqm] if rank == 0 else (0, (2, 1))
            label = aqm if rank == 0 else None
            marker = None if sheet.panel.kind == "time" else "o"
            mean = part["mean"].to_numpy()
            if sheet.panel.logarithmic:
                mean = np.where(mean > 0.0, mean, np.nan)
            axes.plot(x, mean, color=sheet.colours[aqm], linestyle=dash, label=label, marker=marker, markersize=4)
            if sheet.panel.kind != "seeds":
                band: dict[str, Any] = {"color": sheet.colours[aqm], "alpha": 0.13, "linewidth": 0}
                axes.fill_between(x, part["ci95_low"], part["ci95_high"], **band)
        if aqm in sheet.numbers:
            axes.axhline(sheet.numbers[aqm], color=sheet.colours[aqm], linestyle=(0, (6, 4)), linewidth=0.9, alpha=0.8)
    axes.set_xlabel(sheet.panel.across or AXES.get(sheet.panel.kind, ""))
    if sheet.panel.kind in SWEPT and ticks:
        _name_places(axes, ticks)
    elif sheet.panel.kind == "time":
        axes.margins(x=0)


def _places(rows: pl.DataFrame, ticks: dict[float, str]) -> tuple[Any, dict[float, str]]:
    """Return where the points of a sweep stand: by their size where they are quantities, else by their order."""
    sizes = [_size(at) for at in rows["at"]]
    if all(size is not None and size > 0 for size in sizes):
        known = {float(size): at for size, at in zip(sizes, rows["at"], strict=True) if size is not None}
        return np.array([float(size) for size in sizes if size is not None]), {**ticks, **known}
    return rows["x"].to_numpy(), {**ticks, **dict(zip(rows["x"], rows["at"], strict=True))}


def _size(text: str) -> float | None:
    for read in (float, parse_rate, parse_span, lambda text: parse_size(text)[0]):
        try:
            return float(read(text))
        except ValueError:
            continue
    return None


def _name_places(axes: Axes, ticks: dict[float, str]) -> None:
    places = sorted(ticks)
    if len(places) > 2 and places[0] > 0 and places[-1] / places[0] >= 10:
        axes.set_xscale("log")
        axes.minorticks_off()
    longest = max(len(text) for text in ticks.values())
    axes.set_xticks(places, [ticks[place] for place in places], rotation=30 if longest * len(places) > 24 else 0)


def _paint_bars(axes: Axes, sheet: Sheet) -> None:
    # Colours that come again have another dash in lines and are hatched in bars.
    hatches = {aqm: "" if dash == "solid" else "//" for aqm, dash in sheet.dashes.items()}
    for place, aqm in enumerate(sheet.aqms):
        own = sheet.rows.filter(pl.col("aqm") == aqm)
        for mean, low, high in own.select("mean", "ci95_low", "ci95_high").iter_rows():
            ends = [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
            bar: dict[str, Any] = {"color": sheet.colours[aqm], "hatch": hatches[aqm], "edgecolor": "white"}
            axes.bar(place, mean, 0.66, label=aqm, yerr=ends, ecolor=style.INK, capsize=3, **bar)
            axes.annotate(number(mean), (place, high), (0, 3), textcoords="offset points", ha="center", fontsize=8)
        if aqm in sheet.numbers:
            dashed: dict[str, Any] = {"color": style.INK, "linestyle": (0, (3, 2)), "linewidth": 1.2}
            axes.hlines(sheet.numbers[aqm], place - 0.45, place + 0.45, **dashed)
    crowded = len(sheet.aqms) > 6 or sum(map(len, sheet.aqms)) > 32
    turned: dict[str, Any] = {"rotation": 30, "ha": "right"} if crowded else {}
    axes.set_xticks(range(len(sheet.aqms)), sheet.aqms, **turned)
    axes.grid(visible=False, axis="x")


def _paint_periods(axes: Axes, sheet: Sheet) -> None:
    ends = sheet.rows["x"].unique().sort().to_list()
    width = 0.8 / max(len(sheet.aqms), 1)
    groups = sheet.rows["group"].unique(maintain_order=True).to_list()
    for place, aqm in enumerate(sheet.aqms):
        bottom = np.zeros(len(ends))
        for rank, group in enumerate(groups):
            part = sheet.rows.filter((pl.col("aqm") == aqm) & (pl.col("group") == group)).sort("x")
            x = np.arange(len(ends)) + (place - (len(sheet.aqms) - 1) / 2) * width
            mean = part["mean"].to_numpy()
            alpha = 1.0 if rank == 0 else 0.45
            label = aqm if rank == 0 else None
            axes.bar(x, mean, width * 0.92, bottom=bottom, color=sheet.colours[aqm], alpha=alpha, label=label)
            bottom = bottom + mean
    axes.set_xticks(range(len(ends)), [f"{end - sheet.panel.period_s:g} to {end:g}" for end in ends])
    axes.set_xlabel("Time (s)" + (f"; strong: {groups[0]}, pale: {groups[1]}" if len(groups) == 2 else ""))
    axes.grid(visible=False, axis="x")
