"""The design of a search: which settings are tried.

There are far too many combinations for all of them, and changing one factor at a time around one base misses
interactions: most factors matter only together (a clearing period matters only if the reference delay lets the queue
count as congested). So the space is covered by a Latin hypercube, in which every level of every factor is equally
frequent, and the neighbours of the base are added. Where all combinations are no more, they are taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from aqmlab.search.plan import Factor, Setting
from aqmlab.stats import hypercube


def sample(factors: Sequence[Factor], count: int) -> list[Setting]:
    """Return ``count`` settings, or all combinations if there are no more.

    Levels are equally frequent if their number divides the count.
    """
    if math.prod(len(factor.levels) for factor in factors) <= count:
        return list(itertools.product(*(factor.levels for factor in factors)))
    places = hypercube.even(count, len(factors))
    names = [list(factor.levels) for factor in factors]
    return [tuple(levels[int(place * len(levels))] for levels, place in zip(names, row, strict=True)) for row in places]


def neighbours(factors: Sequence[Factor], setting: Setting) -> list[Setting]:
    """Return the settings that differ from a given one in one factor."""
    return [
        (*setting[:place], level, *setting[place + 1 :])
        for place, factor in enumerate(factors)
        for level in factor.levels
        if factor.is_sampled and level != setting[place]
    ]
