"""The answer of a comparison: what each AQM changes against the first, the largest effect first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results import directions, full_ports, stations
from aqmlab.results.differences import QOE, Comparison
from aqmlab.results.noticeable import is_negligible
from aqmlab.stats.statistics import MARGIN
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.metrics import Metric
from aqmlab.vocabulary.units import readable

if TYPE_CHECKING:
    from aqmlab.results.result import Result

# What is asked of every AQM, whether it differs or not.
ASKED = ("qdelay_mean_ms", "goodput_mbit")
# What calls are asked for beside that, in few words.
CALLS = {"mos_mean": "call MOS at the callee", directions.BACK: "call MOS at the caller"}
# More effects are in the tables.
MOST_EFFECTS = 3
# Above this ratio, "10 times" is easier than "900 % more".
TIMES = 3.0


@dataclass(frozen=True)
class Headline:
    """What an AQM changes against its reference, in words."""

    aqm: str
    reference: str
    words: str


def headlines(result: Result, point: int = 0) -> list[Headline]:
    """Return a line for each AQM but the first; none of a single AQM."""
    found = []
    for aqm in result.aqms[1:]:
        own = [one for one in result.comparisons if one.aqm == aqm and one.point == point]
        own = [directions.named(one, result.scenarios[point]) for one in own]
        if own:
            of_stations = stations.words(result, point, own[0].reference, aqm)
            found.append(Headline(aqm, own[0].reference, "; ".join([_words(result, own, point), *of_stations])))
    return found


def _words(result: Result, comparisons: Sequence[Comparison], point: int) -> str:
    reference, aqm = comparisons[0].reference, comparisons[0].aqm
    if _is_same(result, point, reference, aqm):
        return f"the same as {reference} in every run"
    scenario = result.scenarios[point]
    known = {one.metric: one for one in comparisons}
    asked = [*full_ports.waited_at(result, point), *ASKED[1:], *_worst_call(known)]
    others = [name for name in QOE if name not in CALLS]
    shown = [known[name] for name in (*asked, *others) if name in known and _is_shown(known[name])]
    clear = [one for one in shown if not is_negligible(one, scenario)]
    clear.sort(key=_size, reverse=True)
    rest = [known[name] for name in asked if name in known and known[name] not in clear]
    if not clear and not rest:
        return f"nothing differs from {reference} beyond chance"
    parts = [_effect(one, reference if place == 0 else "") for place, one in enumerate(clear[:MOST_EFFECTS])]
    alike = [one for one in rest if one.difference.is_equivalent or one in shown]
    same = [_alike(one) for one in alike]
    # A call of which the values look alike is left to the table.
    open_ones = [one for one in rest if one not in alike and not (one.metric in CALLS and is_negligible(one, scenario))]
    undecided = [_undecided(one) for one in open_ones]
    against = "" if clear else f" against {reference}"
    found = [", ".join([*parts, *same]) + (against if same else "")]
    found += [f"undecided{'' if same else against}: {', '.join(undecided)}"] if undecided else []
    return "; ".join(part for part in found if part)


def _worst_call(known: Mapping[str, Comparison]) -> list[str]:
    """Return the score of calls at the end that hears the other worse; none without calls."""
    calls = [known[name] for name in CALLS if name in known]
    calls.sort(key=lambda one: min(one.reference_value, one.reference_value + one.difference.estimate.value))
    return [one.metric for one in calls[:1]]


def _alike(one: Comparison) -> str:
    """Return a metric that is the same within a share of it, or of which the difference is certain and negligible."""
    what = noun(metrics.find(one.metric))
    if one.difference.is_equivalent:
        return f"{what} {within([one])}"
    before, after, unit = _pair(one)
    values = before if before == after else f"{before} → {after}"
    return f"no noticeable change of {what} ({values}{unit})"


def _undecided(one: Comparison) -> str:
    """Return a metric of which the runs do not decide, with its values unless they look alike, and what is possible."""
    before, after, unit = _pair(one)
    looks_alike = one.difference.estimate.value == 0.0 or _size(one) < math.log(1.0 + MARGIN)
    values = "" if looks_alike else f"{before} → {after}{unit}"
    inside = ", ".join(part for part in (values, span([one])) if part)
    what = noun(metrics.find(one.metric))
    return f"{what} ({inside})" if inside else what


def within(same: Sequence[Comparison]) -> str:
    """Return within what share of the reference some differences are for certain, rounded up.

    One that is zero in every run is equal.
    """
    reach = max(one.difference.reach or 0.0 for one in same)
    if reach == 0.0:
        return "equal"
    step = 0.01 if reach >= 0.01 else 0.001
    return f"within {percent(math.ceil(round(reach / step, 6)) * step)}"


def span(undecided: Sequence[Comparison]) -> str:
    """Return between which shares of the reference some differences are; nothing if that may be more than double."""
    ends = [one.difference.estimate for one in undecided]
    if any(one.difference.base <= 0.0 for one in undecided) or any(one.low is None for one in ends):
        return ""
    lows = [(one.difference.estimate.low or 0.0) / one.difference.base for one in undecided]
    highs = [(one.difference.estimate.high or 0.0) / one.difference.base for one in undecided]
    low, high = min(lows), max(highs)
    if high > 1.0:
        return ""
    # What is no less than nothing falls by all of it at most, which an interval does not know.
    return f"at most {100.0 * high:+.0f} %" if low <= -1.0 else f"{100.0 * low:+.0f} to {100.0 * high:+.0f} %"


def _is_shown(one: Comparison) -> bool:
    """Whether a difference is beyond chance; of one run, whether there is any."""
    if one.difference.p_value is None:
        before, after, _ = _pair(one)
        return before != after
    return one.difference.is_distinguishable


def _is_same(result: Result, point: int, *aqms: str) -> bool:
    """Return whether AQMs have the same metrics in every run, to the last bit."""
    runs = result.runs.filter(pl.col("point") == point).select("aqm", "seed", *result.frames.metrics)
    first, *others = (runs.filter(pl.col("aqm") == aqm).drop("aqm").sort("seed") for aqm in aqms)
    return all(one.equals(first) for one in others)


def _size(one: Comparison) -> float:
    """How large an effect is: the logarithm of the ratio, so that half is as much as twice."""
    after, before = one.reference_value + one.difference.estimate.value, one.reference_value
    return abs(math.log(after / before)) if after > 0.0 and before > 0.0 else math.inf


def _effect(one: Comparison, reference: str) -> str:
    """Return an effect in words: against a reference it has its values, and otherwise its size alone."""
    metric = metrics.find(one.metric)
    before, after, unit = _pair(one)
    than, values = (f" than {reference}", f" ({before} → {after}{unit})") if reference else ("", "")
    more = "more" if one.difference.estimate.value > 0.0 else "less"
    what = noun(metric)
    value = one.reference_value + one.difference.estimate.value
    if one.reference_value <= 0.0 or value <= 0.0 or not metric.unit:
        # A share of nothing, or of a score, says nothing.
        return f"{more.replace('more', 'higher').replace('less', 'lower')} {what}{than} ({before} → {after}{unit})"
    ratio = value / one.reference_value
    if ratio > TIMES:
        return f"{ratio:.2g} times the {what}{f' of {reference}' if reference else ''}{values}"
    return f"{percent(abs(ratio - 1.0))} {more} {what}{than}{values}"


def percent(share: float) -> str:
    """Write a share in per cent, small ones with a digit more.

    >>> percent(0.664), percent(0.0021), percent(0.0001), percent(0.9953), percent(1.0)
    ('66 %', '0.2 %', '<0.1 %', '99.5 %', '100 %')

    """
    value = 100.0 * share
    if value < 0.05:
        return "<0.1 %"
    if 99.5 <= value < 100.0:
        # Nearly all is not all.
        return f"{min(value, 99.9):.1f} %"
    return f"{value:.0f} %" if value >= 0.95 else f"{value:.1f} %"


def noun(metric: Metric) -> str:
    """The name of a metric in a sentence: it goes without saying that it is a mean."""
    return CALLS.get(metric.name, metric.phrase.removeprefix("mean "))


def _pair(one: Comparison) -> tuple[str, str, str]:
    """Return both values with as many digits as tell them apart, and their unit with a blank before it."""
    metric = metrics.find(one.metric)
    before, after = one.reference_value, one.reference_value + one.difference.estimate.value
    unit, factor, _ = readable("share" if metric.is_share else metric.unit, max(abs(before), abs(after)))
    least = min(abs(before), abs(after)) * factor
    digits = 0 if least >= 10.0 else 1
    texts = [f"{value * factor:.{digits}f}" for value in (before, after)]
    while texts[0] == texts[1] and digits < 3:
        digits += 1
        texts = [f"{value * factor:.{digits}f}" for value in (before, after)]
    return texts[0], texts[1], f" {unit}" if unit else ""


__all__ = ["ASKED", "TIMES", "Headline", "headlines", "noun", "percent", "span", "within"]
