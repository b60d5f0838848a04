"""A search in words and as a table of its best settings, for terminal and page alike."""

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
        "numbers within 10 %": lambda one: f"{one.near} of {one.numbers}",
        "claims that hold": lambda one: f"{one.holding} of {len(one.grades)}",
        "of these with their size": lambda one: str(one.reproduced),
    }
    rows = [(name, tuple(write(one) for one in shown.values())) for name, write in figures.items()]
    for place, factor in enumerate(outcome.search.factors):
        rows.append((factor.name, tuple(one.setting[place] for one in shown.values())))
    return Closest(tuple(shown), tuple(rows))


def conclusion(outcome: Outcome) -> list[str]:
    """Say what came of it."""
    scores = outcome.closest
    best = scores[0]
    most_near = max(one.near for one in scores)
    most_holding = max(one.holding for one in scores)
    most_reproduced = max(one.reproduced for one in scores)
    claims = len(best.grades)
    complete = sum(one.near == one.numbers for one in scores)
    every = f"{complete} of them come" if complete else "none of them comes"
    return [
        f"{len(scores)} settings tried, {seeds(outcome)} each: {every} within 10 % of every printed number.",
        f"In one setting at most {most_near} of {best.numbers} numbers are within 10 %, at most {most_holding} of "
        f"{claims} claims hold, and at most {most_reproduced} of them with their size (judged by the means alone).",
    ]


def seeds(outcome: Outcome) -> str:
    """Say how many runs a setting has."""
    return f"{outcome.seeds} seed{'s' if outcome.seeds > 1 else ''}"


def ratio(distance: float) -> str:
    """Write a distance as the typical ratio of measured to printed, or back.

    >>> ratio(0.0), ratio(0.0953)
    ('1.00', '1.10')

    """
    return f"{math.exp(distance):.2f}"
