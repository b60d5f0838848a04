"""The summary of runs: metrics with intervals over the seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    known = [(name, metrics.find(name)) for name in frames.metrics]
    for point in points:
        for aqm in aqms:
            runs = every["runs"].get((point, aqm))
            if runs is None:
                continue
            histograms, flows = every["histograms"].get((point, aqm)), every["flows"].get((point, aqm))
            # Lists: a frame asked for each of a hundred metrics takes longer than all statistics.
            columns = runs.to_dict(as_series=False)
            pooled = _Pool(histograms, flows, columns["seed"])
            for name, metric in known:
                values = [value for value in columns[name] if value is not None]
                if values:
                    rows.append(replace(_row(point, aqm, metric, values, pooled), runs=len(runs)))
    return rows


def _parts(frame: pl.DataFrame) -> dict[tuple[object, ...], pl.DataFrame]:
    """Return the rows of each scenario and AQM."""
    return frame.partition_by("point", "aqm", as_dict=True, maintain_order=True)


class _Pool:
    """Histograms of one AQM, one row per run, combined when first needed."""

    def __init__(self, histograms: pl.DataFrame | None, flows: pl.DataFrame | None, seeds: Sequence[int]) -> None:
        self._histograms = histograms
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
        elif self._histograms is None:
            return None
        else:
            rows = self._histograms.filter(pl.col("name") == name)
            values, weights = rows["value_ns"].to_numpy() / NANOS_PER_MS, rows["count"].to_numpy()
        if not len(rows):
            return None
        buckets, columns = np.unique(values, return_inverse=True)
        counts = np.zeros((len(self._seeds), len(buckets)))
        places = np.array([self._seeds[seed] for seed in rows["seed"].to_list()])
        np.add.at(counts, (places, columns), weights)
        return counts, buckets


def _row(point: int, aqm: str, metric: Metric, values: Sequence[float], pool: _Pool) -> Row:
    if metric.is_percentile:
        merged = pool.get(metric.histogram)
        if merged is not None:
            counts, values_ms = merged
            ms = MS_PER_SECOND if metric.unit == "s" else 1.0
            is_exact = metrics.split(metric.histogram)[1] in metrics.OF_FLOWS

            def half_bucket(value: float) -> float:
                return 0.0 if is_exact else bucket_width_ns(round(value * ms * NANOS_PER_MS)) / 2 / NANOS_PER_MS / ms

            estimate = statistics.percentile(counts, values_ms / ms, metric.quantile, half_bucket)
            return Row(point, aqm, metric.name, "percentile of all runs, Woodruff", estimate)
    return Row(point, aqm, metric.name, "mean of the runs, Student-t", statistics.mean(values))


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
