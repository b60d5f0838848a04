"""A search in words and as a table of its best settings, for terminal and page.

Values of single settings come from fresh seeds; those of the seeds that selected them are in brackets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from aqmlab.search.outcome import Outcome
from aqmlab.search.scores import Score


@dataclass(frozen=True)
class Closest:
    """Settings side by side: a column for each, a row for each factor and each figure."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def closest(outcome: Outcome) -> Closest:
    """Return the named settings beside the closest ones."""
    own = outcome.search.own
    shown: dict[str, Score] = {
        **outcome.presets,
        "closest": outcome.closest[0],
        f"closest for {own}": outcome.closest_own[0],
    }
    figures: dict[str, Callable[[Score], str]] = {
        "typical ratio, all AQMs": lambda one: ratio(one.distance),
        f"typical ratio, {own}": lambda one: ratio(one.own),
        f"numbers within 10 %, of {outcome.closest[0].numbers}": lambda one: str(one.near),
        f"claims that hold, of {len(outcome.targets)}": lambda one: str(one.holding),
        "of these with their size": lambda one: str(one.reproduced),
    }
    again = [(outcome.fresh[one.setting], one) for one in shown.values()]
    rows = [
        (name, tuple(f"{write(fresh)} ({write(chosen)})" for fresh, chosen in again)) for name, write in figures.items()
    ]
    for place, factor in enumerate(outcome.search.factors):
        rows.append((factor.name, tuple(one.setting[place] for one in shown.values())))
    return Closest(tuple(shown), tuple(rows))


def conclusion(outcome: Outcome) -> list[str]:
    """Return the conclusion in sentences."""
    scores = outcome.closest
    best = scores[0]
    complete = sum(one.near == one.numbers for one in scores)
    every = f"{complete} of them come" if complete else "none of them comes"

    def most(figure: str) -> str:
        chosen = outcome.record(figure)
        return f"{getattr(outcome.fresh[chosen.setting], figure)} ({getattr(chosen, figure)})"

    judged = "their own runs" if outcome.is_by_runs else "their means and the noise of the seeds"
    return [
        f"{len(scores)} settings tried, {seeds(outcome)} each: {every} within 10 % of every printed number.",
        f"Those listed here were run again with {outcome.fresh_seeds} seeds that chose nothing; in brackets what the "
        "seeds gave that chose them.",
        f"The closest is {ratio(outcome.fresh[best.setting].distance)} ({ratio(best.distance)}) away on average.",
        f"The best settings have {most('near')} of {best.numbers} numbers within 10 %, {most('holding')} of "
        f"{len(best.grades)} claims that hold, and {most('reproduced')} with their size (judged by {judged}).",
    ]


def seeds(outcome: Outcome) -> str:
    """Return the number of runs of a setting in words."""
    return f"{outcome.seeds} seed{'s' if outcome.seeds > 1 else ''}"


def ratio(distance: float) -> str:
    """Write a distance as the typical ratio of measured to printed, or back.

    >>> ratio(0.0), ratio(0.0953)
    ('1.00', '1.10')

    """
    return f"{math.exp(distance):.2f}"
