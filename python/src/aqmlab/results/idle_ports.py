"""Warnings about a measured port that carries next to nothing while another one is busy: its queue answers nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from aqmlab.results.frames import Frames

# A port of which less than a tenth is used has no queue to speak of, and one with ten times as many bytes may have.
IDLE = 0.1
TIMES = 10
CARRIED = "departed_bytes"
SIGNALS = ("dropped_early_packets", "dropped_overflow_packets", "marked_packets")


def warnings(manifest: Mapping[str, Any], frames: Frames) -> list[str]:
    """Return a line for each measured port that is idle in all runs of a scenario, with the port to name instead."""
    found = [_words(point, entry["scenario"], frames) for point, entry in enumerate(manifest["points"])]
    return list(dict.fromkeys(text for text in found if text))


def _words(point: int, scenario: Mapping[str, Any], frames: Frames) -> str:
    ports = scenario.get("ports") or {}
    # Who names a port wants to see that one.
    if len(ports) != 1 or scenario["measure"] or CARRIED not in frames.queues.columns:
        return ""
    ((port, about),) = ports.items()
    runs = frames.runs.filter(pl.col("point") == point)
    used = runs["utilization"].max() if runs.schema.get("utilization") == pl.Float64 else None
    queues = frames.queues.filter(pl.col("point") == point)
    carried = dict(queues.group_by("link").agg(pl.col(CARRIED).sum()).sort("link").iter_rows())
    # Of ports in a row the one that drops or marks is the bottleneck.
    signals = dict(queues.group_by("link").agg(pl.sum_horizontal(pl.col(SIGNALS).sum())).iter_rows())
    busiest = max(carried, key=lambda link: (signals[link], carried[link]), default=port)
    own = carried.get(about["link"], 0)
    if not isinstance(used, float) or used >= IDLE or carried.get(busiest, 0) <= TIMES * own:
        return ""
    more = f"{carried[busiest] / own:.0f} times as much" if own else "traffic"
    return (
        f"queue delay and loss are of port {port}, which is {100.0 * used:.1g} % busy at most; "
        f"{busiest} carries {more}: --measure '{busiest}'"
    )


__all__ = ["warnings"]
