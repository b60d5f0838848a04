"""The tables of a comparison: their metrics, units and digits.

A column has one unit in all tables of a result: the largest in which its largest value is at least 1 (columns of the
same title together). The metrics themselves keep theirs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from aqmlab.results.summary import Row
from aqmlab.vocabulary import units
from aqmlab.vocabulary.metrics import split
from aqmlab.vocabulary.scopes import Scope


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
    """A value as text, with half its 95 % interval if there is one, and which runs have a value if not all do."""

    value: str
    half: str
    runs: str = ""


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
# Columns of finite flows, if there are any.
FLOW_COLUMNS = (
    Column("completed_flows", "Flows", "completed", 1.0, 1),
    Column("started_flows", "Flows", "started", 1.0, 1),
    Column("fct_mean_s", "Completion", "mean, s", 1.0, 2),
    Column("fct_p99_s", "Completion", "99 %, s", 1.0, 2),
    Column("slowdown_mean", "Slowdown", "mean", 1.0, 2),
    Column("slowdown_p99", "Slowdown", "99 %", 1.0, 2),
    Column("slowdown_small_p99", "Slowdown", "to 100 kB, 99 %", 1.0, 2),
    Column("slowdown_medium_mean", "Slowdown", "to 10 MB, mean", 1.0, 2),
    Column("slowdown_large_mean", "Slowdown", "above, mean", 1.0, 2),
    Column("retransmissions", "Sent again", "packets", 1.0, 0),
)
# Columns of each group of flows, if there are several.
GROUP_COLUMNS = (
    COLUMNS[0],
    *COLUMNS[2:3],
    *COLUMNS[4:6],
    *FLOW_COLUMNS[:4],
    COLUMNS[-1],
)
# The same where several ports are measured, each of which groups cross or not: from one end to the other.
END_TO_END_COLUMNS = (
    COLUMNS[0],
    Column("owd_mean_ms", "One-way delay", "mean, ms", 1.0, 1),
    Column("owd_p99_ms", "One-way delay", "99 %, ms", 1.0, 1),
    Column("path_loss_ratio", "Loss on the path", "%", 100.0, 2),
    *GROUP_COLUMNS[4:],
)
# Columns of each measured port, if there are several: the time to drain a full buffer shows bufferbloat.
PORT_COLUMNS = (
    Column("buffer", "Buffer", "limit", 1.0, 0),
    Column("buffer_ms", "Buffer", "ms, full", 1.0, 0),
    *COLUMNS[1:7],
)
# Columns of a large sweep.
SWEEP_COLUMNS = (*COLUMNS, *FLOW_COLUMNS[4:6])
# Columns for the users of applications, if there are any.
APPLICATION_COLUMNS = (
    Column("mos_mean", "Call MOS", "callee", 1.0, 2),
    Column("mos_back_mean", "Call MOS", "caller", 1.0, 2),
    Column("page_load_mean_s", "Page load", "mean, s", 1.0, 2),
    Column("pages_completed", "Pages", "completed", 1.0, 1),
    Column("pages_requested", "Pages", "requested", 1.0, 1),
    Column("video_stalls", "Video", "stalls", 1.0, 1),
    Column("video_stall_s", "Video", "stalled, s", 1.0, 2),
    Column("rpc_latency_mean_ms", "RPC latency", "mean, ms", 1.0, 1),
    Column("rpc_latency_p99_ms", "RPC latency", "99 %, ms", 1.0, 1),
)
# Columns of each station of Wi-Fi, if there are any: what it gets of the air, and where its packets wait.
STATION_COLUMNS = (
    Column("airtime_share", "Air", "% of it", 100.0, 1),
    Column("delay_discipline_ms", "Delay", "AQM, ms", 1.0, 1),
    Column("delay_driver_ms", "Delay", "driver, ms", 1.0, 1),
    Column("delay_air_ms", "Delay", "air, ms", 1.0, 1),
    Column("aggregate_mean_packets", "Aggregate", "packets", 1.0, 1),
    Column("delay_reorder_ms", "Delay", "reorder, ms", 1.0, 1),
    Column("retry_ratio", "Sent again", "%", 100.0, 1),
    Column("collision_ratio", "Collisions", "%", 100.0, 1),
)
# Of the medium that they share.
MEDIUM_COLUMNS = (
    Column("busy_share", "Medium busy", "%", 100.0, 1),
    Column("airtime_jain", "Jain index", "of airtime", 1.0, 3),
)
# What a kernel's TCP counts, if one has run.
KERNEL_COLUMNS = (
    Column("kernel.segments", "Received", "segments", 1.0, 0),
    Column("kernel.acks", "ACKs", "all", 1.0, 0),
    Column("kernel.delayed_acks", "ACKs", "by timer", 1.0, 0),
    Column("kernel.recoveries", "Recoveries", "begun", 1.0, 1),
    Column("kernel.undone", "Recoveries", "undone", 1.0, 1),
    Column("kernel.timeouts", "Timeouts", "all", 1.0, 1),
    Column("kernel.spurious_timeouts", "Timeouts", "spurious", 1.0, 1),
    Column("kernel.probes", "Loss probes", "sent", 1.0, 1),
    Column("kernel.lost_again", "Sent again", "lost again", 1.0, 1),
    Column("kernel.reneging", "SACK", "reneging", 1.0, 1),
)
# Of pings beside the traffic, if there are any.
PING_COLUMNS = (
    Column("ping_mean_ms", "Ping", "mean, ms", 1.0, 1),
    Column("ping_p99_ms", "Ping", "99 %, ms", 1.0, 1),
    Column("pings_unanswered", "Pings lost", "mean", 1.0, 1),
)
ABSENT = Cell("-", "")


# The cells of a table: the head of a line (AQM, or group of flows and AQM), then metric.
Lines: TypeAlias = Mapping[tuple[str, ...], Mapping[str, Cell]]


def in_units(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    """Return the columns in the units that the values of all ``rows`` of a result need."""
    titles = {column.metric: column.title for column in columns}
    largest: dict[str, float] = {}
    for row in rows:
        title = titles.get(split(row.metric)[1])
        if title is not None:
            largest[title] = max(largest.get(title, 0.0), abs(row.estimate.value))
    return [_in_unit(column, largest.get(column.title, 0.0)) for column in columns]


def _in_unit(column: Column, largest: float) -> Column:
    how, comma, unit = column.unit.rpartition(", ")
    shown, scale, decimals = units.readable(unit, largest)
    if shown == unit:
        return column
    return replace(column, unit=f"{how}{comma}{shown}", scale=column.scale * scale, decimals=decimals)


def cells(aqms: Sequence[str], rows: Sequence[Row], columns: Sequence[Column] = COLUMNS) -> Lines:
    """Return the lines of one scenario, one per AQM; each has every column."""
    return {(aqm,): line([row for row in rows if row.aqm == aqm], "", columns) for aqm in aqms}


def flow_cells(aqms: Sequence[str], rows: Sequence[Row], columns: Sequence[Column] = FLOW_COLUMNS) -> Lines:
    """Return the metrics of finite flows, one line per AQM; none if there are no finite flows."""
    lines = cells(aqms, rows, columns)
    return lines if any(line["completed_flows"] != ABSENT for line in lines.values()) else {}


def occasional_cells(aqms: Sequence[str], rows: Sequence[Row], columns: Sequence[Column]) -> Lines:
    """Return metrics that few results have (of applications, of a kernel), one line per AQM; none without any."""
    lines = cells(aqms, rows, columns)
    return lines if filled(columns, lines) else {}


def group_cells(aqms: Sequence[str], rows: Sequence[Row], columns: Sequence[Column] = GROUP_COLUMNS) -> Lines:
    """Return the lines of one scenario, one per group of flows and AQM; none if there is only one group."""
    scopes = dict.fromkeys(Scope.of_prefix(split(row.metric)[0]) for row in rows)
    groups = [one for one in scopes if one and one.family == "class"]
    if len(groups) < 2:
        return {}
    return {
        (group.name, aqm): line([row for row in rows if row.aqm == aqm], group.prefix, columns)
        for group in groups
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
    estimate = row.estimate
    decimals = _decimals(column, estimate.resolution * column.scale)
    half = estimate.half_width
    value = _rounded(estimate.value * column.scale, decimals)
    runs = f"{estimate.n}/{row.runs} runs" if estimate.n < row.runs else ""
    return Cell(value, "" if half is None else _rounded(half * column.scale, decimals), runs)


def _decimals(column: Column, resolution: float) -> int:
    """Return how many decimals of a value are true; it may be off by ``resolution``. Negative: whole tens or hundreds.

    >>> _decimals(COLUMNS[4], 0.05), _decimals(COLUMNS[4], 16.8)
    (1, -1)

    """
    return column.decimals if resolution <= 0.0 else min(column.decimals, -math.floor(math.log10(2.0 * resolution)))


def _rounded(value: float, decimals: int) -> str:
    return f"{round(value, decimals):.{max(decimals, 0)}f}"
