"""The table of a comparison: its metrics, their units and digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aqmlab.metrics import split
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
    """A value as text, with half its 95 % interval if there is one."""

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
# Columns of each group of flows, if there are several.
GROUP_COLUMNS = (
    COLUMNS[0],
    *COLUMNS[2:3],
    *COLUMNS[4:6],
    Column("fct_mean_s", "Completion", "mean, s", 1.0, 2),
    Column("fct_p99_s", "Completion", "99 %, s", 1.0, 2),
    COLUMNS[-1],
)
# Columns of each measured port, if there are several: the time to drain a full buffer shows bufferbloat.
PORT_COLUMNS = (
    Column("buffer", "Buffer", "limit", 1.0, 0),
    Column("buffer_ms", "Buffer", "ms, full", 1.0, 0),
    *COLUMNS[2:3],
    *COLUMNS[4:7],
)
# Columns for the users of applications, if there are any.
APPLICATION_COLUMNS = (
    Column("mos_mean", "MOS", "there", 1.0, 2),
    Column("mos_back_mean", "MOS", "back", 1.0, 2),
    Column("page_load_mean_s", "Page load", "mean, s", 1.0, 2),
    Column("pages_completed", "Pages", "completed", 1.0, 1),
    Column("pages_requested", "Pages", "requested", 1.0, 1),
    Column("video_stalls", "Video", "stalls", 1.0, 1),
    Column("video_stall_s", "Video", "stalled, s", 1.0, 2),
    Column("rpc_latency_mean_ms", "RPC latency", "mean, ms", 1.0, 1),
    Column("rpc_latency_p99_ms", "RPC latency", "99 %, ms", 1.0, 1),
)
ABSENT = Cell("-", "")


# The cells of a table: the head of a line (AQM, or group of flows and AQM), then metric.
Lines: TypeAlias = Mapping[tuple[str, ...], Mapping[str, Cell]]


def cells(aqms: Sequence[str], rows: Sequence[Row]) -> Lines:
    """Return the lines of one scenario, one per AQM; each has every column."""
    return {(aqm,): line([row for row in rows if row.aqm == aqm], "", COLUMNS) for aqm in aqms}


def application_cells(aqms: Sequence[str], rows: Sequence[Row]) -> Lines:
    """Return the metrics of applications, one line per AQM; none if there are no applications."""
    lines: Lines = {(aqm,): line([row for row in rows if row.aqm == aqm], "", APPLICATION_COLUMNS) for aqm in aqms}
    return lines if filled(APPLICATION_COLUMNS, lines) else {}


def group_cells(aqms: Sequence[str], rows: Sequence[Row]) -> Lines:
    """Return the lines of one scenario, one per group of flows and AQM; none if there is only one group."""
    prefixes = dict.fromkeys(prefix for prefix, _ in (split(row.metric) for row in rows) if prefix.startswith("class."))
    if len(prefixes) < 2:
        return {}
    return {
        (prefix.removeprefix("class.").removesuffix("."), aqm): line(
            [row for row in rows if row.aqm == aqm], prefix, GROUP_COLUMNS
        )
        for prefix in prefixes
        for aqm in aqms
    }


def filled(columns: Sequence[Column], lines: Lines) -> list[Column]:
    """Return the columns that have a value in some line."""
    return [column for column in columns if any(line[column.metric] != ABSENT for line in lines.values())]


def line(rows: Sequence[Row], prefix: str, columns: Sequence[Column]) -> dict[str, Cell]:
    """Return the cells of one AQM's rows, for metrics with this prefix."""
    by_metric = {row.metric: row for row in rows}
    return {column.metric: _cell(by_metric.get(f"{prefix}{column.metric}"), column) for column in columns}


def _cell(row: Row | None, column: Column) -> Cell:
    if row is None:
        return ABSENT
    value, half = row.estimate.value * column.scale, row.estimate.half_width
    shown = f"{value:.{column.decimals}f}"
    return Cell(shown, "" if half is None else f"{half * column.scale:.{column.decimals}f}")
