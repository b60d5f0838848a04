"""The answer of a large sweep in three sentences: who is best how often, or how one AQM compares with the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.results import swept
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.names import listed
from aqmlab.vocabulary.units import readable

if TYPE_CHECKING:
    from aqmlab.results import Result
    from aqmlab.results.ranking import Ranking

# More names are counted.
MOST_NAMED = 4


def over_scenarios(result: Result) -> list[str]:
    """Return up to three sentences about a large sweep: who leads how often, or how one AQM compares with the other.

    Of a single AQM they say between which ends its numbers are.
    """
    points = result.points
    if len(result.aqms) == 1:
        return [_range(one, points) for one in swept.extremes(result) if one.best.estimate != one.worst.estimate][:3]
    if len(result.aqms) > 2:
        found = [_leads(name, [one for one in result.rankings if one.metric == name]) for name in swept.SHOWN]
        return [text for text in found if text][:3]
    orders = swept.orders(result)
    reference, aqm = result.aqms
    apart = [one for one in orders if one.sides["lower"] or one.sides["higher"]]
    if not apart:
        by = listed([metrics.find(one.metric).phrase for one in orders])
        return [f"{aqm} shows no clear difference from {reference} in {by} in any of {len(points)} scenarios."]
    return [f"Against {reference}, {aqm}'s {one.words(points)}." for one in apart[:3]]


def _range(one: swept.Extremes, points: Sequence[Mapping[str, str]]) -> str:
    ends = (one.best, one.worst)
    number = _number(one.metric, {str(row.point): row.estimate.value for row in ends})
    places = (" ".join(f"{name} {value}" for name, value in points[row.point].items()) for row in ends)
    told = [f"{number(row.estimate.value)} ({place})" for row, place in zip(ends, places, strict=True)]
    phrase = metrics.find(one.metric).phrase
    return f"{phrase[0].upper()}{phrase[1:]} is from {told[0]} to {told[1]}."


def _leads(name: str, found: Sequence[Ranking]) -> str:
    """Return how often each AQM is best, alone or with others; nothing where no two differ."""
    apart = [one for one in found if one.is_decided]
    if not apart:
        return ""
    counts = {aqm: sum(aqm in one.best for one in apart) for aqm in found[0].aqms}
    order = sorted((aqm for aqm in counts if counts[aqm]), key=lambda aqm: -counts[aqm])
    told = [f"{aqm} in {counts[aqm]}" for aqm in order[:MOST_NAMED]]
    where = f"in the {len(apart)} of {len(found)} scenarios where any two differ"
    return f"Best by {metrics.find(name).phrase}, alone or with others, {where}: {listed(told)}."


def _number(name: str, values: Mapping[str, float]) -> Callable[[float], str]:
    metric = metrics.find(name)
    unit, factor, _ = readable("share" if metric.is_share else metric.unit, max(values.values()))
    return lambda value: f"{metrics.number(value * factor)} {unit}".rstrip()
