"""A paper's figures, drawn from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aqmlab.papers import curves, painting
from aqmlab.papers.figures import MEASURED, Drawing, Panel
from aqmlab.papers.reproduction import Reproduction
from aqmlab.plots.model import Figure
from aqmlab.results import Result

BEYOND_PAPER = "beyond the paper"


def draw(reproduction: Reproduction, preset: str) -> list[Figure]:
    """Return the figures of a preset; what was not run or is not asked for is left out."""
    figures = []
    for drawing in reproduction.paper.drawings:
        results = [reproduction.result(preset, panel.scenario) for panel in drawing.panels]
        present = [one for one, panel in zip(results, drawing.panels, strict=True) if one or not panel.scenario]
        if len(present) == len(results) and (reproduction.has_beyond or not drawing.is_measured):
            figures.append(_figure(reproduction, preset, drawing, present))
    return figures


def _figure(reproduction: Reproduction, preset: str, drawing: Drawing, results: Sequence[Result | None]) -> Figure:
    parts = [curves.table(panel, result) for panel, result in zip(drawing.panels, results, strict=True)]
    table = pl.concat(parts)
    numbers = [_numbers(reproduction, panel) for panel in drawing.panels]
    aqms = [curves.aqms(panel, result) for panel, result in zip(drawing.panels, results, strict=True)]
    shared = all(panel.kind in MEASURED or panel.scenario in reproduction.beyond for panel in drawing.panels)
    says = f"{drawing.says} " if drawing.says else ""
    return Figure(
        name=drawing.name if shared else f"{drawing.name}-{preset}",
        title=drawing.title,
        caption=f"{says}{BEYOND_PAPER if shared else preset}; {_origin(drawing, results, numbers)}",
        table=table,
        painter=lambda table: painting.paint(table, drawing.panels, aqms, numbers),
    )


def _origin(drawing: Drawing, results: Sequence[Result | None], numbers: Sequence[dict[str, float]]) -> str:
    if drawing.is_measured:
        return "measured without a simulation; times are this machine's"
    seeds = sorted({len(result.seeds) for result in results if result})
    count = " to ".join(dict.fromkeys((str(seeds[0]), str(seeds[-1]))))
    alone = {panel.seed for panel in drawing.panels}
    if None not in alone:
        return f"one run, seed {', '.join(map(str, alone))}"
    if seeds == [1]:
        return "one run"
    note = "; dashed: the paper's number" if any(numbers) else ""
    return f"mean over {count} seeds, 95 % interval{note}"


def _numbers(reproduction: Reproduction, panel: Panel) -> dict[str, float]:
    claim = next((one for one in reproduction.paper.claims if one.id == panel.numbers), None)
    return {} if claim is None else claim.paper
