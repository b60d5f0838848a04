"""Statistics over seeds: a run is the unit, percentiles are never averaged, differences are paired.

Sources: Student-t intervals for means; percentile bootstrap over runs (Efron and Tibshirani 1993, chapter 13);
Holm 1979 for multiple comparisons.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from aqmlab import student

Reals: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 1000
# Resamples evaluated at a time.
PART = 50
# A fixed seed: the resampling is the same every time.
BOOTSTRAP_SEED = 7928


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; with only one run both ends are absent."""

    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class Difference:
    """A paired difference, with its p-value before and after Holm's correction."""

    estimate: Estimate
    p_value: float | None
    p_holm: float | None = None

    @property
    def is_distinguishable(self) -> bool:
        """Whether the difference is significant at 5 % after the correction."""
        return self.p_holm is not None and self.p_holm < 1.0 - CONFIDENCE


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean with its Student-t interval.

    >>> estimate = mean([1.0, 2.0, 3.0])  # 2 +- 4.303 * 1 / sqrt(3)
    >>> round(estimate.low, 3), estimate.value, round(estimate.high, 3)
    (-0.484, 2.0, 4.484)

    """
    sample = np.asarray(values, dtype=float)
    centre = float(sample.mean())
    if len(sample) < 2:
        return Estimate(centre, None, None, len(sample))
    half = float(sample.std(ddof=1)) * (t_factor(len(sample)) or 0.0)
    return Estimate(centre, centre - half, centre + half, len(sample))


def t_factor(n: int) -> float | None:
    """Return the factor from the standard deviation of n values to half a 95 % interval of their mean."""
    if n < 2:
        return None
    return student.quantile(CONFIDENCE, n - 1) / math.sqrt(n)


def percentile(counts: Reals, values: Reals, quantile: float) -> Estimate:
    """Return a percentile of histograms merged over runs, with a bootstrap interval over the runs.

    ``counts`` has one row per run and one column per bucket; ``values`` holds the buckets' values, ascending.
    """
    runs = counts.shape[0]
    value = float(_quantiles(counts.sum(axis=0, keepdims=True), values, quantile)[0])
    if runs < 2:
        return Estimate(value, None, None, runs)
    draws, times = _resamples(runs)
    # In parts: a matrix of all resamples and buckets would be large.
    parts = [_quantiles(part @ counts, values, quantile) for part in np.array_split(draws, -(-len(draws) // PART))]
    drawn = np.repeat(np.concatenate(parts), times)
    low, high = np.quantile(drawn, [(1.0 - CONFIDENCE) / 2, (1.0 + CONFIDENCE) / 2])
    return Estimate(value, float(low), float(high), runs)


@functools.cache
def _resamples(runs: int) -> tuple[Reals, npt.NDArray[np.int64]]:
    """Return the resamples of the bootstrap, as how often each run is drawn, and how often each of them came up."""
    drawn = np.random.default_rng(BOOTSTRAP_SEED).multinomial(runs, [1.0 / runs] * runs, size=RESAMPLES)
    resamples, times = np.unique(drawn, axis=0, return_counts=True)
    return resamples.astype(float), times


def paired(values: Sequence[float], reference: Sequence[float]) -> Difference:
    """Return the mean difference from the reference, run by run with equal seeds, by a paired t-test.

    Equal differences in every run have no variance: p is then 1 (no difference) or 0.
    """
    differences = np.asarray(values, dtype=float) - np.asarray(reference, dtype=float)
    estimate = mean(differences.tolist())
    if estimate.low is None:
        return Difference(estimate, None)
    error = float(differences.std(ddof=1)) / len(differences) ** 0.5
    if error == 0.0:
        return Difference(estimate, 1.0 if estimate.value == 0.0 else 0.0)
    return Difference(estimate, student.two_sided(estimate.value / error, len(differences) - 1))


def exceeds(values: Sequence[float]) -> float:
    """Return the probability that chance alone gives a mean this far above zero: a one-sided t-test.

    Equal values have no variance: the answer is then 0 if they are above zero, and 1 otherwise.

    >>> round(exceeds([1.0, 2.0, 3.0]), 4)  # t = 2 / (1 / sqrt(3)) = 3.464 with 2 degrees of freedom
    0.0371

    """
    sample = np.asarray(values, dtype=float)
    error = float(sample.std(ddof=1)) / len(sample) ** 0.5
    if error == 0.0:
        return 0.0 if sample[0] > 0.0 else 1.0
    return student.above(float(sample.mean()) / error, len(sample) - 1)


def holm_p(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for multiple comparisons (Holm 1979), in their order.

    >>> holm_p([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]

    """
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, (p_value, place) in enumerate(sorted((p_value, place) for place, p_value in enumerate(p_values))):
        largest = max(largest, min(1.0, p_value * (len(p_values) - rank)))
        corrected[place] = largest
    return corrected


def holm(differences: Sequence[Difference]) -> list[Difference]:
    """Return the differences with p-values corrected for multiple comparisons.

    >>> [d.p_holm for d in holm([Difference(mean([0.0]), p) for p in (0.01, 0.04, 0.03)])]
    [0.03, 0.06, 0.06]

    """
    tested = [d.p_value for d in differences if d.p_value is not None]
    corrected = iter(holm_p(tested))
    return [Difference(d.estimate, d.p_value, None if d.p_value is None else next(corrected)) for d in differences]


def _quantiles(counts: Reals, values: Reals, quantile: float) -> Reals:
    """Return, per row, the value of the first bucket at which the share of the counts reaches ``quantile``."""
    cumulative = np.cumsum(counts, axis=1)
    wanted = np.ceil(quantile * cumulative[:, -1:])
    first: Reals = values[np.argmax(cumulative >= np.maximum(wanted, 1.0), axis=1)]
    return first
