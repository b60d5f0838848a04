"""The style of all figures: sizes, fonts and lines. Colours and dashes are in `looks`."""

from __future__ import annotations

import html
import io
import re
import textwrap
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from aqmlab.plots.looks import Look

INK = "#24292f"
FAINT = "#59636e"

_RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#8c959f",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 10.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10,
    "grid.color": "#d8dee4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    # A label such as `codel target $t interval $i` is no formula.
    "text.parse_math": False,
    "text.color": INK,
    "xtick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.color": FAINT,
    "ytick.labelcolor": INK,
}
_CAPTION_WIDTH = 108
_CAPTION_PT = 7
_LINE_PT = 9.0
# Width of a figure whose caption has so many letters in a line.
_USUAL_PT = 432.0


def below(rows: int = 1, height_in: float = 4.2) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with axes one below the other that share their x axis."""
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(6.0, height_in), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(rows, 1, sharex=True, squeeze=False)
        return figure, [axes[row][0] for row in range(rows)]


def beside(count: int, height_in: float = 3.9) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with axes side by side, as in papers."""
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(6.0 if count == 1 else 4.6 * count, height_in), layout="constrained")
        FigureCanvasSVG(figure)
        return figure, list(figure.subplots(1, count, squeeze=False)[0])


def grid(rows: int, columns: int, height_in: float, *, share: Literal["all", "row"]) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with rows of axes that share the horizontal axis, and the vertical one as given."""
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(max(6.0, 2.6 * columns + 0.8), height_in), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(rows, columns, sharex=True, sharey=share, squeeze=False)
        return figure, [axes[row][column] for row in range(rows) for column in range(columns)]


def dash(look: Look) -> Any:
    """Return the line style of a look, as matplotlib writes it."""
    return (0, look.dash) if look.dash else "solid"


def legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put the legend of all axes above them, where it covers nothing; each label is there once."""
    called: dict[str, Any] = {}
    for own in axes:
        for handle, label in zip(*own.get_legend_handles_labels(), strict=True):
            called.setdefault(label, handle)
    handles, labels = list(called.values()), list(called)
    longest = max(map(len, labels), default=1)
    columns = max(1, min(len(labels), 80 // (longest + 5)))
    with mpl.rc_context(_RC):
        figure.legend(handles, labels, loc="outside upper left", ncols=columns, handlelength=1.6, columnspacing=1.4)


def caption(figure: Figure, text: str) -> None:
    """Write a caption below a figure."""
    with mpl.rc_context(_RC):
        figure.supxlabel(textwrap.fill(text, _CAPTION_WIDTH), x=0.01, ha="left", fontsize=_CAPTION_PT, color=FAINT)


def svg(figure: Figure, salt: str) -> str:
    """Return a figure as SVG that depends only on its contents."""
    with mpl.rc_context({**_RC, "svg.hashsalt": salt}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "aqmlab"})
    return buffer.getvalue()


def captioned(drawn: str, text: str) -> str:
    """Return an SVG with a caption below it, as `caption` writes it; drawing the figure once more takes far longer."""
    head = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt" viewBox="[^"]*"', drawn)
    assert head is not None
    width, height = float(head[1]), float(head[2])
    lines = textwrap.wrap(text, int(_CAPTION_WIDTH * width / _USUAL_PT))
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
