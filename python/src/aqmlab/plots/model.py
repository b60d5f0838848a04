"""What a figure is made of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from aqmlab.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from aqmlab.results import Result


@dataclass(frozen=True)
class Curve:
    """What is drawn as one line or cloud: an AQM of one scenario of one result."""

    label: str
    aqm: str
    point: int
    result: Result

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a frame that belong here."""
        return frame.filter((pl.col("point") == self.point) & (pl.col("aqm") == self.aqm))

    @property
    def place(self) -> str:
        """What the sweep says about this scenario; `-` if nothing is swept."""
        return ", ".join(self.result.points[self.point].values()) or "-"

    @property
    def runs(self) -> pl.DataFrame:
        """The finished runs."""
        return self.of(self.result.runs)


@dataclass(frozen=True)
class Kind:
    """A kind of figure: the column that it shows unless told otherwise, how its table is made, how it is drawn.

    ``draw`` gets the table, the labels in order, the column and the length of the warm-up in seconds.
    """

    name: str
    title: str
    column: str
    note: str
    table: Callable[[Sequence[Curve], str], pl.DataFrame]
    draw: Callable[[pl.DataFrame, Sequence[str], str, float], Canvas]
    # Whether one figure spans all scenarios of a sweep.
    across: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure: its file name, title, caption and table, and what draws it from the table."""

    name: str
    title: str
    caption: str
    table: pl.DataFrame
    painter: Callable[[pl.DataFrame], Canvas]

    def draw(self) -> Canvas:
        """Return the figure with its caption under it."""
        canvas = self.painter(self.table)
        style.caption(canvas, self.caption)
        return canvas

    @functools.cached_property
    def svg(self) -> str:
        """The figure with its caption as SVG."""
        return style.svg(self.draw(), self.name)

    @functools.cached_property
    def bare_svg(self) -> str:
        """The figure alone as SVG, for a page that sets the caption itself."""
        return style.svg(self.painter(self.table), self.name)


def caption(curves: Sequence[Curve]) -> str:
    """Return scenario, number of seeds and warm-up, from what was run."""
    first = curves[0]
    scenario = dict(first.result.scenarios[first.point])
    if len({curve.point for curve in curves}) > 1:
        swept = {"rate": "swept rate", "rtt": "swept", "buffer": "swept", "duration": "swept duration"}
        scenario.update({key: text for key, text in swept.items() if key in first.result.points[0]})
    link = scenario["rate"] or f"recorded link of {scenario['link_trace_mean_rate']} mean"
    topology = scenario.get("topology", "dumbbell")
    graph = "" if topology == "dumbbell" else f" in {topology}"
    traffic = [flow.split(":")[0] for flow in scenario["flows"]]
    traffic += [path.rsplit("/", 1)[-1] for path in scenario["capture"]]
    counts = sorted({len(curve.runs) for curve in curves})
    seeds = " to ".join(dict.fromkeys((str(counts[0]), str(counts[-1]))))
    parts = [
        f"{link}{graph}, {scenario['rtt']} base RTT, buffer {scenario['buffer']}, {' + '.join(traffic)}, "
        f"{scenario['duration']} of which the first {scenario['warmup']} are cut, "
        f"{seeds} seed{'' if seeds == '1' else 's'}"
    ]
    results = len({id(curve.result) for curve in curves})
    if results > 1:
        parts.append(f"the first of {results} results")
    if any(curve.result.is_partial for curve in curves):
        parts.append("PARTIAL RESULT")
    return "; ".join(parts)
