"""The answer of a comparison in three sentences: who is best by what matters most, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from aqmlab import metrics
from aqmlab.names import swept_names
from aqmlab.results import swept
from aqmlab.results.summary import compare
from aqmlab.units import readable

if TYPE_CHECKING:
    from aqmlab.results import Result

# What is asked first. Of the last, the first that differs is told: what users notice, or how fair it is.
ASKED = ("qdelay_mean_ms", "goodput_mbit")
LAST = ("mos_mean", "page_load_mean_s", "video_stall_s", "fct_mean_s", "loss_ratio", "jain_index")


def sentences(result: Result, point: int = 0) -> list[str]:
    """Return up to three sentences about a scenario; none if there is nothing to compare."""
    if len(result.aqms) < 2:
        return []
    found = [text for name in ASKED if (text := _sentence(result, point, name))]
    different = (name for name in LAST if len({*_values(result, point, name).values()}) > 1)
    last = next(different, "")
    return [*found, _sentence(result, point, last)] if last else found


def over_scenarios(result: Result) -> list[str]:
    """Return up to three sentences about a large sweep: how an AQM, or how each of several, compares with the first."""
    orders = swept.orders(result)
    if len(result.aqms) > 2:
        orders = [one for one in orders if one.metric == ASKED[0]]
    short = swept_names(result)
    return [f"{short[one.aqm]} against {short[one.reference]}: {one.words(result.points)}." for one in orders[:3]]


def _values(result: Result, point: int, name: str) -> dict[str, float]:
    rows = {row.aqm: row.estimate.value for row in result.rows if (row.point, row.metric) == (point, name)}
    return {aqm: rows[aqm] for aqm in result.aqms if aqm in rows}


def _sentence(result: Result, point: int, name: str) -> str:
    metric = metrics.find(name)
    values = _values(result, point, name)
    if len(values) < 2:
        return ""
    is_higher_better = metric.better == "higher"
    order = sorted(values, key=lambda aqm: values[aqm], reverse=is_higher_better)
    number = _writer(name, max(values.values()))
    leaders = _leaders(result, point, name, order)
    what = f"{metric.phrase[0].upper()}{metric.phrase[1:]}"
    if len(leaders) == len(order):
        ends = sorted((values[order[0]], values[order[-1]]))
        return f"{what} is not distinguishable: {number(ends[0])} to {number(ends[1])}."
    best = f"{_listed(leaders)}, {_spread([values[aqm] for aqm in leaders], number)}"
    together = ", not distinguishable" if len(leaders) > 1 else ""
    worst = order[-1]
    if worst in leaders:
        behind = [aqm for aqm in order if aqm not in leaders]
        first = f"{what} is best under {order[0]}, {number(values[order[0]])}"
        told = f"{_listed(behind)}, {_spread([values[aqm] for aqm in behind], number)},"
        return f"{first}; of the others only {told} {'is' if len(behind) == 1 else 'are'} distinguishably worse."
    return f"{what} is best under {best}{together}; worst under {worst}, {number(values[worst])}."


def _leaders(result: Result, point: int, name: str, order: Sequence[str]) -> list[str]:
    """Return the best, and those that it cannot be told from; paired over the seeds, with Holm's correction."""
    found = compare(result.frames, [point], order, (name,))
    if not found or found[0].difference.estimate.n < 2:
        return list(order[:1])
    alike = {one.aqm for one in found if not one.difference.is_distinguishable}
    return [aqm for aqm in order if aqm == order[0] or aqm in alike]


def _writer(name: str, largest: float) -> Callable[[float], str]:
    metric = metrics.find(name)
    if metric.is_share:
        return lambda value: f"{value * 100:.2g} %"
    unit, factor, _ = readable(metric.unit, largest)
    return lambda value: f"{metrics.number(value * factor)} {unit}".rstrip()


def _spread(values: Sequence[float], number: Callable[[float], str]) -> str:
    ends = list(dict.fromkeys(map(number, (min(values), max(values)))))
    return " to ".join(ends)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
