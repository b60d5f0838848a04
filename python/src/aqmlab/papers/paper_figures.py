"""A paper's figures, drawn from results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from aqmlab import plots
from aqmlab.papers import curves
from aqmlab.papers.figure_specs import Drawing, Panel
from aqmlab.papers.paper_values import Printed, printed
from aqmlab.papers.reproduction import Reproduction
from aqmlab.plots import Axis, Figure, ticks
from aqmlab.results import Result

BEYOND_PAPER = "beyond the paper"
HEIGHT_IN = 3.9
AXES = {"time": "Time (s)", "seeds": "Experiment (seed)"}


def draw_all(reproduction: Reproduction) -> dict[str, list[Figure]]:
    """Return the figures of every preset; one that shows the same numbers under several is there once, and says so."""
    drawn: dict[str, list[Figure]] = {}
    for preset in reproduction.presets:
        drawn[preset] = []
        for figure in draw(reproduction, preset):
            for figures in drawn.values():
                same = next((at for at, one in enumerate(figures) if _is_same(one, figure)), None)
                if same is not None:
                    if figures[same].name != figure.name:
                        figures[same] = replace(figures[same], caption=f"{figures[same].caption}; the same: {preset}")
                    break
            else:
                drawn[preset].append(figure)
    return drawn


def _is_same(one: Figure, other: Figure) -> bool:
    return one.title == other.title and one.table.equals(other.table)


def draw(reproduction: Reproduction, preset: str) -> list[Figure]:
    """Return the figures of a preset; those of scenarios that were not run or not requested are left out."""
    figures = []
    for drawing in reproduction.paper.drawings:
        results = [reproduction.result(preset, panel.scenario) for panel in drawing.panels]
        present = [one for one, panel in zip(results, drawing.panels, strict=True) if one or not panel.scenario]
        if len(present) == len(results) and (reproduction.has_beyond or not drawing.is_beyond):
            figures.append(_figure(reproduction, preset, drawing, present))
    return figures


def _figure(reproduction: Reproduction, preset: str, drawing: Drawing, results: Sequence[Result | None]) -> Figure:
    parts = [curves.table(panel, result) for panel, result in zip(drawing.panels, results, strict=True)]
    table = pl.concat(parts)
    aqms = [curves.aqms(panel, result) for panel, result in zip(drawing.panels, results, strict=True)]
    claims = {claim.id: claim for claim in reproduction.paper.claims}
    shown = zip(drawing.panels, aqms, strict=True)
    numbers = [printed(panel, claims.get(panel.numbers), names) for panel, names in shown]
    shared = all(
        (panel.study.is_beyond if panel.study else panel.scenario in reproduction.beyond) for panel in drawing.panels
    )
    says = f"{drawing.says} " if drawing.says else ""
    return Figure(
        name=drawing.name if shared else f"{drawing.name}-{preset}",
        title=drawing.title,
        caption=f"{says}{BEYOND_PAPER if shared else preset}; {_origin(drawing, results, numbers)}",
        table=table,
        panels=[
            _panel(panel, part, names, given)
            for panel, part, names, given in zip(drawing.panels, parts, aqms, numbers, strict=True)
        ],
        height_in=HEIGHT_IN,
        columns=len(drawing.panels),
    )


def _panel(panel: Panel, rows: pl.DataFrame, aqms: Sequence[str], numbers: Printed) -> plots.Panel:
    """Return the panel that shows a panel's rows."""
    across = partial(Axis, panel.across or (panel.study.across if panel.study else AXES.get(panel.kind, "")))
    common = partial(
        plots.Panel,
        y="mean",
        y_axis=Axis(panel.label, None if panel.logarithmic else panel.bottom, panel.top or None, panel.logarithmic),
        title=panel.title,
        rows={"panel": panel.title},
        labels=tuple(aqms),
        group="group",
        numbers=numbers.lines,
        references=numbers.marks,
    )
    if panel.kind == "time":
        return common("line", "x", x_axis=across(), interval="band")
    if panel.study and panel.study.is_numeric:
        return common("line", "x", x_axis=across())
    if panel.kind == "seeds":
        return common("line", "x", x_axis=across(), has_points=True)
    if panel.kind == "bars":
        return common("bars", "aqm", x_axis=across(ticks={aqm: place for place, aqm in enumerate(aqms)}))
    if panel.kind == "periods":
        ends = rows["x"].unique().sort().to_list()
        references = {
            aqm: [(float(ends.index(end)), value) for end, value in marks if end in ends]
            for aqm, marks in numbers.marks.items()
        }
        names = {f"{end - panel.period_s:g} to {end:g}": float(place) for place, end in enumerate(ends)}
        groups = rows["group"].unique(maintain_order=True).to_list()
        stacked = f"; strong: {groups[0]}, pale: {groups[1]}" if len(groups) == 2 else ""
        return replace(common("stacks", "x", x_axis=Axis(f"Time (s){stacked}", ticks=names)), references=references)
    if panel.kind == "groups":
        named = rows["at"].unique(maintain_order=True).to_list()
        return common("beside", "at", x_axis=across(ticks={at: float(place) for place, at in enumerate(named)}))
    return common("line", "at", x_axis=across(ticks=ticks.of(rows["at"])), interval="band", has_points=True)


def _origin(drawing: Drawing, results: Sequence[Result | None], numbers: Sequence[Printed]) -> str:
    if drawing.is_measured:
        timed = any(panel.study and panel.study.is_timed for panel in drawing.panels)
        return "measured without a simulation" + ("; times on this machine" if timed else "")
    seeds = sorted({len(result.seeds) for result in results if result})
    count = " to ".join(dict.fromkeys((str(seeds[0]), str(seeds[-1]))))
    alone = {panel.seed for panel in drawing.panels}
    if None not in alone:
        return f"one run, seed {', '.join(map(str, alone))}"
    if seeds == [1]:
        return "one run"
    forms = {"dashed": any(one.lines for one in numbers), "hollow": any(one.marks for one in numbers)}
    note = f"; {' or '.join(form for form, there in forms.items() if there)}: the paper's numbers"
    return f"mean over {count} seeds, 95 % interval{note if any(forms.values()) else ''}"
