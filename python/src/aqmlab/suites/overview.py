"""A suite at a glance: what matters of each scenario, a column for each discipline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.results import Result
from aqmlab.results.ranking import rankings
from aqmlab.stats.statistics import Estimate
from aqmlab.suites.plan import OVER, Entry
from aqmlab.suites.run import Outcome, Part, as_run
from aqmlab.suites.scenario_table import Grid, table
from aqmlab.vocabulary import metrics


@dataclass(frozen=True)
class Cell:
    """A value, or the range over a sweep; and whether no other discipline is distinguishably better."""

    text: str
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """A measure of a scenario with its unit, and a cell for each discipline; the first row of a scenario names it."""

    entry: Entry | None
    measure: str
    unit: str
    cells: tuple[Cell, ...]


def overview(outcome: Outcome) -> list[Row]:
    """Return what matters of all scenarios."""
    rows = []
    for part in outcome.parts:
        grid = table(part)
        for number, column in enumerate(part.entry.matters):
            measure, unit = grid.heads[part.entry.columns.index(column)]
            cells = _cells(part, grid, column, [as_run(part.entry, aqm) for aqm in outcome.contestants])
            rows.append(Row(None if number else part.entry, measure, unit, cells))
    return rows


def _cells(part: Part, grid: Grid, column: str, aqms: Sequence[str]) -> tuple[Cell, ...]:
    at = part.entry.columns.index(column)
    found = {aqm: [line.cells[at] for line in grid.lines if line.aqm == aqm] for aqm in aqms}
    if len(part.shown.points) > 1:
        return tuple(Cell(_range(grid, at, found[aqm])) for aqm in aqms)
    values = {aqm: cells[0] for aqm, cells in found.items() if cells and cells[0] is not None}
    best = _best(part.shown, column, aqms)
    return tuple(Cell(_short(grid, at, values.get(aqm)), aqm in best) for aqm in aqms)


def _range(grid: Grid, at: int, cells: Sequence[Estimate | None]) -> str:
    known = sorted((cell for cell in cells if cell), key=lambda cell: cell.value)
    ends = dict.fromkeys(_short(grid, at, cell) for cell in (known[:1] + known[-1:]))
    return " to ".join(ends) or "-"


def _short(grid: Grid, at: int, cell: Estimate | None) -> str:
    """A value with three digits that count: its table has the others."""
    if cell is None:
        return "-"
    scale, digits = grid.formats[at]
    value = cell.value * scale
    whole = len(str(int(abs(value))))
    return f"{value:.{min(digits, max(3 - whole, 0))}f}"


def _best(result: Result, column: str, aqms: Sequence[str]) -> list[str]:
    """The best and what is no different from it; none if all are alike, or nothing is better."""
    if OVER in column or not metrics.find(column).better:
        return []
    found = rankings(result.family, result.shown_rows, [0], aqms, [column])
    return found[0].best if found and found[0].is_decided else []
