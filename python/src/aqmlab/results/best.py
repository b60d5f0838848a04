"""Which AQMs are best by what is asked of all, in a sentence: the first of each ranking, and what it has beside it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results import directions, full_ports
from aqmlab.results.headline import ASKED, noun
from aqmlab.results.marks import MEANINGS, SAME, UNDECIDED
from aqmlab.results.ranking import Ranking
from aqmlab.results.small_buffers import GOODPUT, LOST
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from aqmlab.results.result import Result


def best(result: Result, names: Mapping[str, str], point: int = 0) -> str:
    """Return who is best by delay and by goodput; empty where that decides nothing, or of two, which the answer does.

    It is empty, too, where the shortest queue is that of an AQM which starves its flows.

    Args:
        result: the runs.
        names: the AQMs as they are shown.
        point: the scenario.

    """
    # Where stations share the air, most of the delay is behind the queue.
    if len(result.aqms) < 3 or any(name.startswith("station.") for name in result.runs.columns):
        return ""
    starved = _starved(result, point)
    own = {one.metric: one for one in result.rankings if one.point == point}
    # A queue that is short because its link is idle is no merit, and what is best beside it is not ranked.
    if any("qdelay" in metric and starved.intersection(one.best) for metric, one in own.items()):
        return ""
    first = directions.delays(result.scenarios[point])[0]
    asked = [directions.DELAY if name == first else name for name in (*full_ports.waited_at(result, point), *ASKED[1:])]
    found = [_words(own[name], names, result, point) for name in asked if name in own and own[name].is_decided]
    return f"Best by {'; by '.join(found)}." if found else ""


def _starved(result: Result, point: int) -> set[str]:
    """Return the AQMs that use so little of the link that a short queue is no merit."""
    runs = result.runs.filter(pl.col("point") == point)
    if GOODPUT not in runs.columns or runs.is_empty():
        return set()
    means = dict(runs.group_by("aqm").agg(pl.col(GOODPUT).mean()).iter_rows())
    most = max(value or 0.0 for value in means.values())
    return {aqm for aqm, value in means.items() if (value or 0.0) < (1.0 - LOST) * most}


def _words(order: Ranking, names: Mapping[str, str], result: Result, point: int) -> str:
    named = directions.at_its_port(order.metric, result.scenarios[point])
    pairs = [order.pairs[pair] for pair in itertools.combinations(order.best, 2) if pair in order.pairs]
    note = f" ({MEANINGS[SAME if all(one.is_equivalent for one in pairs) else UNDECIDED]})" if pairs else ""
    return f"{noun(metrics.find(named))}: {' or '.join(names[one] for one in order.best)}{note}"


__all__ = ["best"]
