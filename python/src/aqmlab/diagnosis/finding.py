"""What is found: a value, how sure it is, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Confidence: TypeAlias = Literal["high", "medium", "low", "cannot tell"]


@dataclass(frozen=True)
class Finding:
    """A finding. One that cannot be estimated has no value, or only a lower bound.

    Attributes:
        confidence: how sure it is.
        why: what it rests on, or why it cannot be estimated; a sentence without a full stop.
        value: in the unit of its name.
        spread: where the middle 80 % of what was measured lie, if it was measured more than once.
        at_least: what it is at least.

    """

    confidence: Confidence
    why: str
    value: float | None = None
    spread: tuple[float, float] | None = None
    at_least: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return self.confidence != "cannot tell"


def unknown(why: str, at_least: float | None = None) -> Finding:
    """Return that something cannot be estimated."""
    return Finding("cannot tell", why, at_least=at_least)


__all__ = ["Confidence", "Finding", "unknown"]
