"""The effect of each factor: the range of its levels' means, and how many settings make a claim hold at each level.

The means come from an additive model fitted to the Latin hypercube by least squares, so that a level does not get the
effects of other factors' levels that happened to coincide with it. The residuals of the model (chance between seeds,
and interactions of factors) show how large a range chance alone gives: the 95th percentile of the range when a factor's
levels are assigned to the residuals at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from aqmlab.search.plan import Factor, Search
from aqmlab.search.scores import Score
from aqmlab.search.targets import Target

Reals: TypeAlias = npt.NDArray[np.float64]

# A fixed seed: the shuffling is the same every time.
SEED = 814
SHUFFLES = 400
CONFIDENCE = 0.95
ROUNDING = 1e-9


@dataclass(frozen=True)
class Effect:
    """The effect of a factor on the own AQM in a target, as a share of the printed value.

    If none is printed: of the mean over all settings. Of several measures, the one with the largest effect.

    Attributes:
        size: largest less smallest mean of a level.
        chance: 95th percentile of what chance alone gives.

    """

    factor: str
    claim: str
    size: float
    chance: float

    @property
    def is_seen(self) -> bool:
        """Whether it exceeds chance."""
        return self.size > self.chance + ROUNDING


@dataclass(frozen=True)
class Level:
    """A level of a factor: its mean distances, and the share of settings in which each claim's direction holds."""

    factor: str
    level: str
    settings: int
    distance: float
    own: float
    holding: Mapping[str, float]


def effects(search: Search, targets: Sequence[Target], sample: Sequence[Score]) -> list[Effect]:
    """Return the main effect of every factor on every claim, over a sample of all combinations."""
    found = []
    for target in targets:
        values = _values(target, sample, search.own)
        if not values.size:
            continue
        groups = [_groups(factor, place, sample) for place, factor in enumerate(search.factors)]
        means, residuals = _fit(groups, values)
        for factor, group, own in zip(search.factors, groups, means, strict=True):
            sizes = np.ptp(own, axis=0)
            most = int(np.argmax(sizes))
            chance = _chance(group, residuals[:, most])
            found.append(Effect(factor.name, target.name, float(sizes[most]), chance))
    return found


def around(search: Search, targets: Sequence[Target], scores: Sequence[Score]) -> list[Effect]:
    """Return the effect of every factor with all others as in the base, from the base and its neighbours.

    Chance is the difference between two settings that differ only in their random numbers.
    """
    found = []
    for target in targets:
        values = _values(target, scores, search.own)
        if not values.size:
            continue
        errors = _errors(target, scores, search.own)
        for place, factor in enumerate(search.factors):
            rest = [(*one.setting[:place], *one.setting[place + 1 :]) for one in scores]
            base = (*search.base[:place], *search.base[place + 1 :])
            chosen = [number for number, setting in enumerate(rest) if setting == base]
            sizes = np.ptp(values[chosen], axis=0)
            most = int(np.argmax(sizes))
            # The difference of two means, each with the standard error over seeds: 1.96 standard errors.
            chance = 1.96 * 2.0**0.5 * float(errors[most])
            found.append(Effect(factor.name, target.name, float(sizes[most]), chance))
    return found


def levels(search: Search, targets: Sequence[Target], sample: Sequence[Score]) -> list[Level]:
    """Return the results at every level of every factor."""
    found = []
    distances = np.array([(one.distance, one.own) for one in sample])
    groups = [_groups(factor, place, sample) for place, factor in enumerate(search.factors)]
    means, _ = _fit(groups, distances)
    for place, factor in enumerate(search.factors):
        for number, level in enumerate(factor.levels):
            here = [one for one in sample if one.setting[place] == level]
            names = [target.name for target in targets]
            share = {name: sum(one.grades[name].holds for one in here) / max(len(here), 1) for name in names}
            distance, own = means[place][number]
            found.append(Level(factor.name, level, len(here), float(distance), float(own), share))
    return found


def seed_noise(search: Search, targets: Sequence[Target], scores: Sequence[Score]) -> dict[str, float]:
    """Return the standard error of a setting's value due to the seeds, by claim, as a share like the effects."""
    found = {target.name: _errors(target, scores, search.own) for target in targets}
    return {claim: float(errors.max()) for claim, errors in found.items() if errors.size}


def _fit(groups: Sequence[Reals], values: Reals) -> tuple[list[Reals], Reals]:
    """Fit a mean for each level of each factor; return these means, and the residuals."""
    rows = [np.ones((len(values), 1)), *(group[:, 1:] for group in groups)]
    matrix = np.hstack(rows)
    weights, *_ = np.linalg.lstsq(matrix, values, rcond=None)
    residuals = values - matrix @ weights
    means = []
    start = 1
    for group in groups:
        end = start + group.shape[1] - 1
        # The first level is the reference.
        own = np.vstack([np.zeros(values.shape[1]), weights[start:end]])
        centred = own - group.mean(axis=0) @ own + values.mean(axis=0)
        means.append(centred)
        start = end
    return means, residuals


def _chance(group: Reals, residuals: Reals) -> float:
    """Return the 95th percentile of the range of the levels' means over random assignments of residuals."""
    random = np.random.default_rng(SEED)
    dealt = random.permuted(np.tile(residuals, (SHUFFLES, 1)), axis=1).T
    means = (group.T @ dealt) / np.maximum(group.sum(axis=0), 1.0)[:, None]
    return float(np.quantile(np.ptp(means, axis=0), CONFIDENCE))


def _groups(factor: Factor, place: int, scores: Sequence[Score]) -> Reals:
    """Return the level (column) of each setting (row), as ones."""
    return np.array([[float(one.setting[place] == level) for level in factor.levels] for one in scores])


def _sides(target: Target, own: str) -> list[str]:
    return [one.name for one in target.quantities if one.contestant == own]


def _values(target: Target, scores: Sequence[Score], own: str) -> Reals:
    """Return the own AQM's values, one row per setting, as shares of the printed ones."""
    return _shares(target, scores, own, [one.measured for one in scores])


def _errors(target: Target, scores: Sequence[Score], own: str) -> Reals:
    """Return the standard errors of these values, over all settings."""
    errors = _shares(target, scores, own, [one.error for one in scores])
    return np.sqrt((errors**2).mean(axis=0)) if errors.size else errors


def _shares(
    target: Target, scores: Sequence[Score], own: str, found: Sequence[Mapping[tuple[str, str], float]]
) -> Reals:
    columns = []
    for name in _sides(target, own):
        place = (target.name, name)
        if any(place not in one.measured for one in scores):
            continue
        mean = sum(abs(one.measured[place]) for one in scores) / len(scores)
        whole = target.numbers.get(name, mean)
        columns.append([one[place] / whole if whole else 0.0 for one in found])
    return np.array(columns).T
