"""The table of a scenario of a suite: a line per point and discipline, with the columns that the plan names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from aqmlab.results import Result
from aqmlab.results.measures import Measure, values
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate
from aqmlab.suites.plan import OVER
from aqmlab.suites.run import Part
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.scopes import of_group

# What is shown of a phase: series of the first measured port.
OF_PHASES = ("goodput_mbit", "qdelay_ms")


@dataclass(frozen=True)
class Line:
    """The point (empty unless something is swept), the discipline, and a value per column, if there is one."""

    point: str
    aqm: str
    cells: tuple[Estimate | None, ...]


@dataclass(frozen=True)
class Grid:
    """Headings with their units, factors to them and digits; and lines."""

    heads: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    formats: tuple[tuple[float, int], ...]

    def text(self, column: int, estimate: Estimate | None) -> tuple[str, str]:
        """Return a value, and half its interval, as texts."""
        if estimate is None:
            return "-", ""
        scale, digits = self.formats[column]
        half = estimate.half_width
        return f"{estimate.value * scale:.{digits}f}", "" if half is None else f"{half * scale:.{digits}f}"


def table(part: Part) -> Grid:
    """Return the table of a scenario."""
    result = part.shown
    rows = {(row.point, row.aqm, row.metric): row.estimate for row in result.shown_rows}
    lines = []
    for number, point in enumerate(result.points):
        for aqm in result.aqms:
            cells = tuple(
                _ratio(result, number, aqm, column) if OVER in column else rows.get((number, aqm, column))
                for column in part.entry.columns
            )
            lines.append(Line(_name(point), aqm, cells))
    return Grid(
        tuple(_head(column) for column in part.entry.columns),
        tuple(lines),
        tuple(_format(column) for column in part.entry.columns),
    )


def phases(part: Part) -> Grid | None:
    """Return goodput and queue delay by phase, if the scenario has phases."""
    if not part.entry.phases:
        return None
    points = part.shown.points
    shown = tuple(
        Line(", ".join(filter(None, (phase, _name(points[number])))), aqm, cells)
        for phase, number, aqm, cells in by_phase(part)
    )
    group = part.entry.phases_of
    return Grid(
        ((f"Goodput of {group}" if group else "Goodput", "Mbit/s"), ("Queue delay", "mean, ms")),
        shown,
        ((1.0, 2), (1.0, 1)),
    )


def of_phases(part: Part) -> tuple[str, ...]:
    """Return the series that are shown of phases."""
    group = part.entry.phases_of
    return tuple(of_group(group).metric(name) if group and name == "goodput_mbit" else name for name in OF_PHASES)


def by_phase(part: Part) -> Iterator[tuple[str, int, str, tuple[Estimate | None, ...]]]:
    """Yield phase, point, what is compared, and the means of `OF_PHASES`, unless the quick form ends before."""
    result = part.shown
    for phase, (since_s, until_s) in part.entry.phases.items():
        for number, aqm in itertools.product(range(len(result.points)), result.aqms):
            cells = tuple(_mean(result, Measure(name, "", since_s, until_s), aqm, number) for name in of_phases(part))
            if any(cell is not None for cell in cells):
                yield phase, number, aqm, cells


def _mean(result: Result, measure: Measure, aqm: str, point: int) -> Estimate | None:
    found = values(result, measure, aqm, point)
    return statistics.mean(list(found.values())) if found else None


def _ratio(result: Result, point: int, aqm: str, column: str) -> Estimate | None:
    over, under = column.split(OVER)
    if not {over, under} <= set(result.runs.columns):
        return None
    runs = result.runs.filter((pl.col("point") == point) & (pl.col("aqm") == aqm)).drop_nulls([over, under])
    ratios = [a / b for a, b in runs.select(over, under).iter_rows() if b]
    return statistics.mean(ratios) if ratios else None


def _name(point: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in point.items())


def _head(column: str) -> tuple[str, str]:
    if OVER in column:
        names = [metrics.split(name) for name in column.split(OVER)]
        over, under = (prefix.partition(".")[2].removesuffix(".") or "all" for prefix, _ in names)
        return f"{metrics.find(names[0][1]).label}, {over} / {under}", ""
    metric = metrics.find(column)
    return metric.label, "%" if metric.is_share else metric.unit


def _format(column: str) -> tuple[float, int]:
    if OVER in column:
        return 1.0, 2
    if metrics.find(column).is_share:
        return 100.0, 2
    return 1.0, min(metrics.find(column).decimals, 2)
