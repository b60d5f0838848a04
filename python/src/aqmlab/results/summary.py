"""The summary of runs: metrics with intervals over the seeds."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from aqmlab._native import bucket_width_ns
from aqmlab.results.frames import Frames, contestants
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate, Reals
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.metrics import Metric
from aqmlab.vocabulary.scopes import Scope

MS_PER_SECOND = 1e3
NANOS_PER_MS = 1e6
# A scenario and an AQM.
_Key: TypeAlias = tuple[object, ...]
_Numbers: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


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
    known = {name: metrics.find(name) for name in frames.metrics}
    columns = frames.runs.select("seed", *known).to_dict(as_series=False)
    runs = contestants(frames.runs)
    histograms = _histograms(frames.histograms)
    flows = functools.cache(lambda: frames.flows.partition_by("point", "aqm", as_dict=True, maintain_order=True))
    for point in points:
        for aqm in aqms:
            own = runs.get((point, aqm), [])
            present = {name: [columns[name][row] for row in own if columns[name][row] is not None] for name in known}
            seeds = np.array([columns["seed"][row] for row in own], dtype=np.uint32)
            of_flows = functools.partial(_of, flows, (point, aqm))
            found = _percentiles(known, present, _Pool(histograms.get((point, aqm), {}), of_flows, seeds))
            plain = _means({name: values for name, values in present.items() if values and name not in found})
            for name in known:
                if name in found:
                    rows.append(Row(point, aqm, name, "percentile of all runs, Woodruff", found[name], len(own)))
                elif name in plain:
                    rows.append(Row(point, aqm, name, "mean of the runs, Student-t", plain[name], len(own)))
    return rows


def _of(parts: Callable[[], Mapping[_Key, pl.DataFrame]], key: _Key) -> pl.DataFrame | None:
    return parts().get(key)


def _histograms(frame: pl.DataFrame) -> dict[_Key, dict[str, _Histogram]]:
    """Return the histograms of each scenario and AQM, by name."""
    groups = frame.group_by("point", "aqm", "name", maintain_order=True).agg("seed", "value_ns", "count")
    ends = np.cumsum(groups["seed"].list.len().to_numpy())[:-1]
    columns = (np.split(groups[name].explode().to_numpy(), ends) for name in ("seed", "value_ns", "count"))
    found: dict[_Key, dict[str, _Histogram]] = {}
    for (*key, name), *own in zip(groups.select("point", "aqm", "name").rows(), *columns, strict=False):
        found.setdefault(tuple(key), {})[name] = _Histogram(*own)
    return found


@dataclass(frozen=True, eq=False)
class _Histogram:
    """A histogram of all runs of an AQM in a scenario: seed, middle and count of each bucket."""

    seeds: _Numbers
    values_ns: _Numbers
    counts: _Numbers


class _Pool:
    """Histograms of one AQM, one row per run, combined when first needed."""

    def __init__(
        self, histograms: Mapping[str, _Histogram], flows: Callable[[], pl.DataFrame | None], seeds: _Numbers
    ) -> None:
        self._histograms = histograms
        self._flows = flows
        self._order = np.argsort(seeds)
        self._seeds = seeds[self._order]
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
            rows = self._flows()
            if rows is None or column not in rows.columns:
                return None
            rows = rows.drop_nulls(column)
            if above > 0 or up_to < math.inf:
                rows = rows.filter(pl.col("size_bytes").is_between(above, up_to, closed="right"))
            if group := Scope.of_prefix(prefix):
                rows = rows.filter(pl.col("group") == group.name)
            seeds, values, weights = rows["seed"].to_numpy(), rows[column].to_numpy(), np.ones(len(rows))
            if column.endswith("_s"):
                values = values * MS_PER_SECOND
        elif name not in self._histograms:
            return None
        else:
            own = self._histograms[name]
            seeds, values, weights = own.seeds, own.values_ns / NANOS_PER_MS, own.counts
        if not len(values):
            return None
        buckets, columns = np.unique(values, return_inverse=True)
        places = self._order[np.searchsorted(self._seeds, seeds)] * len(buckets) + columns
        counts: Reals = np.asarray(np.bincount(places, weights, len(self._seeds) * len(buckets)), dtype=float)
        return counts.reshape(len(self._seeds), len(buckets)), buckets


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
