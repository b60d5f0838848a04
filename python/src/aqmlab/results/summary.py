"""The summary of runs: metrics with intervals, and differences against the first AQM in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from aqmlab._native import bucket_width_ns
from aqmlab.results.frames import Frames
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Difference, Estimate, Reals
from aqmlab.vocabulary import metrics, units
from aqmlab.vocabulary.metrics import Metric
from aqmlab.vocabulary.names import engine_of

MS_PER_SECOND = 1e3
NANOS_PER_MS = 1e6
# What is less than this many of the last digit shown is written in a smaller unit.
LEAST_DIGITS = 10.0


@dataclass(frozen=True)
class Row:
    """One line of the summary; ``runs`` is how many runs there are, of which some may have no value."""

    point: int
    aqm: str
    metric: str
    method: str
    estimate: Estimate
    runs: int = 0


@dataclass(frozen=True)
class Comparison:
    """One difference between two AQMs; ``outlier`` is the seed that alone decides its verdict, if one does."""

    point: int
    aqm: str
    reference: str
    metric: str
    reference_value: float
    difference: Difference
    outlier: Outlier | None = None

    @property
    def words(self) -> str:
        """The difference in words."""
        return _words(metrics.find(self.metric), self)


@dataclass(frozen=True)
class Outlier:
    """The seed that moves a difference most, where the verdict without it is another: the difference without it."""

    seed: int
    without: Difference


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


def compare(
    frames: Frames, points: Sequence[int], aqms: Sequence[str], names: Sequence[str] = metrics.COMPARED
) -> list[Comparison]:
    """Return paired differences against the first AQM; of an AQM in several engines, against itself in the first.

    Holm's correction covers all differences of a scenario; in a sweep, all differences of a metric over the scenarios.
    """
    pairs = [(_reference(aqm, aqms), aqm) for aqm in aqms[1:]]
    return differences(frames, points, pairs, names, lambda one: one.metric if len(points) > 1 else "")


def _reference(aqm: str, aqms: Sequence[str]) -> str:
    """Return what an AQM is compared with."""
    discipline, engine = engine_of(aqm)
    same = [other for other in aqms if engine and engine_of(other)[0] == discipline]
    return same[0] if same and same[0] != aqm else aqms[0]


def differences(
    frames: Frames,
    points: Sequence[int],
    pairs: Sequence[tuple[str, str]],
    names: Sequence[str],
    family: Callable[[Comparison], str],
) -> list[Comparison]:
    """Return paired differences between AQMs (the reference first), Holm-corrected within each family."""
    found: list[tuple[Comparison, Outlier | None]] = []
    names = [name for name in names if name in frames.runs.columns]
    parts = {
        key: part.sort("seed").to_dict(as_series=False)
        for key, part in _parts(frames.runs.select("point", "aqm", "seed", *names)).items()
    }
    for point in points:
        for reference, aqm in pairs:
            first, other = parts.get((point, reference)), parts.get((point, aqm))
            if first is None or other is None:
                continue
            for name in names:
                seeds, base, values = _paired(first, other, name)
                if not seeds:
                    continue
                difference = statistics.paired(values, base)
                most = statistics.influence(values, base)
                outlier = Outlier(seeds[most.place], most.without) if most else None
                found.append((Comparison(point, aqm, reference, name, sum(base) / len(base), difference), outlier))
    families: dict[str, list[tuple[Comparison, Outlier | None]]] = {}
    for one, outlier in found:
        families.setdefault(family(one), []).append((one, outlier))
    corrected: dict[int, Comparison] = {}
    for members in families.values():
        holm = statistics.holm([one.difference for one, _ in members])
        for place, ((one, outlier), difference) in enumerate(zip(members, holm, strict=True)):
            decides = outlier and _deciding(outlier, [other.difference for other, _ in members], place, difference)
            corrected[id(one)] = replace(one, difference=difference, outlier=decides)
    return [corrected[id(one)] for one, _ in found]


def _paired(
    first: Mapping[str, list[Any]], other: Mapping[str, list[Any]], name: str
) -> tuple[list[int], list[float], list[float]]:
    """Return the seeds for which two AQMs have a metric, and its values with each."""
    values = dict(zip(other["seed"], other[name], strict=True))
    pairs = [
        (seed, base, values[seed])
        for seed, base in zip(first["seed"], first[name], strict=True)
        if base is not None and values.get(seed) is not None
    ]
    return [seed for seed, _, _ in pairs], [base for _, base, _ in pairs], [value for _, _, value in pairs]


def _deciding(outlier: Outlier, family: Sequence[Difference], place: int, difference: Difference) -> Outlier | None:
    """Return the outlier, corrected like the others of its family, if the verdict without it is another."""
    p_value = outlier.without.p_value
    if p_value is None or difference.p_value is None:
        return None
    # A smaller p-value in the same family stays significant, a larger one stays without significance.
    if difference.is_distinguishable == (p_value < difference.p_value):
        return None
    without = statistics.holm([*family[:place], outlier.without, *family[place + 1 :]])[place]
    is_same = without.is_distinguishable == difference.is_distinguishable
    return None if is_same else replace(outlier, without=without)


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
            if prefix:
                rows = rows.filter(pl.col("group") == prefix.removeprefix("class.").removesuffix("."))
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


def in_unit(metric: Metric, *values: float | None) -> Callable[..., str]:
    """Return what writes a value of a metric as text with its unit; shares are in percentage points.

    Where the largest of ``values`` has hardly a digit in the unit of the metric, it is a smaller one.

    >>> in_unit(metrics.find("loss_ratio"))(0.0123, "+"), in_unit(metrics.find("qdelay_mean_ms"))(3.1)
    ('+1.23 points', '3.10 ms')
    >>> in_unit(metrics.find("qdelay_mean_ms"), 0.0022)(0.0022)
    '2.2 us'

    """
    scale, unit, decimals = (100.0, "points", 2) if metric.is_share else (1.0, metric.unit, metric.decimals)
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if not metric.is_share and 0.0 < largest * 10**decimals < LEAST_DIGITS:
        unit, scale, decimals = units.readable(unit, largest)

    def text(value: float, sign: str = "", *, bare: bool = False) -> str:
        return f"{value * scale:{sign}.{decimals}f}{'' if bare else f' {unit}'}".rstrip()

    return text


def _words(metric: Metric, comparison: Comparison) -> str:
    difference, estimate = comparison.difference, comparison.difference.estimate
    text = in_unit(metric, estimate.value, estimate.low, estimate.high)
    if estimate.low is None or estimate.high is None:
        return f"{metric.phrase} differs by {text(estimate.value, '+')}; one run says nothing about chance"
    if difference.is_zero:
        return f"{metric.phrase} is equal in every run"
    low, high = estimate.low, estimate.high
    outlier = _outlier_words(comparison.outlier)
    if not difference.is_distinguishable:
        corrected = f", p {difference.p_holm:.2f} after correction" if low * high > 0 else ""
        between = f"{text(low, '+', bare=True)} to {text(high, '+')}"
        return f"{metric.phrase} is not distinguishable ({between}{corrected}{outlier})"
    direction = "higher" if estimate.value > 0 else "lower"
    nearer, farther = sorted((abs(low), abs(high)))
    relative = abs(estimate.value / comparison.reference_value) if comparison.reference_value else 0.0
    share = f", {relative:.{0 if relative >= 0.01 else 1}%}" if relative else ""
    spread = "in every run" if low == high else f"{text(nearer, bare=True)} to {text(farther, bare=True)}"
    return f"{metric.phrase} is {text(abs(estimate.value))} {direction} ({spread}{share}{outlier})"


def _outlier_words(outlier: Outlier | None) -> str:
    if outlier is None:
        return ""
    verdict = "distinguishable" if outlier.without.is_distinguishable else "not distinguishable"
    return f"; without seed {outlier.seed}, which moves it most, {verdict}"


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
