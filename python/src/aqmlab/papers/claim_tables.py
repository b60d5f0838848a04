"""Claims as a table: the paper's numbers, the measured ones of each preset, and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aqmlab.papers.claims import Claim
from aqmlab.papers.findings import Finding, Word
from aqmlab.papers.reproduction import Reproduction
from aqmlab.papers.verdicts import Judgement
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary.metrics import number


@dataclass(frozen=True)
class Cell:
    """A value as text, with half its 95 % interval if there is one."""

    value: str
    half: str = ""


@dataclass(frozen=True)
class ClaimTable:
    """A claim: a line per operand with the paper's number and that of each preset, and the verdicts.

    ``words`` are the verdicts as shown, ``full`` those of the full form that are stored with the paper, beside a quick
    one.
    """

    claim: Claim
    columns: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell, ...]], ...]
    judgements: dict[str, Judgement]
    words: Mapping[str, Word]
    full: Mapping[str, Word]


def claim_tables(reproduction: Reproduction) -> list[ClaimTable]:
    """Return the claims of a paper."""
    return _tables(reproduction, reproduction.judgements)


def mechanism_tables(reproduction: Reproduction) -> list[ClaimTable]:
    """Return the mechanisms of a paper, as far as they were run."""
    return _tables(reproduction, reproduction.mechanisms)


def live_tables(reproduction: Reproduction) -> list[ClaimTable]:
    """Return what is judged on live packets, if it was run."""
    return _tables(reproduction, reproduction.live)


def counted_tables(reproduction: Reproduction) -> list[ClaimTable]:
    """Return what is counted: the claims, or what is judged on live packets where only that was run."""
    return _tables(reproduction, reproduction.counted)


def counts(judgements: Sequence[Judgement]) -> dict[Word, int]:
    """Return how many claims have each verdict, in the order of the verdicts."""
    found = Counter(Finding.of(one).word for one in judgements)
    return {word: found[word] for word in Word}


def cell(value: float | None, half: float | None) -> Cell:
    """Return a value and half its interval as text, with the same number of decimals."""
    if value is None:
        return Cell("-")
    shown = number(value)
    digits = len(shown.partition(".")[2])
    return Cell(shown, "" if half is None else f"{half:.{digits}f}")


def _tables(reproduction: Reproduction, judged: Mapping[str, Sequence[Judgement]]) -> list[ClaimTable]:
    same = zip(*judged.values(), strict=True)
    return [_table(found[0].claim, dict(zip(judged, found, strict=True)), reproduction) for found in same]


def _table(claim: Claim, judgements: dict[str, Judgement], reproduction: Reproduction) -> ClaimTable:
    lines = []
    for side in claim.operands:
        given = [_given(claim, side.text)] if claim.paper else []
        cells = [_cell(one.measured.get(side.text, [])) for one in judgements.values()]
        lines.append((side.text, (*given, *cells)))
    columns = (*(("paper",) if claim.paper else ()), *judgements)
    known = {preset: reproduction.full_form(claim.id, preset) for preset in judgements}
    full = {preset: one.word for preset, one in known.items() if one}
    words = {preset: Finding.of(one).word for preset, one in judgements.items()}
    return ClaimTable(claim, columns, tuple(lines), judgements, words, full)


def _given(claim: Claim, name: str) -> Cell:
    if name not in claim.paper:
        return Cell("")
    return Cell(f"{claim.paper[name]:g}{' ?' if name in claim.doubt else ''}")


def _cell(means: Sequence[Estimate | None]) -> Cell:
    """Return the value and half its interval; over several points, the smallest and the largest value."""
    found = [one for one in means if one is not None]
    if not found:
        return Cell("-")
    if len(found) > 1:
        low, high = (pick(one.value for one in found) for pick in (min, max))
        return Cell(f"{number(low)} to {number(high)}")
    return cell(found[0].value, found[0].half_width)
