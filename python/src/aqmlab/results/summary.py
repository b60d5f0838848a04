"""The summary of runs: metrics with intervals over the seeds."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from aqmlab._native import bucket_width_ns
from aqmlab.results.frames import Frames
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate, Reals
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.metrics import Metric
from aqmlab.vocabulary.scopes import Scope

MS_PER_SECOND = 1e3
NANOS_PER_MS = 1e6


@dataclass(frozen=True)
class Row:
    """One line of the summary; ``runs`` is how many runs there are, of which some may have no value."""

    point: int
    aqm: str
    metric: str
    method: str
    estimate: Estimate
    runs: int = 0


def summarise(frames: Frames, points: Sequence[int], aqms: Sequence[str]) -> list[Row]:
    """Return every metric of every AQM with its 95 % interval over the seeds."""
    rows = []
    every = {name: _parts(getattr(frames, name)) for name in ("runs", "histograms", "flows")}
    known = {name: metrics.find(name) for name in frames.metrics}
    for point in points:
        for aqm in aqms:
            runs = every["runs"].get((point, aqm))
            if runs is None:
                continue
            histograms, flows = every["histograms"].get((point, aqm)), every["flows"].get((point, aqm))
            # Lists: a frame asked for each of a hundred metrics takes longer than all statistics.
            columns = runs.to_dict(as_series=False)
            present = {name: [value for value in columns[name] if value is not None] for name in known}
            pooled = _Pool(histograms, flows, columns["seed"])
            found = _percentiles(known, present, pooled)
            plain = _means({name: values for name, values in present.items() if values and name not in found})
            for name in known:
                if name in found:
                    rows.append(Row(point, aqm, name, "percentile of all runs, Woodruff", found[name], len(runs)))
                elif name in plain:
                    rows.append(Row(point, aqm, name, "mean of the runs, Student-t", plain[name], len(runs)))
    return rows


def _parts(frame: pl.DataFrame) -> dict[tuple[object, ...], pl.DataFrame]:
    """Return the rows of each scenario and AQM."""
    return frame.partition_by("point", "aqm", as_dict=True, maintain_order=True)


class _Pool:
    """Histograms of one AQM, one row per run, combined when first needed."""

    def __init__(self, histograms: pl.DataFrame | None, flows: pl.DataFrame | None, seeds: Sequence[int]) -> None:
        # All at once: a frame filtered for each name takes longer than what is made of its rows.
        self._histograms = (
            {}
            if histograms is None
            else {name: rows for (name,), rows in histograms.partition_by("name", as_dict=True).items()}
        )
        self._flows = flows
        self._seeds = {seed: row for row, seed in enumerate(seeds)}
        self._ready: dict[str, tuple[Reals, Reals] | None] = {}

    def get(self, name: str) -> tuple[Reals, Reals] | None:
        """Return counts (runs x buckets) and values (ms), if there are any."""
        if name not in self._ready:
            self._ready[name] = self._build(name)
        return self._ready[name]

    def _build(self, name: str) -> tuple[Reals, Reals] | None:
        prefix, plain = metrics.split(name)
        if plain in metrics.OF_FLOWS:
            column, above, up_to = metrics.OF_FLOWS[plain]
            if self._flows is None or column not in self._flows.columns:
                return None
            rows = self._flows.drop_nulls(column)
            if above > 0 or up_to < math.inf:
                rows = rows.filter(pl.col("size_bytes").is_between(above, up_to, closed="right"))
            if group := Scope.of_prefix(prefix):
                rows = rows.filter(pl.col("group") == group.name)
            values, weights = rows[column].to_numpy(), np.ones(len(rows))
            if column.endswith("_s"):
                values = values * MS_PER_SECOND
        elif name not in self._histograms:
            return None
        else:
            rows = self._histograms[name]
            values, weights = rows["value_ns"].to_numpy() / NANOS_PER_MS, rows["count"].to_numpy()
        if not len(rows):
            return None
        buckets, columns = np.unique(values, return_inverse=True)
        counts = np.zeros((len(self._seeds), len(buckets)))
        places = np.array([self._seeds[seed] for seed in rows["seed"].to_list()])
        np.add.at(counts, (places, columns), weights)
        return counts, buckets


def _percentiles(
    known: Mapping[str, Metric], present: Mapping[str, Sequence[float]], pool: _Pool
) -> dict[str, Estimate]:
    """Return the percentiles that histograms tell."""
    found = {}
    for name, metric in known.items():
        if not metric.is_percentile or not present[name]:
            continue
        merged = pool.get(metric.histogram)
        if merged is not None:
            counts, values_ms = merged
            ms = MS_PER_SECOND if metric.unit == "s" else 1.0
            is_exact = metrics.split(metric.histogram)[1] in metrics.OF_FLOWS
            half_bucket = functools.partial(_half_bucket, ms=ms, is_exact=is_exact)
            found[name] = statistics.percentile(counts, values_ms / ms, metric.quantile, half_bucket)
    return found


def _half_bucket(value: float, ms: float, *, is_exact: bool) -> float:
    """Return half the width of the bucket of a value, in its unit, of which a millisecond is one ``ms``-th."""
    return 0.0 if is_exact else bucket_width_ns(round(value * ms * NANOS_PER_MS)) / 2 / NANOS_PER_MS / ms


def _means(present: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """Return the mean of each metric over the runs that have it: those that as many runs have at once."""
    found: dict[str, Estimate] = {}
    for size in {len(values) for values in present.values()}:
        alike = {name: values for name, values in present.items() if len(values) == size}
        found |= zip(alike, statistics.means(list(alike.values())), strict=True)
    return found


def table(rows: Sequence[Row], points: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    """Return the summary as a frame; swept values come first."""
    keys = list(points[0]) if points else []
    columns = {key: [points[row.point][key] for row in rows] for key in keys}
    return pl.DataFrame(
        {
            **columns,
            "aqm": pl.Series([row.aqm for row in rows], dtype=pl.String),
            "metric": pl.Series([row.metric for row in rows], dtype=pl.String),
            "mean": pl.Series([row.estimate.value for row in rows], dtype=pl.Float64),
            "ci95_low": pl.Series([row.estimate.low for row in rows], dtype=pl.Float64),
            "ci95_high": pl.Series([row.estimate.high for row in rows], dtype=pl.Float64),
            "n": pl.Series([row.estimate.n for row in rows], dtype=pl.UInt32),
            "runs": pl.Series([row.runs for row in rows], dtype=pl.UInt32),
            "method": pl.Series([row.method for row in rows], dtype=pl.String),
        }
    )
