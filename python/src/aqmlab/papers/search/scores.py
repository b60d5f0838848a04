"""How near a setting comes to the paper: its distance, and the claims' verdicts.

The distance is the mean absolute logarithm of measured over printed, first within each claim, then over the claims. A
ratio has no unit, so that queues in packets, round trips in milliseconds and indices can be added up; its logarithm
makes half and twice as much equally far; the claims count alike, however many AQMs they give numbers of. Numbers that
cannot be (``doubt``) and zeros, which have no ratio, are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aqmlab.papers.claims import Claim, Measure, Operand
from aqmlab.papers.search.plan import Setting
from aqmlab.papers.verdicts import HOLDS, Verdict, judge

# What was measured in a setting: a value per seed.
Values: TypeAlias = Callable[[Setting, str, Measure], Mapping[int, float]]

# A measured zero counts as a thousandth of what is printed.
LARGEST = math.log(1000.0)
NEAR = 0.1


@dataclass(frozen=True)
class Score:
    """A setting and how near it comes.

    Attributes:
        measured: by claim and operand: the mean over the seeds, in the claim's unit.
        error: the standard error of that mean; zero with one seed.
        distance: from all numbers of the paper; ``own`` from those of its own AQM alone.
        near: how many numbers are within 10 % of the paper's, of how many.
        verdicts: by claim, of the means: so few seeds have no interval worth the name.

    """

    setting: Setting
    measured: Mapping[tuple[str, str], float]
    error: Mapping[tuple[str, str], float]
    distance: float
    own: float
    near: int
    numbers: int
    verdicts: Mapping[str, Verdict]

    @property
    def reproduced(self) -> int:
        """How many claims are reproduced."""
        return sum(verdict == Verdict.REPRODUCED for verdict in self.verdicts.values())

    @property
    def holding(self) -> int:
        """How many claims hold in their direction, reproduced ones included."""
        return sum(verdict in HOLDS for verdict in self.verdicts.values())


def score(setting: Setting, claims: Sequence[Claim], values: Values, own: str) -> Score:
    """Return how near a setting comes."""
    measured: dict[tuple[str, str], float] = {}
    error: dict[tuple[str, str], float] = {}
    for claim in claims:
        for side in claim.operands:
            found = [value * claim.scale for value in values(setting, side.aqm, claim.measure(side)).values()]
            if found:
                centre = math.fsum(found) / len(found)
                squares = math.fsum((value - centre) ** 2 for value in found)
                measured[claim.id, side.text] = centre
                error[claim.id, side.text] = math.sqrt(squares / max(len(found) - 1, 1) / len(found))
    ratios = {
        (claim.id, name): _ratio(measured[claim.id, name], claim.paper[name])
        for claim in claims
        for name in comparable(claim)
        if (claim.id, name) in measured
    }
    mine = {(claim.id, side.text) for claim in claims for side in claim.operands if side.aqm == own}
    return Score(
        setting=setting,
        measured=measured,
        error=error,
        distance=_distance(ratios),
        own=_distance({place: ratio for place, ratio in ratios.items() if place in mine}),
        near=sum(ratio <= math.log1p(NEAR) for ratio in ratios.values()),
        numbers=len(ratios),
        verdicts={claim.id: _verdict(claim, measured) for claim in claims},
    )


def comparable(claim: Claim) -> list[str]:
    """Return the operands of whose numbers a ratio can be formed."""
    return [name for name, number in claim.paper.items() if number > 0.0 and name not in claim.doubt]


def _ratio(measured: float, printed: float) -> float:
    return min(abs(math.log(measured / printed)), LARGEST) if measured > 0.0 else LARGEST


def _distance(ratios: Mapping[tuple[str, str], float]) -> float:
    by_claim: dict[str, list[float]] = {}
    for (claim, _), ratio in ratios.items():
        by_claim.setdefault(claim, []).append(ratio)
    means = [math.fsum(found) / len(found) for found in by_claim.values()]
    return math.fsum(means) / len(means) if means else float("nan")


def _verdict(claim: Claim, measured: Mapping[tuple[str, str], float]) -> Verdict:
    """Judge the means: two equal runs have an interval of no length."""

    def means(side: Operand, point: int) -> Mapping[int, float]:
        del point
        value = measured.get((claim.id, side.text))
        return {} if value is None else {1: value, 2: value}

    return judge(claim, means, [0]).verdict
