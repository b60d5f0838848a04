"""The painter: turns panels into a figure. It is the only one, so all figures look alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from matplotlib.ticker import LogFormatter, NullFormatter

from aqmlab.plots import marks, style
from aqmlab.plots.looks import looks
from aqmlab.plots.model import Axis, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

# Marks whose axes are numbers of a quantity, so that they can be shown in another unit.
NUMBERS = ("line", "step", "cloud", "front", "crosses", "box", "bars", "stacks", "dots")
# A linear axis ends this much above the data.
HEADROOM = 1.06
# Texts on an axis are rotated if their total length exceeds this.
MOST_LETTERS = 40
LETTERS_EACH = 4
LEAST_NAMES = 6
# From this ratio on, texts that are quantities are spread over an axis by their size.
WIDE = 10.0


def paint(
    table: pl.DataFrame,
    panels: Sequence[Panel],
    height_in: float,
    columns: int = 1,
    layout: style.Layout = style.SCREEN,
) -> Canvas:
    """Return the figure of some panels. A label has the same look in all of them."""
    if columns == 1:
        canvas, axes = style.below(len(panels), height_in, layout, [panel.height for panel in panels])
    elif columns == len(panels):
        canvas, axes = style.beside(columns, height_in, layout)
    else:
        canvas, axes = style.grid(
            -(-len(panels) // columns), columns, height_in, share=_shared(panels, columns), layout=layout
        )
        for left in axes[len(panels) :]:
            left.set_axis_off()
    last_row = len(panels) - columns
    labels = list(dict.fromkeys(label for panel in panels for label in panel.labels))
    known = looks(labels)
    with style.in_style(layout):
        for place, (panel, own) in enumerate(zip(panels, axes, strict=False)):
            marks.MARKS[panel.mark](own, panel.of(table), panel, known)
            _finish(own, panel, MOST_LETTERS if columns in (1, len(panels)) else MOST_LETTERS // columns)
            if place < last_row:
                own.set_xlabel("")
            if 1 < columns < len(panels) and place % columns and panel.y_axis == panels[place - 1].y_axis:
                own.set_ylabel("")
            if panel.colours is not None and place % columns == columns - 1:
                row = axes[place - columns + 1 : place + 1]
                canvas.colorbar(own.images[0], ax=list(row), label=panel.colours.label)
    if labels and any(own.get_legend_handles_labels()[0] for own in axes):
        style.legend(canvas, axes, layout)
    return canvas


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
        axes.set_title(panel.title, loc="left")
    if panel.x_axis.places:
        _name_places(axes, panel.x_axis.places, letters)
    for axis, which in ((panel.x_axis, "x"), (panel.y_axis, "y")):
        factor = _readable(axes, axis, which) if panel.mark in NUMBERS else 1.0
        _scale(axes, axis, which, factor)
    if panel.shaded is not None:
        end, why = panel.shaded
        axes.axvspan(0, end, color=style.FAINT, alpha=0.1, linewidth=0)
        note: Any = {"ha": "right", "va": "top", "fontsize": "small", "color": style.FAINT}
        axes.text(end, 0.98, f"{why} ", transform=axes.get_xaxis_transform(), **note)


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
        # Minor ticks have labels only if the axis spans hardly a power of ten.
        ruler.set_minor_formatter(LogFormatter() if factor == 1.0 else NullFormatter())
    elif factor != 1.0:
        getattr(axes, f"{which}axis").set_major_formatter(lambda value, position: f"{value * factor:g}")
    if not axis.is_log and which == "y" and axis.low is not None and axis.high is None:
        # Where nothing was measured, no point is the highest.
        ends["top"] = axes.dataLim.y1 * HEADROOM if 0.0 < axes.dataLim.y1 < math.inf else None
    given = {end: value for end, value in ends.items() if value is not None}
    if given:
        getattr(axes, f"set_{which}lim")(**given)


def _name_places(axes: Axes, places: Mapping[str, float], letters: int) -> None:
    stands = sorted(places.values())
    if len(stands) > 2 and stands[0] > 0 and stands[-1] / stands[0] >= WIDE:
        axes.set_xscale("log")
        axes.minorticks_off()
    # Of many names each second, third ... is written.
    step = -(-len(places) // max(letters // LETTERS_EACH, LEAST_NAMES))
    places = dict(list(places.items())[::step])
    crowded = sum(map(len, places)) > letters
    turned: Any = {"rotation": 30, "ha": "right"} if crowded else {}
    axes.set_xticks(list(places.values()), list(places), **turned)
