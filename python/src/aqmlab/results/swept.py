"""What a sweep shows: its values as columns, the best and the worst scenario, and where the order of AQMs flips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from aqmlab.results import full_ports
from aqmlab.results.differences import Comparison
from aqmlab.results.frames import Frames
from aqmlab.results.summary import Row
from aqmlab.vocabulary import metrics, quantities

if TYPE_CHECKING:
    from aqmlab.results.result import Result

# Metrics of the table, in order; those that no run has are left out.
SHOWN = ("qdelay_mean_ms", "goodput_mbit", "loss_ratio", "jain_index", "slowdown_mean", "slowdown_p99")
# A larger sweep is shown as best and worst scenarios instead of one table for each.
MOST_TABLES = 6

Side: TypeAlias = Literal["lower", "higher", "the same within 5 %", "undecided"]
SAME: Side = "the same within 5 %"
UNDECIDED: Side = "undecided"


def columns(points: Sequence[Mapping[str, str]]) -> dict[str, pl.Series]:
    """Return the swept values as columns whose names end in their unit, one row per scenario.

    >>> {name: list(column) for name, column in columns([{"rtt": "10ms"}, {"rtt": "1s"}]).items()}
    {'rtt_ms': [10.0, 1000.0]}

    """
    named = (quantities.column(name, [point[name] for point in points]) for name in points[0])
    return {name: pl.Series(name, values) for name, values in named}


def tagged(frames: Frames, points: Sequence[Mapping[str, str]]) -> Frames:
    """Return frames with the swept values of each run's scenario, in place of those they had, behind the seed."""
    values = pl.DataFrame({"point": pl.Series(range(len(points)), dtype=pl.UInt32), **columns(points)})
    names = tuple(values.columns[1:])
    plain = frames.runs.drop(*frames.swept, *names, strict=False)
    front = plain.columns[: plain.columns.index("seed") + 1]
    runs = plain.join(values, on="point", how="left", maintain_order="left").select(
        *front, *names, *plain.columns[len(front) :]
    )
    return replace(frames, runs=runs, swept=names)


@dataclass(frozen=True)
class Extremes:
    """The best and the worst scenario of an AQM by one metric."""

    metric: str
    aqm: str
    best: Row
    worst: Row


@dataclass(frozen=True)
class Order:
    """How an AQM compares with the first over all scenarios, by one metric: the scenarios on each side."""

    metric: str
    aqm: str
    reference: str
    sides: Mapping[Side, Sequence[int]]

    def words(self, points: Sequence[Mapping[str, str]]) -> str:
        """Return the order in words; what the scenarios of a side have in common is named."""
        phrase = metrics.find(self.metric).phrase
        known = {side: places for side, places in self.sides.items() if places}
        if len(known) == 1:
            (side,) = known
            return f"{phrase}: {side} in all scenarios"
        total = sum(map(len, known.values()))
        parts: list[str] = []
        for side, places in known.items():
            shared = common([points[place] for place in places], points)
            of_all = "" if parts else f" of {total} scenarios"
            parts.append(f"{side} in {len(places)}{of_all}" + (f" ({shared})" if shared else ""))
        return f"{phrase}: {', '.join(parts)}"


def extremes(result: Result) -> list[Extremes]:
    """Return the best and worst scenario of each AQM by each metric of the table."""
    found = []
    for name in full_ports.over_settings(result, SHOWN):
        rows = [row for row in result.shown_rows if row.metric == name]
        is_higher_better = metrics.find(name).better == "higher"
        for aqm in result.aqms:
            own = sorted((row for row in rows if row.aqm == aqm), key=lambda row: row.estimate.value)
            if own:
                low, high = own[0], own[-1]
                found.append(Extremes(name, aqm, *((high, low) if is_higher_better else (low, high))))
    return found


def orders(result: Result) -> list[Order]:
    """Return how each AQM compares with the first, by each metric of the table."""
    found = []
    names = full_ports.over_settings(result, SHOWN)
    for aqm in result.aqms[1:]:
        for name in names:
            own = [one for one in result.comparisons if one.aqm == aqm and one.metric == name]
            if own:
                sides: dict[Side, list[int]] = {"lower": [], "higher": [], SAME: [], UNDECIDED: []}
                for one in own:
                    sides[_side(one)].append(one.point)
                found.append(Order(name, aqm, own[0].reference, sides))
    return found


def common(points: Sequence[Mapping[str, str]], every: Sequence[Mapping[str, str]]) -> str:
    """Return what some scenarios share and not all others have: one value of a name, or one of two.

    >>> every = [{"rtt": rtt, "load": load} for rtt in ("1ms", "9ms") for load in ("1", "5", "20")]
    >>> common(every[:3], every), common(every[1:3], every), common(every[1:5], every)
    ('rtt 1ms', 'rtt 1ms', '')

    """
    parts = []
    for name in every[0]:
        here = dict.fromkeys(point[name] for point in points)
        if len(here) <= 2 and len(here) < len(points) and len(here) < len({point[name] for point in every}):
            parts.append(f"{name} {' or '.join(here)}")
    return ", ".join(parts)


def _side(one: Comparison) -> Side:
    if not one.difference.is_distinguishable:
        return SAME if one.difference.is_equivalent else UNDECIDED
    return "higher" if one.difference.estimate.value > 0.0 else "lower"
