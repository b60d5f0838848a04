"""Tables of a paper's page: the metrics and costs of every AQM of a scenario, declared in `paper.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.files.documents import Table
from aqmlab.papers.discipline_names import labels_by_discipline
from aqmlab.papers.studies import cost
from aqmlab.results import measures
from aqmlab.results.measures import HOW, Measure
from aqmlab.stats import statistics
from aqmlab.vocabulary.units import parse_span

if TYPE_CHECKING:
    from aqmlab.results import Result


@dataclass(frozen=True)
class Column:
    """A column: a metric, a series summed up as claims do, or a cost (`cost.COSTS`) at a number of flows."""

    of: str
    label: str
    scale: float
    flows: str
    measure: Measure | None


@dataclass(frozen=True)
class ScenarioTable:
    """A table: its scenario and columns; ``lines`` is a swept key whose values take the place of AQMs."""

    name: str
    title: str
    says: str
    scenario: str
    lines: str
    columns: tuple[Column, ...]

    @property
    def is_measured(self) -> bool:
        """Whether a column is measured when the table is made, without a simulation."""
        return any(column.flows for column in self.columns)


def read(table: Table) -> list[ScenarioTable]:
    """Read the tables of a file.

    Raises:
        InputError: naming the table, the key and the value.

    """
    found = []
    for one in table.tables("table", "name"):
        columns = tuple(_column(column) for column in one.tables("column", "label"))
        texts = (one.text("name"), one.text("title"), one.text("says", ""), one.text("scenario"), one.text("lines", ""))
        found.append(ScenarioTable(*texts, columns))
        one.done()
        if not columns:
            raise one.error("column: is missing")
    return found


def fill(scenario_table: ScenarioTable, result: Result) -> pl.DataFrame:
    """Return a table: a row per AQM, a column per metric with half its interval beside it if there is one."""
    called = labels_by_discipline(result)
    aqms, labels = list(called), list(called.values())
    rows = [(aqm, label, 0) for aqm, label in called.items()]
    if scenario_table.lines:
        rows = [(point.get(scenario_table.lines, ""), labels[0], place) for place, point in enumerate(result.points)]
    columns: dict[str, pl.Series] = {"aqm": pl.Series([row[0] for row in rows])}
    for column in scenario_table.columns:
        if column.flows:
            costs = cost.measure(result, aqms, labels, column.of, [column.flows])
            columns[column.label] = pl.Series([row[3] * column.scale for row in costs], dtype=pl.Float64)
            continue
        means, halves = zip(*(_over_seeds(result, label, place, column) for _, label, place in rows), strict=True)
        columns[column.label] = pl.Series(means, dtype=pl.Float64)
        columns[f"{column.label} ±"] = pl.Series(halves, dtype=pl.Float64)
    return pl.DataFrame(columns)


def _over_seeds(result: Result, label: str, point: int, column: Column) -> tuple[float | None, float | None]:
    if column.measure:
        values = list(measures.values(result, column.measure, label, point).values())
    else:
        runs = result.runs.filter((pl.col("point") == point) & (pl.col("aqm") == label))
        values = runs[column.of].drop_nulls().to_list() if column.of in runs.columns else []
    if not values:
        return None, None
    one = statistics.mean(values)
    return one.value * column.scale, None if one.half_width is None else one.half_width * column.scale


def _column(table: Table) -> Column:
    of, how = table.text("of"), table.choice("how", ("", *HOW), "")
    try:
        since_s, until_s, period_s = (
            parse_span(text) / 1e9 if text else None
            for text in (table.text(key, "") for key in ("since", "until", "period"))
        )
    except ValueError as error:
        raise table.error(error) from None
    measure = Measure(of, "", since_s, until_s, how, period_s=period_s) if how else None
    column = Column(of, table.text("label"), table.number("scale", 1.0), table.text("flows", ""), measure)
    table.done()
    return column
