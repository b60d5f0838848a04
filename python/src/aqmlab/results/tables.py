"""The table of a comparison: which metrics, in which unit, with how many digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.results.summary import Row


@dataclass(frozen=True)
class Column:
    """A column: the metric, its heading, and the factor to the unit that is shown."""

    metric: str
    title: str
    unit: str
    scale: float
    decimals: int


@dataclass(frozen=True)
class Cell:
    """A value as text, with half its 95 % interval where there is one."""

    value: str
    half: str


COLUMNS = (
    Column("goodput_mbit", "Goodput", "Mbit/s", 1.0, 2),
    Column("utilization", "Utilization", "%", 100.0, 1),
    Column("qdelay_mean_ms", "Queue delay", "mean, ms", 1.0, 1),
    Column("qdelay_p50_ms", "Queue delay", "median, ms", 1.0, 1),
    Column("qdelay_p99_ms", "Queue delay", "99 %, ms", 1.0, 1),
    Column("loss_ratio", "Loss", "%", 100.0, 2),
    Column("marks", "CE marks", "packets", 1.0, 0),
    Column("jain_index", "Jain index", "0 to 1", 1.0, 3),
)
ABSENT = Cell("-", "")


def cells(aqms: Sequence[str], rows: Sequence[Row]) -> dict[str, dict[str, Cell]]:
    """Return the cells of one scenario by AQM and metric; every AQM has every column."""
    by_key = {(row.aqm, row.metric): row for row in rows}
    return {aqm: {column.metric: _cell(by_key.get((aqm, column.metric)), column) for column in COLUMNS} for aqm in aqms}


def _cell(row: Row | None, column: Column) -> Cell:
    if row is None:
        return ABSENT
    value, half = row.estimate.value * column.scale, row.estimate.half_width
    shown = f"{value:.{column.decimals}f}"
    return Cell(shown, "" if half is None else f"{half * column.scale:.{column.decimals}f}")
