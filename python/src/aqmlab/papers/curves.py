"""The curves and bars of a panel as a table: one row per AQM, group and position on the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from aqmlab.papers.discipline_names import labels_by_discipline
from aqmlab.papers.figure_specs import Panel
from aqmlab.results import Result, measures
from aqmlab.results.measures import Measure
from aqmlab.stats import statistics
from aqmlab.vocabulary.names import plain
from aqmlab.vocabulary.scopes import of_group

_SCHEMA = {
    "panel": pl.String,
    "aqm": pl.String,
    "group": pl.String,
    "x": pl.Float64,
    "at": pl.String,
    "mean": pl.Float64,
    "ci95_low": pl.Float64,
    "ci95_high": pl.Float64,
}
MEAN = list(_SCHEMA).index("mean")


def table(panel: Panel, result: Result | None) -> pl.DataFrame:
    """Return the table of a panel; some studies need no result."""
    rows = _rows(panel, result)
    largest = max((row[MEAN] for row in rows), default=0.0) if panel.normalised else 0.0
    scaled = [pl.col(name) * (1.0 / largest if largest else panel.scale) for name in ("mean", "ci95_low", "ci95_high")]
    return pl.DataFrame(rows, _SCHEMA, orient="row").with_columns(scaled)


def aqms(panel: Panel, result: Result | None) -> list[str]:
    """Return the short names of the AQMs (or sketches) that a panel shows: disciplines where they are unique."""
    if panel.study and panel.study.labels:
        return panel.study.labels(panel.of)
    return [] if result is None else [line.name for line in _lines(panel, result)]


@dataclass(frozen=True)
class _Line:
    """A line or bar of a panel: what it is called, its AQM's label, and its points of the sweep with their names."""

    name: str
    label: str
    points: dict[int, str]

    @property
    def first(self) -> int:
        """The point that is shown where a panel shows one."""
        return next(iter(self.points), 0)


def _lines(panel: Panel, result: Result) -> list[_Line]:
    wanted = [plain(aqm) for aqm in panel.aqms]
    called = labels_by_discipline(result)
    if not panel.lines:
        points = {place: ", ".join(point.values()) for place, point in enumerate(result.points)}
        # In the order asked for: the same place has the same colour in every figure.
        names = [name for name in wanted if name in called] if wanted else list(called)
        return [_Line(name, called[name], points) for name in names]
    lines: dict[str, dict[int, str]] = {}
    for place, point in enumerate(result.points):
        others = ", ".join(value for key, value in point.items() if key != panel.lines)
        lines.setdefault(point.get(panel.lines, ""), {})[place] = others
    only = next(iter(called.values()))
    return [_Line(name, only, points) for name, points in lines.items() if not wanted or plain(name) in wanted]


def _rows(panel: Panel, result: Result | None) -> list[tuple[Any, ...]]:
    if panel.study:
        called = labels_by_discipline(result) if result else {}
        names = aqms(panel, result)
        labels = [called[name] for name in names if name in called]
        measured = panel.study.rows(result, names, labels, panel.of, panel.at)
        return [(panel.title, row[0], "", *row[1:]) for row in measured]
    if result is None:
        return []
    made = {"time": _time, "periods": _periods, "seeds": _seeds, "bars": _bars, "sweep": _sweep, "groups": _sweep}
    make = made[panel.kind]
    return [
        (panel.title, line.name, group, *row)
        for line in _lines(panel, result)
        for group in panel.classes or ("",)
        for row in make(panel, result, line, of_group(group).metric(panel.of) if group else panel.of)
    ]


def _series(panel: Panel, result: Result, line: _Line, name: str) -> pl.DataFrame:
    """Return a series, one column per seed."""
    here = (pl.col("point") == line.first) & (pl.col("aqm") == line.label)
    rows = result.series.filter(here & (pl.col("name") == name))
    if panel.seed is not None:
        rows = rows.filter(pl.col("seed") == panel.seed)
    if panel.until_s is not None:
        rows = rows.filter(pl.col("time_s") <= panel.until_s)
    rows = rows.select("seed", "time_s", "value")
    if panel.cumulative:
        rows = rows.with_columns(pl.col("value").fill_null(0.0).cum_sum().over("seed"))
    if panel.running:
        rows = rows.drop_nulls().with_columns((pl.col("value").cum_sum() / (pl.col("value").cum_count())).over("seed"))
    return rows


def _over_seeds(rows: pl.DataFrame, by: str) -> list[tuple[float, str, float, float, float]]:
    """Return mean and interval over the seeds for each value of a column."""
    value = pl.col("value")
    groups = rows.drop_nulls().group_by(by, maintain_order=True)
    found = groups.agg(value.mean().alias("mean"), value.std().alias("deviation"), value.count().alias("n")).sort(by)
    answer = []
    for x, mean, deviation, n in found.iter_rows():
        half = (deviation or 0.0) * (statistics.t_factor(n) or 0.0)
        answer.append((float(x), "", mean, mean - half, mean + half))
    return answer


def _time(panel: Panel, result: Result, line: _Line, name: str) -> list[Any]:
    rows = _series(panel, result, line, name)
    return _over_seeds(measures.in_periods(rows, panel.period_s) if panel.period_s else rows, "time_s")


def _periods(panel: Panel, result: Result, line: _Line, name: str) -> list[Any]:
    return _over_seeds(measures.in_periods(_series(panel, result, line, name), panel.period_s), "time_s")


def _seeds(panel: Panel, result: Result, line: _Line, name: str) -> list[Any]:
    del panel
    runs = result.runs.filter((pl.col("point") == line.first) & (pl.col("aqm") == line.label))
    return [
        (float(seed), "", value, value, value) for seed, value in runs.select("seed", name).drop_nulls().iter_rows()
    ]


def _bars(panel: Panel, result: Result, line: _Line, name: str) -> list[Any]:
    if not panel.how:
        return [row for row in _sweep(panel, result, line, name) if row[0] == 0.0]
    measure = Measure(
        name, panel.scenario, panel.since_s, panel.until_s, panel.how, panel.over, (), panel.period_s or None
    )
    values = list(measures.values(result, measure, line.label, line.first).values())
    return [(0.0, "", *_ends(values))] if values else []


def _sweep(panel: Panel, result: Result, line: _Line, name: str) -> list[Any]:
    answer: list[Any] = []
    if name not in result.runs.columns:
        return answer
    value = pl.col(name) / pl.col(panel.over) if panel.over else pl.col(name)
    for place, (point, at) in enumerate(line.points.items()):
        runs = result.runs.filter((pl.col("point") == point) & (pl.col("aqm") == line.label))
        values = runs.select(value.alias("value"))["value"].drop_nulls().to_list()
        if values:
            answer.append((float(place), at, *_ends(values)))
    return answer


def _ends(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the ends of its interval."""
    one = statistics.mean(values)
    return one.value, one.value if one.low is None else one.low, one.value if one.high is None else one.high
