"""What a setting is held against: quantities, the numbers that they should have, and what holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aqmlab.measures import Measure


@dataclass(frozen=True)
class Quantity:
    """Something that is measured of an AQM's runs; ``scale`` turns it into the target's unit."""

    name: str
    aqm: str
    measure: Measure
    scale: float


@dataclass(frozen=True)
class Grade:
    """What became of a target: in a word, whether its direction holds, and whether its size does too."""

    word: str
    holds: bool
    is_whole: bool


@dataclass(frozen=True)
class Target:
    """What a setting is held against.

    Attributes:
        name: its name, as ``spie-1``.
        quantities: what is measured.
        numbers: what some of the quantities should be, by their names: above zero, so that a ratio can be formed.
        grade: says what becomes of it when the quantities have these means.

    """

    name: str
    quantities: tuple[Quantity, ...]
    numbers: Mapping[str, float]
    grade: Callable[[Mapping[str, float]], Grade]
