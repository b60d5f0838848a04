"""The answer of a comparison in three sentences: who is best by what matters most, and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results import ranking, swept
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.names import listed
from aqmlab.vocabulary.units import readable

if TYPE_CHECKING:
    from aqmlab.results import Result
    from aqmlab.results.ranking import Ranking

# What is asked first; then what users notice, and else how much is lost, or how fair it is.
ASKED = ("qdelay_mean_ms", "goodput_mbit")
NOTICED = ("mos_mean", "page_load_mean_s", "video_stall_s", "fct_mean_s")
ELSE = ("loss_ratio", "jain_index")
# More names are counted.
MOST_NAMED = 4


def sentences(result: Result, point: int = 0) -> list[str]:
    """Return up to three sentences about a scenario; none if there is nothing to compare."""
    if len(result.aqms) < 2:
        return []
    if _is_same(result, point):
        return [f"{listed(result.aqms)} are the same in every run."]
    found = _told(result, point)
    if not found:
        return _of_one_run(result, point)
    if all(len(one.groups) == 1 for one in found):
        parts = [f"{metrics.find(one.metric).phrase} ({_ends(result, one)})" for one in found]
        names = listed(result.aqms)
        return [f"{names} cannot be told apart by {listed(parts)}, with {len(result.seeds)} seeds."]
    return [_sentence(result, one) for one in found]


def _told(result: Result, point: int) -> list[Ranking]:
    """Return the rankings that are told: delay, goodput, and what users notice most, where something differs in it."""
    noticed = ranking.rankings(result.frames, result.shown_rows, [point], result.aqms, NOTICED)
    known = {one.metric: one for one in (*result.rankings, *noticed) if one.point == point}
    found = [known[name] for name in ASKED if name in known]
    rest = [known[name] for name in (*NOTICED, *ELSE) if name in known]
    apart = [one for one in rest if len(one.groups) > 1]
    most = max((one for one in apart if one.metric in NOTICED), key=lambda one: _ratio(result, one), default=None)
    last = most or next(iter((*apart, *rest)), None)
    return [*found, last] if last else found


def _is_same(result: Result, point: int) -> bool:
    """Return whether all AQMs have the same metrics in every run, to the last bit."""
    runs = result.runs.filter(pl.col("point") == point).select("aqm", "seed", *result.frames.metrics)
    first, *others = (runs.filter(pl.col("aqm") == aqm).drop("aqm").sort("seed") for aqm in result.aqms)
    return all(one.equals(first) for one in others)


def _of_one_run(result: Result, point: int) -> list[str]:
    """Return what one run says; that is nothing about chance."""
    parts = []
    for name in (*ASKED, ELSE[0]):
        values = _values(result, point, name)
        number = _number(name, values)
        order = sorted(values, key=lambda aqm: values[aqm])
        if order and number(values[order[0]]) != number(values[order[-1]]):
            low, high = (f"{number(values[aqm])} under {aqm}" for aqm in (order[0], order[-1]))
            parts.append(f"{metrics.find(name).phrase} is from {low} to {high}")
    return [f"In one run, which says nothing about chance, {listed(parts)}."] if parts else []


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
        return [f"{reference} and {aqm} cannot be told apart by {by} in any of {len(points)} scenarios."]
    return [f"Against {reference}, {aqm}'s {one.words(points)}." for one in apart[:3]]


def _range(one: swept.Extremes, points: Sequence[Mapping[str, str]]) -> str:
    ends = (one.best, one.worst)
    number = _number(one.metric, {str(row.point): row.estimate.value for row in ends})
    places = (" ".join(f"{name} {value}" for name, value in points[row.point].items()) for row in ends)
    told = [f"{number(row.estimate.value)} ({place})" for row, place in zip(ends, places, strict=True)]
    phrase = metrics.find(one.metric).phrase
    return f"{phrase[0].upper()}{phrase[1:]} is from {told[0]} to {told[1]}."


def _leads(name: str, found: Sequence[Ranking]) -> str:
    """Return how often each AQM is best, or cannot be told from the first; nothing where none can be told apart."""
    apart = [one for one in found if len(one.groups) > 1]
    if not apart:
        return ""
    counts = {aqm: sum(aqm in one.best for one in apart) for aqm in found[0].aqms}
    order = sorted((aqm for aqm in counts if counts[aqm]), key=lambda aqm: -counts[aqm])
    told = [f"{aqm} in {counts[aqm]}" for aqm in order[:MOST_NAMED]]
    where = f"where AQMs can be told apart ({len(apart)} of {len(found)} scenarios)"
    return f"Best by {metrics.find(name).phrase}, alone or with others, {where}: {listed(told)}."


def _sentence(result: Result, one: Ranking) -> str:
    metric = metrics.find(one.metric)
    values = _values(result, one.point, one.metric)
    number = _number(one.metric, values)
    what = f"{metric.phrase[0].upper()}{metric.phrase[1:]}"
    if len(one.groups) == 1:
        return f"{what} is not distinguishable: {_ends(result, one)}."
    how = "higher" if metric.better == "higher" else "lower"

    def told(aqms: Sequence[str], end: str) -> str:
        names = _counted(aqms)
        alike = one.alike(aqms) or f"not distinguishable from {end}"
        return f"{names} ({_span([values[aqm] for aqm in aqms], number)}{f', {alike}' if len(aqms) > 1 else ''})"

    if len(one.aqms) > 2 and all(set(one.worst) <= set(one.behind(aqm)) for aqm in one.best):
        return f"{what} is best under {told(one.best, one.aqms[0])}, worst under {told(one.worst, one.aqms[-1])}."
    # Not all of the best are certainly ahead of all of the worst: say of one what is certain.
    ahead = max(one.aqms, key=lambda aqm: len(one.behind(aqm)))
    behind = one.behind(ahead)
    unsure = [aqm for aqm in one.aqms if aqm != ahead and aqm not in behind]
    rest = f"; where {_counted(unsure)} {'belong' if len(unsure) > 1 else 'belongs'} is not certain" if unsure else ""
    than = f"{_counted(behind)} ({_span([values[aqm] for aqm in behind], number)})"
    return f"{what} is {how} under {ahead} ({number(values[ahead])}) than under {than}{rest}."


def _values(result: Result, point: int, name: str) -> dict[str, float]:
    rows = {row.aqm: row.estimate.value for row in result.shown_rows if (row.point, row.metric) == (point, name)}
    return {aqm: rows[aqm] for aqm in result.aqms if aqm in rows}


def _ratio(result: Result, one: Ranking) -> float:
    """Return how many times the smallest value the largest is."""
    values = _values(result, one.point, one.metric).values()
    return max(values) / min(values) if min(values) > 0.0 else float("inf")


def _ends(result: Result, one: Ranking) -> str:
    values = _values(result, one.point, one.metric)
    return _span(list(values.values()), _number(one.metric, values))


def _span(values: Sequence[float], number: Callable[[float], str]) -> str:
    """Return the smallest and the largest of some values, with their unit once."""
    low, high = number(min(values)), number(max(values))
    return high if low == high else f"{low.partition(' ')[0]} to {high}"


def _number(name: str, values: Mapping[str, float]) -> Callable[[float], str]:
    metric = metrics.find(name)
    unit, factor, _ = readable("share" if metric.is_share else metric.unit, max(values.values()))
    return lambda value: f"{metrics.number(value * factor)} {unit}".rstrip()


def _counted(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"]
    return listed(names)
