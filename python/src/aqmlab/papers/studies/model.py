"""What a study is: a kind of panel whose curves are measured when it is drawn, without a simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aqmlab.errors import InputError
from aqmlab.results import Result

# A line of a figure's table: AQM (or sketch), where on the axis as number and as text, value, low, high.
Row: TypeAlias = tuple[str, float, str, float, float, float]


@dataclass(frozen=True)
class Study:
    """A study.

    Attributes:
        name: the kind of panel that shows it.
        across: what its axis is called.
        rows: measures it: of a scenario's result, short names and labels of its AQMs, what is measured, and where.
        labels: what its curves are called, by what is measured; without it they are the AQMs of a scenario.

    """

    name: str
    across: str
    rows: Callable[[Result | None, Sequence[str], Sequence[str], str, Sequence[str]], list[Row]]
    labels: Callable[[str], list[str]] | None = None

    @property
    def has_scenario(self) -> bool:
        """Whether it is about the AQMs of a scenario."""
        return self.labels is None


def whole(text: str) -> int:
    """Return a number of flows or counters.

    Raises:
        InputError: if it is none.

    """
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError(f"'{text}' is not a whole number from 1")
    return int(text)
