"""The table that answers first: at most six metrics, each value marked where it differs from the first AQM."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.results.differences import Comparison, in_unit
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
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from aqmlab.results.result import Result

MOST_COLUMNS = 6
# With fewer a t-test among many finds little.
FEW_SEEDS = 5
DIFFERS, ALIKE = "*", "≈"
# What a table shows if there is room, the first first: what is asked, what users notice, and the rest.
FIRST = (
    *("qdelay_mean_ms", "goodput_mbit", "qdelay_p99_ms"),
    *("mos_mean", "page_load_mean_s", "video_stall_s", "rpc_latency_mean_ms", "ping_mean_ms", "fct_mean_s"),
    *("loss_ratio", "jain_index", "qdelay_p50_ms", "slowdown_mean", "marks", "utilization"),
)
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
    every = cells(result.aqms, rows, list(known.values()))
    full = {column.metric for column in filled(list(known.values()), every)}
    chosen = [name for name in FIRST if name in full and _says(name, full, every)][:MOST_COLUMNS]
    columns = [column for name, column in known.items() if name in chosen]
    own = {(one.aqm, one.metric): one for one in result.comparisons if one.point == point}
    lines = {
        aqm: [(every[aqm,][column.metric].value, mark_of(own.get((aqm, column.metric)))) for column in columns]
        for aqm in result.aqms
    }
    return Brief(columns, lines, list(_notes(result, columns, list(own.values()))))


def _says(name: str, full: AbstractSet[str], lines: Lines) -> bool:
    """Whether a column is worth its room: marks where there are any, and the utilization where it is no goodput."""
    if name == "utilization":
        return "goodput_mbit" not in full
    return name != "marks" or any(found[name].value not in ("0", ABSENT.value) for found in lines.values())


def mark_of(one: Comparison | None) -> str:
    """Return the mark of a value by its difference from the first AQM; none where nothing was tested."""
    if one is None or one.difference.p_value is None:
        return ""
    return DIFFERS if one.difference.is_distinguishable else ALIKE


def _notes(result: Result, columns: Sequence[Column], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield what the marks mean, and within what the differences are known."""
    if len(result.seeds) < 2:
        yield "One seed: nothing is known about chance, so nothing is marked."
        return
    tested = [one for one in comparisons if one.difference.p_value is not None]
    if not tested:
        return
    references = list(dict.fromkeys(one.reference for one in tested))
    first = references[0] if len(references) == 1 else "its own in the first engine"
    percentiles = any(metrics.find(column.metric).is_percentile for column in columns)
    untested = "; percentiles untested" if percentiles else ""
    yield f"{DIFFERS} differs from {first} beyond chance, {ALIKE} no clear difference{untested}."
    bounds = [text for column in columns if (text := _bound(column, tested))]
    if bounds:
        yield f"95 % intervals: {', '.join(bounds)} (of the differences, all together)."
    if len(result.seeds) < FEW_SEEDS:
        yield f"{len(result.seeds)} seeds show only what is obvious; the same with --seeds 10 adds to them."


def _bound(column: Column, tested: Sequence[Comparison]) -> str:
    """How far from its difference an end of any interval of a column lies, with its unit."""
    reach = 0.0
    for one in tested:
        estimate = one.difference.estimate
        if one.metric == column.metric and estimate.low is not None and estimate.high is not None:
            reach = max(reach, estimate.value - estimate.low, estimate.high - estimate.value)
    if reach <= 0.0:
        return ""
    metric = metrics.find(column.metric)
    scale = 100.0 if metric.is_share else column.scale
    unit = in_unit(metric)(0.0).partition(" ")[2] if metric.is_share else column.unit.rpartition(", ")[2]
    # Rounded up, so that it holds.
    digits = -math.floor(math.log10(reach * scale))
    value = math.ceil(reach * scale * 10.0**digits) / 10.0**digits
    title = column.title if column.title[:2].isupper() or column.title == "Jain index" else column.title.lower()
    text = f"{title} ±{value:.{max(digits, 0)}f}"
    return f"{text} {unit}" if metric.unit or metric.is_share else text


__all__ = ["ALIKE", "DIFFERS", "Brief", "brief", "mark_of"]
