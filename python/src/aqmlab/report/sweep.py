"""The numbers of a sweep's chart: each metric of each scenario, and where the swept values stand on an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.plots import ticks
from aqmlab.plots.panel import Axis
from aqmlab.report.rounding import short
from aqmlab.results import full_ports, swept
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary import metrics, quantities

if TYPE_CHECKING:
    from aqmlab.results import Result

# A sweep of more scenarios times AQMs has the metrics of its table only.
MOST = 2000


def data(result: Result) -> dict[str, Any]:
    """Return the swept names with their values, the values of each scenario by their place, and the metrics.

    ``first`` is the metric that is shown at first.
    """
    names = {name: list(dict.fromkeys(point[name] for point in result.points)) for name in result.points[0]}
    rows: dict[str, dict[tuple[str, int], Estimate]] = {}
    for row in result.shown_rows:
        rows.setdefault(row.metric, {})[row.aqm, row.point] = row.estimate
    wanted = [name for name in metrics.ordered(set(rows)) if not metrics.split(name)[0]]
    if len(result.points) * len(result.aqms) > MOST:
        wanted = list(swept.SHOWN)
    wanted = [name for name in full_ports.over_settings(result, wanted) if name in rows]
    return {
        "names": [_name(name, values) for name, values in names.items()],
        "isGrid": math.prod(map(len, names.values())) == len(result.points),
        "points": [[names[name].index(value) for name, value in point.items()] for point in result.points],
        "metrics": [_metric(result, name, rows[name]) for name in wanted],
        "first": full_ports.over_settings(result, swept.SHOWN)[0],
    }


def _name(name: str, values: Sequence[str]) -> dict[str, Any]:
    """Return a swept name with its values as texts, and as places in the unit of its axis."""
    positions = list(ticks.of(values).values())
    found = quantities.read(values)
    kind = found[0] if found and found[1] == positions else None
    title = f"{name} ({kind.axis})" if kind and kind.axis else name
    stands = short([position / (kind.scale if kind else 1.0) for position in positions], 9)
    return {"name": name, "title": title, "values": values, "places": stands, "log": ticks.are_even_by_ratio(positions)}


def _metric(result: Result, name: str, estimates: dict[tuple[str, int], Estimate]) -> dict[str, Any]:
    """Return a metric's values and the ends of their intervals, for each AQM those of all scenarios."""
    title, factor = Axis(metrics.find(name).title).readable(max(one.value for one in estimates.values()))

    def of(end: str) -> list[list[float | None]]:
        found = [
            [getattr(estimates.get((aqm, at)), end, None) for at in range(len(result.points))] for aqm in result.aqms
        ]
        return [short([math.nan if value is None else value * factor for value in line]) for line in found]

    return {"name": name, "title": title, "y": of("value"), "low": of("low"), "high": of("high")}
