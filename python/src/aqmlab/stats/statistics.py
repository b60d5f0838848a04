"""Statistics over seeds: a run is the unit, percentiles are never averaged, differences are paired.

Sources: Student-t intervals for means; Woodruff 1952 for percentiles; for multiple comparisons Holm 1979 and
Bonferroni's inequality. How often these intervals hold the truth, and how often a difference is marked that is none, is
simulated by ``make coverage``: docs/reference/error-rates.md has its tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from aqmlab.stats import student

Reals: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95
# Two means are equivalent if all of the interval of their difference is within this share of the one it is taken from.
MARGIN = 0.05


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; an end that the runs do not tell is absent, both with only one run.

    ``resolution`` is how far the value may be off whatever the number of runs: half a bucket of a histogram. The
    interval contains it.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    resolution: float = 0.0

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class Difference:
    """A paired difference from ``base``, the mean of the reference, and its p-value; ``error`` is its standard error.

    Alone it has an interval of its own and no ``p_holm``. In a `family` it has Holm's corrected p-value, and an
    interval that holds the truth together with those of all the others.
    """

    estimate: Estimate
    p_value: float | None
    p_holm: float | None = None
    error: float | None = None
    base: float = 0.0

    @property
    def is_distinguishable(self) -> bool:
        """Whether the difference is significant at 5 % after the correction."""
        return self.p_holm is not None and self.p_holm < 1.0 - CONFIDENCE

    @property
    def reach(self) -> float | None:
        """The farthest that the interval goes from zero, as a share of the base; unknown without an interval."""
        low, high = self.estimate.low, self.estimate.high
        if low is None or high is None:
            return None
        most = max(abs(low), abs(high))
        return most / abs(self.base) if self.base else 0.0 if most == 0.0 else math.inf

    @property
    def is_equivalent(self) -> bool:
        """Whether the two are shown to be the same within `MARGIN`, which a difference of no significance is not."""
        return not self.is_distinguishable and self.reach is not None and self.reach <= MARGIN

    @property
    def is_zero(self) -> bool:
        """Whether the values are equal in every run, of which there are two or more."""
        return self.estimate.low == self.estimate.value == self.estimate.high == 0.0


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean with its Student-t interval.

    >>> estimate = mean([1.0, 2.0, 3.0])  # 2 +- 4.303 * 1 / sqrt(3)
    >>> round(estimate.low, 3), estimate.value, round(estimate.high, 3)
    (-0.484, 2.0, 4.484)

    """
    return means([values])[0]


def means(samples: Sequence[Sequence[float]]) -> list[Estimate]:
    """Return the `mean` of each of several samples of one size, many times as fast as one after the other.

    >>> means([[1.0, 2.0, 3.0], [4.0, 4.0, 7.0]]) == [mean([1.0, 2.0, 3.0]), mean([4.0, 4.0, 7.0])]
    True

    """
    values = np.asarray(samples, dtype=float)
    size = values.shape[1]
    centres: list[float] = values.mean(axis=1).tolist()
    if size < 2:
        return [Estimate(centre, None, None, size) for centre in centres]
    halves: list[float] = (values.std(axis=1, ddof=1) * (t_factor(size) or 0.0)).tolist()
    return [Estimate(centre, centre - half, centre + half, size) for centre, half in zip(centres, halves, strict=True)]


def t_factor(n: int) -> float | None:
    """Return the factor from the standard deviation of n values to half a 95 % interval of their mean."""
    if n < 2:
        return None
    return student.quantile(CONFIDENCE, n - 1) / math.sqrt(n)


def runs_needed(pilot: Sequence[float], share: float) -> int | None:
    """Return how many runs make half the interval of `two_stage` at most this share of the pilot's mean.

    It is the first stage of Stein's rule ("A two-sample test for a linear hypothesis whose power is independent of the
    variance", 1945). ``None`` if no number does, since the mean is zero.

    >>> runs_needed([8.0, 10.0, 12.0], 0.1)  # (4.303 * 2 / 1)^2 = 74.05
    75

    """
    sample = np.asarray(pilot, dtype=float)
    deviation, wanted = float(sample.std(ddof=1)), share * abs(float(sample.mean()))
    if deviation == 0.0:
        return len(sample)
    factor = student.quantile(CONFIDENCE, len(sample) - 1)
    return max(len(sample), math.ceil((factor * deviation / wanted) ** 2)) if wanted > 0.0 else None


def two_stage(values: Sequence[float], pilot: int) -> Estimate:
    """Return the mean of all values with Stein's interval, which the number of values after the pilot does not harm.

    The deviation is that of the first ``pilot`` values alone: those after it, whose number depends on it, say nothing
    about it. For normal values and a fixed width it holds the truth in 95 % of experiments or more.
    """
    first = np.asarray(values[:pilot], dtype=float)
    half = student.quantile(CONFIDENCE, pilot - 1) * float(first.std(ddof=1)) / math.sqrt(len(values))
    centre = float(np.mean(values))
    return Estimate(centre, centre - half, centre + half, len(values))


def percentile(
    counts: Reals, values: Reals, quantile: float, half_bucket: Callable[[float], float] = lambda value: 0.0
) -> Estimate:
    """Return a percentile of histograms merged over runs, with Woodruff's interval (1952), the runs being clusters.

    The share of values up to the percentile is a ratio over the runs, which has a Student-t interval; the merged
    histogram turns its ends into values. An end beyond the smallest or the largest value is unknown.

    Args:
        counts: one row per run and one column per bucket.
        values: the middles of the buckets, ascending.
        quantile: 0.99 for the 99th percentile.
        half_bucket: half the width of the bucket with this middle; values are exact unless given.

    """
    runs = counts.shape[0]
    merged = np.cumsum(counts.sum(axis=0))
    total = float(merged[-1])

    def place(share: float) -> int:
        return int(np.argmax(merged >= max(math.ceil(share * total), 1)))

    here = place(quantile)
    value, resolution = float(values[here]), half_bucket(float(values[here]))
    if runs < 2:
        return Estimate(value, None, None, runs, resolution)
    # Beside a value above which there is none, what lies below it says how the runs differ.
    below = counts[:, : here + (merged[here] < total)].sum(axis=1)
    residuals = below - below.sum() / total * counts.sum(axis=1)
    half = float(residuals.std(ddof=1)) * (t_factor(runs) or 0.0) * runs / total
    low, high = (
        # Nothing is known of what lies beyond the first value and the last.
        float(values[place(share)]) if 1.0 <= math.ceil(share * total) < total else None
        for share in (quantile - half, quantile + half)
    )
    return Estimate(
        value,
        None if low is None else low - half_bucket(low),
        None if high is None else high + half_bucket(high),
        runs,
        resolution,
    )


def paired(values: Sequence[float], reference: Sequence[float]) -> Difference:
    """Return the mean difference from the reference, run by run with equal seeds, by a paired t-test.

    Equal differences in every run have no variance: p is then 1 (no difference) or 0.
    """
    differences = np.asarray(values, dtype=float) - np.asarray(reference, dtype=float)
    estimate, base = mean(differences.tolist()), float(np.mean(reference))
    if estimate.low is None:
        return Difference(estimate, None, base=base)
    error = float(differences.std(ddof=1)) / len(differences) ** 0.5
    if error == 0.0:
        return Difference(estimate, 1.0 if estimate.value == 0.0 else 0.0, error=0.0, base=base)
    p_value = student.two_sided(estimate.value / error, len(differences) - 1)
    return Difference(estimate, p_value, error=error, base=base)


@dataclass(frozen=True)
class Influence:
    """The run that moves a paired difference most: its place, and the difference without it."""

    place: int
    without: Difference


def influence(values: Sequence[float], reference: Sequence[float]) -> Influence | None:
    """Return which run moves a paired difference most (the jackknife), if at least two are left without it.

    >>> one = influence([1.0, 2.0, 3.0, 90.0], [0.0, 0.0, 0.0, 0.0])
    >>> one.place, one.without.estimate.value
    (3, 2.0)

    """
    differences = np.asarray(values, dtype=float) - np.asarray(reference, dtype=float)
    if len(differences) < 3:
        return None
    place = int(np.argmax(np.abs(differences - differences.mean())))
    return Influence(place, paired(np.delete(values, place).tolist(), np.delete(reference, place).tolist()))


def exceeds(values: Sequence[float]) -> float:
    """Return the probability that chance alone gives a mean this far above zero: a one-sided t-test.

    Equal values have no variance, which is no certainty: if they are above zero, the answer is that of the sign test.

    >>> round(exceeds([1.0, 2.0, 3.0]), 4)  # t = 2 / (1 / sqrt(3)) = 3.464 with 2 degrees of freedom
    0.0371

    """
    sample = np.asarray(values, dtype=float)
    error = float(sample.std(ddof=1)) / len(sample) ** 0.5
    if error == 0.0:
        return by_sign(len(sample)) if sample[0] > 0.0 else 1.0
    return student.above(float(sample.mean()) / error, len(sample) - 1)


def by_sign(n: int) -> float:
    """Return the probability that n values all fall on one given side of their median.

    >>> by_sign(3)
    0.125

    """
    return 0.5**n


def share(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a probability of which ``count`` of ``of`` tries came true (Wilson 1927).

    >>> low, high = share(7, 10)
    >>> round(low, 3), round(high, 3)
    (0.397, 0.892)
    >>> share(0, 0)
    (0.0, 1.0)

    """
    if of == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1.0 + CONFIDENCE) / 2)
    found, widening = count / of, z * z / of
    centre = (found + widening / 2) / (1.0 + widening)
    half = math.sqrt(widening * (found * (1.0 - found) + widening / 4)) / (1.0 + widening)
    return max(0.0, centre - half), min(1.0, centre + half)


def ratio(left: Sequence[float], right: Sequence[float]) -> Estimate:
    """Return the ratio of two means over the same runs with Fieller's interval (1954).

    It holds the ratios that a paired t-test of ``left - ratio * right`` does not refute. Without ends if the right mean
    cannot be distinguished from zero: then every ratio is possible.

    >>> one = ratio([21.0, 39.0, 61.0, 79.0, 100.0], [10.0, 20.0, 30.0, 40.0, 50.0])
    >>> round(one.low, 2), one.value, round(one.high, 2)
    (1.96, 2.0, 2.07)

    """
    pairs = np.asarray([left, right], dtype=float)
    a, b = (float(one) for one in pairs.mean(axis=1))
    count = pairs.shape[1]
    factor = t_factor(count)
    if factor is None:
        return Estimate(a / b, None, None, count)
    # The ends are where (a - r b)^2 is the square of half the interval of left - r * right.
    (own, both), (_, other) = np.cov(pairs) * factor**2
    square, linear, constant = b * b - float(other), a * b - float(both), a * a - float(own)
    if square <= 0.0:
        return Estimate(a / b, None, None, count)
    half = math.sqrt(max(linear * linear - square * constant, 0.0))
    return Estimate(a / b, (linear - half) / square, (linear + half) / square, count)


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


def family(differences: Sequence[Difference]) -> list[Difference]:
    """Return differences that are shown together: p-values by Holm's correction, simultaneous intervals.

    Of m differences, an interval is the one at 1 - 0.05 / m (Bonferroni): in 95 % of experiments all of them hold the
    truth. One without zero is always distinguishable. Holm's correction finds more: where it does, the sign is known
    but not the least size, and the interval ends at zero (Strassburger and Bretz, "Compatible simultaneous lower
    confidence bounds for the Holm procedure and other Bonferroni-based closed tests", 2008).

    >>> one, other = family([paired([3.0, 4.0, 5.0, 4.0], [0.0] * 4), paired([0.5, -0.4, 0.1, 0.0], [0.0] * 4)])
    >>> round(one.estimate.low, 3), round(one.estimate.high, 3), one.is_distinguishable  # 4 +- 4.177 * 0.408
    (2.295, 5.705, True)
    >>> other.is_distinguishable
    False

    """
    tested = [one.p_value for one in differences if one.p_value is not None]
    corrected = iter(holm_p(tested))
    return [one if one.p_value is None else _together(one, next(corrected), len(tested)) for one in differences]


def instead(differences: Sequence[Difference], place: int, one: Difference) -> Difference:
    """Return a difference as the `family` has it where it stands in the place of another.

    >>> pairs = [paired([3.0, 4.0, 5.0], [0.0] * 3), paired([0.5, -0.4, 0.1], [0.0] * 3)]
    >>> instead(pairs, 0, pairs[1]) == family([pairs[1], pairs[1]])[0]
    True

    """
    if one.p_value is None:
        return one
    before = [other.p_value for other in differences[:place] if other.p_value is not None]
    after = [other.p_value for other in differences[place + 1 :] if other.p_value is not None]
    corrected = holm_p([*before, one.p_value, *after])
    return _together(one, corrected[len(before)], len(corrected))


def _together(one: Difference, p_holm: float, tests: int) -> Difference:
    corrected = replace(one, p_holm=p_holm)
    return replace(corrected, estimate=_simultaneous(corrected, tests))


def _simultaneous(one: Difference, tests: int) -> Estimate:
    """Return the estimate of a difference with the interval that it has among so many."""
    estimate = one.estimate
    if not one.error:
        return estimate
    half = one.error * student.quantile(1.0 - (1.0 - CONFIDENCE) / tests, estimate.n - 1)
    low, high = estimate.value - half, estimate.value + half
    if one.is_distinguishable:
        low, high = (max(low, 0.0), high) if estimate.value > 0.0 else (low, min(high, 0.0))
    return replace(estimate, low=low, high=high)
