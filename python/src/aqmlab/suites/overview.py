"""A suite at a glance: what matters of each scenario, a column for each discipline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab import metrics
from aqmlab.statistics import Estimate
from aqmlab.suites.plan import OVER, Entry
from aqmlab.suites.run import Outcome, Part, as_run
from aqmlab.suites.table import Grid, table


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
            cells = _cells(part, grid, column, [as_run(part.entry, aqm) for aqm in outcome.aqms])
            rows.append(Row(None if number else part.entry, measure, unit, cells))
    return rows


def _cells(part: Part, grid: Grid, column: str, aqms: Sequence[str]) -> tuple[Cell, ...]:
    at = part.entry.columns.index(column)
    found = {aqm: [line.cells[at] for line in grid.lines if line.aqm == aqm] for aqm in aqms}
    if len(part.result.points) > 1:
        return tuple(Cell(_range(grid, at, found[aqm])) for aqm in aqms)
    values = {aqm: cells[0] for aqm, cells in found.items() if cells and cells[0] is not None}
    best = _best(values, "" if OVER in column else metrics.find(column).better)
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


def _best(values: dict[str, Estimate], better: str) -> set[str]:
    """The disciplines whose interval reaches the best one's; none if all do, or nothing is better."""
    if not better or len(values) < 2:
        return set()
    sign = 1 if better == "higher" else -1
    leader = max(values.values(), key=lambda one: sign * one.value)
    low, high = _ends(leader)
    best = {aqm for aqm, one in values.items() if _ends(one)[0] <= high and _ends(one)[1] >= low}
    return set() if len(best) == len(values) else best


def _ends(one: Estimate) -> tuple[float, float]:
    return (one.value if one.low is None else one.low), (one.value if one.high is None else one.high)
