"""The noise of the seeds in a space of readings, from readings that are run more than once.

A reading has one run or two, whose spread says next to nothing. So the spread is taken from several readings together:
by what share of its reading's mean each of their runs deviates from it. The quantities of a run stay together, so that
what its seed does to both sides of a comparison cancels here as it does there. Every reading is judged as if its runs
deviated from its mean in this way, by the same tests as a claim; where they then tell neither it nor its opposite, it
is undecided.
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


@dataclass(frozen=True)
class Noise:
    """Deviations of runs from their reading's mean, as shares of it: by quantity, one mapping per run.

    ``readings`` is how many readings the runs are of.
    """

    deviations: Sequence[Mapping[str, float]]
    readings: int

    def of_mean(self, runs: int) -> list[Mapping[str, float]]:
        """Return deviations whose t-test has the interval of a mean of so many runs; none if nothing is known of it.

        The pooled deviation has a degree of freedom less for each reading.
        """
        count, freedom = len(self.deviations), len(self.deviations) - self.readings
        if freedom == 0:
            return []
        of_runs, of_pooled = (student.quantile(statistics.CONFIDENCE, degrees) for degrees in (count - 1, freedom))
        factor = math.sqrt((count - 1) / freedom) * math.sqrt(count / runs) * of_pooled / of_runs
        return [{name: factor * share for name, share in one.items()} for one in self.deviations]


def pooled(readings: Sequence[Mapping[str, Mapping[int, float]]]) -> Noise:
    """Return the noise in readings, each of which holds the values of quantities by seed.

    >>> pooled([{"delay": {1: 5.0, 2: 15.0}}, {"delay": {1: 30.0, 2: 30.0}}]).deviations
    [{'delay': -0.5}, {'delay': 0.5}, {'delay': 0.0}, {'delay': 0.0}]

    """
    found = []
    for quantities in readings:
        means = {name: math.fsum(own.values()) / len(own) for name, own in quantities.items() if own}
        for seed in sorted({seed for own in quantities.values() for seed in own}):
            shares = {
                name: quantities[name][seed] / mean - 1.0 if mean and seed in quantities[name] else 0.0
                for name, mean in means.items()
            }
            found.append(shares)
    return Noise(found, sum(any(quantities.values()) for quantities in readings))
