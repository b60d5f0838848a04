"""Targets of a search: quantities, the numbers that they should have, and the grade."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aqmlab.results.measures import Measure

# By how much the runs of a sample deviate from the means of the quantities that are compared, by their names; none if
# nothing is known of it.
Deviations: TypeAlias = Callable[[tuple[str, ...]], Sequence[Mapping[str, float]]]


@dataclass(frozen=True)
class Quantity:
    """A measure of a contestant's runs.

    Attributes:
        name: its name, as ``codel.delay``.
        contestant: the AQM that it belongs to, or the swept value that takes its place.
        aqm: the AQM that is measured; empty for the only one of the scenario.
        measure: what is measured.
        scale: converts it to the target's unit.
        over: what it is divided by, run by run.

    """

    name: str
    contestant: str
    aqm: str
    measure: Measure
    scale: float
    over: Quantity | None = None


@dataclass(frozen=True)
class Grade:
    """The grade in a target: in a word, whether its direction holds, and whether its size does too.

    ``shown`` is the word for readers. ``is_judged`` is false where there is nothing to judge, ``is_decided`` where the
    seeds' noise hides the answer.
    """

    word: str
    holds: bool
    is_whole: bool
    is_judged: bool = True
    is_decided: bool = True
    shown: str = ""


@dataclass(frozen=True)
class Target:
    """A target of settings.

    Attributes:
        name: its name, as ``spie-1``.
        quantities: measured quantities.
        numbers: expected values of some quantities, by name: above zero, so that a ratio exists.
        grade: grades the values of the quantities by seed: where these are too few, their means, with the deviations
            of those compared (`Noise.deviations`).

    """

    name: str
    quantities: tuple[Quantity, ...]
    numbers: Mapping[str, float]
    grade: Callable[[Mapping[str, Mapping[int, float]], Deviations | None], Grade]
