"""Differences between AQMs: one family of paired tests for a whole result, one correction, one set of intervals.

Everything that compares AQMs takes its differences from here, so that two tables never disagree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.results.frames import Frames, contestants
from aqmlab.results.marks import MEANINGS, SAME, UNDECIDED
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Difference
from aqmlab.vocabulary import metrics, units
from aqmlab.vocabulary.metrics import Metric
from aqmlab.vocabulary.names import engine_of

# What users of applications notice, where a scenario has any.
QOE = ("mos_mean", "page_load_mean_s", "video_stall_s", "fct_mean_s")
# Means over a run, never percentiles.
COMPARED = (*metrics.COMPARED, *QOE)
# What is less than this many of the last digit shown is written in a smaller unit.
LEAST_DIGITS = 10.0
# Of a share, which has no smaller unit.
MOST_DECIMALS = 6


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
        return f"{metrics.find(self.metric).phrase}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """The difference in words, without the name of the metric."""
        return _verdict(metrics.find(self.metric), self)


@dataclass(frozen=True)
class Outlier:
    """The seed that moves a difference most, where the verdict without it is another: the difference without it."""

    seed: int
    without: Difference


def family(
    frames: Frames,
    points: Sequence[int],
    aqms: Sequence[str],
    names: Sequence[str] = COMPARED,
    shows: Callable[[int, str], bool] = lambda point, metric: True,
) -> list[Comparison]:
    """Return the paired differences of all pairs of AQMs in all scenarios, as one family of tests.

    Args:
        frames: the runs.
        points: the scenarios.
        aqms: the AQMs in order; the first of a pair is its reference.
        names: the metrics; those that no run has are left out.
        shows: whether a scenario shows a metric; those that it does not are no part of the family.

    """
    found: list[tuple[Comparison, Outlier | None]] = []
    names = [name for name in dict.fromkeys(names) if name in frames.runs.columns]
    runs = frames.runs.select("point", "aqm", "seed", *names).sort("seed", maintain_order=True)
    columns = runs.drop("point", "aqm").to_dict(as_series=False)
    parts = {
        key: {name: [values[row] for row in rows] for name, values in columns.items()}
        for key, rows in contestants(runs).items()
    }
    for point in points:
        shown = [name for name in names if shows(point, name)]
        for reference, aqm in itertools.combinations(aqms, 2):
            first, other = parts.get((point, reference)), parts.get((point, aqm))
            if first is None or other is None:
                continue
            for name in shown:
                seeds, base, values = _paired(first, other, name)
                if not seeds:
                    continue
                difference = statistics.paired(values, base)
                most = statistics.influence(values, base)
                outlier = Outlier(seeds[most.place], most.without) if most else None
                found.append((Comparison(point, aqm, reference, name, sum(base) / len(base), difference), outlier))
    alone = [one.difference for one, _ in found]
    return [
        replace(one, difference=together, outlier=outlier and _deciding(outlier, alone, place, together))
        for place, ((one, outlier), together) in enumerate(zip(found, statistics.family(alone), strict=True))
    ]


def reference(aqm: str, aqms: Sequence[str]) -> str:
    """Return what an AQM is shown against: the first, or itself in the first of several engines."""
    discipline, engine = engine_of(aqm)
    same = [other for other in aqms if engine and engine_of(other)[0] == discipline]
    return same[0] if same and same[0] != aqm else aqms[0]


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


def _deciding(outlier: Outlier, alone: Sequence[Difference], place: int, difference: Difference) -> Outlier | None:
    """Return the outlier, corrected like the others of its family, if the verdict without it is another."""
    p_value = outlier.without.p_value
    if p_value is None or difference.p_value is None:
        return None
    # A smaller p-value in the same family stays significant, a larger one stays without significance.
    if difference.is_distinguishable == (p_value < difference.p_value):
        return None
    # Nor can a p-value be significant that is not with the most lenient of Holm's levels, or with Bonferroni's be none.
    level = 1.0 - statistics.CONFIDENCE
    if p_value >= level and not difference.is_distinguishable:
        return None
    if p_value * len(alone) < level and difference.is_distinguishable:
        return None
    without = statistics.instead(alone, place, outlier.without)
    is_same = without.is_distinguishable == difference.is_distinguishable
    return None if is_same else replace(outlier, without=without)


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
    if metric.is_share:
        while 0.0 < largest * scale * 10**decimals < 1.0 and decimals < MOST_DECIMALS:
            decimals += 1
    elif 0.0 < largest * 10**decimals < LEAST_DIGITS:
        unit, scale, decimals = units.readable(unit, largest)

    def text(value: float, sign: str = "", *, bare: bool = False) -> str:
        return f"{value * scale:{sign}.{decimals}f}{'' if bare else f' {unit}'}".rstrip()

    return text


def _verdict(metric: Metric, comparison: Comparison) -> str:
    difference, estimate = comparison.difference, comparison.difference.estimate
    text = in_unit(metric, estimate.value, estimate.low, estimate.high)
    if estimate.low is None or estimate.high is None:
        return f"{text(estimate.value, '+')}; one run says nothing about chance"
    if difference.is_zero:
        return "equal in every run"
    low, high = estimate.low, estimate.high
    outlier = _outlier_words(comparison.outlier)
    if not difference.is_distinguishable:
        verdict = MEANINGS[SAME if difference.is_equivalent else UNDECIDED]
        return f"{verdict} ({text(low, '+', bare=True)} to {text(high, '+')}{outlier})"
    direction = "higher" if estimate.value > 0 else "lower"
    nearer, farther = sorted((abs(low), abs(high)))
    relative = abs(estimate.value / comparison.reference_value) if comparison.reference_value else 0.0
    share = f", {relative:.{0 if relative >= 0.01 else 1}%}" if relative else ""
    spread = "in every run" if low == high else f"{text(nearer, bare=True)} to {text(farther, bare=True)}"
    return f"{text(abs(estimate.value))} {direction} ({spread}{share}{outlier})"


def _outlier_words(outlier: Outlier | None) -> str:
    if outlier is None:
        return ""
    verdict = "beyond chance" if outlier.without.is_distinguishable else "not beyond chance"
    return f"; without seed {outlier.seed}, which moves it most, {verdict}"


__all__ = ["COMPARED", "QOE", "Comparison", "Outlier", "family", "in_unit", "reference"]
