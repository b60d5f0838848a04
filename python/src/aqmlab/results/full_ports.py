"""The measured ports at which packets wait: sentences and pictures are about these, whichever was measured first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results.directions import DELAY, LOSS, OF_FIRST, at_first, at_its_port, delays, few
from aqmlab.results.metric_tables import Column
from aqmlab.results.noticeable import least_delay_ms
from aqmlab.results.ranking import Ranking
from aqmlab.vocabulary.metrics import split
from aqmlab.vocabulary.scopes import of_port

if TYPE_CHECKING:
    from aqmlab.results.result import Result


def waited_at(result: Result, point: int) -> list[str]:
    """Return the metrics of `delays` that are an answer: those of ports at which packets wait behind some AQM.

    Without any, that of the first port.
    """
    longest = _longest(result, point)
    least = least_delay_ms(result.scenarios[point])
    asked = delays(result.scenarios[point])
    return [name for name in asked if longest.get(name, 0.0) > least] or asked[:1]


def at_fullest(result: Result, point: int, column: str) -> str:
    """Return a column of queue delay at the port where packets wait longest, so that pictures show what is answered."""
    port = _fullest(result, point) if column.startswith("qdelay_") else ""
    return of_port(port).metric(column) if port else column


def with_loss_at_fullest(result: Result, point: int, column: Column) -> Column:
    """Return a column of loss with that of the port where packets wait longest, and any other as it is."""
    port = _fullest(result, point) if column.metric == LOSS else ""
    return replace(column, metric=of_port(port).metric(LOSS), title=f"Loss at {port}") if port else column


def ports(result: Result, point: int) -> list[str]:
    """Return the measured ports as tables have them: those at which packets wait, and then the others."""
    every = list(result.scenarios[point].get("ports") or ())
    idle = _idle(result, point)
    return sorted(every, key=lambda port: port in idle)


def orders(result: Result, point: int) -> list[Ranking]:
    """Return the rankings of a scenario, of each port by its name, but none of a port at which nothing waits."""
    idle = {of_port(port).prefix for port in _idle(result, point)}
    scenario = result.scenarios[point]
    own = [one for one in result.rankings if one.point == point]
    found = [replace(one, metric=at_its_port(one.metric, scenario)) for one in own]
    return [one for one in found if split(one.metric)[0] not in idle]


def over_settings(result: Result, metrics: Sequence[str]) -> list[str]:
    """Return metrics as a sweep shows them: what is of one port, of that where packets wait longest in any setting."""
    port = _fullest_of_all(result)
    return [of_port(port).metric(name) if port and _is_of_port(name) else name for name in metrics]


def columns_over_settings(result: Result, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of a sweep's table: those of one port say of which, where several are measured."""
    port = _fullest_of_all(result)
    if not port:
        return at_first(result.scenarios[0], columns) if few(result.scenarios[0]) else list(columns)
    return [
        replace(one, metric=of_port(port).metric(one.metric), title=f"{one.title} at {port}")
        if _is_of_port(one.metric)
        else one
        for one in columns
    ]


def _is_of_port(metric: str) -> bool:
    return metric in OF_FIRST or metric.startswith("qdelay_")


def _fullest_of_all(result: Result) -> str:
    """Return the port at which packets wait longest in any setting; empty for the first, or where ports differ."""
    ports = few(result.scenarios[0])
    if not ports or any(few(scenario) != ports for scenario in result.scenarios):
        return ""
    names = delays(result.scenarios[0])
    known = [name for name in names if result.runs.schema.get(name) == pl.Float64]
    longest = result.runs.group_by("point", "aqm").agg(pl.col(known).mean()).max()
    values = {name: longest[name][0] or 0.0 for name in known}
    found = max(values, key=lambda name: values[name], default=names[0])
    return "" if found == names[0] else ports[names.index(found)]


def _idle(result: Result, point: int) -> list[str]:
    """Return the ports at which nothing waits behind any AQM, if packets wait at another; else none."""
    metrics = {of_port(port).metric(DELAY): port for port in result.scenarios[point].get("ports") or ()}
    longest = _longest_of(result, point, list(metrics))
    least = least_delay_ms(result.scenarios[point])
    idle = [port for name, port in metrics.items() if longest.get(name, 0.0) <= least]
    return idle if len(idle) < len(metrics) else []


def _fullest(result: Result, point: int) -> str:
    """Return the port of `few` at which packets wait longest; empty for the first, whose metrics have no prefix."""
    asked = delays(result.scenarios[point])
    longest = _longest(result, point) if len(asked) > 1 else {}
    found = max(longest, key=lambda name: longest[name], default=asked[0])
    return "" if found == asked[0] else few(result.scenarios[point])[asked.index(found)]


def _longest(result: Result, point: int) -> dict[str, float]:
    """Return how long packets wait at each port of `few` on average, behind the AQM where that is longest."""
    return _longest_of(result, point, delays(result.scenarios[point]))


def _longest_of(result: Result, point: int, metrics: Sequence[str]) -> dict[str, float]:
    runs = result.runs.filter(pl.col("point") == point)
    names = [name for name in metrics if runs.schema.get(name) == pl.Float64]
    means = runs.group_by("aqm").agg(pl.col(names).mean())
    return {name: max(means[name].drop_nulls(), default=0.0) for name in names}


__all__ = [
    "at_fullest",
    "columns_over_settings",
    "orders",
    "over_settings",
    "ports",
    "waited_at",
    "with_loss_at_fullest",
]
