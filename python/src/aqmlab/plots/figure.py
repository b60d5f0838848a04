"""Figures: a table, the panels that show it, and a caption."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.plots import painter, style
from aqmlab.plots.panel import Panel

if TYPE_CHECKING:
    import matplotlib.figure


@dataclass(frozen=True)
class Figure:
    """A figure: its file name, title and caption, its table, which is written beside it, and its panels.

    ``columns`` of its panels are side by side. All in one column share the horizontal axis; all in one row have their
    own axes; in a grid the axes of rows and columns are shared.
    """

    name: str
    title: str
    caption: str
    table: pl.DataFrame
    panels: Sequence[Panel]
    height_in: float
    columns: int = 1

    def draw(self, layout: style.Layout = style.SCREEN) -> matplotlib.figure.Figure:
        """Return the figure, with its caption below if the layout has one."""
        figure = self._bare(layout)
        if layout.has_caption:
            style.caption(figure, self.caption)
        return figure

    def content(self, ending: style.Ending = "svg", layout: style.Layout = style.SCREEN) -> bytes:
        """Return the figure as a file of this format."""
        if ending != "svg":
            return style.as_bytes(self.draw(layout), ending, layout)
        if layout.has_caption:
            return self.svg.encode()
        return style.svg(self._bare(layout), self.name, layout).encode()

    @functools.cached_property
    def svg(self) -> str:
        """The figure with its caption as SVG."""
        return style.captioned(self.bare_svg, self.caption)

    @functools.cached_property
    def bare_svg(self) -> str:
        """The figure without its caption as SVG, for a page that sets the caption itself."""
        return style.svg(self._bare(style.SCREEN), self.name)

    def _bare(self, layout: style.Layout) -> matplotlib.figure.Figure:
        return painter.paint(self.table, self.panels, self.height_in, self.columns, layout)
