"""A difference of traces as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aqmlab import __version__
from aqmlab.analysis import traces
from aqmlab.analysis.divergence import Divergence
from aqmlab.analysis.traces import Difference
from aqmlab.results import groups


def document(found: Difference) -> dict[str, Any]:
    """Return it as JSON data: of every flow that parts, what was around it, and windows and timers of both sides."""
    return {
        "format_version": 1,
        "command": "diff-trace",
        "aqmlab": __version__,
        "scenario": groups.without(found.plan.echo),
        "tolerance_ms": found.tolerance_ns / 1e6,
        "flows": len(found.segments),
        "sides": [{"name": side.name, "engine": side.engine} for side in found.sides],
        "summary": traces.words(found),
        "divergences": [_divergence(found, one) for one in found.divergences],
    }


def _divergence(found: Difference, one: Divergence) -> dict[str, Any]:
    sides = []
    for which, side in enumerate(found.sides):
        state = side.flows[one.flow].before(one.time_ns)
        events = [
            {"event": event.words(found.segments[one.flow]), **asdict(event)} for event in side.around(one, which)
        ]
        sides.append({"name": side.name, "state": state and asdict(state), "events": events})
    return {"flow": one.flow, "time_ms": one.time_ns / 1e6, "why": one.why, "sides": sides}
