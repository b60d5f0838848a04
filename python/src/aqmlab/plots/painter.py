"""The painter: turns panels into a figure. It is the only one, so all figures look alike."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import polars as pl
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogFormatter

from aqmlab.plots import marks, style
from aqmlab.plots.label_styles import label_styles
from aqmlab.plots.model import Annotation, Axis, Panel
from aqmlab.plots.ticks import are_even_by_ratio, names
from aqmlab.vocabulary.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Marks whose axes are numbers of a quantity, so that they can be shown in another unit.
NUMBERS = ("line", "step", "cloud", "front", "crosses", "box", "bars", "stacks", "beside", "dots")
# A linear axis ends this much above the data.
HEADROOM = 1.06
# Room of texts below an axis, in letters: the gap between two, and from one to the next if slanted or upright.
GAP = 1.5
# Share of an axis beyond its first and last text.
MARGINS = 0.1
SLANTED = 4
UPRIGHT = 2
# Quantities stand upright if fewer than this share of them have room side by side.
MOST_LEFT_OUT = 0.6
# More panels, each with axes of its own, are two rows.
MOST_BESIDE = 3
# What legend and texts below take of a figure's height, and the texts beside it of a panel's width.
AROUND_IN = 1.0
BESIDE_IN = 0.8


def paint(
    table: pl.DataFrame,
    panels: Sequence[Panel],
    height_in: float,
    columns: int = 1,
    layout: style.Layout = style.SCREEN,
) -> Figure:
    """Return the figure of some panels. A label has the same style in all of them."""
    across = columns
    if columns == 1:
        figure, axes = style.below(len(panels), height_in, layout, [panel.height for panel in panels])
    elif columns == len(panels):
        across = columns if columns <= MOST_BESIDE else -(-columns // 2)
        figure, axes = style.beside(columns, across, height_in, layout)
    else:
        figure, axes = style.grid(
            -(-len(panels) // columns), columns, height_in, share=_shared(panels, columns), layout=layout
        )
        for left in axes[len(panels) :]:
            left.set_axis_off()
    labels = list(dict.fromkeys(label for panel in panels for label in panel.labels))
    known = label_styles(labels)
    with style.in_style(layout):
        rows = -(-len(panels) // columns)
        tall = style.letters((height_in - AROUND_IN) * layout.scale / rows, mpl.rcParams["axes.labelsize"])
        wide = style.letters(figure.get_figwidth() / across - BESIDE_IN * layout.scale, mpl.rcParams["xtick.labelsize"])
        for place, (panel, own) in enumerate(zip(panels, axes, strict=False)):
            marks.MARKS[panel.mark](own, panel.of(table), panel, known)
            _finish(own, panel, wide)
            own.set_ylabel("\n".join(textwrap.fill(line, tall) for line in own.get_ylabel().split("\n")))
            if panel.shaded is not None:
                _shade(own, *panel.shaded, is_named=place < columns)
            for one in panel.annotations:
                _point_at(own, one, is_named=place < columns)
            if place + columns < len(panels):
                own.set_xlabel("")
            else:
                own.tick_params(axis="x", labelbottom=True)
            if 1 < columns < len(panels) and place % columns and panel.y_axis == panels[place - 1].y_axis:
                own.set_ylabel("")
            if panel.colours is not None and place % columns == columns - 1:
                row = axes[place - columns + 1 : place + 1]
                label, _ = panel.colours.readable(panel.colours.high or 0.0)
                figure.colorbar(own.images[0], ax=list(row), label=textwrap.fill(" ".join(label.split()), tall))
    if columns == len(panels):
        _share(axes[: len(panels)])
    if labels and any(own.get_legend_handles_labels()[0] for own in axes):
        style.legend(figure, axes, layout)
    _show_controls(figure)
    return figure


def _share(axes: Sequence[Axes]) -> None:
    """Give panels side by side that show the same quantity in one unit the same vertical axis."""
    alike: dict[tuple[str, str], list[Axes]] = {}
    for own in axes:
        alike.setdefault((own.get_ylabel(), own.get_yscale()), []).append(own)
    for same in alike.values():
        if len(same) > 1 and same[0].get_ylabel():
            low, high = min(own.get_ylim()[0] for own in same), max(own.get_ylim()[1] for own in same)
            for own in same:
                own.set_ylim(low, high)


def _show_controls(figure: Figure) -> None:
    """Make all texts of a figure printable: tables are asked for labels as they are, so it is done last."""
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    for ruler in (ruler for axes in figure.axes for ruler in (axes.xaxis, axes.yaxis)):
        named = ruler.get_major_formatter()
        if isinstance(named, FuncFormatter):
            named.func = functools.partial(_printable, named.func)


def _printable(named: Callable[[float, int | None], str], place: float, position: int | None = None) -> str:
    return printable(named(place, position))


def _shared(panels: Sequence[Panel], columns: int) -> Literal["all", "row", "none"]:
    """Return which panels of a grid share their vertical axis: those of the same quantity."""
    if len({panel.rows.get("metric") for panel in panels}) == 1:
        return "all"
    rows = [panels[place : place + columns] for place in range(0, len(panels), columns)]
    return "row" if all(panel.y_axis == row[0].y_axis for row in rows for panel in row) else "none"


def _finish(axes: Axes, panel: Panel, letters: int) -> None:
    axes.set_xlabel(panel.x_axis.label)
    axes.set_ylabel(panel.y_axis.label)
    if panel.title:
        axes.set_title(textwrap.fill(panel.title, letters), loc="left")
    if panel.x_axis.ticks:
        _name_ticks(axes, panel.x_axis.ticks, letters, all_named=panel.x == panel.by)
    for axis, which in ((panel.x_axis, "x"), (panel.y_axis, "y")):
        factor = _readable(axes, axis, which) if panel.mark in NUMBERS else 1.0
        _scale(axes, axis, which, factor)


def _point_at(axes: Axes, one: Annotation, *, is_named: bool) -> None:
    """Show a place; its name is where there is room, and that of a line above the first panel."""
    text_style: Any = {"fontsize": "small", "color": style.INK}
    if one.y is None:
        axes.axvline(one.x, color=style.INK, linewidth=1.0, linestyle=(0, (1, 2)))
        if is_named:
            axes.text(
                one.x,
                1.01,
                one.name,
                transform=axes.get_xaxis_transform(),
                ha="center",
                va="bottom",
                **text_style,
            )
        return
    axes.plot(one.x, one.y, "o", markersize=6, markerfacecolor="white", markeredgecolor=style.INK, clip_on=False)
    is_right = one.x > sum(axes.get_xlim()) / 2
    text_style["xytext"], text_style["ha"] = ((-8, 0), "right") if is_right else ((8, 0), "left")
    paper = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    axes.annotate(one.name, (one.x, one.y), textcoords="offset points", va="center", bbox=paper, **text_style)


def _shade(axes: Axes, end: float, why: str, *, is_named: bool) -> None:
    axes.axvspan(0, end, color=style.FAINT, alpha=0.1, linewidth=0)
    if is_named:
        text_style: Any = {"ha": "right", "va": "top", "fontsize": "small", "color": style.FAINT}
        axes.text(end, 0.98, f"{why} ", transform=axes.get_xaxis_transform(), **text_style)


def _readable(axes: Axes, axis: Axis, which: str) -> float:
    """Name the unit in which the numbers of an axis are shown; return the factor to it."""
    largest = axes.dataLim.x1 if which == "x" else axes.dataLim.y1
    # Panels that share an axis have the same end, and so the same unit.
    label, factor = axis.readable(largest if axis.high is None else axis.high)
    getattr(axes, f"set_{which}label")(label)
    return factor


def _scale(axes: Axes, axis: Axis, which: str, factor: float) -> None:
    ends = {"left" if which == "x" else "bottom": axis.low, "right" if which == "x" else "top": axis.high}
    # Nothing above zero has no place on a logarithmic axis.
    smallest = axes.dataLim.minposx if which == "x" else axes.dataLim.minposy
    if axis.is_log and math.isfinite(smallest):
        getattr(axes, f"set_{which}scale")("log")
        ruler = getattr(axes, f"{which}axis")
        ruler.set_major_formatter(lambda value, position: f"{value * factor:g}")
        ruler.set_minor_formatter(_Minor(factor))
    elif factor != 1.0:
        getattr(axes, f"{which}axis").set_major_formatter(lambda value, position: f"{value * factor:g}")
    if not axis.is_log and which == "y" and axis.low is not None and axis.high is None:
        # Where nothing was measured, no point is the highest.
        ends["top"] = axes.dataLim.y1 * HEADROOM if 0.0 < axes.dataLim.y1 < math.inf else None
    given = {end: value for end, value in ends.items() if value is not None}
    if given:
        getattr(axes, f"set_{which}lim")(**given)


class _Minor(LogFormatter):
    """Labels of minor ticks: only if the axis spans hardly a power of ten."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self._factor = factor

    def __call__(self, value: float, position: int | None = None) -> str:
        return f"{value * self._factor:g}" if super().__call__(value, position) else ""


def _name_ticks(axes: Axes, positions: Mapping[str, float], letters: int, *, all_named: bool) -> None:
    """Write texts below an axis: names turned where they have no room, of quantities those that have."""
    shown = names(positions)
    positions = {shown[text]: place for text, place in positions.items()}
    by_ratio = are_even_by_ratio(positions.values())
    if by_ratio:
        axes.set_xscale("log")
        axes.minorticks_off()
    stands = [math.log(place) if by_ratio else place for place in positions.values()]
    span = (max(stands) - min(stands)) or 1.0
    at = {
        text: (stand - min(stands)) / span * letters * (1.0 - MARGINS)
        for text, stand in zip(positions, stands, strict=True)
    }
    written = _apart(at, lambda one, other: (len(one) + len(other)) / 2 + GAP)
    turned: Any = {}
    is_sized = not all_named and stands != list(range(len(stands)))
    if len(written) < (MOST_LEFT_OUT if is_sized else 1.0) * len(positions):
        written = list(positions) if all_named else _apart(at, lambda one, other: UPRIGHT)
        is_slanted = not is_sized and letters >= SLANTED * (len(positions) - 1)
        turned = {"rotation": 30, "ha": "right"} if is_slanted else {"rotation": 90, "fontsize": "small"}
    axes.set_xticks([positions[text] for text in written], written, **turned)


def _apart(at: Mapping[str, float], room: Callable[[str, str], float]) -> list[str]:
    """Return the texts that keep their distance from the one before."""
    kept: list[str] = []
    for text in sorted(at, key=lambda text: at[text]):
        if not kept or at[text] - at[kept[-1]] >= room(kept[-1], text):
            kept.append(text)
    return kept
