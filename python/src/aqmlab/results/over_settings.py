"""The answer of a sweep: what each AQM changes over all settings, and where two AQMs change places."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.results import full_ports, stations, swept
from aqmlab.results.differences import QOE, Comparison
from aqmlab.results.headline import ASKED, TIMES, Headline, noun, percent, span, within
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.units import readable

if TYPE_CHECKING:
    from aqmlab.results.ranking import Ranking
    from aqmlab.results.result import Result


@dataclass(frozen=True)
class Flip:
    """Two AQMs of which each is ahead of the other beyond chance in some setting, by one metric."""

    metric: str
    one: str
    other: str
    ahead: tuple[int, ...]
    behind: tuple[int, ...]

    def words(self, points: Sequence[Mapping[str, str]]) -> str:
        """Return where which of them is ahead."""
        return (
            f"{noun(metrics.find(self.metric))}: {self.one} ahead of {self.other} {_where(self.ahead, points)}, "
            f"behind {_where(self.behind, points)}"
        )


def headlines(result: Result) -> list[Headline]:
    """Return for each AQM but the first what differs beyond chance, and in how many settings of a sweep."""
    found, asked = [], full_ports.over_settings(result, ASKED)
    for aqm in result.aqms[1:]:
        own = [one for one in result.comparisons if one.aqm == aqm]
        if own:
            parts = [part for name in (*asked, *QOE) if (part := _effects(result, own, name, asked))]
            words = "; ".join(parts) or f"nothing differs from {own[0].reference} beyond chance in any setting"
            found.append(Headline(aqm, own[0].reference, "; ".join([words, *_of_stations(result, own[0])])))
    return found


def _of_stations(result: Result, one: Comparison) -> list[str]:
    """Return what an AQM changes for stations, in the setting in which packets wait longest below the AQM."""
    aqms = {one.reference, one.aqm}
    waits = {row.point: 0.0 for row in result.rows}
    for row in result.rows:
        if row.aqm in aqms and row.metric.endswith(stations.BELOW):
            waits[row.point] = max(waits[row.point], row.estimate.value)
    worst = max(waits, key=lambda point: waits[point])
    found = stations.words(result, worst, one.reference, one.aqm)
    return [f"{_where((worst,), result.points)}: {', '.join(found)}"] if found else []


def ranges(result: Result) -> list[str]:
    """Return between which ends the metrics of a single AQM are, in up to three sentences."""
    ends = [one for one in swept.extremes(result) if one.best.estimate != one.worst.estimate]
    return [_range(one, result.points) for one in ends[:3]] if len(result.aqms) == 1 else []


def flips(result: Result) -> list[Flip]:
    """Return which AQMs change places, by the metrics that are asked for and the quality of experience."""
    found = []
    for name in (*full_ports.over_settings(result, ASKED), *QOE):
        orders = [one for one in result.rankings if one.metric == name and metrics.find(name).better]
        for one, other in itertools.combinations(result.aqms, 2):
            ahead = tuple(order.point for order in orders if _is_ahead(order, one, other))
            behind = tuple(order.point for order in orders if _is_ahead(order, other, one))
            if ahead and behind:
                found.append(Flip(name, one, other, ahead, behind))
    return found


def _is_ahead(order: Ranking, one: str, other: str) -> bool:
    return one in order.aqms and other in order.aqms and other in order.behind(one)


def _where(places: Sequence[int], points: Sequence[Mapping[str, str]]) -> str:
    """Return how many settings these are, and what they have in common."""
    if len(places) == 1:
        return f"at {', '.join(f'{name} {value}' for name, value in points[places[0]].items())}"
    shared = swept.common([points[place] for place in places], points)
    return f"in {len(places)}{f' ({shared})' if shared else ''}"


def _effects(result: Result, comparisons: Sequence[Comparison], name: str, asked: Collection[str]) -> str:
    """Return by how much a metric changes in the settings in which it does; empty if no setting has it.

    One that is asked for is there whether it changes or not.
    """
    own = [one for one in comparisons if one.metric == name]
    if not own:
        return ""
    several = len(result.seeds) > 1
    clear = [one for one in own if one.difference.is_distinguishable or not several]
    what = noun(metrics.find(name))
    if not clear and name not in asked:
        return ""
    parts = []
    for more, side in (
        ("less", [one for one in clear if one.difference.estimate.value < 0.0]),
        ("more", [one for one in clear if one.difference.estimate.value > 0.0]),
    ):
        if side:
            parts.append(f"{_size(side, more)} in {len(side)}")
    same = [one for one in own if one not in clear and one.difference.is_equivalent]
    undecided = [one for one in own if one not in clear and one not in same]
    if same:
        parts.append(f"{within(same)} in {len(same)}")
    if undecided:
        between = span(undecided)
        parts.append(f"undecided in {len(undecided)}{f' ({between})' if between else ''}")
    return f"{what} {', '.join(parts)}"


def _size(side: Sequence[Comparison], more: str) -> str:
    """Return the least and the largest change of some comparisons that point in the same direction."""
    ratios = sorted(
        (one.reference_value + one.difference.estimate.value) / one.reference_value
        for one in side
        if one.reference_value > 0.0
    )
    if not ratios or ratios[0] <= 0.0:
        return more
    if ratios[-1] > TIMES:
        return f"{ratios[0]:.2g} to {ratios[-1]:.2g} times" if len(ratios) > 1 else f"{ratios[0]:.2g} times"
    ends = list(dict.fromkeys(percent(change) for change in sorted(abs(ratio - 1.0) for ratio in ratios)))
    span = ends[0] if len(ends) == 1 else f"{ends[0].removesuffix(' %')} to {ends[-1]}"
    return f"{span} {more}"


def _range(one: swept.Extremes, points: Sequence[Mapping[str, str]]) -> str:
    ends = (one.best, one.worst)
    metric = metrics.find(one.metric)
    largest = max(row.estimate.value for row in ends)
    unit, factor, _ = readable("share" if metric.is_share else metric.unit, largest)
    places = (", ".join(f"{name} {value}" for name, value in points[row.point].items()) for row in ends)
    best, worst = (
        f"{metrics.number(row.estimate.value * factor)} {unit} ({place})".replace("  ", " ")
        for row, place in zip(ends, places, strict=True)
    )
    return f"{metric.phrase[0].upper()}{metric.phrase[1:]}: from {best} to {worst}."


__all__ = ["Flip", "flips", "headlines", "ranges"]
