"""Scores: the distance of a setting from the targets, and its grade in each.

The distance is the mean absolute logarithm of measured over printed values, first within each target, then over the
targets. A ratio has no unit, so queues in packets, round trips in milliseconds and indices can be combined; with its
logarithm, half and twice as much are equally far; all targets count the same, however many AQMs they have numbers for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aqmlab.results.measures import Measure
from aqmlab.search.noise import Noise
from aqmlab.search.plan import Setting
from aqmlab.search.targets import Deviations, Grade, Quantity, Target

# Measurements of a setting: a value per seed.
Values: TypeAlias = Callable[[Setting, str, Measure], Mapping[int, float]]

# A measured zero counts as a thousandth of the printed value.
LARGEST = math.log(1000.0)
NEAR = 0.1


@dataclass(frozen=True)
class Score:
    """A setting and its distance from the targets.

    Attributes:
        measured: by claim and operand: the mean over the seeds, in the claim's unit.
        error: the standard error of that mean; zero with one seed.
        distance: distance from all printed numbers; ``own`` from those of the paper's own AQM.
        near: how many numbers are within 10 % of the printed ones; ``numbers`` is how many there are.
        grades: grades, by target: of the runs or, if these are too few, of their means (`aqmlab.search.noise`).

    """

    setting: Setting
    measured: Mapping[tuple[str, str], float]
    error: Mapping[tuple[str, str], float]
    distance: float
    own: float
    near: int
    numbers: int
    grades: Mapping[str, Grade]

    @property
    def reproduced(self) -> int:
        """How many targets are met with their size."""
        return sum(grade.is_whole for grade in self.grades.values())

    @property
    def holding(self) -> int:
        """How many targets are met in direction, with or without their size."""
        return sum(grade.holds for grade in self.grades.values())


def score(
    setting: Setting, targets: Sequence[Target], values: Values, own: str, noise: Mapping[str, Noise] | None
) -> Score:
    """Return the score of a setting; ``noise`` is that of each target, absent where its runs are enough."""
    measured: dict[tuple[str, str], float] = {}
    error: dict[tuple[str, str], float] = {}
    grades: dict[str, Grade] = {}
    for target in targets:
        runs = {one.name: found for one in target.quantities if (found := by_seed(setting, one, values))}
        grades[target.name] = target.grade(runs, None if noise is None else _deviations(runs, noise[target.name]))
        for name, found in runs.items():
            centre = math.fsum(found.values()) / len(found)
            squares = math.fsum((value - centre) ** 2 for value in found.values())
            measured[target.name, name] = centre
            error[target.name, name] = math.sqrt(squares / max(len(found) - 1, 1) / len(found))
    ratios = {
        (target.name, name): _ratio(measured[target.name, name], number)
        for target in targets
        for name, number in target.numbers.items()
        if (target.name, name) in measured
    }
    mine = {(target.name, one.name) for target in targets for one in target.quantities if one.contestant == own}
    return Score(
        setting=setting,
        measured=measured,
        error=error,
        distance=_distance(ratios),
        own=_distance({place: ratio for place, ratio in ratios.items() if place in mine}),
        near=sum(ratio <= math.log1p(NEAR) for ratio in ratios.values()),
        numbers=len(ratios),
        grades=grades,
    )


def by_seed(setting: Setting, one: Quantity, values: Values) -> dict[int, float]:
    """Return the values of a quantity by seed."""
    found = {seed: value * one.scale for seed, value in values(setting, one.aqm, one.measure).items()}
    if one.over is None:
        return found
    others = by_seed(setting, one.over, values)
    return {seed: value / others[seed] for seed, value in found.items() if others.get(seed)}


def _ratio(measured: float, printed: float) -> float:
    return min(abs(math.log(measured / printed)), LARGEST) if measured > 0.0 else LARGEST


def _distance(ratios: Mapping[tuple[str, str], float]) -> float:
    by_claim: dict[str, list[float]] = {}
    for (claim, _), ratio in ratios.items():
        by_claim.setdefault(claim, []).append(ratio)
    means = [math.fsum(found) / len(found) for found in by_claim.values()]
    return math.fsum(means) / len(means) if means else float("nan")


def _deviations(runs: Mapping[str, Mapping[int, float]], noise: Noise) -> Deviations:
    means = {name: math.fsum(found.values()) / len(found) for name, found in runs.items()}
    return lambda names: noise.deviations(names, means, min(len(runs[name]) for name in names))
