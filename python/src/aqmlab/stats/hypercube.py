"""Latin hypercubes: points in the unit cube, one in each of equally many layers of every dimension, spread evenly.

McKay, Beckman and Conover 1979. Exchanging the coordinates of two points keeps the layers; such exchanges make the
cover more even (Jin, Chen and Sudjianto 2005), as measured by the centred discrepancy (Hickernell 1998, eq. 5.1).

It is our own since the points are those of `scipy.stats.qmc`, which drew the published searches and takes 114 MB; a
test compares them. Another library would draw others.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

# A fixed seed: the draw is the same every time.
SEED = 814
# Most exchanges tried, in all and in a row without improvement.
EXCHANGES = 10_000
IN_VAIN = 100

Reals: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


def even(count: int, dimensions: int) -> Reals:
    """Return points of a Latin hypercube, one per row."""
    # The child's stream is used because scipy's Latin hypercube, which drew the published searches, uses it.
    random = np.random.default_rng(SEED).spawn(1)[0]
    within = random.uniform(size=(count, dimensions))
    ranks = np.tile(np.arange(1, count + 1), (dimensions, 1))
    for column in ranks:
        random.shuffle(column)
    points: Reals = (ranks.T - within) / count
    if count == 1 or dimensions == 1:
        return points
    cover = _Cover(points)
    in_vain = 0
    for _ in range(EXCHANGES):
        column, one, other = (int(random.integers(0, end)) for end in (dimensions, count, count))
        in_vain = 0 if cover.exchange(column, one, other) else in_vain + 1
        if in_vain == IN_VAIN:
            break
    return cover.points


class _Cover:
    """Points and their centred discrepancy, without its constant term, updated as points are exchanged."""

    def __init__(self, points: Reals) -> None:
        self.points = points
        own, pairs = _own(points).prod(axis=1), np.ones((len(points), len(points)))
        for column in points.T:
            pairs *= _pair(column[:, None], column)
        self._own, self._pairs = own, pairs
        self._discrepancy = self._of(own.sum(), pairs.sum())

    def exchange(self, column: int, one: int, other: int) -> bool:
        """Exchange a coordinate of two points if that makes the cover more even; return whether it did."""
        if one == other:
            return False
        places = self.points[:, column]
        rows = [one, other]
        before, after = places[rows], places[rows[::-1]]
        moved = places.copy()
        moved[rows] = after
        own = self._own[rows] / _own(before) * _own(after)
        pairs = self._pairs[rows] / _pair(before[:, None], places) * _pair(after[:, None], moved)
        owns = self._own.sum() - self._own[rows].sum() + own.sum()
        # Rows and columns change alike; the terms of both rows would be counted twice.
        changed = 2 * (pairs.sum() - self._pairs[rows].sum())
        changed -= pairs[:, rows].sum() - self._pairs[np.ix_(rows, rows)].sum()
        discrepancy = self._of(owns, self._pairs.sum() + changed)
        if discrepancy >= self._discrepancy:
            return False
        self.points[:, column] = moved
        self._own[rows], self._pairs[rows], self._pairs[:, rows] = own, pairs, pairs.T
        self._discrepancy = discrepancy
        return True

    def _of(self, owns: float, pairs: float) -> float:
        count = len(self.points)
        return float(pairs / count**2 - 2.0 * owns / count)


def _own(places: Reals) -> Reals:
    from_centre = np.abs(places - 0.5)
    factor: Reals = 1.0 + from_centre / 2 - from_centre**2 / 2
    return factor


def _pair(one: Reals, other: Reals) -> Reals:
    factor: Reals = 1.0 + np.abs(one - 0.5) / 2 + np.abs(other - 0.5) / 2 - np.abs(one - other) / 2
    return factor
