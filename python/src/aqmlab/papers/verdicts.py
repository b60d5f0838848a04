"""Verdicts: computed from what was measured, never typed in.

An expectation is judged by the difference of its two sides, run by run with equal seeds, and its 95 % interval. A claim
is as good as the worst of its expectations. That several have to hold at once needs no correction: each is tested at
5 %, and so is all of them together (intersection-union test, Berger 1982). Directions and bounds are judged by
intervals, sizes by means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from aqmlab import statistics
from aqmlab.papers.claims import Claim, Expectation, Operand
from aqmlab.statistics import Estimate

# What was measured of an operand at a point of the sweep: a value per seed.
Measured: TypeAlias = Callable[[Operand, int], Mapping[int, float]]


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    DIRECTION_ONLY = "direction only"
    NOT_REPRODUCED = "not reproduced"
    NOT_CHECKABLE = "not checkable"


# From the best to the worst: a claim is what the worst of its expectations is.
ORDER = (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY, Verdict.NOT_CHECKABLE, Verdict.NOT_REPRODUCED)


class Spread(NamedTuple):
    """A difference with the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Check:
    """An expectation at a point, judged; ``words`` say why."""

    expectation: str
    point: int
    verdict: Verdict
    words: str


@dataclass(frozen=True)
class Judgement:
    """A claim judged.

    ``measured`` holds, by operand, the mean of each point with its interval.
    """

    claim: Claim
    verdict: Verdict
    why: str
    checks: tuple[Check, ...]
    measured: dict[str, list[Estimate | None]]


def judge(claim: Claim, measured: Measured, points: Sequence[int]) -> Judgement:
    """Judge a claim; ``points`` are those of the sweep that it is about."""
    means = {side.text: [_mean(measured(side, point)) for point in points] for side in claim.operands}
    if claim.unjudged:
        return Judgement(claim, Verdict.NOT_CHECKABLE, claim.unjudged, (), means)
    checks = tuple(_check(claim, one, measured, point) for point in points for one in claim.expectations)
    if not checks:
        return Judgement(claim, Verdict.NOT_CHECKABLE, "the scenario has no such point", (), means)
    worst = max((check.verdict for check in checks), key=ORDER.index)
    return Judgement(claim, worst, _why(checks), checks, means)


def _check(claim: Claim, one: Expectation, measured: Measured, point: int) -> Check:
    left, right = (_values(side, measured, point) for side in (one.left, one.right))
    both = one.left.number is None and one.right.number is None
    seeds = sorted({*left} & {*right} if both else {*left, *right})
    a = [one.left.number if one.left.number is not None else left[seed] for seed in seeds]
    b = [one.right.number if one.right.number is not None else right[seed] for seed in seeds]

    def checked(verdict: Verdict, words: str) -> Check:
        return Check(one.text, point, verdict, words)

    if not seeds:
        missing = next(side.text for side, found in ((one.left, left), (one.right, right)) if not found)
        return checked(Verdict.NOT_CHECKABLE, f"nothing was measured of {missing}")
    if both and set(left) != set(right):
        return checked(Verdict.NOT_CHECKABLE, f"{one.text}: the two were measured with different seeds")
    estimate = statistics.paired(a, b).estimate
    if estimate.low is None or estimate.high is None:
        return checked(Verdict.NOT_CHECKABLE, "one run says nothing about chance")
    difference = Spread(estimate.value, estimate.low, estimate.high)
    base = sum(b) / len(b)
    if one.relation == "=":
        return checked(*_equal(one, difference, base))
    sign = -1.0 if one.relation in ("<", "<=") else 1.0
    low, high = sorted((sign * difference.low, sign * difference.high))
    holds = low > 0.0 if one.relation in ("<", ">") else low >= -_bound(one, base)
    if not holds:
        what = "it is the other way round" if high < 0.0 else "not distinguishable"
        return checked(Verdict.NOT_REPRODUCED, f"{one.text}: {what} {_by(difference, base)}")
    return checked(*_size(claim, one, difference, base, sign))


def _size(claim: Claim, one: Expectation, difference: Spread, base: float, sign: float) -> tuple[Verdict, str]:
    """Judge by how much, the direction being right."""
    left, right = (claim.paper.get(side.text, side.number) for side in (one.left, one.right))
    sized = one.by is not None or (left is not None and right is not None)
    if not sized or claim.tolerance is None:
        return Verdict.REPRODUCED, f"{one.text}: holds {_by(difference, base)}; the paper gives no size"
    doubted = [claim.doubt[side.text] for side in (one.left, one.right) if side.text in claim.doubt]
    if doubted:
        return Verdict.DIRECTION_ONLY, f"{one.text}: holds {_by(difference, base)}; {doubted[0]}"
    expected = sign * one.by if one.by is not None else _share(left, right)
    if expected is None or not base:
        return Verdict.DIRECTION_ONLY, f"{one.text}: holds, but {one.right.text} is zero: no share of it can be told"
    change = difference.value / abs(base)
    words = f"{one.text}: {change:+.1%} ({expected:+.1%} in the paper"
    if abs(change - expected) <= claim.tolerance + 1e-12:
        return Verdict.REPRODUCED, f"{words}, within {claim.tolerance * 100:g} points)"
    return Verdict.DIRECTION_ONLY, f"{words}, further off than {claim.tolerance * 100:g} points)"


def _share(left: float | None, right: float | None) -> float | None:
    """Return the paper's change, as a share of the right side."""
    return None if left is None or not right else (left - right) / abs(right)


def _bound(one: Expectation, base: float) -> float:
    within = one.within or 0.0
    return within * abs(base) if one.within_share else within


def _equal(one: Expectation, difference: Spread, base: float) -> tuple[Verdict, str]:
    bound = _bound(one, base)
    shown = f"{one.text}: differs {_by(difference, base)}"
    if -bound <= difference.low and difference.high <= bound:
        return Verdict.REPRODUCED, shown
    if abs(difference.value) <= bound:
        return Verdict.DIRECTION_ONLY, f"{shown}: the mean is near enough, its interval is not"
    return Verdict.NOT_REPRODUCED, f"{shown}: too far"


def _by(difference: Spread, base: float) -> str:
    ends = f"{difference.low:+.3g} to {difference.high:+.3g}"
    share = f", {difference.value / abs(base):+.1%}" if base else ""
    return f"by {difference.value:+.3g} ({ends}{share})"


def _values(side: Operand, measured: Measured, point: int) -> Mapping[int, float]:
    return {} if side.number is not None else measured(side, point)


def _mean(found: Mapping[int, float]) -> Estimate | None:
    return statistics.mean([found[seed] for seed in sorted(found)]) if found else None


def _why(checks: Sequence[Check]) -> str:
    """Say what decided: the failures first, then what is off, then how much holds."""
    holding = sum(check.verdict in (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY) for check in checks)
    ranked = sorted(checks, key=lambda check: -ORDER.index(check.verdict))
    worst = [check.words for check in ranked if check.verdict == ranked[0].verdict]
    count = f"{holding} of {len(checks)} hold; " if len(checks) > 1 else ""
    more = f"; and {len(worst) - 3} more" if len(worst) > 3 else ""
    return f"{count}{'; '.join(worst[:3])}{more}"
