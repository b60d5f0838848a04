"""Results as curves: an AQM in one scenario of a result is a line, or a cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from aqmlab.plots.panel import Panel
from aqmlab.results import groups, setting_line

if TYPE_CHECKING:
    from aqmlab.results import Result


# What named links may differ in, as a caption says it.
LINK_WORDS = {"rate": "rate", "rtt": "base RTT", "buffer": "buffer"}


@dataclass(frozen=True)
class Curve:
    """A line or cloud: an AQM in one scenario of one result; the facet names the panel that shows it."""

    label: str
    aqm: str
    point: int
    result: Result
    facet: str = ""

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a frame that belong to it."""
        return frame.filter((pl.col("point") == self.point) & (pl.col("aqm") == self.aqm))

    @property
    def place(self) -> str:
        """The swept values of this scenario; the facet if nothing is swept."""
        return ", ".join(self.result.points[self.point].values()) or self.facet

    @property
    def count(self) -> int:
        """How many finished runs it has."""
        return self.result.run_counts.get((self.point, self.aqm), 0)

    @property
    def runs(self) -> pl.DataFrame:
        """The finished runs."""
        return self.of(self.result.runs)


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure of results.

    Attributes:
        column: column that it shows unless another is given.
        note: meaning of its marks, for the caption.
        table: returns the table of curves and a column.
        panels: returns the panels of a table, labels in order, a column and the warm-up in seconds.
        across: whether one figure spans all scenarios of a sweep.
        height_in: height of a panel.
        of_flows: whether only results with flows of a size have it.
        columns: returns how many panels of a table are side by side.
        is_occasional: whether many results have nothing to show in it.
        in_report: whether every result has it; `aqmlab plot` draws the others.

    """

    name: str
    title: str
    column: str
    note: str
    table: Callable[[Sequence[Curve], str], pl.DataFrame]
    panels: Callable[[pl.DataFrame, Sequence[str], str, float], Sequence[Panel]]
    across: bool = False
    height_in: float = 4.2
    of_flows: bool = False
    columns: Callable[[pl.DataFrame], int] = lambda table: 1
    in_report: bool = True
    is_occasional: bool = False


def caption(curves: Sequence[Curve]) -> str:
    """Return scenario, number of seeds and warm-up of the runs."""
    first = curves[0]
    own = list({id(curve.result): curve for curve in curves}.values())
    swept = {"rate": "swept rate", "rtt": "swept", "buffer": "swept", "duration": "swept duration"}
    if len({curve.point for curve in curves}) == 1:
        swept = {}

    of_links = [name for name in LINK_WORDS if len(curves) > 1 and _varies_by_link(name, first.result)]

    def setting(name: str) -> str:
        if name in of_links:
            return ""
        if name in swept and name in first.result.points[0]:
            return swept[name]
        return " or ".join(dict.fromkeys(_setting(name, curve.result.scenarios[curve.point]) for curve in own))

    traffic = " or ".join(dict.fromkeys(_traffic(curve.result.scenarios[curve.point]) for curve in own))
    counts = sorted({curve.count for curve in curves})
    seeds = " to ".join(dict.fromkeys((str(counts[0]), str(counts[-1]))))
    warmup = " or ".join(dict.fromkeys(_warmup(curve) for curve in own))
    link = [f"{setting('rate')}{setting('topology')}", setting("rtt") and f"{setting('rtt')} base RTT"]
    link.append(setting("buffer") and f"buffer {setting('buffer')}")
    if of_links:
        *others, last = [LINK_WORDS[name] for name in of_links]
        link.insert(0, f"{', '.join(others)} and {last} of each link" if others else f"{last} of each link")
    rest = [
        traffic,
        setting("duration"),
        f"the first {warmup} not measured",
        f"{seeds} seed{'' if seeds == '1' else 's'}",
    ]
    parts = [", ".join(filter(None, [*link, *rest]))]
    if len(own) > 1:
        parts.append(f"{len(own)} results")
    if any(curve.result.is_partial for curve in curves):
        parts.append("PARTIAL RESULT")
    return "; ".join(parts)


def _varies_by_link(name: str, result: Result) -> bool:
    """Whether the named links of a result differ in this."""
    return "link" in result.points[0] and len({_setting(name, one) for one in result.scenarios}) > 1


def _setting(name: str, scenario: Mapping[str, Any]) -> str:
    if name == "rate":
        text = str(scenario["rate"] or "")
        # That of a mode of Wi-Fi has nine digits.
        if text.removesuffix("bit").isdigit():
            return setting_line.rate(text)
        return text or f"recorded link of {scenario['link_trace_mean_rate']} mean"
    if name == "topology":
        topology = scenario.get("topology", "dumbbell")
        return "" if topology == "dumbbell" else f" in {topology}"
    return str(scenario[name])


def _traffic(scenario: Mapping[str, Any]) -> str:
    named = [_group(one) for one in scenario.get(groups.KEY, ())]
    found = scenario.get("traffic") or named or groups.heads(scenario)
    return " + ".join([*found, *(path.rsplit("/", 1)[-1] for path in scenario["capture"])])


def _group(one: Mapping[str, Any]) -> str:
    """Return how many flows of which kind a group has, with what sets it apart: ECN, and a name of its own."""
    ecn = " with ECN" if one["keys"].get("ecn") == "classic" else ""
    name = f" ({one['name']})" if one["name"] != one["kind"] else ""
    return f"{one['count']}*{one['kind']}{ecn}{name}"


def _warmup(curve: Curve) -> str:
    shortest, longest = curve.result.warmups_s(curve.point)
    if shortest == longest:
        return str(curve.result.scenarios[curve.point]["warmup"].rpartition(" ")[2])
    return f"{shortest:g} to {longest:g} s"
