"""The protocol of an engine: it states what it supports, and turns a task into plain columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from aqmlab._native import Inputs
from aqmlab.engine.column_tables import Column, Histograms, Table
from aqmlab.scenario.model import Scenario


@dataclass(frozen=True)
class Run:
    """Identifies a run: its scenario (point), the label of its AQM, its seed, and the key of its result."""

    point: int
    aqm: str
    seed: int
    key: str


@dataclass(frozen=True)
class Task(Run):
    """A run that is to be made: its scenario, and the captures and link traces that the scenario names.

    ``inputs`` holds them parsed; ``files`` has the hash of each, by its name. ``engine`` says which of several engines
    makes it; empty for the first.
    """

    scenario: Scenario
    inputs: Inputs = field(default_factory=Inputs)
    files: Mapping[str, str] = field(default_factory=dict)
    engine: str = ""


@dataclass(frozen=True)
class Report:
    """The result of a run as plain columns; every name ends in its unit.

    ``series`` holds ``time_s``, first, and a column of reals per name.
    """

    metrics: dict[str, float]
    flows: Table
    series: Table
    queues: Table
    histograms: Histograms
    warnings: list[str]
    events: int
    bottleneck_packets: int
    cpu_s: float
    engine: str


# What became of a packet, by number.
FATES = ("", "delivered", "marked", "dropped")


@dataclass(frozen=True)
class Trace:
    """The TCP flows of a run at their senders, as columns of whole numbers; times from the start of the run.

    Attributes:
        events: data that is sent, and acknowledgments that come back: ``time_ns``, ``flow``, ``is_ack``, ``number``
            (the first byte from zero, or what is acknowledged), ``length`` (payload), ``edge`` (where the highest block
            of SACK ends, 0 without), ``echo`` (of a mark), ``fate`` (as in `FATES`; 0 where nobody knows).
        states: windows and timers as they were seen: ``time_ns``, ``flow``, ``cwnd_bytes``, ``ssthresh_bytes``,
            ``srtt_ns``, ``rto_ns``, ``phase``.
        phases: what the numbers of ``phase`` mean.

    """

    events: Mapping[str, Column]
    states: Mapping[str, Column]
    phases: tuple[str, ...]


@dataclass(frozen=True)
class Capabilities:
    """What an engine supports: only the listed names; ``None`` means all."""

    topologies: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    aqms: frozenset[str] | None = None
    captures: bool = True
    link_traces: bool = True

    def refusal(self, topology: str, kinds: Sequence[str], aqms: Sequence[str], files: Mapping[str, bool]) -> str:
        """Return in words why the engine does not support a scenario; empty if it does.

        ``files`` says whether the scenario has a ``capture`` and a ``link_trace``.
        """
        named = (("topology", [topology], self.topologies), ("flows", kinds, self.kinds), ("aqm", aqms, self.aqms))
        for what, wanted, able in named:
            for name in wanted:
                if able is not None and name not in able:
                    return f"{what}: '{name}' is not supported; supported are {', '.join(sorted(able))}"
        for what, able_too in (("capture", self.captures), ("link_trace", self.link_traces)):
            if files[what] and not able_too:
                return f"{what}: is not supported"
        return ""


class Monitor(Protocol):
    """Watches a run from another thread, and can stop it."""

    @property
    def reached_ns(self) -> int:
        """Simulated time reached so far, nanoseconds."""

    def cancel(self) -> None:
        """Ask the run to stop; it raises `Cancelled`."""


class Engine(Protocol):
    """Runs tasks. Its methods are called from several threads at once."""

    @property
    def name(self) -> str:
        """The user's name for it, as in ``--engine native``."""

    @property
    def about(self) -> str:
        """What it is, in a few words."""

    @property
    def version(self) -> str:
        """A text that identifies all code that decides its results: part of every run's key."""

    def of(self, name: str) -> SingleEngine:
        """Return the engine of this name among those that it stands for; itself, or the first, without one."""

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Prepare what tasks share, once, before any of them runs.

        Raises:
            InputError: naming the input that is wrong.

        """

    def monitor(self, task: Task) -> Monitor:
        """Return a monitor for one run."""

    def run(self, task: Task, monitor: Monitor) -> Report:
        """Run a task.

        Raises:
            InputError: naming the input that is wrong.
            CheckError: if the run broke one of its own checks.
            Cancelled: if the monitor stopped it.

        """


class SingleEngine(Engine, Protocol):
    """An engine that is no list of others: it says what it supports, and what a run costs."""

    @property
    def capabilities(self) -> Capabilities:
        """What it supports."""

    def refusal(self, scenario: Scenario) -> str:
        """Return in words why it does not run a scenario that its capabilities allow; empty if it does."""

    def cost_s(self, scenario: Scenario) -> float:
        """Processor time of a run, seconds, where it is long enough to announce; 0 otherwise."""

    def trace(self, task: Task, monitor: Monitor) -> Trace:
        """Run a task, and return what its TCP senders sent and received instead of a report.

        Raises:
            InputError: naming the input that is wrong.
            CheckError: if the run broke one of its own checks.
            Cancelled: if the monitor stopped it.

        """
