"""The figure of a diagnosis: the queue and the rate over time, with a tick for each loss."""

from __future__ import annotations

import numpy as np
import polars as pl

from aqmlab.diagnosis.direction import Direction
from aqmlab.plots import Axis, Figure, Panel

# More points are no finer on a page.
POINTS = 300
LEAST_WINDOWS = 3
HEIGHT_IN = 3.4


def figure(direction: Direction) -> Figure | None:
    """Return the figure of one direction; None if nothing is known of its queue."""
    delay, load = direction.delay, direction.load
    if delay is None or len(delay.at) < POINTS // 10:
        return None
    end = len(load.carried) * load.window_ns
    # Of whole windows, so that none falls into two.
    step = max(-(-end // (POINTS * load.window_ns)), LEAST_WINDOWS) * load.window_ns
    edges = (delay.answered // step).astype(np.int64)
    count = end // step + 1
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, np.minimum(edges, count - 1), delay.queue_ms)
    windows = (np.arange(len(load.carried)) * load.window_ns) // step
    carried = np.bincount(windows, weights=load.carried, minlength=count)[:count] * 8e3 / step
    time = (np.arange(count) + 0.5) * step / 1e9
    seen = np.isfinite(highest)
    parts = [
        pl.DataFrame({"name": "queue", "time_s": time[seen], "value": highest[seen]}),
        pl.DataFrame({"name": "rate", "time_s": time, "value": carried}),
    ]
    label = f"{direction.name}link"
    table = pl.concat(parts).select(pl.lit(label).alias("direction"), pl.all())
    across = Axis("Time (s)")
    panels = [
        Panel("line", "time_s", "value", across, Axis(title, 0.0), rows={"name": name}, by="direction", labels=(label,))
        for name, title in (("queue", "Queue (ms)"), ("rate", "Rate (Mbit/s)"))
    ]
    caption = f"The longest queue of every {step / 1e6:.0f} ms, by round trips, and what was carried, in IP packets"
    return Figure(f"diagnosis-{direction.name}", f"Queue and rate, {direction.name}", caption, table, panels, HEIGHT_IN)


__all__ = ["figure"]
