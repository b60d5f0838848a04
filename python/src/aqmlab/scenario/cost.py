"""What an experiment will cost, estimated from its scenarios before anything is simulated.

The estimate is rough on purpose, within a factor of three on ordinary scenarios: it is there to notice experiments that
would fill the memory or take days.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab.files import machine
from aqmlab.scenario.model import Flows, Rate, Scenario
from aqmlab.vocabulary.errors import InputError

# What is done without asking. An event takes a tenth to a fifth of a microsecond, so all of them take about ten hours.
MOST_RUNS = 20_000
MOST_EVENTS = 200e9
MEMORY_SHARE = 0.5
_YES = "--yes (yes=True)"

# Measured on the scenarios of the tests.
_EVENTS_PER_PACKET = 4.0
_BYTES_PER_CONNECTION = 9_000
_BYTES_PER_LINK = 2_000
_BYTES_PER_PACKET = 150
_BYTES_PER_RUN = 1_500_000
# In the result of a finished run, which stays until all runs are finished.
_BYTES_KEPT = 30_000
_BYTES_KEPT_PER_FLOW = 250
_SAMPLE_BYTES = 8
_SAMPLED_FLOWS = 100
_COLUMNS_PER_FLOW = 3
_HEADERS_BYTES = 52
# What a sender sends before it knows anything; with many of them most is lost.
_FIRST_PACKETS = 10
_VOICE_PACKETS_PER_S = 50.0
_FULL_PACKET_BYTES = 1500


@dataclass(frozen=True)
class Cost:
    """Events and largest memory of a run, and the memory of its result."""

    events: float
    memory_bytes: float
    kept_bytes: float


def of_run(scenario: Scenario, rate_bps: int, packets: int = 0) -> Cost:
    """Estimate a run; ``rate_bps`` is the bottleneck's rate, and ``packets`` are those of captures and link traces."""
    seconds = scenario.duration_ns / 1e9
    links = scenario.topology.links if scenario.topology else ()
    # How much all flows together can send: the dumbbell has one bottleneck, and elsewhere each pair of hosts its way.
    capacity_bps = float(rate_bps)
    if scenario.topology:
        measured_bps = links[scenario.topology.measured].rate_bps or 0
        capacity_bps = float(max(rate_bps, measured_bps)) * max(sum(map(_ways, scenario.flows)), 1)
    offered = reacting = first = waiting = 0.0
    connections = 0.0
    for group in scenario.flows:
        active_s = max(seconds - sum(group.start_ns) / 2e9, 0.0)
        size = _packet_bytes(group) + scenario.overhead_bytes
        wanted = _packets(group, active_s, rate_bps)
        most = capacity_bps / 8 / size * active_s
        if group.transport[0] == "udp":
            offered += wanted
            waiting += max(wanted - most, 0.0)
        else:
            reacting = max(reacting, min(wanted, most))
            first += min(wanted, _FIRST_PACKETS * _connections(group, active_s, rate_bps))
            waiting += min(wanted, most)
        connections += _connections(group, active_s, rate_bps)
    buffered = _buffered(scenario)
    events = _EVENTS_PER_PACKET * (offered + reacting + first + packets) + seconds * 1e9 / scenario.sample_ns
    samples = scenario.duration_ns / scenario.sample_ns
    columns = _COLUMNS_PER_FLOW * connections if scenario.flow_series and connections <= _SAMPLED_FLOWS else 0.0
    held = min(waiting, buffered) * _BYTES_PER_PACKET + samples * (20 + columns) * _SAMPLE_BYTES
    own = _BYTES_PER_RUN + connections * _BYTES_PER_CONNECTION + len(links) * _BYTES_PER_LINK
    kept = _BYTES_KEPT + samples * (20 + columns) * _SAMPLE_BYTES + connections * _BYTES_KEPT_PER_FLOW
    # With MSER-5 a run may be made twice.
    return Cost(events * (2 if scenario.mser5 else 1), own + held, kept)


def check_runs(runs: int) -> None:
    """Refuse more runs than are made without asking.

    Raises:
        InputError: saying how many there are.

    """
    if runs > MOST_RUNS:
        raise InputError(f"{runs} runs are asked for, and more than {MOST_RUNS} are made only with {_YES}")


def check(costs: Sequence[tuple[int, Cost]], jobs: int) -> None:
    """Refuse what takes too long or too much memory to be run without asking.

    Args:
        costs: numbers of runs, and the cost of each of them.
        jobs: how many run at a time.

    Raises:
        InputError: with the estimate and the limit.

    """
    runs = sum(count for count, _ in costs)
    check_runs(runs)
    events = sum(count * cost.events for count, cost in costs)
    if events > MOST_EVENTS:
        raise InputError(
            f"about {events:.1g} events would be simulated, {_span(events)} on one core, "
            f"and more than {MOST_EVENTS:.1g} are only with {_YES}"
        )
    together = min(jobs, runs)
    needed = max((cost.memory_bytes for _, cost in costs), default=0.0) * together
    needed += sum(count * cost.kept_bytes for count, cost in costs)
    allowed = MEMORY_SHARE * machine.memory_bytes()
    if needed > allowed:
        raise InputError(
            f"about {_size(needed)} of memory would be needed for {together} runs at a time, "
            f"and more than half of the machine's ({_size(allowed)}) is used only with {_YES}"
        )


def _ways(group: Flows) -> int:
    """The pairs of hosts among which flows divide."""
    return min(group.count, len(group.sources) or group.count, len(group.sinks) or group.count)


def _packet_bytes(group: Flows) -> float:
    settings = group.transport[1]
    return float(settings["mss_bytes"] + _HEADERS_BYTES if "mss_bytes" in settings else settings["packet_bytes"])


def _packets(group: Flows, seconds: float, rate_bps: int) -> float:
    """The packets that flows want to send, whether or not they can."""
    form, source = group.source
    size = _packet_bytes(group)
    match form:
        case "bulk":
            each = math.inf if source["size_bytes"] is None else source["size_bytes"] / size
        case "cbr" | "poisson":
            each = source["rate_bps"] / 8 / size * seconds
        case "steps":
            each = _mean(source["rate"]) / 8 / size * seconds
        case "on_off":
            on, off = _mean(source["on"]), _mean(source["off"])
            each = source["rate_bps"] / 8 / size * seconds * (on / (on + off) if on + off else 1.0)
        case "arrivals":
            pieces = max(_mean(source["size"]) / size, 1.0) if source.get("size") else 1.0
            each = seconds / max(_mean(source["gap"]) / 1e9, 1e-9) * pieces * (2 if source.get("both_ways") else 1)
        case "voip":
            each = 2 * _VOICE_PACKETS_PER_S * seconds
        case "workload":
            each = source["load"] * rate_bps / 8 / size * seconds / group.count
        case "video":
            each = 2 * max(source["rates_bps"]) / 8 / size * seconds
        case "rounds":
            objects = _mean(source["objects"]) if source.get("objects") else source.get("connections", 1)
            bytes_ = objects * max(_mean(source["size"]), size)
            each = bytes_ / size * seconds / max(_mean(source["pause"]) / 1e9 + bytes_ * 8 / rate_bps, 1e-6)
        case _:
            # A replay: its packets are counted with the capture.
            each = 0.0
    return float(each * group.count)


def _connections(group: Flows, seconds: float, rate_bps: int) -> float:
    form, source = group.source
    if form == "rounds":
        return float(group.count * source.get("connections", 1) * (2 if source.get("request") else 1))
    if form == "workload":
        return float(source["load"]) * rate_bps / 8 * seconds / max(_mean(source["size"]), 1.0)
    return float(group.count * (2 if form in ("video", "voip") else 1))


def _buffered(scenario: Scenario) -> float:
    """The packets that wait in the queue under test and travel at most."""
    words = scenario.aqm.split()
    limit = words[words.index("limit") + 1] if "limit" in words else "10240p"
    queued = float(limit[:-1]) / (1 if limit.endswith("p") else 64) if limit[:-1].isdigit() else math.inf
    pipe = 0.0
    if isinstance(scenario.capacity, Rate):
        rtt_ns = max([scenario.rtt_ns, *(group.rtt_ns or 0 for group in scenario.flows)])
        pipe = scenario.capacity.rate_bps * rtt_ns / 8e9 / _FULL_PACKET_BYTES
    return queued + 2 * pipe


def _mean(distribution: dict[str, dict[str, Any]]) -> float:
    ((form, values),) = distribution.items()
    match form:
        case "constant":
            return float(values["value"])
        case "uniform":
            return (float(values["low"]) + float(values["high"])) / 2
        case "exponential":
            return float(values["mean"])
        case "pareto":
            shape = float(values["shape"])
            return float(values["scale"]) * (shape / (shape - 1) if shape > 1.1 else 10.0)
        case "weibull":
            return float(values["scale"]) * math.gamma(1 + 1 / max(float(values["shape"]), 0.1))
        case "lognormal":
            return float(values["median"]) * math.exp(min(float(values["sigma"]), 5.0) ** 2 / 2)
        case _:
            points = values["points"]
            pairs = itertools.pairwise(points)
            return float(sum((b[0] + a[0]) / 2 * (b[1] - a[1]) for a, b in pairs) + points[0][0] * points[0][1])


def _span(events: float) -> str:
    hours = events / 6e6 / 3600
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.3g} days"


def _size(count: float) -> str:
    return f"{count / (1 << 30):.3g} GB"
