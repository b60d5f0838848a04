"""Whether what is named still hangs on the seeds."""

from __future__ import annotations

import numpy as np

from aqmlab.advice.verdict import Samples, best, ranked
from aqmlab.results import Result

# The confidence that intervals have here, too.
SURE = 0.95
DRAWS = 400


def agreement(result: Result, minutes: float) -> float:
    """Return in which share of draws from the seeds, with replacement, that setup is named which all of them name.

    It is Efron's bootstrap ("Bootstrap methods: another look at the jackknife", 1979); the draws are always the same.
    Where a run is missing nothing is sure.
    """
    values = {
        name: {figure: np.array(some) for figure, some in own.items()}
        for name, own in Samples.of(result, minutes).values.items()
    }
    counts = {len(some) for own in values.values() for some in own.values()}
    if len(counts) > 1:
        return 0.0
    count = counts.pop()

    def named(seeds: np.ndarray) -> str:
        means = {name: {figure: some[seeds].mean() for figure, some in own.items()} for name, own in values.items()}
        return best(ranked(means)).name

    by_all = named(np.arange(count))
    draws = np.random.default_rng(1).integers(count, size=(DRAWS, count))
    return float(np.mean([named(seeds) == by_all for seeds in draws]))
