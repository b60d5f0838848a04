"""A sweep as a heat map: for each metric a value of every setting and AQM, and how bad it is among all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from aqmlab.results import full_ports
from aqmlab.results.headline import percent
from aqmlab.results.marks import mark_of
from aqmlab.results.metric_tables import COLUMNS, Column, cells, in_units
from aqmlab.results.notes import notes
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from aqmlab.results.result import Result

Values: TypeAlias = Mapping[tuple[int, str], float]
# What a heat map shows, in order.
SHOWN = ("qdelay_mean_ms", "goodput_mbit")
# The scale of a delay is logarithmic where the largest value is this many times the smallest.
WIDE = 10.0
# A setting limits its goodput, so each is compared with the best of its setting. The darkest is this much below it, or
# as much as the worst of all settings.
LEAST_SHARE = 0.05


@dataclass(frozen=True)
class HeatCell:
    """A value as text, its mark against the first AQM, and where it lies from 0 (best) to 1 (worst)."""

    text: str
    mark: str
    heat: float


@dataclass(frozen=True)
class HeatMap:
    """A metric of every setting (rows) and AQM; ``scale`` says what the lightest and the darkest stand for."""

    column: Column
    rows: Sequence[Mapping[str, HeatCell]]
    scale: str


def heat_notes(result: Result, maps: Sequence[HeatMap]) -> list[str]:
    """Return the lines under the maps of a sweep, the last about its shades."""
    shown = {one.column.metric for one in maps}
    marks = {cell.mark for one in maps for row in one.rows for cell in row.values()}
    own = [one for one in result.comparisons if one.metric in shown]
    scales = ", ".join(f"{one.column.title.lower()} {one.scale}" for one in maps)
    return [*notes(result, [one.column for one in maps], own, marks), f"Darker is worse: {scales}."]


def heat_maps(result: Result) -> list[HeatMap]:
    """Return the maps of queue delay and goodput, those that any run has."""
    columns = [column for column in in_units(COLUMNS, result.shown_rows) if column.metric in SHOWN]
    columns.sort(key=lambda column: SHOWN.index(column.metric))
    columns = full_ports.columns_over_settings(result, columns)
    own = {(one.point, one.aqm, one.metric): one.difference for one in result.comparisons}
    tables = [
        cells(result.aqms, [row for row in result.shown_rows if row.point == point], columns)
        for point in range(len(result.points))
    ]
    found = []
    for column in columns:
        values = {(row.point, row.aqm): row.estimate.value for row in result.shown_rows if row.metric == column.metric}
        if not values:
            continue
        is_share = metrics.find(column.metric).better == "higher"
        heats = _below_best(values) if is_share else _along(values)
        rows = [
            {
                aqm: HeatCell(
                    tables[point][aqm,][column.metric].value,
                    mark_of(own.get((point, aqm, column.metric))),
                    heats.get((point, aqm), 0.0),
                )
                for aqm in result.aqms
            }
            for point in range(len(result.points))
        ]
        found.append(HeatMap(column, rows, _scale(column, values, is_share=is_share)))
    return found


def _along(values: Values) -> dict[tuple[int, str], float]:
    """Return where each value lies between the least and the largest of all settings.

    >>> list(_along({(0, "a"): 1.0, (0, "b"): 10.0, (1, "a"): 100.0}).values())
    [0.0, 0.5, 1.0]

    """
    low, high = min(values.values()), max(values.values())
    if high <= low:
        return dict.fromkeys(values, 0.0)
    if low > 0.0 and high / low >= WIDE:
        return {key: math.log(value / low) / math.log(high / low) for key, value in values.items()}
    return {key: (value - low) / (high - low) for key, value in values.items()}


def _below_best(values: Values) -> dict[tuple[int, str], float]:
    """Return by how much each value is below the best of its setting, as a share of the darkest.

    >>> list(_below_best({(0, "a"): 10.0, (0, "b"): 9.0, (1, "a"): 100.0, (1, "b"): 80.0}).values())
    [0.0, 0.5, 0.0, 1.0]

    """
    shares = _shares(values)
    darkest = max(LEAST_SHARE, *shares.values())
    return {key: share / darkest for key, share in shares.items()}


def _shares(values: Values) -> dict[tuple[int, str], float]:
    best: dict[int, float] = {}
    for (point, _), value in values.items():
        best[point] = max(best.get(point, value), value)
    return {key: 1.0 - value / best[key[0]] if best[key[0]] > 0.0 else 0.0 for key, value in values.items()}


def _scale(column: Column, values: Values, *, is_share: bool) -> str:
    if is_share:
        return f"best of its setting to {percent(max(LEAST_SHARE, *_shares(values).values()))} less"
    low, high = (f"{end * column.scale:.{column.decimals}f}" for end in (min(values.values()), max(values.values())))
    return f"{low} to {high}"


__all__ = ["HeatCell", "HeatMap", "heat_maps", "heat_notes"]
