"""A part of a claim in words: what is compared, the numbers of both sides, and their difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aqmlab.papers.claims import Claim, Operand
from aqmlab.papers.findings import Part
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.names import listed

# Points of a sweep that are named one by one.
MOST_POINTS = 3
# Changes beyond this are factors.
LARGE = 10.0


def papers(part: Part, claim: Claim) -> str:
    """Return the paper's numbers of both sides and their difference, or what there is of it."""
    sides = [side.text for side in _operands(part, claim)]
    numbers = {
        name: f"({_number(value)})" if name in claim.doubt else _number(value) for name, value in claim.paper.items()
    }
    has_both = {*sides} <= {*numbers}
    both = f"{' against '.join(numbers[name] for name in sides)} {_unit(part, claim)}".rstrip() if has_both else ""
    if part.paper is None:
        return both
    size = "equal" if part.paper == 0.0 and " = " in part.expected else change(part.paper)
    return f"{both}, {size}" if both else size


def ours(part: Part, means: Mapping[str, float], claim: Claim) -> str:
    """Return what was measured of a part, with its mark."""
    mark = "✓" if part.holds else "✗" if part.is_refuted else "?"
    words = []
    sides = [side.text for side in _operands(part, claim)]
    if {*sides} <= {*means}:
        numbers = " against ".join(_number(means[name]) for name in sides)
        words.append(f"{numbers} {_unit(part, claim)}".rstrip())
    if part.value is not None:
        ends = "" if part.low is None or part.high is None else f" ({_bare(part.low)} to {_bare(part.high)})"
        words.append(f"{change(part.value)}{ends}")
    return f"{mark} {compared(part.expected)}" + (f": {', '.join(words)}" if words else "")


def compared(expected: str) -> str:
    """Write what is compared, without bounds: what both sides have in common once.

    >>> compared("sqm-lru.ftp < fifo.ftp by 57%"), compared("fifo.n240 < fifo.n60"), compared("red = 0.7 within 5%")
    ('ftp: sqm-lru < fifo', 'fifo: n240 < n60', 'red = 0.7 ± 5%')

    """
    left, relation, right = expected.split()[:3]
    if " = " in expected:
        right += f" ± {expected.rpartition(' ')[2]}"
    (aqm, _, measure), (other, _, others) = left.partition("."), right.partition(".")
    others, _, bound = others.partition(" ")
    if measure and measure == others:
        return f"{measure}: {aqm} {relation} {other} {bound}".rstrip()
    if aqm == other:
        return f"{aqm}: {measure} {relation} {others} {bound}".rstrip()
    return f"{left} {relation} {right}"


def along(parts: Sequence[Part]) -> str:
    """Say at which points of a sweep all parts hold, and at which not; nothing of a single point."""
    points = list(dict.fromkeys(part.at for part in parts))
    if len(points) < 2:
        return ""
    held = [at for at in points if all(part.holds for part in parts if part.at == at)]
    refuted = [at for at in points if any(part.is_refuted for part in parts if part.at == at)]
    rest = [at for at in points if at not in (*held, *refuted)]
    kinds = (("holds at", held), ("not at", refuted), ("open at", rest))
    return "; ".join(f"{word} {_few(found)}" for word, found in kinds if found)


def change(share: float) -> str:
    """Write a difference as a share of the right side; a large one as a factor.

    >>> change(-0.56), change(0.0), change(31.0)
    ('-56 %', '+0.0 %', '× 32')

    """
    if share >= LARGE:
        return f"× {share + 1.0:.3g}"
    digits = 0 if abs(share) >= 0.0995 else 1
    return f"{share:+.{digits}%}".replace("%", " %")


def between(shares: Sequence[float]) -> str:
    """Write several differences as the range of them.

    >>> between([2.27, 2.4]), between([0.501, 0.499]), between([0.11, 16.1])
    ('+227 to +240 %', '+50 %', '+11 % to × 17.1')

    """
    low, high = change(min(shares)), change(max(shares))
    if low == high:
        return high
    return f"{low.removesuffix(' %') if high.endswith(' %') else low} to {high}"


def _operands(part: Part, claim: Claim) -> tuple[Operand, ...]:
    """Return the measured sides of a part."""
    (expectation,) = (one for one in claim.expectations if one.text == part.expected)
    return tuple(side for side in (expectation.left, expectation.right) if side.number is None)


def _unit(part: Part, claim: Claim) -> str:
    """Return the unit of a part: the claim's, or that of its measure where the claim has several."""
    unit = claim.unit.partition(":")[0]
    if " " not in unit:
        return unit
    measure = claim.measures[_operands(part, claim)[0].measure]
    if claim.scale != 1.0 or measure.over or measure.how == "variation":
        return ""
    if not measure.is_series:
        return metrics.find(measure.of).unit
    return metrics.series_title(measure.of).partition(" (")[2].rstrip(")")


def _number(value: float) -> str:
    """Write a value with three digits.

    >>> _number(1220.0), _number(9.94), _number(0.0312), _number(0.0)
    ('1220', '9.94', '0.0312', '0')

    """
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def _few(names: Sequence[str]) -> str:
    """Name a few points, and the ends of more.

    >>> _few(["50b", "100b"]), _few(["a", "b", "c", "d", "e"])
    ('50b and 100b', 'a to e (5 points)')

    """
    return listed(names) if len(names) <= MOST_POINTS else f"{names[0]} to {names[-1]} ({len(names)} points)"


def _bare(share: float) -> str:
    return change(share).removesuffix(" %")


__all__ = ["along", "between", "change", "compared", "ours", "papers"]
