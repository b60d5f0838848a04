"""The style of all figures: sizes, fonts and lines. Colours and dashes are in `label_styles`."""

from __future__ import annotations

import html
import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from aqmlab.plots.label_styles import LabelStyle
from aqmlab.vocabulary.printable import printable

INK = "#24292f"
FAINT = "#59636e"
# The formats of figures, by the ending of their file.
Ending: TypeAlias = Literal["svg", "pdf", "png"]
ENDINGS: tuple[Ending, ...] = ("svg", "pdf", "png")

_RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#8c959f",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 10.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    # None but the one that a figure is made with.
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10,
    "grid.color": "#d8dee4",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    # Fonts are embedded whole, as journals want them.
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "svg.fonttype": "none",
    # A label such as `codel target $t interval $i` is no formula.
    "text.parse_math": False,
    "text.color": INK,
    "xtick.color": FAINT,
    "xtick.labelsize": 10,
    "xtick.labelcolor": INK,
    "ytick.color": FAINT,
    "ytick.labelcolor": INK,
}


@dataclass(frozen=True)
class Layout:
    """The size of a figure: its width unless its panels need more, and its heights.

    Attributes:
        width_in: width.
        beside_in: width of each panel where several are side by side.
        widest_in: width that no figure exceeds; one that needs more than ``width_in`` has it, if it is finite.
        scale: share of the height that a figure is given.
        has_caption: whether the caption is part of the figure.
        rc: what differs from the style.

    """

    width_in: float
    beside_in: float
    widest_in: float
    scale: float
    has_caption: bool
    rc: dict[str, Any] = field(default_factory=dict)

    def width_of(self, needed_in: float) -> float:
        """Return the width of a figure that needs so much.

        >>> [PAPER.width_of(needed_in) for needed_in in (1.75, 3.5, 5.25, 14.0)], SCREEN.width_of(9.2)
        ([3.5, 3.5, 7.0, 7.0], 9.2)

        """
        if needed_in <= self.width_in:
            return self.width_in
        return needed_in if math.isinf(self.widest_in) else self.widest_in


SCREEN = Layout(6.0, 4.6, math.inf, 1.0, has_caption=True)
# A column of a paper in two columns, or both where it has more than two panels side by side; the text beside it is of
# 8 pt, and the paper has its own caption.
PAPER = Layout(
    3.5,
    1.75,
    7.0,
    0.68,
    has_caption=False,
    rc={
        "axes.labelsize": 8,
        "font.size": 8,
        "legend.fontsize": 7.5,
        "lines.linewidth": 1.1,
        "lines.markersize": 3.5,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
    },
)
# Of a legend's line, in heights of its letters: the mean width of a letter, a stroke with its gap, the gap to the next.
LETTER, _STROKE, _GAP = 0.62, 3.2, 1.4
_CAPTION_WIDTH = 108
_CAPTION_PT = 7
_LINE_PT = 9.0
# Width of a figure whose caption has so many letters in a line.
_USUAL_PT = 432.0


def in_style(layout: Layout = SCREEN) -> Any:
    """Return the context in which a figure is painted."""
    chosen: Any = {**_RC, **layout.rc}
    return mpl.rc_context(chosen)


def below(
    rows: int = 1, height_in: float = 4.2, layout: Layout = SCREEN, heights: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with axes one below the other that share their x axis."""
    with in_style(layout):
        figure = Figure(figsize=(layout.width_in, height_in * layout.scale), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=heights)
        return figure, [axes[row][0] for row in range(rows)]


def beside(count: int, columns: int, height_in: float, layout: Layout = SCREEN) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with axes side by side, as in papers."""
    with in_style(layout):
        width_in = layout.width_of(layout.beside_in * columns if columns > 1 else 0.0)
        rows = -(-count // columns)
        figure = Figure(figsize=(width_in, rows * height_in * layout.scale), layout="constrained")
        FigureCanvasSVG(figure)
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for left in axes[count:]:
            left.set_axis_off()
        return figure, axes


def grid(
    rows: int,
    columns: int,
    height_in: float,
    *,
    share: Literal["all", "row", "none"],
    layout: Layout = SCREEN,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with rows of axes that share the vertical axis as given.

    They share the horizontal one, unless rows have heights: then they are of several results, each of several panels.
    """
    with in_style(layout):
        width_in = layout.width_of((2.6 * columns + 0.8) * layout.width_in / SCREEN.width_in)
        figure = Figure(figsize=(width_in, height_in * layout.scale), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(
            rows, columns, sharex=heights is None, sharey=share, squeeze=False, height_ratios=heights
        )
        return figure, [axes[row][column] for row in range(rows) for column in range(columns)]


def dash(label_style: LabelStyle) -> Any:
    """Return the line style of the style of a label, as matplotlib writes it."""
    return (0, label_style.dash) if label_style.dash else "solid"


def legend(figure: Figure, axes: Sequence[Axes], names: Mapping[str, str], layout: Layout = SCREEN) -> None:
    """Put the legend of what has names above all axes, where it covers nothing; each label is there once."""
    called: dict[str, Any] = {}
    for own in axes:
        for handle, label in zip(*own.get_legend_handles_labels(), strict=True):
            if label in names:
                called.setdefault(names[label], handle)
    if not called:
        return
    with in_style(layout):
        own = mpl.rcParams["legend.fontsize"]
        # The width of a line, in heights of its letters.
        width = 72.0 * figure.get_figwidth() / (own if isinstance(own, float | int) else mpl.rcParams["font.size"])
        labels = [textwrap.fill(label, int((width - _STROKE) / LETTER)) for label in called]
        columns = next(count for count in range(len(labels), 0, -1) if count == 1 or _width(labels, count) <= width)
        # No line is nearly empty.
        columns = -(-len(labels) // -(-len(labels) // columns))
        # A stroke is long enough to show its dash.
        spaces: Any = {"handlelength": 2.4, "handletextpad": _STROKE - 2.4, "columnspacing": _GAP}
        figure.legend(list(called.values()), labels, loc="outside upper left", ncols=columns, **spaces)


def _width(labels: Sequence[str], columns: int) -> float:
    """Return how wide a legend is, in heights of its letters."""
    longest = [max(map(len, part)) for part in np.array_split(labels, columns)]
    return sum(longest) * LETTER + columns * _STROKE + (columns - 1) * _GAP


def letters(length_in: float, size_pt: float) -> int:
    """Return how many letters of a size fit into a length."""
    return int(72.0 * length_in / (LETTER * size_pt))


def caption(figure: Figure, text: str) -> None:
    """Write a caption below a figure."""
    with in_style():
        figure.supxlabel(
            textwrap.fill(printable(text), _CAPTION_WIDTH), x=0.01, ha="left", fontsize=_CAPTION_PT, color=FAINT
        )


def svg(figure: Figure, salt: str, layout: Layout = SCREEN) -> str:
    """Return a figure as SVG that depends only on its contents."""
    with in_style(layout), _any_letters(), mpl.rc_context({"svg.hashsalt": salt}):
        _lay_out(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "aqmlab"})
    # A hundredth of a point is finer than any print; the file is half as large.
    return re.sub(r"(?<=\d\.\d\d)\d+(?=[ \n\"])", "", buffer.getvalue())


def as_bytes(figure: Figure, ending: Ending, layout: Layout = SCREEN) -> bytes:
    """Return a figure as PDF with its fonts, or as PNG."""
    buffer = io.BytesIO()
    metadata = {"CreationDate": None, "Creator": "aqmlab"} if ending == "pdf" else {}
    with in_style(layout), _any_letters():
        _lay_out(figure)
        figure.savefig(buffer, format=ending, metadata=metadata)
    return buffer.getvalue()


@contextmanager
def _any_letters() -> Iterator[None]:
    """Let names have letters that the font lacks: an SVG holds texts, and its reader has other fonts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield


def _lay_out(figure: Figure) -> None:
    """Lay a figure out; saving would do it, draw the figure without output, and lay it out and draw it once more."""
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
        # The engine that is called "none" would still have it drawn without output.
        figure.set_layout_engine(None)


def captioned(drawn: str, text: str) -> str:
    """Return an SVG with a caption below it, as `caption` writes it; drawing the figure once more takes far longer."""
    head = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt" viewBox="[^"]*"', drawn)
    assert head is not None
    width, height = float(head[1]), float(head[2])
    lines = textwrap.wrap(printable(text), int(_CAPTION_WIDTH * width / _USUAL_PT))
    below = height + _LINE_PT * (len(lines) + 0.5)
    size = f'width="{head[1]}pt" height="{below:g}pt" viewBox="0 0 {head[1]} {below:g}"'
    font = f"font: {_CAPTION_PT}px 'DejaVu Sans', 'Verdana', 'Arial', sans-serif; fill: {FAINT}"
    texts = "".join(
        f'<text x="{_CAPTION_PT}" y="{height + _LINE_PT * place:g}" style="{font}">{html.escape(line)}</text>\n'
        for place, line in enumerate(lines, 1)
    )
    paper = f'<rect y="{head[2]}" width="{head[1]}" height="{below - height:g}" style="fill: #ffffff"/>\n'
    body = drawn.replace(head[0], size, 1)
    return f'{body[: body.rindex("</svg>")]}<g id="caption">\n{paper}{texts}</g>\n</svg>\n'
