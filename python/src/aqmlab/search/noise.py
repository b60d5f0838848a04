"""The noise of the seeds in a sampled space with few runs, from configurations that are run more than once.

One run or two have a spread that says next to nothing. So the spread is taken from several configurations together, for
each comparison by itself: that of its two sides, or that of one side with a number. That assumes that configurations
vary alike, and those of a paper do not: a configuration with `ENOUGH` runs is judged by its own instead.

- **Unit.** Deviations of runs from their configuration's mean are taken as shares of it, as delays and rates vary; but
  what is counted, as packets lost, varies by the root of its mean, and what has a scale of its own by the same amount
  everywhere. As shares these would be large where the mean is nearly zero, and hide what is elsewhere. So they are
  taken over the power of the mean (1, 1/2 or 0) under which they are likeliest, as normal ones; over another than 1
  only where that is e times as likely, on average of the sides, for eight configurations tell little. Both sides of a
  comparison have one power: they are of one kind, and two powers would be estimated from half of the runs each.
- **Zeros.** A configuration in which a side is zero in every run has nothing that could vary: it is no evidence that
  there is no noise elsewhere. Only configurations count in which every side is there that varies in the one that is
  judged. If there is none, nothing is known, and the configuration is undecided, not certain.
- **A mean of zero** in the configuration that is judged has no noise as a share or a count, but that of all others as
  an amount. Two sides that are both zero are not compared, so they need none.
- **Freedom.** A configuration with n runs has n - 1 contrasts (Helmert's: orthonormal, and free of its mean), each with
  the variance of one run. All of them, as so many contrasts of one sample of as many runs and one more, make that
  sample: its t-test has their variance and their degrees of freedom, at every level. Where a power was estimated from
  them one degree is lost; the sample is spread by what this does to its 95 % interval.

Contrasts of both sides are of the same runs, so that what a seed does to both cancels here as it does in a claim. A
configuration is judged by the tests of a claim, as if it had been run as often as that sample, with these deviations;
where they then tell neither it nor its opposite, it is undecided.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence

from aqmlab.stats import statistics, student

# Configurations of the sample that are run more than once.
REPEATED = 8
# Runs of these, at least.
RUNS = 2
# Runs with which a configuration is judged by itself, as a claim is.
ENOUGH = 5
# Deviations grow with this power of the mean.
SHARE, ROOT, AMOUNT = 1.0, 0.5, 0.0
# By how much the logarithm of the likelihood of another power must be larger than that of a share.
LIKELIER = 1.0


class Noise:
    """The noise in repeated configurations, each of which holds the values of quantities by seed.

    >>> noise = Noise([{"delay": {1: 5.0, 2: 15.0}}, {"delay": {1: 20.0, 2: 60.0}}])
    >>> noise.power(("delay",))
    1.0

    Runs have a deviation of 1 / sqrt(2) of their mean, with two degrees of freedom:

    >>> found = noise.deviations(("delay",), {"delay": 8.0}, runs=1)
    >>> half = statistics.mean([one["delay"] for one in found]).half_width
    >>> len(found), round(half / (8.0 * 0.5**0.5), 3)
    (3, 4.303)

    """

    def __init__(self, configurations: Sequence[Mapping[str, Mapping[int, float]]]) -> None:
        self._repeated = [
            {name: {seed: value for seed, value in own.items() if math.isfinite(value)} for name, own in one.items()}
            for one in configurations
        ]
        self.power = functools.cache(self._power)
        self._pooled = functools.cache(self._contrasts)

    def deviations(self, names: tuple[str, ...], means: Mapping[str, float], runs: int) -> list[Mapping[str, float]]:
        """Return deviations of the quantities that are compared from their means of so many runs.

        They are runs of a sample whose t-test has the interval of the comparison, one mapping each; there are none if
        nothing is known of the noise.
        """
        power = self.power(names)
        varying = tuple(name for name in names if means[name] or (power == AMOUNT and self._is_seen(name)))
        contrasts = self._pooled(varying, power) if varying else [{} for _ in self._degrees(names)]
        freedom = len(contrasts)
        if not freedom:
            return []
        left = freedom if power == SHARE else max(freedom - 1, 1)
        wanted, given = (student.quantile(statistics.CONFIDENCE, degrees) for degrees in (left, freedom))
        factor = math.sqrt((freedom + 1) / runs * freedom / left) * wanted / given
        units = {name: factor * math.pow(abs(means[name]), power) for name in varying}
        weights = _helmert(freedom + 1)
        return [
            {
                name: unit * _dot([own[run] for own in weights], [one[name] for one in contrasts])
                for name, unit in units.items()
            }
            for run in range(freedom + 1)
        ]

    def _power(self, names: tuple[str, ...]) -> float:
        """Return the power of the mean over which the deviations of the sides are likeliest, on average of them."""
        found = [rows for rows in map(self._deviations, names) if any(squares for _, _, squares in rows)]
        if not found:
            return SHARE

        def likelihood(power: float) -> float:
            return math.fsum(_likelihood(rows, power) for rows in found) / len(found)

        best = max((SHARE, ROOT, AMOUNT), key=likelihood)
        return best if likelihood(best) > likelihood(SHARE) + LIKELIER else SHARE

    def _deviations(self, name: str) -> list[tuple[float, int, float]]:
        """Return each configuration's mean, its degrees of freedom, and the sum of the squares of its deviations."""
        found = [list(one[name].values()) for one in self._repeated if len(one.get(name, ())) > 1]
        centres = [(_mean(values), values) for values in found]
        return [
            (abs(mean), len(values) - 1, math.fsum((value - mean) ** 2 for value in values))
            for mean, values in centres
            if mean
        ]

    def _contrasts(self, names: tuple[str, ...], power: float) -> list[dict[str, float]]:
        """Return the contrasts of all configurations in which each of these is there, over the power of their means."""
        found: list[dict[str, float]] = []
        for configuration in self._runs(names):
            means = {name: _mean(values) for name, values in configuration.items()}
            if all(any(values) and (means[name] or power == AMOUNT) for name, values in configuration.items()):
                units = {name: math.pow(abs(mean), power) for name, mean in means.items()}
                found.extend(
                    {name: _dot(weights, values) / units[name] for name, values in configuration.items()}
                    for weights in _helmert(len(configuration[names[0]]))
                )
        return found

    def _degrees(self, names: tuple[str, ...]) -> Iterator[None]:
        """Yield for each degree of freedom in configurations that have these."""
        for configuration in self._runs(names):
            yield from (None for _ in configuration[names[0]][1:])

    def _runs(self, names: tuple[str, ...]) -> Iterator[dict[str, list[float]]]:
        """Yield the values of each configuration in the runs that have all of these."""
        for configuration in self._repeated:
            own = [configuration.get(name, {}) for name in names]
            seeds = sorted(set.intersection(*map(set, own)))
            if len(seeds) > 1:
                yield {name: [values[seed] for seed in seeds] for name, values in zip(names, own, strict=True)}

    def _is_seen(self, name: str) -> bool:
        return any(value for one in self._repeated for value in one.get(name, {}).values())


@functools.cache
def _helmert(count: int) -> tuple[tuple[float, ...], ...]:
    """Return orthonormal contrasts of so many values: all that they say beside their mean.

    >>> [[round(one, 3) for one in weights] for weights in _helmert(3)]
    [[0.707, -0.707, 0.0], [0.408, 0.408, -0.816]]

    """
    return tuple(
        tuple(1.0 / math.sqrt(k * (k + 1)) * (1.0 if i < k else -float(k) if i == k else 0.0) for i in range(count))
        for k in range(1, count)
    )


def _likelihood(rows: Sequence[tuple[float, int, float]], power: float) -> float:
    """Return the logarithm of a power's likelihood, with the variance that makes it largest, up to a constant."""
    freedom = sum(degrees for _, degrees, _ in rows)
    variance = math.fsum(squares / mean ** (2.0 * power) for mean, _, squares in rows) / freedom
    return -math.fsum(degrees * power * math.log(mean) for mean, degrees, _ in rows) - freedom / 2.0 * math.log(
        variance
    )


def _dot(weights: Sequence[float], values: Sequence[float]) -> float:
    return math.fsum(weight * value for weight, value in zip(weights, values, strict=True))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
