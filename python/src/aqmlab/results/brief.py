"""The table that answers first: at most six metrics, each value marked where it differs from the first AQM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.results import directions, full_ports
from aqmlab.results.marks import mark_of
from aqmlab.results.metric_tables import (
    ABSENT,
    APPLICATION_COLUMNS,
    COLUMNS,
    FLOW_COLUMNS,
    PING_COLUMNS,
    Column,
    Lines,
    cells,
    filled,
    in_units,
)
from aqmlab.results.notes import notes

if TYPE_CHECKING:
    from aqmlab.results.result import Result

MOST_COLUMNS = 6
# What a table shows if there is room, the first first: what is asked, what users notice, and the rest.
FIRST = (
    *("qdelay_mean_ms", "goodput_mbit", "qdelay_p99_ms"),
    *("mos_mean", "page_load_mean_s", "video_stall_s", "rpc_latency_mean_ms", "ping_mean_ms", "fct_mean_s"),
    *("loss_ratio", "jain_index", "qdelay_p50_ms", "slowdown_mean", "marks", "utilization"),
)
# What a table with several ports has no room for.
LEFT = ("qdelay_p50_ms", "qdelay_p99_ms")
# How they stand.
_ORDER = (*COLUMNS[2:5], COLUMNS[0], COLUMNS[1], *COLUMNS[5:], *PING_COLUMNS, *FLOW_COLUMNS, *APPLICATION_COLUMNS)


@dataclass(frozen=True)
class Brief:
    """The table of a scenario: per AQM a value and a mark for each column, and how far the differences are known."""

    columns: Sequence[Column]
    lines: Mapping[str, Sequence[tuple[str, str]]]
    notes: Sequence[str]


def brief(result: Result, point: int = 0) -> Brief:
    """Return the short table of a scenario."""
    rows = [row for row in result.shown_rows if row.point == point]
    known = {column.metric: column for column in in_units(_ORDER, result.shown_rows)}
    first: Sequence[str] = FIRST
    if directions.few(result.scenarios[point]):
        known = _of_directions(result, point, known)
        delays = [name for name in known if name.endswith(directions.DELAY)]
        place = FIRST.index("mos_mean") + 1
        asked = (*delays, *FIRST[:place], directions.BACK, *FIRST[place:])
        loss = next((name for name in known if name.endswith(directions.LOSS)), directions.LOSS)
        first = list(dict.fromkeys(loss if name == directions.LOSS else name for name in asked))
    every = cells(result.aqms, rows, list(known.values()))
    full = {column.metric for column in filled(list(known.values()), every)}
    chosen = [name for name in first if name in full and _says(name, full, every)][:MOST_COLUMNS]
    columns = [column for name, column in known.items() if name in chosen]
    own = {(one.aqm, one.metric): one for one in result.comparisons if one.point == point}
    differences = {place: one.difference for place, one in own.items()}
    lines = {
        aqm: [(every[aqm,][column.metric].value, mark_of(differences.get((aqm, column.metric)))) for column in columns]
        for aqm in result.aqms
    }
    marks = {mark for cells_of in lines.values() for _, mark in cells_of}
    return Brief(columns, lines, notes(result, columns, list(own.values()), marks))


def _of_directions(result: Result, point: int, known: Mapping[str, Column]) -> dict[str, Column]:
    """Return the columns with the mean delay of each direction, and the loss where packets wait longest."""
    scenario = result.scenarios[point]
    delays = directions.delay_columns(scenario, known[directions.DELAY])
    rest = [one for name, one in known.items() if name not in (directions.DELAY, *LEFT)]
    rest = [full_ports.with_loss_at_fullest(result, point, one) for one in directions.at_first(scenario, rest)]
    return {one.metric: one for one in (*delays, *rest)}


def _says(name: str, full: AbstractSet[str], lines: Lines) -> bool:
    """Whether a column is worth its room: marks where there are any, and the utilization where it is no goodput."""
    if name == "utilization":
        return "goodput_mbit" not in full
    return name != "marks" or any(found[name].value not in ("0", ABSENT.value) for found in lines.values())


__all__ = ["Brief", "brief"]
