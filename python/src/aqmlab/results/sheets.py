"""All tables of a result, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.results.directions import at_first
from aqmlab.results.metric_tables import (
    ABSENT,
    APPLICATION_COLUMNS,
    COLUMNS,
    END_TO_END_COLUMNS,
    FLOW_COLUMNS,
    GROUP_COLUMNS,
    KERNEL_COLUMNS,
    MEDIUM_COLUMNS,
    PING_COLUMNS,
    PORT_COLUMNS,
    STATION_COLUMNS,
    Column,
    Lines,
    cells,
    filled,
    flow_cells,
    group_cells,
    in_units,
    occasional_cells,
)
from aqmlab.results.ports import port_cells
from aqmlab.results.stations import not_modelled, station_cells

if TYPE_CHECKING:
    from aqmlab.results.result import Result


# The head of the lines of the table of ports.
PORT = "Port"
GROUP_HEADS = ("Flows", "AQM")


@dataclass(frozen=True)
class Sheet:
    """A table: heads of its lines, columns with a value, and lines."""

    heads: Sequence[str]
    columns: Sequence[Column]
    lines: Lines


@dataclass(frozen=True)
class Sheets:
    """The tables of one scenario; those without lines are absent.

    ``stations`` are those of Wi-Fi, which follow all others, and ``not_modelled`` says what its model leaves out.
    """

    summary: Sheet
    more: Sequence[Sheet]
    stations: Sequence[Sheet] = ()
    not_modelled: str = ""


def sheets(result: Result) -> list[Sheets]:
    """Return the tables of every scenario, each column in one unit throughout."""
    columns, ports, flows, applications, pings, groups, ends, kernel, stations, medium = (
        in_units(columns, result.shown_rows)
        for columns in (
            COLUMNS,
            PORT_COLUMNS,
            FLOW_COLUMNS,
            APPLICATION_COLUMNS,
            PING_COLUMNS,
            GROUP_COLUMNS,
            END_TO_END_COLUMNS,
            KERNEL_COLUMNS,
            STATION_COLUMNS,
            MEDIUM_COLUMNS,
        )
    )
    found = []
    of_ports = in_units([one for one in COLUMNS if one in PORT_COLUMNS], result.shown_rows)
    for point in range(len(result.points)):
        rows = [row for row in result.shown_rows if row.point == point]
        at_ports = _sheet((PORT, "AQM"), ports, port_cells(result, point, ports))
        more = (
            at_ports,
            _sheet(("AQM",), flows, flow_cells(result.aqms, rows, flows)),
            _sheet(("AQM",), applications, occasional_cells(result.aqms, rows, applications)),
            _sheet(("AQM",), pings, occasional_cells(result.aqms, rows, pings)),
            _of_groups(result, point, groups, ends),
            _sheet(("AQM",), kernel, occasional_cells(result.aqms, rows, kernel)),
        )
        # What is of one port is in the table of ports, where there is one.
        of_all = [one for one in columns if not (at_ports and one in of_ports)]
        summary = cells(result.aqms, rows, of_all)
        of_stations = (
            _of_stations(stations, station_cells(result.aqms, rows, stations)),
            _sheet(("AQM",), medium, occasional_cells(result.aqms, rows, medium)),
        )
        found.append(
            Sheets(
                Sheet(("AQM",), filled(of_all, summary), summary),
                _present(more),
                _present(of_stations),
                not_modelled(rows),
            )
        )
    return found


def _present(found: Sequence[Sheet | None]) -> list[Sheet]:
    return [sheet for sheet in found if sheet is not None]


def _of_stations(columns: Sequence[Column], lines: Lines) -> Sheet | None:
    """Return the table of stations, without what never happened: without losses nothing waits to be put in order."""
    cells = {column.metric: [line[column.metric].value for line in lines.values()] for column in columns}
    return _sheet(("Station", "AQM"), [one for one in columns if any(map(_is_some, cells[one.metric]))], lines)


def _of_groups(result: Result, point: int, columns: Sequence[Column], ends: Sequence[Column]) -> Sheet | None:
    """Return the table of groups of flows. Of several ports a group may cross the first or not: `ends` tell.

    What runs elsewhere has no delay from end to end, and then says at which port.
    """
    rows = [row for row in result.shown_rows if row.point == point]
    if len(result.scenarios[point].get("ports") or ()) > 1:
        lines = group_cells(result.aqms, rows, ends)
        if ends[1] in filled(ends, lines):
            return _sheet(GROUP_HEADS, ends, lines)
        columns = at_first(result.scenarios[point], columns)
    return _sheet(GROUP_HEADS, columns, group_cells(result.aqms, rows, columns))


def _is_some(value: str) -> bool:
    return value != ABSENT.value and float(value) != 0.0


def _sheet(heads: Sequence[str], columns: Sequence[Column], lines: Lines) -> Sheet | None:
    return Sheet(heads, filled(columns, lines), lines) if lines else None
