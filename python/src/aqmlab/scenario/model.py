"""A resolved scenario as typed data: base units, every default filled in, one AQM under test.

This is what an engine gets. Its JSON form is published (``aqmlab schema scenario``) and read by the simulator.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from aqmlab.scenario.options import FIELDS, SETTINGS

# Settings by the names of declared keys, in base units.
Settings: TypeAlias = dict[str, Any]
Data: TypeAlias = dict[str, Any]

PLAIN: Final = "plain"
UNDER_TEST: Final = "under_test"


@dataclass(frozen=True)
class Rate:
    """A constant capacity."""

    rate_bps: int


@dataclass(frozen=True)
class Trace:
    """A recorded capacity: the link trace of this name among the inputs."""

    trace: str


@dataclass(frozen=True)
class Discipline:
    """The queue of a link that is not under test."""

    discipline: str


Queue: TypeAlias = Literal["plain", "under_test"] | Discipline


@dataclass(frozen=True)
class Link:
    """A one-way link of a topology.

    ``rate_bps`` is ``None`` where the scenario's capacity applies; a port is called ``source->target`` unless it has a
    ``name``. ``kind`` is what serves the link, as ``KIND key value ...``, in place of a line of its rate; links on one
    ``medium`` share its time, in turns unless they have another kind.
    ``wire`` is what happens to packets behind the queue: loss, jitter, ..., by the field of a scenario that has it.
    """

    source: str
    target: str
    rate_bps: int | None
    delay_ns: int
    queue: Queue = PLAIN
    medium: str = ""
    name: str = ""
    wire: Data = field(default_factory=dict)
    kind: str = ""

    @classmethod
    def of(cls, data: Data) -> Link:
        """Return it from JSON data."""
        queue = data["queue"]
        given = {key: value for key, value in data.items() if key not in ("from", "to", "queue")}
        return cls(data["from"], data["to"], queue=Discipline(**queue) if isinstance(queue, dict) else queue, **given)

    @property
    def port(self) -> str:
        """The name of the port in front of it."""
        return self.name or f"{self.source}->{self.target}"

    def data(self) -> Data:
        """Return it as JSON data."""
        queue = {"discipline": self.queue.discipline} if isinstance(self.queue, Discipline) else self.queue
        fixed = {
            "from": self.source,
            "to": self.target,
            "rate_bps": self.rate_bps,
            "delay_ns": self.delay_ns,
            "queue": queue,
        }
        optional = {
            "medium": self.medium,
            "name": self.name,
            "kind": self.kind,
            "wire": self.wire,
        }
        return fixed | _given(optional)


@dataclass(frozen=True)
class Topology:
    """Nodes and links in place of the dumbbell, the number of the measured link, and the options of switches."""

    links: tuple[Link, ...]
    measured: int
    switches: dict[str, Settings] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Data) -> Topology:
        """Return it from JSON data."""
        return cls(**{**data, "links": tuple(map(Link.of, data["links"]))})

    def data(self) -> Data:
        """Return it as JSON data."""
        links = [link.data() for link in self.links]
        return {"links": links, "measured": self.measured} | _given({"switches": self.switches})


@dataclass(frozen=True)
class Flows:
    """Flows with the same settings.

    Each starts ``spacing_ns`` later than the one before, beside what is drawn from ``start_ns``. ``rtt_ns`` is ``None``
    where the scenario's applies. ``transport`` is ``tcp``, ``udp``, ``rate`` (rate-based
    senders) or ``stack`` (real transports) with its settings;
    ``socket`` is how the ends of its connections use their sockets, where a paper's program is followed;
    ``source`` is the form of a source (``bulk``, ``cbr``, ...) with its settings. ``sources`` and ``sinks`` are the
    nodes where the flows begin and end; without any, each flow has hosts of its own.
    """

    name: str
    count: int
    start_ns: tuple[int, int]
    rtt_ns: int | None
    traffic_class: int
    dscp: int
    transport: tuple[Literal["tcp", "udp", "rate", "stack"], Settings]
    source: tuple[str, Settings]
    spacing_ns: int = 0
    sources: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    socket: Settings | None = None

    @property
    def congestion_control(self) -> str | None:
        """The congestion control, if TCP carries the data."""
        form, settings = self.transport
        return str(settings["congestion_control"]) if form == "tcp" else None

    def data(self) -> Data:
        """Return it as JSON data."""
        (carrier, carried), (form, keys) = self.transport, self.source
        fixed = {
            "count": self.count,
            "name": self.name,
            "start_ns": list(self.start_ns),
            "rtt_ns": self.rtt_ns,
            "class": self.traffic_class,
            "dscp": self.dscp,
            "transport": {carrier: carried},
            "source": {form: keys} if keys else form,
        }
        ends = {"from": list(self.sources), "to": list(self.sinks)}
        return fixed | _given({"spacing_ns": self.spacing_ns, **ends, "socket": self.socket})


@dataclass(frozen=True)
class Scenario:
    """What is simulated. Times are in nanoseconds, rates in bit/s.

    Args:
        aqm: the discipline under test in tc's notation, its limit included.
        capacity: of the bottleneck.
        settings: values of the options that are fields of their own, by field: ``duration_ns``, ``loss``, ...
        warmup_ns: time at the start that is not measured.
        mser5: whether the warm-up of a run lasts longer where MSER-5 says so, of its goodput or queue delay.
        sample_ns: spacing of the time series.
        measure: names of the measured ports; none means the bottleneck.
        topology: nodes and links; ``None`` means the dumbbell.
        flows: groups of flows.
        captures: names of captures that are replayed through the bottleneck.

    """

    aqm: str
    capacity: Rate | Trace
    settings: Settings
    warmup_ns: int
    mser5: bool
    sample_ns: int
    measure: tuple[str, ...]
    topology: Topology | None
    flows: tuple[Flows, ...]
    captures: tuple[str, ...]

    @property
    def duration_ns(self) -> int:
        """Simulated time."""
        return int(self.settings["duration_ns"])

    def data(self) -> Data:
        """Return it as JSON data."""
        capacity = (
            {"trace": self.capacity.trace} if isinstance(self.capacity, Trace) else {"rate_bps": self.capacity.rate_bps}
        )
        left_out = {one.field for one in SETTINGS if one.is_left_out and self.settings[one.field] == one.value}
        fixed = {
            "aqm": self.aqm,
            "capacity": capacity,
            "warmup_ns": self.warmup_ns,
            "sample_ns": self.sample_ns,
            "flows": [group.data() for group in self.flows],
            "captures": list(self.captures),
            **{field: value for field, value in self.settings.items() if field not in left_out},
        }
        topology = self.topology.data() if self.topology else {}
        found = fixed | _given({"mser5": self.mser5, "measure": list(self.measure), "topology": topology})
        return {field: found[field] for field in FIELDS if field in found}

    @functools.cached_property
    def json(self) -> str:
        """Its published JSON form: the same bytes for the same scenario."""
        return json.dumps(self.data())


def _given(values: Data) -> Data:
    """Leave out empty entries: older scenarios do not have their keys."""
    return {key: value for key, value in values.items() if value}
