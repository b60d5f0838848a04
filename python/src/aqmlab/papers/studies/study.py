"""Studies: kinds of panels whose curves are measured when they are drawn, without a simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aqmlab.results import Result

# A row of a figure's table: AQM (or sketch), position on the axis as number and as text, value, low, high.
Row: TypeAlias = tuple[str, float, str, float, float, float]


@dataclass(frozen=True)
class Study:
    """A study.

    Attributes:
        name: the kind of panel that shows it.
        across: label of its axis.
        rows: returns rows for a scenario's result, the short names and labels of its AQMs, a measure, and positions.
        labels: names of the curves for a measure; without it they are the AQMs of a scenario.
        is_numeric: whether positions are numbers on the axis, and not places with names.
        is_timed: whether it measures times, which differ between machines.
        is_beyond: whether it goes beyond the paper, and is measured only where such things are asked for.

    """

    name: str
    across: str
    rows: Callable[[Result | None, Sequence[str], Sequence[str], str, Sequence[str]], list[Row]]
    labels: Callable[[str], list[str]] | None = None
    is_numeric: bool = False
    is_timed: bool = False
    is_beyond: bool = True

    @property
    def has_scenario(self) -> bool:
        """Whether it measures the AQMs of a scenario."""
        return self.labels is None
