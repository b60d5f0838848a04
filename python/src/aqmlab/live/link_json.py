"""What a run of a live link has shown, as plain data (JSON) in the form of `compare`, and its notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aqmlab import _native
from aqmlab.live.carrying import Carried
from aqmlab.live.directions import DIRECTIONS
from aqmlab.vocabulary.scopes import of_port

FORMAT_VERSION = 1
# Packets that leave later than this are late for an emulated network: a grain of mahimahi.
MOST_LATE_MS = 1.0
LATENESS = ("p50", "p99", "p999", "max")


def document(carried: Carried) -> dict[str, Any]:
    """Return a run as plain data: its metrics are those of `compare` with two measured ports, ``down`` and ``up``."""
    link, report = carried.link, carried.report
    both = {name: report[name] for name in DIRECTIONS}
    metrics = {**both["down"]["metrics"]}
    metrics |= {
        of_port(name).metric(metric): value for name in DIRECTIONS for metric, value in both[name]["metrics"].items()
    }
    metrics["rtt_base_ms"] = (link.down.delay_ns + link.up.delay_ns) / 1e6
    return {
        "format_version": FORMAT_VERSION,
        "command": "link",
        "aqmlab": _native.version(),
        "scenario": {
            "down": dict(link.down.settings),
            "up": dict(link.up.settings),
            "seed": link.seed,
            "command": list(carried.command),
            "servers": [list(server) for server in carried.servers],
            "tcp": report["tcp"],
            "path": report["path"],
        },
        "warnings": warnings(carried),
        "runs": [
            {
                "aqm": label(carried),
                "seed": link.seed,
                "metrics": metrics,
                "flows": [],
                "engine": "live",
                "cpu_s": report["cpu_s"],
            }
        ],
        "summary": [],
        "link": {
            "status": carried.status,
            "duration_s": report["duration_s"],
            "outside": carried.by or None,
            "real_time": report["real_time"],
            **{name: _port(both[name]) for name in DIRECTIONS},
            **({"replay": carried.replayed} if carried.replayed is not None else {}),
        },
    }


def label(carried: Carried) -> str:
    """The name of what was tried: one discipline, or both."""
    down, up = carried.link.down.label, carried.link.up.label
    return down if down == up else f"{down} down, {up} up"


def _port(port: dict[str, Any]) -> dict[str, Any]:
    counts = {name: port[name] for name in ("missed", "refused", "malformed", "lost", "duplicated")}
    return {**counts, "lateness_ms": lateness_ms(port["lateness_ms"])}


def lateness_ms(late: Sequence[float] | None) -> dict[str, float] | None:
    """Return how late packets left, or timers were, by percentile; nothing if there were none.

    >>> lateness_ms([0.05, 0.06, 0.2, 1.1])
    {'p50': 0.05, 'p99': 0.06, 'p999': 0.2, 'max': 1.1}

    """
    return dict(zip(LATENESS, late, strict=True)) if late else None


def warnings(carried: Carried) -> list[str]:
    """Return what a reader of the result has to know."""
    link, report = carried.link, carried.report
    found = [*dict.fromkeys([*link.down.warnings, *link.up.warnings]), *report["faults"]]
    for name in DIRECTIONS:
        port = report[name]
        late = lateness_ms(port["lateness_ms"])
        if late and late["p99"] > MOST_LATE_MS:
            found.append(
                f"{name}: the machine could not keep time: 1 % of the packets left more than {late['p99']:.1f} ms too "
                f"late, one {late['max']:.1f} ms"
            )
        if port["missed"]:
            found.append(
                f"{name}: the machine did not keep up: {port['missed']} packets came while 4096 others waited to "
                f"be taken, and no discipline saw them"
            )
        if port["refused"]:
            found.append(f"{name}: the kernel had no room for {port['refused']} packets that had passed the link")
        if port["malformed"]:
            found.append(
                f"{name}: {port['malformed']} frames were no Ethernet frames of up to 1500 bytes, and were left out"
            )
    if carried.replayed and carried.replayed["parts_at"]:
        rows = ", ".join(f"{name} at row {row}" for name, row in carried.replayed["parts_at"].items())
        found.append(f"replaying the log gave other decisions: {rows}")
    return found


__all__ = ["document", "label", "lateness_ms", "warnings"]
