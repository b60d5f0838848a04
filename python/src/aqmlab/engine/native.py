"""The simulator as an engine."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from aqmlab import _native
from aqmlab.engine.column_tables import Histograms, Table
from aqmlab.engine.protocol import Capabilities, Monitor, Report, Task, Trace
from aqmlab.own import python_aqm
from aqmlab.own.python_aqm import PYTHON
from aqmlab.scenario.model import Scenario

# Columns of traces, and the phases of a sender.
EVENTS = ("is_ack", "number", "length", "edge", "echo", "fate")
STATES = ("cwnd_bytes", "ssthresh_bytes", "srtt_ns", "rto_ns", "phase")
PHASES = ("open", "recovery", "after a timeout")

# Module names, so that tests can replace them.
simulate: Any = _native.run


class Native:
    """The packet-level simulator of this package: it supports every scenario."""

    name = "native"
    about = "the simulator of this package"
    capabilities = Capabilities()

    @functools.cached_property
    def version(self) -> str:
        """The version, and the hash of the simulator's sources."""
        build = json.loads(_native.build_info())
        return f"{build['version']}+{build['source'][:16]}"

    def of(self, name: str) -> Native:
        """Return itself: it stands for no others."""
        assert name in ("", self.name)
        return self

    def refusal(self, scenario: Scenario) -> str:
        """Return nothing: it supports every scenario."""
        del scenario
        return ""

    def cost_s(self, scenario: Scenario) -> float:
        """Return nothing: a run takes seconds at most."""
        del scenario
        return 0.0

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Do nothing: the simulator needs only the task."""

    def monitor(self, task: Task) -> Monitor:
        """Return a monitor for one run."""
        del task
        return _native.Monitor()

    def run(self, task: Task, monitor: Monitor) -> Report:
        """Simulate a task, without Python's global lock."""
        before = time.thread_time()
        run = _simulated(task, task.scenario.json, monitor)
        cpu_s = time.thread_time() - before
        return Report(
            metrics=run.metrics,
            flows=Table.read(*run.flows),
            series=Table.read(*run.series),
            queues=Table.read(*run.queues),
            histograms=Histograms.read(*run.histograms),
            warnings=list(run.warnings),
            events=run.events,
            bottleneck_packets=run.bottleneck_packets,
            cpu_s=cpu_s,
            engine=self.name,
        )

    def trace(self, task: Task, monitor: Monitor) -> Trace:
        """Simulate a task, and return what its TCP senders sent and received."""
        run = _simulated(task, json.dumps({**task.scenario.data(), "trace": True}), monitor)
        columns = {name: np.frombuffer(data, "<u8") for name, data in run.trace.items()}
        at = ("time_ns", "flow")
        return Trace(
            events={name: columns[name] for name in (*at, *EVENTS)},
            states={name: columns[name] for name in (*at, *STATES)},
            phases=PHASES,
        )


def _simulated(task: Task, text: str, monitor: Monitor) -> Any:
    if task.scenario.aqm.startswith(PYTHON):
        python_aqm.ensure(task.scenario.aqm)
    return simulate(text, task.inputs, task.seed, monitor)
