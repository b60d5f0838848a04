"""Panels: which part of a table is shown, and by which marks, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import polars as pl

from aqmlab.vocabulary import units

# The marks: see `marks`.
Mark: TypeAlias = Literal[
    "line",
    "step",
    "cloud",
    "front",
    "crosses",
    "box",
    "points",
    "bars",
    "stacks",
    "parts",
    "beside",
    "ticks",
    "heat",
    "map",
    "dots",
]


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        label: quantity and unit.
        low: lower end; that of the data unless given.
        high: upper end; a little above the data unless given.
        is_log: whether it is logarithmic.
        ticks: positions of texts, for axes that are not numbers.
        span: least extent of an axis without ends, as a share of its largest number; see `axes`.

    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    ticks: Mapping[str, float] = field(default_factory=dict)
    span: float = 0.0

    def readable(self, largest: float) -> tuple[str, float]:
        """Return the label with the unit that numbers up to ``largest`` are shown in, and the factor to it.

        >>> Axis("Goodput (Mbit/s)").readable(25_000.0)
        ('Goodput (Gbit/s)', 0.001)

        """
        named = re.fullmatch(r"(.*)\(([^()]+)\)", self.label, re.DOTALL)
        if named is None or self.ticks:
            return self.label, 1.0
        unit, factor, _ = units.readable(named[2], largest)
        return f"{named[1]}({unit})", factor


@dataclass(frozen=True)
class Annotation:
    """A named place in a panel; without a height it is a line from top to bottom."""

    name: str
    x: float
    y: float | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        mark: kind of mark.
        x: the column along the horizontal axis.
        y: the column along the vertical axis.
        rows: values of columns that select the rows shown.
        by: the column that separates curves, and decides their colours.
        labels: the values of it that are shown, in order.
        group: a column that separates parts of a curve (the second is dashed, or pale), or groups of rows.
        interval: how the columns ``ci95_low`` and ``ci95_high`` are shown.
        has_points: whether each row has a marker.
        has_names: whether rows have their names beside them.
        columns: columns side by side, in place of ``x``.
        numbers: reference values of labels, drawn dashed.
        references: reference values of labels at places of the horizontal axis, drawn hollow.
        shaded: upper end of a shaded range from zero, and its meaning.
        value: the column that the colour of a heat map shows.
        strong: a column that says which of its cells are emphasised.
        height: height beside that of other panels below or above.
        colours: the numbers that the colours of a map stand for.
        annotations: points or lines that have names.
        facet: the result or scenario that it shows, in a figure that has such panels for each.

    """

    mark: Mark
    x: str
    y: str
    x_axis: Axis
    y_axis: Axis
    title: str = ""
    rows: Mapping[str, str] = field(default_factory=dict)
    by: str = "aqm"
    labels: tuple[str, ...] = ()
    group: str = ""
    interval: Literal["", "band", "whiskers"] = ""
    has_points: bool = False
    has_names: bool = True
    columns: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    references: Mapping[str, Sequence[tuple[str | float, float]]] = field(default_factory=dict)
    shaded: tuple[float, str] | None = None
    value: str = ""
    strong: str = ""
    height: float = 1.0
    colours: Axis | None = None
    annotations: tuple[Annotation, ...] = ()
    facet: str = ""

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a table that it shows."""
        return table.filter(*(pl.col(column) == value for column, value in self.rows.items()))
