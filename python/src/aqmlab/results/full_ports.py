"""The measured ports at which packets wait: sentences and pictures are about these, whichever was measured first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.results.directions import delays, few
from aqmlab.results.metric_tables import Column
from aqmlab.results.noticeable import least_delay_ms
from aqmlab.vocabulary.scopes import of_port

if TYPE_CHECKING:
    from aqmlab.results.result import Result

LOSS = "loss_ratio"


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


def _fullest(result: Result, point: int) -> str:
    """Return the port of `few` at which packets wait longest; empty for the first, whose metrics have no prefix."""
    asked = delays(result.scenarios[point])
    longest = _longest(result, point) if len(asked) > 1 else {}
    found = max(longest, key=lambda name: longest[name], default=asked[0])
    return "" if found == asked[0] else few(result.scenarios[point])[asked.index(found)]


def _longest(result: Result, point: int) -> dict[str, float]:
    """Return how long packets wait at each port on average, behind the AQM where that is longest."""
    runs = result.runs.filter(pl.col("point") == point)
    names = [name for name in delays(result.scenarios[point]) if runs.schema.get(name) == pl.Float64]
    means = runs.group_by("aqm").agg(pl.col(names).mean())
    return {name: max(means[name].drop_nulls(), default=0.0) for name in names}


__all__ = ["LOSS", "at_fullest", "waited_at", "with_loss_at_fullest"]
