"""Which settings are tried.

All combinations are far too many, and one factor at a time around one base says nothing of the others: most factors
count only together (a clearing period matters only if the reference delay lets the queue be called congested). So the
space is covered by a Latin hypercube, in which every level of every factor comes equally often among all the others
(McKay, Beckman and Conover 1979), and the neighbours of the base come on top.
"""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.papers.search.plan import Factor, Setting

# The draw is part of the answer: it is the same every time.
SEED = 814


def hypercube(factors: Sequence[Factor], count: int) -> list[Setting]:
    """Return so many settings; each level comes equally often if their number divides the count."""
    from scipy.stats import qmc

    places = qmc.LatinHypercube(len(factors), optimization="random-cd", rng=SEED).random(count)
    names = [list(factor.levels) for factor in factors]
    return [tuple(levels[int(place * len(levels))] for levels, place in zip(names, row, strict=True)) for row in places]


def neighbours(factors: Sequence[Factor], setting: Setting) -> list[Setting]:
    """Return the settings that differ from one in one factor."""
    return [
        (*setting[:place], level, *setting[place + 1 :])
        for place, factor in enumerate(factors)
        for level in factor.levels
        if level != setting[place]
    ]
