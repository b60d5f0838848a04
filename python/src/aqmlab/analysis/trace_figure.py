"""The figure of a divergence: sequence numbers of both sides over time, what was lost, and the windows."""

from __future__ import annotations

import polars as pl

from aqmlab.analysis.divergence import Divergence
from aqmlab.analysis.traces import Difference
from aqmlab.plots import Axis, Figure, Panel
from aqmlab.plots.panel import Annotation

# What is shown before and after the divergence, in round-trip times.
BEFORE, AFTER = 2.0, 4.0
NAME = "diff-trace"
FILES = (f"{NAME}.svg", f"{NAME}.csv")


def figure(found: Difference, one: Divergence) -> Figure:
    """Return the figure of a divergence."""
    segment = found.segments[one.flow]
    rtt_ns = next(iter(found.plan.scenarios.values())).settings["rtt_ns"]
    begin, end = one.time_ns - BEFORE * rtt_ns, one.time_ns + AFTER * rtt_ns
    rows = []
    for side in found.sides:
        flow = side.flows[one.flow]
        for event in flow.events:
            if not begin <= event.time_ns <= end:
                continue
            at = {"aqm": side.name, "time_ms": event.time_ns / 1e6, "segment": event.number / segment}
            rows.append(at | {"name": "sequence", "event": "acknowledged" if event.is_ack else "sent"})
            lost = {"dropped": "drops", "marked": "marks"}.get(event.fate)
            if lost:
                rows.append(at | {"name": "fate", "event": lost})
        for state in flow.states:
            if begin <= state.time_ns <= end:
                at = {"aqm": side.name, "time_ms": state.time_ns / 1e6, "name": "window"}
                rows.append(at | {"segment": state.cwnd, "event": "window"})
    columns = {"name": pl.String, "aqm": pl.String, "time_ms": pl.Float64, "segment": pl.Float64, "event": pl.String}
    # What is sent comes first: the second is dashed.
    table = pl.DataFrame(rows, schema=columns).sort("event", descending=True, maintain_order=True)
    names = tuple(side.name for side in found.sides)
    time = Axis("Time since the first data (ms)", max(begin, 0.0) / 1e6, end / 1e6)
    here = (Annotation("first divergence", one.time_ns / 1e6),)
    panels = [
        Panel("line", "time_ms", "segment", time, Axis("Segment"), rows={"name": "sequence"}, labels=names,
              group="event", has_points=True, height=2.0, annotations=here),
        Panel("ticks", "time_ms", "", time, Axis("", ticks={name: float(n) for n, name in enumerate(names)}),
              rows={"name": "fate"}, group="event", height=0.3),
        Panel("step", "time_ms", "segment", time, Axis("Window (segments)", 0.0), rows={"name": "window"},
              labels=names, annotations=here),
    ]  # fmt: skip
    has_fates = "fate" in table["name"]
    return Figure(
        name=NAME,
        title=f"{names[0]} and {names[1]}: the first divergence",
        caption=f"Flow {one.flow}: {one.why}. Upper curves: data as they are sent; lower, dashed: acknowledgments as "
        f"they come back{'; ticks: drops (up) and marks (down)' if has_fates else ''}; below: the window.",
        table=table,
        panels=[panel for panel in panels if has_fates or panel.mark != "ticks"],
        height_in=6.4,
    )
