"""Panels: what of a table is seen, and by which marks, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import polars as pl

# What is painted: see `marks`.
Mark: TypeAlias = Literal["line", "step", "cloud", "bars", "stacks", "heat", "dots"]


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        label: what it shows, with its unit.
        low: where it begins; where the data do unless given.
        high: where it ends; a little above the data unless given.
        is_log: whether it is logarithmic.
        places: where text stands on it, for axes that are not numbers.

    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    places: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        mark: what is painted.
        x: the column along the horizontal axis.
        y: the column along the vertical axis.
        rows: which rows of the table are shown: a value for some columns.
        by: the column that tells curves apart; colours follow it.
        labels: its values that are shown, in order.
        group: a column that tells parts of a curve apart (the second is dashed, or pale), or groups of rows.
        interval: how the columns ``ci95_low`` and ``ci95_high`` are shown.
        has_points: whether each row has a point.
        has_names: whether rows below each other have their names beside them.
        columns: columns that stand beside each other, in place of ``x``.
        numbers: a value for some labels to compare with, dashed.
        shaded: an end of what is shaded from zero on, and why.
        value: the column that the colour of a heat map shows.
        strong: a column that says which cells of it stand out.

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
    shaded: tuple[float, str] | None = None
    value: str = ""
    strong: str = ""

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a table that are shown."""
        return table.filter(*(pl.col(column) == value for column, value in self.rows.items()))
