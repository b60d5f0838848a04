"""The painter: turns panels into a figure. It is the only one, so all figures look alike."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axis import Axis as Ruler
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogFormatter

from aqmlab.plots import better_arrow, direct_labels, marks, shared_axes, style
from aqmlab.plots.label_styles import LabelStyle, label_styles
from aqmlab.plots.panel import Annotation, Axis, Panel
from aqmlab.plots.ticks import are_even_by_ratio, names
from aqmlab.results.short_labels import short_labels
from aqmlab.vocabulary.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Marks whose axes are numbers of a quantity, so that they can be shown in another unit.
NUMBERS = ("line", "step", "cloud", "front", "crosses", "box", "bars", "stacks", "parts", "beside", "dots")
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
# More results or scenarios side by side are several rows.
MOST_FACETS_ACROSS = 4
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
    figure, cells = _arranged(panels, height_in, columns, layout)
    labels = list(dict.fromkeys(label for panel in panels for label in panel.labels))
    places = list(dict.fromkeys(place for panel in panels if panel.mark == "parts" for place in panel.x_axis.ticks))
    known, written = label_styles(labels), short_labels(labels) | short_labels(places)
    with style.in_style(layout):
        rows, across = max(cell.block_end for cell in cells), max(cell.column for cell in cells) + 1
        tall = style.letters((height_in - AROUND_IN) * layout.scale / rows, mpl.rcParams["axes.labelsize"])
        wide_in = figure.get_figwidth() / across - BESIDE_IN * layout.scale
        wide = style.letters(wide_in, mpl.rcParams["xtick.labelsize"])
        for panel, cell in zip(panels, cells, strict=True):
            marks.MARKS[panel.mark](cell.axes, panel.of(table), panel, known)
        is_faceted = any(panel.facet for panel in panels)
        painted = [(panel, cell.axes) for panel, cell in zip(panels, cells, strict=True)]
        shared_axes.cut_peaks(painted)
        apart = shared_axes.join(painted) if is_faceted else set()
        for panel, cell in zip(panels, cells, strict=True):
            own = cell.axes
            _finish(own, panel, wide, written)
            own.set_ylabel("\n".join(textwrap.fill(line, tall) for line in own.get_ylabel().split("\n")))
            own.set_xlabel(textwrap.fill(own.get_xlabel(), wide))
            if panel.shaded is not None:
                _shade(own, *panel.shaded, is_named=cell.is_first)
            for one in panel.annotations:
                _point_at(own, one, is_named=cell.is_first)
            if not cell.is_last:
                own.set_xlabel("")
            own.tick_params(axis="x", labelbottom=cell.is_last or not cell.shares_x)
            if cell.repeats_y:
                own.set_ylabel("")
                own.tick_params(axis="y", labelleft=not is_faceted or own in apart)
            if panel.colours is not None and cell.column == across - 1:
                row = [other.axes for other in cells if other.row == cell.row]
                label, _ = panel.colours.readable(panel.colours.high or 0.0)
                figure.colorbar(own.images[0], ax=row, label=textwrap.fill(" ".join(label.split()), tall))
        shared_axes.align_ticks(painted)
        axes = [cell.axes for cell in cells]
        if columns == len(panels):
            _share(axes)
        tall_in = (height_in - AROUND_IN) * layout.scale / rows
        direct = _label(panels, cells, written, known, direct_labels.Size(72.0 * wide_in, 72.0 * tall_in))
    style.legend(figure, axes, {label: text for label, text in written.items() if label not in direct}, layout)
    _show_controls(figure)
    for own in axes:
        _place_empty(own)
    return figure


@dataclass(frozen=True)
class _Cell:
    """Where a panel is.

    Attributes:
        row, column: the place of its axes.
        block_end: the row after the last of its block, which is all rows unless results take several.
        is_first: whether it is in the first row of its block.
        is_last: whether no panel that shares its horizontal axis is below.
        shares_x: whether there is one above or below.
        repeats_y: whether its vertical axis is that of the panel to its left.

    """

    axes: Axes
    row: int
    column: int
    block_end: int
    is_first: bool
    is_last: bool
    shares_x: bool
    repeats_y: bool


def _arranged(
    panels: Sequence[Panel], height_in: float, columns: int, layout: style.Layout
) -> tuple[Figure, list[_Cell]]:
    """Return a figure with axes for panels: a facet beside the other, or one below the other, side by side, a grid."""
    count = len(panels)
    facets = list(dict.fromkeys(panel.facet for panel in panels))
    if len(facets) > 1:
        across, kinds = facets_across(len(facets)), count // len(facets)
        heights = [panel.height for panel in panels[:: len(facets)]] * -(-len(facets) // across)
        figure, axes = style.grid(len(heights), across, height_in, share="none", layout=layout, heights=heights)
        cells = []
        for place in range(count):
            kind, facet = divmod(place, len(facets))
            block, column = divmod(facet, across)
            is_last = kind == kinds - 1 and facet + across >= len(facets)
            row = block * kinds + kind
            own = axes[row * across + column]
            end = (block + 1) * kinds
            cells.append(_Cell(own, row, column, end, kind == 0, is_last, kinds > 1, column > 0))
        used = {cell.axes for cell in cells}
        for left in (own for own in axes if own not in used):
            left.set_axis_off()
        return figure, cells
    across = columns
    if columns == 1:
        figure, axes = style.below(count, height_in, layout, [panel.height for panel in panels])
    elif columns == count:
        across = columns if columns <= MOST_BESIDE else -(-columns // 2)
        figure, axes = style.beside(columns, across, height_in, layout)
    else:
        figure, axes = style.grid(
            -(-count // columns), columns, height_in, share=_shared(panels, columns), layout=layout
        )
        for left in axes[count:]:
            left.set_axis_off()
    is_grid = 1 < columns < count

    def cell(place: int) -> _Cell:
        row, column = divmod(place, across)
        repeats = is_grid and column > 0 and panels[place].y_axis == panels[place - 1].y_axis
        is_last = place + columns >= count
        return _Cell(axes[place], row, column, -(-count // across), place < columns, is_last, columns < count, repeats)

    return figure, [cell(place) for place in range(count)]


def facets_across(count: int) -> int:
    """Return how many results or scenarios are side by side: rows are as full as can be.

    >>> [facets_across(count) for count in (2, 4, 5, 6, 8, 9)]
    [2, 4, 3, 3, 4, 3]

    """
    return -(-count // -(-count // MOST_FACETS_ACROSS))


def _label(
    panels: Sequence[Panel],
    cells: Sequence[_Cell],
    names: Mapping[str, str],
    styles: Mapping[str, LabelStyle],
    size: direct_labels.Size,
) -> set[str]:
    """Write labels beside what they name; return those that are written. The others have a legend."""
    done: set[str] = set()
    ends: dict[tuple[int, str], _Cell] = {}
    for panel, cell in zip(panels, cells, strict=True):
        if panel.mark == "step":
            done |= direct_labels.on_curves(cell.axes, names, size)
        elif panel.mark in ("cloud", "front", "crosses"):
            done |= direct_labels.at_points(cell.axes, names, styles, size)
            better_arrow.paint(cell.axes, panel.x, panel.y)
        elif panel.mark == "line":
            for label in cell.axes.get_legend_handles_labels()[1]:
                # In each block at the right of the first row that has it.
                before = ends.get((cell.block_end, label))
                if before is None or before.row == cell.row:
                    ends[cell.block_end, label] = cell
    for cell in dict.fromkeys(ends.values()):
        own = {label: names[label] for (_, label), other in ends.items() if other is cell}
        done |= direct_labels.at_ends(cell.axes, own, styles, size)
    return done


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
    rulers = [ruler for axes in figure.axes for ruler in (axes.xaxis, axes.yaxis)]
    for text in (*_texts(figure), *(ruler.label for ruler in rulers)):
        text.set_text(printable(text.get_text()))
    for ruler in rulers:
        named = ruler.get_major_formatter()
        if isinstance(named, FuncFormatter):
            named.func = functools.partial(_printable, named.func)


def _place_empty(axes: Axes) -> None:
    """Give labels and titles without a text a place: to find one, all ticks would be laid out once more."""
    for ruler in (axes.xaxis, axes.yaxis):
        if not ruler.label.get_text():
            ruler.set_label_coords(0.0, 0.0)
    if not any(axes.get_title(side) for side in ("left", "center", "right")):
        axes.set_title("", y=1.0)


def _texts(artist: Artist) -> Iterator[Text]:
    """Yield the texts of a figure but those of axes' rulers, which make their ticks when they are asked for them."""
    if isinstance(artist, Text):
        yield artist
    if not isinstance(artist, Ruler):
        for part in artist.get_children():
            yield from _texts(part)


def _printable(named: Callable[[float, int | None], str], place: float, position: int | None = None) -> str:
    return printable(named(place, position))


def _shared(panels: Sequence[Panel], columns: int) -> Literal["all", "row", "none"]:
    """Return which panels of a grid share their vertical axis: those of the same quantity."""
    if len({panel.rows.get("metric") for panel in panels}) == 1:
        return "all"
    rows = [panels[place : place + columns] for place in range(0, len(panels), columns)]
    return "row" if all(panel.y_axis == row[0].y_axis for row in rows for panel in row) else "none"


def _finish(axes: Axes, panel: Panel, letters: int, written: Mapping[str, str]) -> None:
    axes.set_xlabel(panel.x_axis.label)
    axes.set_ylabel(panel.y_axis.label)
    if panel.title:
        axes.set_title(textwrap.fill(written.get(panel.title, panel.title), letters), loc="left")
    if panel.x_axis.ticks:
        is_named = panel.x == panel.by or panel.mark == "parts"
        ticks = {written[text] if is_named else text: place for text, place in panel.x_axis.ticks.items()}
        _name_ticks(axes, ticks, letters, all_named=is_named)
    if panel.mark == "line" and panel.y_axis.ticks:
        axes.set_yticks(list(panel.y_axis.ticks.values()), list(panel.y_axis.ticks))
    if panel.mark == "ticks":
        axes.set_yticks(list(panel.y_axis.ticks.values()), [written[label] for label in panel.y_axis.ticks])
        axes.tick_params(axis="y", labelsize="small")
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
    if axis.span and not axis.is_log and which == "y":
        low, high = axes.get_ylim()
        missing = max(axis.span * abs(high) - (high - low), 0.0)
        # More of the room below: what has such an axis is best high.
        ends.update(bottom=low - missing * 0.7, top=high + missing * 0.3)
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
    """Write texts below an axis: names rotated where they have no room, of quantities those that have."""
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
    rotated: Any = {}
    is_sized = not all_named and stands != list(range(len(stands)))
    if len(written) < (MOST_LEFT_OUT if is_sized else 1.0) * len(positions):
        written = list(positions) if all_named else _apart(at, lambda one, other: UPRIGHT)
        is_slanted = not is_sized and letters >= SLANTED * (len(positions) - 1)
        rotated = {"rotation": 30, "ha": "right"} if is_slanted else {"rotation": 90, "fontsize": "small"}
    axes.set_xticks([positions[text] for text in written], written, **rotated)


def _apart(at: Mapping[str, float], room: Callable[[str, str], float]) -> list[str]:
    """Return the texts that keep their distance from the one before."""
    kept: list[str] = []
    for text in sorted(at, key=lambda text: at[text]):
        if not kept or at[text] - at[kept[-1]] >= room(kept[-1], text):
            kept.append(text)
    return kept
