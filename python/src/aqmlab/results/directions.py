"""A line with a downlink and an uplink, or few other measured ports: each of them is part of the answer.

The direction that suffers need not be the first, whose delay has the metric without the name of a port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aqmlab.results.differences import Comparison
from aqmlab.results.metric_tables import Column
from aqmlab.vocabulary.scopes import of_port

# More are in a table of their own.
MOST_PORTS = 3
DELAY = "qdelay_mean_ms"
LOSS = "loss_ratio"
# What is of the first of several ports alone, among the metrics in which AQMs are compared.
OF_FIRST = (DELAY, LOSS, "utilization", "marks")
# Beside a second direction: how a call sounds there.
BACK = "mos_back_mean"


def few(scenario: Mapping[str, Any]) -> list[str]:
    """Return the measured ports that the answer is about; none if only one is measured, or many."""
    ports = list(scenario.get("ports") or ())
    return ports if 1 < len(ports) <= MOST_PORTS else []


def compared(scenarios: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the metrics in which AQMs are compared because of the ports after the first, whose own have no prefix."""
    others = dict.fromkeys(port for scenario in scenarios for port in few(scenario)[1:])
    return [*(of_port(port).metric(name) for port in others for name in (DELAY, LOSS)), *([BACK] if others else [])]


def delays(scenario: Mapping[str, Any]) -> list[str]:
    """Return the metrics of mean delay that a scenario is asked for: one for each port of `few`."""
    return [f"{of_port(port).prefix}{DELAY}" for port in few(scenario)] or [DELAY]


def named(one: Comparison, scenario: Mapping[str, Any]) -> Comparison:
    """Return a comparison in which what is of the first of several ports has the name of that port."""
    return replace(one, metric=at_its_port(one.metric, scenario))


def at_its_port(metric: str, scenario: Mapping[str, Any]) -> str:
    """Return a metric with the name of its port, where it is of the first of several.

    >>> at_its_port("loss_ratio", {"ports": {"down": {}, "up": {}}}), at_its_port("loss_ratio", {"ports": {"down": {}}})
    ('port.down.loss_ratio', 'loss_ratio')

    """
    ports = few(scenario)
    return of_port(ports[0]).metric(metric) if ports and metric in OF_FIRST else metric


def at_first(scenario: Mapping[str, Any], columns: Sequence[Column]) -> list[Column]:
    """Return columns of which those that are of the first of several ports alone say so."""
    first, *others = scenario.get("ports") or [""]
    if not others:
        return list(columns)
    return [
        replace(one, title=f"{one.title} at {first}") if one.title in ("Queue delay", "Loss") else one
        for one in columns
    ]


def delay_columns(scenario: Mapping[str, Any], column: Column) -> list[Column]:
    """Return a column of mean delay for each port of `few`, from the one of the first."""
    ports = few(scenario)
    unit = column.unit.rpartition(", ")[2]
    return [
        replace(column, metric=f"{of_port(port).prefix}{DELAY}" if place else DELAY, unit=f"mean {port}, {unit}")
        for place, port in enumerate(ports)
    ]


__all__ = [
    "BACK",
    "DELAY",
    "LOSS",
    "OF_FIRST",
    "at_first",
    "at_its_port",
    "compared",
    "delay_columns",
    "delays",
    "few",
    "named",
]
