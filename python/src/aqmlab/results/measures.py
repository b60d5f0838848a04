"""Measures of a run, as data, and their values by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from aqmlab.results import Result
from aqmlab.vocabulary.names import plain

HOW = ("mean", "min", "max", "last", "deviation", "variation", "sum")


@dataclass(frozen=True)
class Measure:
    """A measure of a run: a metric or, between two times, a series.

    ``how`` reduces a series: mean, min, max, last, deviation, variation (deviation over mean), sum. The value is
    divided by ``over``. With ``period_s`` the samples are first averaged over periods of this length.
    """

    of: str
    scenario: str
    since_s: float | None = None
    until_s: float | None = None
    how: str = "mean"
    over: str = ""
    point: tuple[tuple[str, str], ...] = ()
    period_s: float | None = None

    @property
    def is_series(self) -> bool:
        """Whether it comes from a time series."""
        return self.since_s is not None or self.until_s is not None or self.how != "mean" or bool(self.over)


def in_periods(rows: pl.DataFrame, period_s: float) -> pl.DataFrame:
    """Average the samples of a series (seed, time_s, value) over periods, each at the time of its end.

    A sample covers the period that it ends.

    >>> rows = pl.DataFrame({"seed": [1] * 4, "time_s": [0.5, 1.0, 1.5, 2.0], "value": [1.0, 3.0, 5.0, 7.0]})
    >>> in_periods(rows, 1.0).rows()
    [(1, 1.0, 2.0), (1, 2.0, 6.0)]

    """
    end = ((pl.col("time_s") - 1e-9) / period_s).floor() * period_s + period_s
    ended = rows.drop_nulls("value").with_columns(end.alias("time_s"))
    return ended.group_by("seed", "time_s", maintain_order=True).agg(pl.col("value").mean())


def label_of(result: Result, aqm: str) -> str | None:
    """Return a result's label for an AQM that a claim names by its discipline, or by that and its preset.

    ``None`` unless there is one. An empty name stands for the only AQM of the result.
    """
    wanted = plain(aqm)
    entries = result.scenarios[0]["aqm"]
    if not aqm:
        return str(entries[0]["label"]) if len(entries) == 1 else None
    exact = [str(entry["label"]) for entry in entries if entry["label"] == aqm]
    first = [str(entry["label"]) for entry in entries if plain(str(entry["label"]).split()[0]) == wanted]
    named = [str(entry["label"]) for entry in entries if plain(entry["name"]) == wanted]
    found = exact or (first if ":" in wanted else named)
    return found[0] if len(found) == 1 else None


def points_of(result: Result, measure: Measure) -> list[int]:
    """Return the points of a sweep that match the measure's point."""
    wanted = dict(measure.point)
    return [
        number
        for number, point in enumerate(result.points)
        if all(point.get(key) == value for key, value in wanted.items())
    ]


def values(result: Result, measure: Measure, aqm: str, point: int) -> Mapping[int, float]:
    """Return the value of every seed; empty if the AQM, metric or series is missing, or a run has no value.

    Runs without a value (a share of nothing) are not left out: that would select among the seeds.
    """
    label = label_of(result, aqm)
    if label is None:
        return {}
    here = (pl.col("point") == point) & (pl.col("aqm") == label)
    found = _of_series(result, here, measure) if measure.is_series else _of_runs(result, here, measure)
    present = {seed: value for seed, value in found.items() if value is not None and math.isfinite(value)}
    return present if set(present) == set(result.runs.filter(here)["seed"]) else {}


def _of_runs(result: Result, here: pl.Expr, measure: Measure) -> dict[int, float | None]:
    if measure.of not in result.runs.columns:
        return {}
    return dict(result.runs.filter(here).select("seed", measure.of).iter_rows())


def _of_series(result: Result, here: pl.Expr, measure: Measure) -> dict[int, float | None]:
    own = _series(result, here, measure, measure.of)
    if not measure.over:
        return own
    others = _series(result, here, measure, measure.over)
    pairs = {seed: (value, others.get(seed)) for seed, value in own.items()}
    return {seed: value / base if value is not None and base else None for seed, (value, base) in pairs.items()}


def _series(result: Result, here: pl.Expr, measure: Measure, name: str) -> dict[int, float | None]:
    since = -1.0 if measure.since_s is None else measure.since_s
    until = float("inf") if measure.until_s is None else measure.until_s
    time_s = pl.col("time_s")
    # A sample covers the period that it ends.
    within = (pl.col("name") == name) & (time_s > since) & (time_s <= until + 1e-9)
    value = pl.col("value")
    summed = {
        "mean": value.mean(),
        "min": value.min(),
        "max": value.max(),
        "last": value.last(),
        "deviation": value.std(),
        "variation": value.std() / value.mean(),
        "sum": value.sum(),
    }[measure.how]
    rows = result.series.filter(here & within).drop_nulls("value").select("seed", "time_s", "value")
    if measure.period_s:
        rows = in_periods(rows, measure.period_s)
    return dict(rows.group_by("seed", maintain_order=True).agg(summed).iter_rows())
