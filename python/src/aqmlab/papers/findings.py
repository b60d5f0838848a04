"""A claim as judged, in the form in which it is stored and shown; and the words in which a verdict is shown.

Of the five verdicts one is too wide for a reader: *reproduced in part* is a claim of which all parts hold with another
size, and one of which a part is the opposite. What is stored and exchanged has the five; what is shown has ``Word``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from aqmlab.papers.verdicts import Judgement, Verdict


class Word(StrEnum):
    """A verdict as it is shown."""

    REPRODUCED = "reproduced"
    OTHER_SIZE = "holds, another size"
    NO_SIZE = "holds, size not comparable"
    UNTESTED = "holds where testable"
    FAILS = "a part fails"
    REVERSED = "a part is reversed"
    INCONCLUSIVE = "inconclusive"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable"


# What each means, in a line.
MEANINGS = {
    Word.REPRODUCED: "every part holds beyond chance, with the paper's size where it gives one",
    Word.OTHER_SIZE: "every part holds beyond chance, one with less than half or more than twice the paper's size",
    Word.NO_SIZE: "every part holds beyond chance, but a number of the paper cannot be right or allows no ratio",
    Word.UNTESTED: "every part that can be tested holds beyond chance",
    Word.FAILS: "some parts hold beyond chance, and a difference excludes another",
    Word.REVERSED: "some parts hold beyond chance, and of another the opposite does",
    Word.INCONCLUSIVE: "the runs leave a part, or its size, open",
    Word.NOT_REPRODUCED: "a difference excludes a part, and no part holds after correction",
    Word.NOT_TESTABLE: "nothing queues, or the paper says too little",
}


@dataclass(frozen=True)
class Part:
    """A part of a claim at a point of its sweep.

    ``paper`` and ``value`` are the difference of both sides as a share of the right one, where there is such a share;
    ``low`` and ``high`` the 95 % interval of ours.
    """

    expected: str
    at: str
    verdict: Verdict
    holds: bool
    paper: float | None
    value: float | None
    low: float | None
    high: float | None

    @property
    def is_refuted(self) -> bool:
        """Whether the difference excludes it."""
        return self.verdict == Verdict.NOT_REPRODUCED

    @property
    def is_reversed(self) -> bool:
        """Whether it is one of order, and the opposite order holds beyond chance."""
        relation = self.expected.split()[1]
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return self.is_refuted and ((relation in ("<", "<=") and low > 0.0) or (relation in (">", ">=") and high < 0.0))


@dataclass(frozen=True)
class Finding:
    """A verdict with its parts, and the means of the operands that were measured at one point."""

    verdict: Verdict
    why: str
    parts: tuple[Part, ...] = ()
    means: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, judgement: Judgement) -> Self:
        """Return what was judged just now in this form."""
        parts = tuple(
            Part(check.expectation, judgement.names.get(check.point, ""), check.verdict, check.holds, **check.effect)
            for check in judgement.checks
        )
        means = {
            name: one.value
            for name, every in judgement.measured.items()
            if len(every) == 1
            for one in every
            if one is not None
        }
        return cls(judgement.verdict, judgement.why, parts, means)

    @property
    def word(self) -> Word:
        """The verdict as it is shown."""
        return word(self.verdict, self.parts)

    @property
    def holds(self) -> bool:
        """Whether every part holds in its direction, whatever its size."""
        return bool(self.parts) and all(part.holds for part in self.parts)


def word(verdict: Verdict, parts: Sequence[Part]) -> Word:
    """Return a verdict as it is shown: the one place that tells the cases of *reproduced in part* apart."""
    if verdict != Verdict.IN_PART:
        return Word(verdict)
    if any(part.is_reversed for part in parts):
        return Word.REVERSED
    if any(part.is_refuted for part in parts):
        return Word.FAILS
    if not all(part.holds for part in parts):
        return Word.UNTESTED
    has_size = any(part.verdict == Verdict.IN_PART and part.paper is not None for part in parts)
    return Word.OTHER_SIZE if has_size else Word.NO_SIZE


__all__ = ["MEANINGS", "Finding", "Part", "Word", "word"]
