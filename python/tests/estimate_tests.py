"""The estimate of a run's events against their real count, for every kind of flow and every topology.

`pytest -s` prints the ratios.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import golden_record
import golden_tests
import pytest

import aqmlab
from aqmlab import scenario
from aqmlab.scenario import topologies
from aqmlab.scenario.kinds import KINDS, TRANSPORTS

# Four runs of web searches, most of whose bytes are in a flow of a hundred, tell nothing about their mean.
FLOWS = {**golden_tests.FLOWS, "workload": "1*workload:load=0.5:size=exp(50kb)"}
# What is not foreseen: that a law, or a sender that sends again all that follows a loss, leaves most of the link idle,
# and that senders do not hear a program that is not theirs.
FACTORS = {"smoltcp": 4.0, "aqm tcn": 3.0, "program dscp": 12.0, "program pmqecn": 6.0}
ALONE: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "duration": "4s", "seeds": 4, "aqm": "fifo"}


def _cases() -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in KINDS.values():
        flows = FLOWS.get(kind.name, f"2*{kind.name}")
        yield kind.name, {**ALONE, **golden_tests.SIGNALLED.get(kind.name, {}), "flows": flows}
        if TRANSPORTS[kind.transport].form == "rate":
            yield f"{kind.name} unheard", {**ALONE, "flows": flows}
        if kind.transport == "udp" and "cubic" in kind.transports:
            yield f"{kind.name} over cubic", {**ALONE, "flows": f"{flows}:transport=cubic"}
    for topology in ("dumbbell", *(kind.name for kind in topologies.KINDS)):
        settings = {**ALONE, "topology": topology, **golden_tests.TOPOLOGIES.get(topology, {})}
        yield f"{topology} tcp", {**settings, "flows": "8*cubic"}
        yield f"{topology} udp", {**settings, "flows": "8*cbr:rate=4mbit"}


def _estimated(options: dict[str, Any]) -> float:
    given = {name: value for name, value in options.items() if value is not None}
    ((_, cost),) = scenario.resolve(scenario.from_values(given)).costs
    return cost.events


def _is_right(name: str, ratio: float, factor: float = 2.0) -> bool:
    print(f"{ratio:5.2f}  {name}")
    return 1 / factor < ratio < factor


@pytest.mark.parametrize(("name", "options"), [pytest.param(*case, id=case[0]) for case in _cases()])
def the_estimate_is_right_within_a_factor_of_two(name: str, options: dict[str, Any]) -> None:
    events = aqmlab.compare(**options).runs["events"]
    assert _is_right(name, _estimated(options) / (sum(events) / len(events)), FACTORS.get(name, 2.0))


@pytest.mark.parametrize("name", golden_tests.CASES)
def so_it_is_for_every_golden_run(name: str) -> None:
    events = golden_record.events(name)
    assert _is_right(name, _estimated(golden_tests.CASES[name]) / events, FACTORS.get(name, 2.0))
