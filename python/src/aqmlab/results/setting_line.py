"""A scenario in one line: link, buffer, traffic and runs, as a caption above its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from aqmlab.results import directions, groups
from aqmlab.results.ports import FULL_IP_PACKET_BYTES
from aqmlab.vocabulary.units import parse_bytes, parse_rate, parse_span, readable

if TYPE_CHECKING:
    from aqmlab.results.result import Result

# More groups of flows are counted.
MOST_GROUPS = 4
BITS_PER_MBIT = 1e6
# The swept name of named links.
LINK = "link"
NANOS_PER_MS = 1e6
# A recorded link's mean rate while measured is named if it differs by more from that of the whole record.
OTHER_RATE = 0.05


def setting_line(result: Result, point: int = 0) -> str:
    """Return a scenario in one line."""
    scenario = result.scenarios[point]
    parts = [
        ", ".join(part for part in _link(scenario, _measured_mbit(result, point)) if part),
        _traffic(scenario),
        _runs(scenario),
    ]
    return " · ".join(part for part in parts if part)


def sweep_line(result: Result) -> str:
    """Return a sweep in one line: what varies, and between which ends."""
    names = {name: list(dict.fromkeys(point[name] for point in result.points)) for name in result.points[0]}
    varied = [f"{name} {_values(values)}" for name, values in names.items() if name != LINK]
    scenario = result.scenarios[0]
    fixed = []
    for name, write in (("rate", _rate), ("rtt", lambda one: span(one["rtt"]))):
        values = {write(one) if one.get(name) else "" for one in result.scenarios}
        if len(values) == 1 and "" not in values:
            fixed.append(values.pop())
    settings = f"{len(result.points)} settings: {'; '.join(varied)}" if varied else ""
    flows = {(*one["flows"], *one["capture"]) for one in result.scenarios}
    traffic = _traffic(scenario) if len(flows) == 1 else ""
    parts = [settings, _links(result), ", ".join(fixed), traffic]
    return " · ".join(part for part in (*parts, _runs(scenario)) if part)


def _links(result: Result) -> str:
    """Named links, each with the rate and the round-trip time in which it differs from the others."""
    if LINK not in result.points[0]:
        return ""
    known = {point[LINK]: scenario for point, scenario in zip(result.points, result.scenarios, strict=True)}
    varied = [
        write
        for write in (_rate, lambda one: span(one["rtt"]) if one.get("rtt") else "")
        if len({write(one) for one in known.values()}) > 1
    ]
    shown = [(name, ", ".join(filter(None, (write(one) for write in varied)))) for name, one in known.items()]
    return f"{len(known)} links: " + ", ".join(f"{name} ({what})" if what else name for name, what in shown)


def _values(values: Sequence[str]) -> str:
    return ", ".join(values) if len(values) <= MOST_GROUPS else f"{values[0]} to {values[-1]}"


def rate(text: str) -> str:
    """Write a rate with its unit as people do.

    >>> rate("20mbit"), rate("2500mbit")
    ('20 Mbit/s', '2.5 Gbit/s')

    """
    value = parse_rate(text) / BITS_PER_MBIT
    unit, factor, _ = readable("Mbit/s", value)
    return f"{value * factor:.4g} {unit}"


def span(text: str) -> str:
    """Write a time with its unit as people do.

    >>> span("40ms"), span("30s"), span("1500us")
    ('40 ms', '30 s', '1.5 ms')

    """
    value = parse_span(text) / NANOS_PER_MS
    return f"{value / 1e3:.4g} s" if value >= 1e3 else f"{value:.4g} ms"


def _measured_mbit(result: Result, point: int) -> float | None:
    """Return the mean rate of a recorded link while it was measured, which need not be whole periods of it."""
    runs = result.runs.filter(pl.col("point") == point)
    if not {"throughput_mbit", "utilization"} <= set(runs.columns):
        return None
    used = runs.filter(pl.col("utilization") > 0.0).select(pl.col("throughput_mbit") / pl.col("utilization"))
    return float(used.to_series().to_numpy().mean()) if used.height else None


def _link(scenario: Mapping[str, Any], measured_mbit: float | None) -> list[str]:
    topology = str(scenario["topology"])
    return [
        _place(topology, scenario) if topology != "dumbbell" else "",
        _rate(scenario, measured_mbit),
        span(scenario["rtt"]) if scenario.get("rtt") else "",
        _buffer(scenario),
    ]


def _place(topology: str, scenario: Mapping[str, Any]) -> str:
    """A topology, with the port that the answer is about."""
    ports = list(scenario.get("ports") or scenario.get("measure") or ())
    return f"{topology} at {ports[0]}" if len(ports) == 1 else topology


def _rate(scenario: Mapping[str, Any], measured_mbit: float | None = None) -> str:
    if scenario.get("link_trace"):
        mean_mbit = parse_rate(scenario["link_trace_mean_rate"]) / BITS_PER_MBIT
        is_other = measured_mbit is not None and abs(measured_mbit / mean_mbit - 1.0) > OTHER_RATE
        here = f", {measured_mbit:.3g} while measured" if is_other else ""
        return f"trace {Path(scenario['link_trace']).name} (mean {rate(scenario['link_trace_mean_rate'])}{here})"
    shown = rate(scenario["rate"]) if scenario.get("rate") else ""
    # An older folder knows no kinds.
    kind = str(scenario.get("link") or "rate").split()[0]
    return shown if kind == "rate" else f"{kind} {shown}"


def _buffer(scenario: Mapping[str, Any]) -> str:
    """The buffer, with the time that a full one takes to drain where the link has one rate."""
    size = str(scenario["buffer"])
    limits = {str(aqm["params"].get("limit", size)) for aqm in scenario["aqm"] if "params" in aqm}
    if len(limits) > 1:
        return "buffers of each AQM's own"
    size = limits.pop() if limits else size
    packet = FULL_IP_PACKET_BYTES + parse_bytes(scenario["overhead"])
    in_packets = size.endswith("p") and size[:-1].isdigit()
    shown = f"buffer {size[:-1]} packets" if in_packets else f"buffer {size}"
    if not scenario.get("rate"):
        return shown
    try:
        octets = int(size[:-1]) * packet if in_packets else parse_bytes(size)
    except ValueError:
        return shown
    rates = {port: scenario["ports"][port]["rate"] for port in directions.few(scenario)}
    if len(set(rates.values())) > 1:
        return f"{shown} ({', '.join(f'{_drained(octets, one)} {port}' for port, one in rates.items())})"
    return f"{shown} ({_drained(octets, scenario['rate'])})"


def _drained(octets: int, rate_text: str) -> str:
    """Return how long a full buffer takes to drain at a rate.

    >>> _drained(101_438, "20mbit"), _drained(1_500, "10mbit")
    ('41 ms', '1.2 ms')

    """
    ms = octets * 8 / parse_rate(rate_text) * 1e3
    return f"{ms:.0f} ms" if ms >= 10.0 else f"{ms:.2g} ms"


def _traffic(scenario: Mapping[str, Any]) -> str:
    found = [_group(one) for one in scenario.get(groups.KEY, ())] or list(scenario["flows"])
    if len(found) > MOST_GROUPS:
        found = [*found[: MOST_GROUPS - 1], f"{len(found) - MOST_GROUPS + 1} more groups"]
    return ", ".join([*found, *(Path(capture).name for capture in scenario["capture"])])


def _group(group: Mapping[str, Any]) -> str:
    """A group of flows: how many, of which kind, and its name if that is another.

    >>> _group({"count": 8, "kind": "cubic", "name": "cubic"}), _group({"count": 1, "kind": "cbr", "name": "probe"})
    ('8 cubic', '1 cbr (probe)')

    """
    ecn = " with ECN" if group.get("keys", {}).get("ecn") == "classic" else ""
    shown = f"{group['count']} {group['kind']}{ecn}"
    return shown if group["name"] == group["kind"] else f"{shown} ({group['name']})"


def _runs(scenario: Mapping[str, Any]) -> str:
    seeds = len(scenario["seeds"])
    return f"{seeds} seed{'s' if seeds > 1 else ''} of {span(scenario['duration'])}"


__all__ = ["rate", "setting_line", "span", "sweep_line"]
