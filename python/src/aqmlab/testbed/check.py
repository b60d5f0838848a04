"""A figure held against a bound, as a value: what is asked of several runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Said where seeds tell nothing about chance.
SAME = "  every seed gave the same: nothing here is random; cross traffic would be"
UNDEFINED = "undefined (nothing arrived, or not all flows have a size and completed)"


@dataclass(frozen=True)
class Check:
    """What `MeasuredValue.is_at_least` and `is_at_most` found."""

    #: As ``goodput of cubic``.
    quantity: str
    #: As ``at least 8 Mbit/s``.
    bound: str
    #: Both, whichever group it is about: ``goodput at least 8 Mbit/s``.
    condition: str
    #: As ``7.1204 Mbit/s``.
    found: str
    #: How far the figure is on the wrong side, in its unit; infinite for one that is undefined.
    excess: float

    @property
    def holds(self) -> bool:
        """Whether the figure is on the right side of the bound; an undefined one is not."""
        return self.excess <= 0


@dataclass(frozen=True)
class Tally:
    """The checks of one condition, by seed."""

    checks: Sequence[tuple[int, Check]]
    #: In how many of them it must hold.
    needed: int

    @property
    def holds(self) -> bool:
        """Whether the condition holds in enough seeds."""
        return self._held >= self.needed

    @property
    def _held(self) -> int:
        return sum(check.holds for _, check in self.checks)

    def worst_seed(self) -> int | None:
        """Return the seed whose figure is farthest on the wrong side; of equal ones the first."""
        failed = [(seed, check) for seed, check in self.checks if not check.holds]
        return max(failed, key=lambda one: one[1].excess)[0] if failed else None

    def summary(self) -> str:
        """Return in how many seeds it holds, and the seeds in which it does not."""
        if not self.checks:
            return "there is no seed"
        (_, first), *_ = self.checks
        head = f"{first.quantity} is {first.bound} in {self._held} of {len(self.checks)} seeds"
        failed = [f"  seed {seed}: {check.found}" for seed, check in self.checks if not check.holds]
        is_same = len(self.checks) > 1 and all(check.found == first.found for _, check in self.checks)
        return "\n".join([f"{head}: it must be in {self.needed}", *failed, *([SAME] if is_same else [])])


def excess_of(difference: float | None) -> float:
    """Return how far a figure is on the wrong side."""
    return math.inf if difference is None or math.isnan(difference) else difference
