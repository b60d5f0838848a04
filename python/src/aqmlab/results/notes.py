"""What stands under a table with marks: what they mean, how far differences are known, and whether seeds are few."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from aqmlab.results.differences import Comparison, in_unit
from aqmlab.results.marks import legend
from aqmlab.results.metric_tables import Column
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from aqmlab.results.result import Result

# With fewer a t-test among many finds little.
FEW_SEEDS = 5
ENOUGH_SEEDS = 10


def notes(
    result: Result, columns: Sequence[Column], comparisons: Sequence[Comparison], marks: Collection[str]
) -> list[str]:
    """Return the lines under a table, or under several, with these columns, differences and marks."""
    return list(_notes(result, columns, comparisons, marks))


def _notes(
    result: Result, columns: Sequence[Column], comparisons: Sequence[Comparison], marks: Collection[str]
) -> Iterator[str]:
    if len(result.seeds) < 2:
        yield "One seed: nothing is known about chance, so nothing is marked."
        return
    tested = [one for one in comparisons if one.difference.p_value is not None]
    if not tested:
        return
    references = list(dict.fromkeys(one.reference for one in tested))
    first = references[0] if len(references) == 1 else "its own in the first engine"
    percentiles = any(metrics.find(column.metric).is_percentile for column in columns)
    yield f"{legend(marks, first)}{'; percentiles untested' if percentiles else ''}."
    if any(column.metric in ("mos_mean", "mos_back_mean") for column in columns):
        yield "Call MOS: 1 to 4.5, mean over calls, as callee (to=) and caller (from=) hear it."
    titles = dict.fromkeys(column.title for column in columns)
    found = [_bound([column for column in columns if column.title == title], tested) for title in titles]
    bounds = [bound for bound in found if bound]
    if bounds:
        yield f"Joint 95 % intervals, at most: {', '.join(bounds)}."
    if few := few_seeds(result):
        yield few


def few_seeds(result: Result) -> str:
    """Return a warning if seeds are few; of one, which decides nothing, there is another."""
    seeds = len(result.seeds)
    if not 1 < seeds < FEW_SEEDS:
        return ""
    more = ENOUGH_SEEDS - seeds
    return f"{seeds} seeds decide only the obvious; --seeds {ENOUGH_SEEDS} with the same --out adds {more}."


def _bound(columns: Sequence[Column], tested: Sequence[Comparison]) -> str:
    """How far from its difference an end of any interval of columns with one title lies, with its unit."""
    reach, column, names = 0.0, columns[0], [column.metric for column in columns]
    for one in tested:
        estimate = one.difference.estimate
        if one.metric in names and estimate.low is not None and estimate.high is not None:
            reach = max(reach, estimate.value - estimate.low, estimate.high - estimate.value)
    if reach <= 0.0:
        return ""
    metric = metrics.find(column.metric)
    scale = 100.0 if metric.is_share else column.scale
    unit = in_unit(metric)(0.0).partition(" ")[2] if metric.is_share else column.unit.rpartition(", ")[2]
    # Rounded up, so that it holds.
    digits = -math.floor(math.log10(reach * scale))
    value = math.ceil(reach * scale * 10.0**digits) / 10.0**digits
    is_name = column.title[:2].isupper() or column.title == "Jain index"
    title = column.title if is_name else f"{column.title[:1].lower()}{column.title[1:]}"
    text = f"{title} ±{value:.{max(digits, 0)}f}"
    return f"{text} {unit}" if metric.unit or metric.is_share else text


__all__ = ["few_seeds", "notes"]
