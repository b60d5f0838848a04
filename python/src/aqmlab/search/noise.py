"""The noise of the seeds in a space of readings, from readings that are run more than once.

A reading has one run or two, whose spread says next to nothing. So the spread is taken from several readings together:
by how much each of their runs deviates from its reading's mean. As a share of the mean, as delays and rates vary; but
what is counted, as packets lost, varies by the root of the mean, and what has a scale of its own by the same amount
everywhere. As shares these would be large where the mean is nearly zero, and hide what is elsewhere. So the deviations
are taken over the power of the mean (1, 1/2 or 0) under which they are likeliest, as normal ones; over another than 1
only where that is e times as likely, for eight readings tell little.

The quantities of a run stay together, so that what its seed does to both sides of a comparison cancels here as it does
there. Every reading is judged as if its runs deviated from its mean in this way, by the same tests as a claim; where
they then tell neither it nor its opposite, it is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aqmlab.stats import statistics, student

# Readings of the sample that are run more than once.
REPEATED = 8
# Runs of these, at least.
RUNS = 2
# Deviations grow with this power of the mean.
SHARE = 1.0
POWERS = (SHARE, 0.5, 0.0)
# By how much the logarithm of the likelihood of another power must be larger than that of a share.
LIKELIER = 1.0


@dataclass(frozen=True)
class Noise:
    """Deviations of runs from their reading's mean, over a power of it: by quantity, one mapping per run.

    ``powers`` has the power of each quantity; ``readings`` is how many readings the runs are of.
    """

    deviations: Sequence[Mapping[str, float]]
    powers: Mapping[str, float]
    readings: int

    def of_means(self, means: Mapping[str, float], runs: int) -> list[Mapping[str, float]]:
        """Return deviations, as shares of these means, whose t-test has the interval of a mean of so many runs.

        There are none if nothing is known of it, and none of a quantity of which nothing is known. The pooled deviation
        has a degree of freedom less for each reading, and one less where the power was told from it, too.
        """
        count, freedom = len(self.deviations), len(self.deviations) - self.readings
        if freedom == 0:
            return []

        def share(name: str, mean: float) -> float:
            power = self.powers[name]
            left = freedom - (power != SHARE)
            of_runs, of_pooled = (student.quantile(statistics.CONFIDENCE, degrees) for degrees in (count - 1, left))
            factor = math.sqrt((count - 1) / left) * math.sqrt(count / runs) * of_pooled / of_runs
            return factor * math.pow(abs(mean), power) / mean

        # No repeated reading may have had a value of it.
        shares = {name: share(name, mean) for name, mean in means.items() if mean and name in self.powers}
        return [{name: own * one[name] for name, own in shares.items() if name in one} for one in self.deviations]


def pooled(readings: Sequence[Mapping[str, Mapping[int, float]]]) -> Noise:
    """Return the noise in readings, each of which holds the values of quantities by seed.

    >>> pooled([{"delay": {1: 5.0, 2: 15.0}}, {"delay": {1: 20.0, 2: 60.0}}]).deviations
    [{'delay': -0.5}, {'delay': 0.5}, {'delay': -0.5}, {'delay': 0.5}]

    """
    means = [{name: math.fsum(own.values()) / len(own) for name, own in one.items() if own} for one in readings]
    powers = {name: _power(name, readings, means) for name in dict.fromkeys(name for one in means for name in one)}
    found = []
    for quantities, centre in zip(readings, means, strict=True):
        for seed in sorted({seed for own in quantities.values() for seed in own}):
            scaled = {
                name: (quantities[name][seed] - mean) / abs(mean) ** powers[name]
                if mean and seed in quantities[name]
                else 0.0
                for name, mean in centre.items()
            }
            found.append(scaled)
    return Noise(found, powers, sum(any(quantities.values()) for quantities in readings))


def _power(
    name: str, readings: Sequence[Mapping[str, Mapping[int, float]]], means: Sequence[Mapping[str, float]]
) -> float:
    """Return the power of the mean over which a quantity's deviations are likeliest."""
    spread = [
        (abs(mean), len(own) - 1, math.fsum((value - mean) ** 2 for value in own.values()))
        for own, mean in (
            (one[name], centre[name]) for one, centre in zip(readings, means, strict=True) if name in centre
        )
        if mean and len(own) > 1
    ]
    if not any(squares for _, _, squares in spread):
        return SHARE

    def likelihood(power: float) -> float:
        """The logarithm, with the variance that makes it largest, up to a constant."""
        freedom = sum(degrees for _, degrees, _ in spread)
        variance = math.fsum(squares / mean ** (2.0 * power) for mean, _, squares in spread) / freedom
        return -math.fsum(degrees * power * math.log(mean) for mean, degrees, _ in spread) - freedom / 2.0 * math.log(
            variance
        )

    best = max(POWERS, key=likelihood)
    return best if likelihood(best) > likelihood(SHARE) + LIKELIER else SHARE
