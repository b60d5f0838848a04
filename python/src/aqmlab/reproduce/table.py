"""Claims as a table: the paper's numbers, what was measured under each preset, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.reproduce.claims import Claim
from aqmlab.reproduce.reproduction import Reproduction
from aqmlab.reproduce.verdicts import Judgement, Verdict
from aqmlab.statistics import Estimate


@dataclass(frozen=True)
class Line:
    """A line of a claim's table: the paper's numbers, or a preset's with the verdict; one cell per operand."""

    name: str
    cells: tuple[tuple[str, str], ...]
    verdict: Verdict | None
    why: str


@dataclass(frozen=True)
class ClaimTable:
    """A claim with a column per operand."""

    claim: Claim
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def claim_tables(reproduction: Reproduction) -> list[ClaimTable]:
    """Return the claims of a paper."""
    return [_table(reproduction, number, claim) for number, claim in enumerate(reproduction.paper.claims)]


def counts(judgements: Sequence[Judgement]) -> dict[Verdict, int]:
    """Return how many claims have which verdict, in the order of the verdicts."""
    return {verdict: sum(one.verdict == verdict for one in judgements) for verdict in Verdict}


def number(value: float) -> str:
    """Write a number with at least three significant digits, without exponent.

    >>> number(0.85712), number(81.3), number(11400.0)
    ('0.857', '81.3', '11400')

    """
    if value == 0.0:
        return "0"
    digits = 0
    while abs(value) * 10.0**digits < 99.95 and digits < 6:
        digits += 1
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits > 3 else text


def _table(reproduction: Reproduction, place: int, claim: Claim) -> ClaimTable:
    columns = tuple(side.text for side in claim.operands)
    lines = []
    if claim.paper:
        given = tuple((_given(claim, name), "") for name in columns)
        lines.append(Line("paper", given, None, ""))
    for preset in reproduction.presets:
        one = reproduction.judgements[preset][place]
        cells = tuple(_cell(one.measured.get(name, [])) for name in columns)
        lines.append(Line(preset, cells, one.verdict, one.why))
    return ClaimTable(claim, columns, tuple(lines))


def _given(claim: Claim, name: str) -> str:
    if name not in claim.paper:
        return ""
    return f"{claim.paper[name]:g}{' ?' if name in claim.doubt else ''}"


def _cell(means: Sequence[Estimate | None]) -> tuple[str, str]:
    """Return the value and half its interval; over several points, the smallest and the largest value."""
    found = [one for one in means if one is not None]
    if not found:
        return ("-", "")
    if len(found) > 1:
        low, high = (pick(one.value for one in found) for pick in (min, max))
        return (f"{number(low)} to {number(high)}", "")
    half = found[0].half_width
    return (number(found[0].value), "" if half is None else number(half))
