"""The page of a suite: one HTML file, and its figures with their numbers beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aqmlab import plots
from aqmlab.files import disk
from aqmlab.plots import Figure
from aqmlab.plots.label_styles import label_styles
from aqmlab.report import inline
from aqmlab.report.templates import rendered
from aqmlab.scenario import registry
from aqmlab.suites import scenario_table
from aqmlab.suites.cards import cards
from aqmlab.suites.engines import headline
from aqmlab.suites.matrix import LEGEND, matrix, reference, sentences
from aqmlab.suites.overview import overview
from aqmlab.suites.run import Outcome, Part
from aqmlab.vocabulary.errors import InputError

PAGE = "index.html"
SUITE = "suite.html"


def write(outcome: Outcome, folder: Path) -> Path:
    """Write the page, and the figures as SVG and CSV; return the page."""
    drawn = {part.entry.name: figures(part) for part in outcome.parts}
    contents = {
        f"{name}-{file}": content for name, some in drawn.items() for file, content in plots.contents(some).items()
    }
    disk.put_all(folder / "figures", contents)
    [page] = disk.put_all(folder, {PAGE: render(outcome, drawn).encode()})
    return page


def render(outcome: Outcome, drawn: dict[str, list[Figure]]) -> str:
    """Return the page."""
    return rendered(
        __file__,
        SUITE,
        outcome=outcome,
        suite=outcome.suite,
        headline=headline(outcome),
        overview=overview(outcome),
        legend=LEGEND,
        matrix=matrix(outcome),
        sentences=sentences(outcome),
        first=reference(outcome),
        styles=label_styles(list(outcome.contestants)),
        sections=[_section(part, drawn[part.entry.name]) for part in outcome.parts],
        disciplines=[] if outcome.controls else [_facts(text) for text in outcome.aqms],
        cards=cards(outcome),
        warnings=list(dict.fromkeys(one for part in outcome.parts for one in part.shown.warnings)),
    )


def figures(part: Part) -> list[Figure]:
    """Return the figures of a scenario; of a sweep those over it, or else those of its first and last point."""
    swept = len(part.shown.points) > 1
    found: list[Figure] = []
    for kind in part.entry.figures:
        try:
            drawn = plots.figures(kind, [part.shown])
        except InputError:
            continue
        found += [drawn[0], drawn[-1]] if swept and len(drawn) > 1 else drawn
    return [figure for figure in found if not figure.table.is_empty()]


def _section(part: Part, drawn: list[Figure]) -> dict[str, Any]:
    scenario = part.shown.scenarios[0]
    return {
        "entry": part.entry,
        "tables": [one for one in (scenario_table.table(part), scenario_table.phases(part)) if one],
        "styles": label_styles(part.shown.aqms),
        "figures": [(figure, inline(figure.bare_svg, f"{part.entry.title}: {figure.title}")) for figure in drawn],
        "swept": len(part.shown.points) > 1,
        "seeds": len(part.shown.seeds),
        "flows": scenario.get("traffic") or scenario["flows"],
        "scenario": scenario,
        "discipline": scenario.get("discipline", ""),
    }


def _facts(text: str) -> dict[str, Any]:
    """What RFC 7928 sections 4.5, 4.6, 11 and 12 ask to be stated."""
    spec = registry.Spec.parse(text)
    discipline = registry.find(spec.name)
    traits = discipline.traits
    return {
        "name": text,
        "preset": spec.preset,
        "reference": discipline.reference,
        "ecn": "can mark" if traits["ecn"] else "never marks",
        "drops": "arriving packets, and packets that wait" if traits["drops_queued"] else "arriving packets",
        "state": f"{traits['flow_state_bytes']} bytes for each flow" if traits["flow_state_bytes"] else "none per flow",
        "timer": "yes" if traits["wakes"] else "no",
        "parameters": ", ".join(param.name for param in discipline.params),
    }
