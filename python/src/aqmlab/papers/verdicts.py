"""Verdicts: computed from measurements, never typed in.

An expectation is judged by the difference of its two sides, run by run with equal seeds. It states where this
difference lies: beyond a margin, or between two. If its 95 % interval lies there, the expectation holds; if it lies
outside, the expectation is refuted; if the margin is inside the interval, it is inconclusive, since the interval then
holds the claim and its opposite.

A claim is a whole sentence: its parts are its expectations, at each point of the sweep that it speaks of.

- *reproduced*: every part holds, with the paper's size where it gives one;
- *reproduced in part*: some parts hold and others are refuted, or all hold and a size is another;
- *not reproduced*: a part is refuted and none holds;
- *inconclusive*: nothing is refuted, and the runs leave a part or its size open;
- *not testable*: nothing queues, or the paper says too little.

Numbers that are recalled, not read, confirm nothing: where all parts hold, or some do, their claim is inconclusive.

That all parts hold needs no correction: each is tested at 2.5 %, and so is all of them together (intersection-union
test, Berger 1982). That some part holds, or is refuted, does need one: the smallest p is multiplied by the number of
parts (Bonferroni). The claims of a paper under one preset are a family: the three lists are corrected by Holm's
procedure, and a claim that is significant only before this correction is inconclusive.

An effect with a size in the paper is reproduced if its whole interval is between half and twice that size; a claim may
narrow this factor. If the interval holds other sizes as well, the size is open. Sizes are compared as logarithms of the
ratio of both sides, so that a third of something and three times it are equally far from no change, and neither side is
preferred. An effect whose direction is open is never refuted for its size: with more runs it may be a small one of the
claimed direction.

Two runs refute nothing, and runs that all agree are no certainty: chance alone does that in one of 2^n cases. Where
both sides are zero in every run there is nothing to compare: "less" is then neither met nor missed, and a claim of such
parts alone is not testable; so is one of whose scenario something that must be given is not so.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from aqmlab.papers.claims import Claim, Expectation, Operand
from aqmlab.search import Deviations
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary.names import listed

# Measurements of an operand at a point of the sweep: a value per seed.
Measured: TypeAlias = Callable[[Operand, int], Mapping[int, float]]

# Probability that chance alone makes an expectation hold, or refutes it: one side of a 95 % interval.
CHANCE = (1.0 - statistics.CONFIDENCE) / 2


class Verdict(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    INCONCLUSIVE = "inconclusive"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable"


# Begins the reason of a verdict that the number of claims leaves open.
CORRECTION = "significant only before correction"
# That of a verdict that unread numbers leave open.
RECALLED = "the paper's numbers are recalled"
# A mean below this share of the largest value is none.
ROUNDING = 1e-12
# Runs with which something can be refuted.
ENOUGH_TO_REFUTE = 3


class Difference(NamedTuple):
    """A difference with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratio:
    """Left over right with its interval, the ratios that meet the expectation, and the paper's (absent: none)."""

    value: float
    low: float
    high: float
    least: float
    most: float
    paper: float | None = None


@dataclass(frozen=True)
class Check:
    """An expectation judged at a point; ``words`` give the reason. Below or at zero on the right there is no ratio.

    It ``holds`` if its direction does, whatever its size. ``p_holds`` is the probability that chance alone makes it
    hold as clearly, ``p_fails`` that chance refutes it. A tie is two sides that are zero in every run where the left
    one is to be less.
    """

    expectation: str
    point: int
    verdict: Verdict
    words: str
    holds: bool = False
    p_holds: float = 1.0
    p_fails: float = 1.0
    is_tie: bool = False
    ratio: Ratio | None = None

    @property
    def effect(self) -> dict[str, float | None]:
        """The difference as a share of the right side: the paper's, ours and the ends of its interval."""
        if self.ratio is None:
            return dict.fromkeys(("paper", "value", "low", "high"))
        ratio = self.ratio
        shares = {"paper": ratio.paper, "value": ratio.value, "low": ratio.low, "high": ratio.high}
        return {name: None if share is None or math.isinf(share) else share - 1.0 for name, share in shares.items()}


@dataclass(frozen=True)
class Judgement:
    """A claim judged.

    ``checks`` are of its parts; ``measured`` holds, by operand, the mean of each point with its interval, and
    ``names`` what the points are called.
    """

    claim: Claim
    verdict: Verdict
    why: str
    checks: tuple[Check, ...]
    measured: dict[str, list[Estimate | None]]
    names: Mapping[int, str] = dataclasses.field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every part holds in its direction, whatever its size."""
        return bool(self.checks) and all(check.holds for check in self.checks)

    @property
    def p_holds(self) -> float:
        """The probability that chance alone makes all of it hold."""
        return max(check.p_holds for check in self.checks)

    @property
    def p_some_holds(self) -> float:
        """The probability that chance alone makes some of it hold."""
        return min(1.0, len(self.checks) * min(check.p_holds for check in self.checks))

    @property
    def p_fails(self) -> float:
        """The probability that chance alone refutes some of it."""
        return min(1.0, len(self.checks) * min(check.p_fails for check in self.checks))


def judge(
    claim: Claim,
    measured: Measured,
    points: Sequence[int],
    noise: Deviations | None = None,
    names: Mapping[int, str] | None = None,
) -> Judgement:
    """Judge a claim by itself; ``points`` are those of the sweep that it applies to, ``names`` what they are called.

    With ``noise`` every measurement is one mean, and a sample with these deviations takes its place.
    """

    def finite(side: Operand, point: int) -> Mapping[int, float]:
        return {seed: value for seed, value in measured(side, point).items() if math.isfinite(value)}

    means = {side.text: [_mean(finite(side, point)) for point in points] for side in claim.operands}
    if claim.unjudged:
        return Judgement(claim, Verdict.NOT_TESTABLE, claim.unjudged, (), means)
    every = tuple(_check(claim, one, finite, point, noise) for point in points for one in claim.expectations)
    if not every:
        return Judgement(claim, Verdict.NOT_TESTABLE, "the scenario has no such point", (), means)
    lacking = [words for point in points for one in claim.given if (words := _lacks(one, finite, point))]
    if lacking:
        return Judgement(claim, Verdict.NOT_TESTABLE, f"needs {lacking[0]}", (), means)
    checks = tuple(check for check in every if not check.is_tie) or every
    why = _why(checks, len(every) - len(checks), names or {})
    judgement = Judgement(claim, _whole(checks), why, checks, means, names or {})
    if any(check.verdict == Verdict.NOT_REPRODUCED for check in checks):
        if judgement.p_fails > CHANCE:
            return _open(judgement, f"one of {len(checks)} may fail by chance: p = {judgement.p_fails:.2g}")
        if judgement.p_some_holds > CHANCE:
            return dataclasses.replace(judgement, verdict=Verdict.NOT_REPRODUCED)
    if claim.recalled and judgement.verdict in (Verdict.REPRODUCED, Verdict.IN_PART):
        return _open(judgement, f"{RECALLED}: {claim.recalled}")
    return judgement


def family(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the claims of a paper judged together: what is significant only before Holm's correction is open."""
    judged = [one for one in judgements if one.verdict != Verdict.NOT_TESTABLE and one.checks]

    def corrected(p_of: Callable[[Judgement], float]) -> dict[int, float]:
        return dict(zip(map(id, judged), statistics.holm_p([p_of(one) for one in judged]), strict=True))

    every = corrected(lambda one: one.p_holds)
    some = corrected(lambda one: one.p_some_holds)
    fails = corrected(lambda one: one.p_fails)

    def among_all(one: Judgement) -> Judgement:
        if one.verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_TESTABLE):
            return one
        is_refuted = any(check.verdict == Verdict.NOT_REPRODUCED for check in one.checks)
        partly = any(check.verdict == Verdict.NOT_TESTABLE for check in one.checks)
        p_value = (fails if is_refuted else some if partly else every).get(id(one), 0.0)
        if p_value > CHANCE:
            reason = f"{CORRECTION} for {len(judged)} claims: p = {p_value:.2g} by Holm"
            return _open(one, reason)
        if is_refuted and one.verdict == Verdict.IN_PART and some[id(one)] > CHANCE:
            return dataclasses.replace(one, verdict=Verdict.NOT_REPRODUCED)
        return one

    return [among_all(one) for one in judgements]


def by_chance(judgements: Sequence[Judgement]) -> str:
    """Return how many claims would hold by chance, before and after the correction."""
    judged = sum(bool(one.checks) for one in judgements)
    return (
        f"False confirmations: at most {CHANCE * judged:.2g} of {judged} claims expected before the correction (Holm). "
        f"After it, any at all has a chance of at most {CHANCE:.1%}."
    )


def _check(claim: Claim, one: Expectation, measured: Measured, point: int, noise: Deviations | None) -> Check:
    left, right = (_values(side, measured, point) for side in (one.left, one.right))
    both = one.left.number is None and one.right.number is None
    seeds = sorted({*left} & {*right} if both else {*left, *right})
    a = [one.left.number if one.left.number is not None else left[seed] for seed in seeds]
    b = [one.right.number if one.right.number is not None else right[seed] for seed in seeds]

    def unchecked(words: str) -> Check:
        return Check(one.text, point, Verdict.NOT_TESTABLE, words)

    for side, found in ((one.left, left), (one.right, right)):
        if side.number is None and not found:
            return unchecked(f"there is no measurement of {side.text}")
    if both and set(left) != set(right):
        return unchecked(f"{one.text}: its two sides have different seeds")
    if len(seeds) < 2 and noise is None:
        return unchecked("one run says nothing about chance")
    if both and not any(a) and not any(b):
        words = f"{one.text}: both are zero in every run"
        return Check(one.text, point, Verdict.NOT_TESTABLE, words, is_tie=one.relation in ("<", "<="))
    if noise is not None:
        sides = (one.left, one.right)
        deviations = noise(tuple(claim.quantity(side, point) for side in sides if side.number is None))
        if not deviations:
            words = f"{one.text}: nothing is known of the noise of its seeds"
            return Check(one.text, point, Verdict.INCONCLUSIVE, words)
        names = [claim.quantity(side, point) for side in sides]
        a, b = ([mean + run.get(name, 0.0) for run in deviations] for name, (mean,) in zip(names, (a, b), strict=True))
    base = _base(b)
    differences = [x - y for x, y in zip(a, b, strict=True)]
    difference = _difference(differences)
    ratio = _ratio(claim, one, a, b)
    p_holds, p_fails = _chances(one, differences, _bounds(one, b, base))
    if len(a) < ENOUGH_TO_REFUTE:
        p_fails = 1.0
    if p_holds <= CHANCE:
        return Check(one.text, point, *_size(claim, one, a, b), True, p_holds, p_fails, ratio=ratio)
    if p_fails <= CHANCE:
        what = "too far" if one.relation == "=" else _refuted(one, difference)
        words = f"{one.text}: {what} {_by(difference, base)}"
        return Check(one.text, point, Verdict.NOT_REPRODUCED, words, False, p_holds, p_fails, ratio=ratio)
    smaller = f", smaller than {_papers_size(claim, one):+.1%} in the paper" if _is_smaller(claim, one, a, b) else ""
    words = f"{one.text}: not distinguishable {_by(difference, base)}{smaller}"
    return Check(one.text, point, Verdict.INCONCLUSIVE, words, False, p_holds, p_fails, ratio=ratio)


def _chances(one: Expectation, differences: Sequence[float], bounds: Sequence[float]) -> tuple[float, float]:
    """Return the probabilities that chance alone makes the expectation hold as clearly, and that it refutes it."""

    def above(values: Sequence[float], margins: Sequence[float]) -> float:
        return statistics.exceeds([value - margin for value, margin in zip(values, margins, strict=True)])

    def below(values: Sequence[float], margins: Sequence[float]) -> float:
        return above(margins, values)

    lower = [-bound for bound in bounds]
    if one.relation == "=":
        # Two one-sided tests (Schuirmann 1987); refuted on either side.
        inside = max(_closed(above, differences, lower), _closed(below, differences, bounds))
        return inside, min(above(differences, bounds), below(differences, lower))
    oriented = [-value for value in differences] if one.relation in ("<", "<=") else list(differences)
    if one.relation in ("<", ">"):
        return above(oriented, bounds), _closed(below, oriented, bounds)
    return _closed(above, oriented, lower), below(oriented, lower)


def _lacks(one: Expectation, measured: Measured, point: int) -> str:
    """Return what must be given and is not so, by the means; empty if it is."""
    means = []
    for side in (one.left, one.right):
        values = _values(side, measured, point)
        if side.number is None and not values:
            return f"{one.text}, and there is no measurement of {side.text}"
        means.append(side.number if side.number is not None else sum(values.values()) / len(values))
    left, right = means
    margin = (one.bound or 0.0) * (abs(right) if one.bound_share else 1.0)
    beyond = {"<": right - left, ">": left - right, "<=": right - left, ">=": left - right, "=": -abs(left - right)}
    room = beyond[one.relation] + (margin if one.relation in ("<=", ">=", "=") else -margin)
    met = room > 0.0 if one.relation in ("<", ">") else room >= 0.0
    return "" if met else f"{one.text}, and it is {left:.3g} beside {right:.3g}"


def _is_smaller(claim: Claim, one: Expectation, left: Sequence[float], right: Sequence[float]) -> bool:
    """Whether the interval leaves out all sizes that count as the paper's."""
    claimed = _claimed_sign(one)
    expected = _papers_size(claim, one)
    strict = one.relation in ("<", ">")
    if not strict or expected is None or expected * claimed <= 0.0 or _doubts(claim, one):
        return False
    least, _ = _sizes(claim, one, expected, left, right)
    return _fails([claimed * (a - b * (1.0 + _of(right) * least)) for a, b in zip(left, right, strict=True)]) <= CHANCE


def _closed(
    test: Callable[[Sequence[float], Sequence[float]], float], values: Sequence[float], margins: Sequence[float]
) -> float:
    """Return the probability of a bound that is itself allowed: runs that all lie on it meet it."""
    return statistics.by_sign(len(values)) if list(values) == list(margins) else test(values, margins)


def _fails(values: Sequence[float]) -> float:
    """Return the probability that chance alone gives a mean this far below zero; with too few runs it may always."""
    return 1.0 if len(values) < ENOUGH_TO_REFUTE else statistics.exceeds([-value for value in values])


def _refuted(one: Expectation, difference: Difference) -> str:
    claimed = _claimed_sign(one)
    if difference.value == 0.0:
        return "there is no difference"
    if one.relation in ("<", ">") and difference.value * claimed > 0.0:
        return "the difference is smaller"
    return "the opposite holds" if one.relation in ("<", ">") else "the difference is larger"


def _size(claim: Claim, one: Expectation, left: Sequence[float], right: Sequence[float]) -> tuple[Verdict, str]:
    """Judge the size of a difference that holds."""
    base = _base(right)
    difference = _difference([a - b for a, b in zip(left, right, strict=True)])
    if one.relation == "=":
        return Verdict.REPRODUCED, f"{one.text}: differs {_by(difference, base)}"
    if one.by is None and not all(_number(claim, side) is not None for side in (one.left, one.right)):
        return Verdict.REPRODUCED, f"{one.text}: holds {_by(difference, base)}; the paper gives no size"
    doubted = _doubts(claim, one)
    if doubted:
        return Verdict.IN_PART, f"{one.text}: holds {_by(difference, base)}; {doubted[0]}"
    expected = _papers_size(claim, one)
    if expected is None or not base:
        return Verdict.IN_PART, f"{one.text}: holds, but {one.right.text} is zero: a share of it is undefined"
    change = difference.value / abs(base)
    words = f"{one.text}: {change:+.1%} ({_share_ends(left, right)}; {expected:+.1%} in the paper"
    if change * expected <= 0.0:
        return Verdict.IN_PART, f"{words}: its own numbers say the opposite)"
    least, most = _sizes(claim, one, expected, left, right)
    verdict = _within(expected, (least, most), left, right)
    further = "or less" if one.relation == "<" else "or more"
    allowed = f"{least:+.1%} to {most:+.1%}" if math.isfinite(most) else f"{least:+.1%} {further}"
    reasons = {
        Verdict.REPRODUCED: f"allowed is {allowed}",
        Verdict.INCONCLUSIVE: f"too few runs to decide whether it is {allowed}",
        Verdict.IN_PART: f"not {allowed}",
    }
    return verdict, f"{words}; {reasons[verdict]})"


def _within(expected: float, sizes: tuple[float, float], left: Sequence[float], right: Sequence[float]) -> Verdict:
    """Say whether the interval of the ratio of both sides is between these sizes, outside, or both."""
    sign = math.copysign(1.0, expected)

    def beyond(size: float) -> list[float]:
        """How far each run is beyond a size (Fieller 1954)."""
        return [sign * (a - b * (1.0 + _of(right) * size)) for a, b in zip(left, right, strict=True)]

    bounds = [beyond(sizes[0])]
    if math.isfinite(sizes[1]):
        bounds.append([-value for value in beyond(sizes[1])])
    if all(_met(margins) <= CHANCE for margins in bounds):
        return Verdict.REPRODUCED
    return Verdict.IN_PART if any(_fails(margins) <= CHANCE for margins in bounds) else Verdict.INCONCLUSIVE


def _met(margins: Sequence[float]) -> float:
    """Return the probability that chance alone gives margins like these, which may be zero."""
    return statistics.exceeds(margins) if any(margins) else statistics.by_sign(len(margins))


def _sizes(
    claim: Claim, one: Expectation, expected: float, left: Sequence[float], right: Sequence[float]
) -> tuple[float, float]:
    """Return the smallest and largest size that count as the paper's, as shares of the right side.

    They are the paper's ratio of left to right to the power of 1/factor and of factor; where a side is not above zero,
    which has no logarithm, the difference divided and multiplied by the factor.
    """
    if one.at_least:
        return expected, math.copysign(math.inf, expected)
    factor = claim.factor
    if 1.0 + expected <= 0.0 or sum(left) <= 0.0 or sum(right) <= 0.0:
        return expected / factor, expected * factor
    return math.expm1(math.log1p(expected) / factor), math.expm1(math.log1p(expected) * factor)


def _base(right: Sequence[float]) -> float:
    """Return the mean of the right side; what is left of values that cancel is rounding."""
    mean = math.fsum(right) / len(right)
    return mean if abs(mean) > ROUNDING * max(map(abs, right)) else 0.0


def _of(right: Sequence[float]) -> float:
    """Return the sign of the right side: a share of what is below zero is one of its amount."""
    return math.copysign(1.0, sum(right))


def _share_ends(left: Sequence[float], right: Sequence[float]) -> str:
    """Return the interval of the difference as a share of the right side, by the test that judges it."""
    found = statistics.ratio(left, right)
    if found.low is None or found.high is None:
        return "without bounds"
    ends = sorted(_of(right) * (end - 1.0) for end in (found.low, found.high))
    return " to ".join(f"{end:+.1%}" for end in ends)


def _ratio(claim: Claim, one: Expectation, left: Sequence[float], right: Sequence[float]) -> Ratio | None:
    base = _base(right)
    if base <= 0.0:
        return None
    bound = (one.bound or 0.0) / (1.0 if one.bound_share else base)
    allowed = {
        "<": (0.0, 1.0 - bound),
        ">": (1.0 + bound, math.inf),
        "<=": (0.0, 1.0 + bound),
        ">=": (1.0 - bound, math.inf),
        "=": (1.0 - bound, 1.0 + bound),
    }[one.relation]
    expected = None if _doubts(claim, one) else _papers_size(claim, one)
    if expected is not None and one.relation in ("<", ">") and expected * _claimed_sign(one) > 0.0:
        ends = [1.0 + size for size in _sizes(claim, one, expected, left, right)]
        allowed = max(0.0, min(ends)), max(ends)
    found = statistics.ratio(left, right)
    low, high = 0.0 if found.low is None else found.low, math.inf if found.high is None else found.high
    return Ratio(found.value, low, high, *allowed, None if expected is None else 1.0 + expected)


def _papers_size(claim: Claim, one: Expectation) -> float | None:
    """Return the difference that the paper gives, with its sign, as a share of the right side."""
    if one.by is not None:
        return _claimed_sign(one) * one.by
    left, right = (_number(claim, side) for side in (one.left, one.right))
    return None if left is None or not right else (left - right) / abs(right)


def _claimed_sign(one: Expectation) -> float:
    return -1.0 if one.relation in ("<", "<=") else 1.0


def _number(claim: Claim, side: Operand) -> float | None:
    return claim.paper.get(side.text, side.number)


def _doubts(claim: Claim, one: Expectation) -> list[str]:
    return [claim.doubt[side.text] for side in (one.left, one.right) if side.text in claim.doubt]


def _bounds(one: Expectation, right: Sequence[float], base: float) -> list[float]:
    """Return the bound of every run: a share of a measured value varies with it (a ratio's test, Fieller 1954).

    A bound from the mean, as if that were known, would be passed by chance far more often than allowed.
    """
    bound = one.bound or 0.0
    return [bound * math.copysign(1.0, base) * value if one.bound_share else bound for value in right]


def _difference(differences: Sequence[float]) -> Difference:
    estimate = statistics.mean(differences)
    assert estimate.low is not None
    assert estimate.high is not None
    return Difference(estimate.value, estimate.low, estimate.high)


def _by(difference: Difference, base: float) -> str:
    ends = f"{_signed(difference.low)} to {_signed(difference.high)}"
    share = f", {difference.value / abs(base):+.1%}" if base else ""
    return f"by {_signed(difference.value)} ({ends}{share})"


def _signed(value: float) -> str:
    """Return a difference with three digits, and all of a whole number that has more."""
    return f"{value:+.0f}" if abs(value) >= 999.5 else f"{value:+.3g}"


def _values(side: Operand, measured: Measured, point: int) -> Mapping[int, float]:
    return {} if side.number is not None else measured(side, point)


def _mean(found: Mapping[int, float]) -> Estimate | None:
    return statistics.mean([found[seed] for seed in sorted(found)]) if found else None


def _open(judgement: Judgement, reason: str) -> Judgement:
    return dataclasses.replace(judgement, verdict=Verdict.INCONCLUSIVE, why=f"{judgement.why}; {reason}")


def _whole(checks: Sequence[Check]) -> Verdict:
    """Return the verdict on a sentence with these parts."""
    there = {check.verdict for check in checks}
    if Verdict.NOT_REPRODUCED in there:
        return Verdict.IN_PART if any(check.holds for check in checks) else Verdict.NOT_REPRODUCED
    if there == {Verdict.NOT_TESTABLE}:
        return Verdict.NOT_TESTABLE
    if Verdict.INCONCLUSIVE in there:
        return Verdict.INCONCLUSIVE
    return Verdict.REPRODUCED if there == {Verdict.REPRODUCED} else Verdict.IN_PART


# From the worst: the parts that a reason begins with.
_WORST = (
    Verdict.NOT_REPRODUCED,
    Verdict.NOT_TESTABLE,
    Verdict.INCONCLUSIVE,
    Verdict.IN_PART,
    Verdict.REPRODUCED,
)


def _why(checks: Sequence[Check], ties: int, names: Mapping[int, str]) -> str:
    """Give the reason: where it holds along a sweep, how many parts hold, and the worst of them."""
    holding = sum(check.holds for check in checks)
    worst = next(verdict for verdict in _WORST if any(check.verdict == verdict for check in checks))
    words = [check.words for check in checks if check.verdict == worst]
    count = f"{holding} of {len(checks)} hold; " if len(checks) > 1 else ""
    more = f"; and {len(words) - 3} more" if len(words) > 3 else ""
    left_out = f"; {ties} compare{'s' if ties == 1 else ''} zero with zero" if ties else ""
    return f"{_range(checks, names)}{count}{'; '.join(words[:3])}{more}{left_out}"


def _range(checks: Sequence[Check], names: Mapping[int, str]) -> str:
    """Say at which points of a sweep all parts hold, and at which not; nothing of a single point."""
    points = list(dict.fromkeys(check.point for check in checks))
    if len(points) < 2:
        return ""
    held = {point: all(check.holds for check in checks if check.point == point) for point in points}
    refuted = {check.point for check in checks if check.verdict == Verdict.NOT_REPRODUCED}
    kinds = {
        "holds at": [point for point in points if held[point]],
        "not at": [point for point in points if point in refuted],
        "open at": [point for point in points if not held[point] and point not in refuted],
    }
    parts = [
        f"{word} {listed([names.get(point, str(point)) for point in found])}" for word, found in kinds.items() if found
    ]
    return f"{'; '.join(parts)}. "
