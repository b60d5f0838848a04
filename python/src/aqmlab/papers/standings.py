"""Tables of a paper's page: the metrics and costs of every AQM of a scenario, declared in `figures.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from aqmlab import statistics
from aqmlab.documents import Table
from aqmlab.names import short_names
from aqmlab.papers.studies import cost

if TYPE_CHECKING:
    from aqmlab.results import Result


@dataclass(frozen=True)
class Column:
    """A column: a metric of the runs, or a cost (`cost.COSTS`) at a number of flows."""

    of: str
    label: str
    scale: float
    flows: str


@dataclass(frozen=True)
class Standing:
    """A table: its scenario and columns."""

    name: str
    title: str
    says: str
    scenario: str
    columns: tuple[Column, ...]

    @property
    def is_measured(self) -> bool:
        """Whether a column is measured when the table is made, without a simulation."""
        return any(column.flows for column in self.columns)


def read(table: Table) -> list[Standing]:
    """Read the tables of a file.

    Raises:
        InputError: naming the table, the key and the value.

    """
    found = []
    for one in table.tables("table", "name"):
        columns = tuple(_column(column) for column in one.tables("column", "label"))
        found.append(Standing(one.text("name"), one.text("title"), one.text("says", ""), one.text("scenario"), columns))
        one.done()
        if not columns:
            raise one.error("column: is missing")
    return found


def fill(standing: Standing, result: Result) -> pl.DataFrame:
    """Return a table: a row per AQM, a column per metric with half its interval beside it if there is one."""
    called = short_names(result)
    aqms, labels = list(called), list(called.values())
    columns: dict[str, pl.Series] = {"aqm": pl.Series(aqms)}
    for column in standing.columns:
        if column.flows:
            rows = cost.measure(result, aqms, labels, column.of, [column.flows])
            columns[column.label] = pl.Series([row[3] * column.scale for row in rows], dtype=pl.Float64)
            continue
        means, halves = zip(*(_spread(result, label, column) for label in labels), strict=True)
        columns[column.label] = pl.Series(means, dtype=pl.Float64)
        columns[f"{column.label} ±"] = pl.Series(halves, dtype=pl.Float64)
    return pl.DataFrame(columns)


def _spread(result: Result, label: str, column: Column) -> tuple[float | None, float | None]:
    runs = result.runs.filter((pl.col("point") == 0) & (pl.col("aqm") == label))
    values = runs[column.of].drop_nulls().to_list() if column.of in runs.columns else []
    if not values:
        return None, None
    one = statistics.mean(values)
    return one.value * column.scale, None if one.half_width is None else one.half_width * column.scale


def _column(table: Table) -> Column:
    column = Column(table.text("of"), table.text("label"), table.number("scale", 1.0), table.text("flows", ""))
    table.done()
    return column
