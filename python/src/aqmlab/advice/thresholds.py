"""What a household notices of its line: the figures, and which difference in each is noticeable or annoying."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab import _native

# G.711 without loss or delay.
_, BEST_MOS = _native.advice_usual()
# Steps of the scale by which people rate degradations (ITU-T P.800, annex D).
NOTICEABLE_STEPS, SLIGHT_STEPS, ANNOYING_STEPS, MOST_STEPS = _native.advice_steps()


@dataclass(frozen=True)
class Difference:
    """A difference from the best value, in the figure's unit and as a share of that value: the larger counts.

    >>> Difference(0.1, 0.2, "").of(2.0), Difference(0.1, 0.2, "").of(0.3)
    (0.4, 0.1)

    """

    least: float
    share: float
    source: str

    def of(self, best: float) -> float:
        """Return it beside a best value."""
        return _native.advice_difference(self.least, self.share, best)


@dataclass(frozen=True)
class Figure:
    """Something that a household notices."""

    name: str
    title: str
    unit: str
    digits: int
    is_more_better: bool
    noticeable: Difference
    annoying: Difference

    def shortfall(self, value: float, best: float) -> float:
        """Return by how many steps a value is behind the best: 1 is noticeable, 3 is annoying, and 4 is the most."""
        return _native.advice_shortfall(self.name, value, best)


FIGURES = tuple(
    Figure(**{**one, **{name: Difference(**one[name]) for name in ("noticeable", "annoying")}})
    for one in json.loads(_native.advice_figures())
)


@dataclass(frozen=True)
class Observation:
    """What a household notices of a run, by the figure's name.

    A run without a finished page, or a video that never began, has no value; ``unseen`` is what stands for none.
    ``beside`` is what is not judged as a figure: by how much pings rise, and RPM.
    """

    values: dict[str, float | None]
    unseen: dict[str, float]
    beside: dict[str, float]

    @staticmethod
    def of(run: Mapping[str, Any], minutes: float) -> Observation:
        """Read it from the metrics of a run and its length."""
        known = {name: value for name, value in run.items() if isinstance(value, int | float) and math.isfinite(value)}
        return Observation(**json.loads(_native.advice_of_run(json.dumps(known), minutes)))


__all__ = ["BEST_MOS", "FIGURES", "Difference", "Figure", "Observation"]
