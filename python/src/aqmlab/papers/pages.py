"""The report of a reproduction: a page per paper, and a front page with every claim's verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from aqmlab import plots
from aqmlab.files import disk
from aqmlab.papers import (
    cards,
    glossary,
    main_claim,
    paper_figures,
    provenance,
    scenario_tables,
    search_page,
    searching,
    summary,
    workspace,
)
from aqmlab.papers.claim_tables import Cell, cell, claim_tables, counts, live_tables, mechanism_tables
from aqmlab.papers.findings import MEANINGS, Word
from aqmlab.papers.paper import BEYOND, Paper
from aqmlab.papers.reproduction import Reproduction
from aqmlab.papers.search_page import FIGURES
from aqmlab.papers.verdicts import Verdict, by_chance
from aqmlab.report.templates import rendered

if TYPE_CHECKING:
    from markupsafe import Markup

    from aqmlab.papers.scenario_tables import ScenarioTable
    from aqmlab.plots import Figure

FRONT = "index.html"
# A figure of all presets: preset, figure, drawing.
Same: TypeAlias = "list[tuple[str, Figure, Markup]]"
# Numbers of figures in the place of a claim, as in "Figures 1 and 3, section 2".
_NUMBERED = re.compile(r"Figures? ([\d, and]+)")
CLASSES: Mapping[str, str] = {
    Word.REPRODUCED: "good",
    Word.OTHER_SIZE: "half",
    Word.NO_SIZE: "half",
    Word.UNTESTED: "half",
    Word.FAILS: "bad part",
    Word.REVERSED: "bad part",
    Word.INCONCLUSIVE: "open",
    Word.NOT_REPRODUCED: "bad",
    Word.NOT_TESTABLE: "open",
    # Of a single part: it holds with another size.
    Verdict.IN_PART: "half",
}


def write(
    reproductions: Sequence[Reproduction], folder: Path, *, for_papers: bool = False, single_file: bool = False
) -> Path:
    """Write the page and the figures of the last of some reproductions, and the front page of all; return that."""
    write_page(reproductions[-1], folder, for_papers=for_papers, single_file=single_file)
    workspace.write(folder, [claim for reproduction in reproductions for claim in reproduction.claims])
    [front] = disk.put_all(folder, {FRONT: render_front(reproductions).encode()})
    return front


def write_page(
    reproduction: Reproduction, folder: Path, *, for_papers: bool = False, single_file: bool = False
) -> Path:
    """Write the page of a paper and its figures; if asked for, also as PDF for a column of a paper, or in the page."""
    drawn = paper_figures.draw_all(reproduction)
    for figures in drawn.values():
        printed = plots.contents(figures, "pdf", plots.PAPER) if for_papers else {}
        disk.put_all(folder / reproduction.paper.name / FIGURES, {**plots.contents(figures), **printed})
    search = reproduction.search
    section = search_page.write(search, folder / reproduction.paper.name, single_file=single_file) if search else None
    text = render_page(reproduction, drawn, section, single_file=single_file)
    [page] = disk.put_all(folder, {f"{reproduction.paper.name}.html": text.encode()})
    return page


def render_page(
    reproduction: Reproduction,
    drawn: dict[str, list[Figure]],
    search: search_page.Section | None = None,
    *,
    single_file: bool = False,
) -> str:
    """Return the page of a paper; the figures of all presets are side by side."""
    paper, space = reproduction.paper, reproduction.space
    shown: dict[str, Same] = {}
    for preset, figures in drawn.items():
        for figure in figures:
            drawing = search_page.placed(figure, paper.name, single_file=single_file)
            shown.setdefault(figure.title, []).append((preset, figure, drawing))
    of_claims = _of_claims(paper, shown)
    lines = summary.of_reproduction(reproduction)
    main = main_claim.of(lines)
    placed = {title for found in of_claims.values() for title, _ in found}
    return rendered(
        __file__,
        "paper.html",
        reproduction=reproduction,
        paper=paper,
        lines=lines,
        main=main_claim.sentence(main, paper, "") if main else "",
        heads=summary.heads(paper, reproduction.presets),
        key=summary.KEY,
        names=glossary.of_table(paper, lines),
        meanings=MEANINGS,
        opening=cards.opening(space, paper.ours),
        limits=" ".join(text for text in (cards.alone(reproduction), cards.limits(reproduction)) if text),
        cards=cards.cards(claim_tables(reproduction), reproduction),
        mechanisms=cards.cards(mechanism_tables(reproduction), reproduction),
        live=cards.cards(live_tables(reproduction), reproduction),
        counts={preset: counts(found) for preset, found in reproduction.counted.items()},
        chance=by_chance(next(iter(reproduction.counted.values()))),
        classes=CLASSES,
        beside=of_claims,
        figures={title: same for title, same in shown.items() if title not in placed},
        narrow={one.title for one in paper.drawings if len(one.panels) == 1},
        scenario_tables=_scenario_tables(reproduction),
        search=search,
        factors=space.search.factors if space else (),
        made=searching.made(paper),
        settings=_settings(reproduction),
        provenance=provenance.sentence(paper),
    )


def render_front(reproductions: Sequence[Reproduction]) -> str:
    """Return the front page."""
    overviews = [cards.overview(one) for one in reproductions]
    found = [counted for one in overviews for counted in one.counts.values()]
    return rendered(
        __file__,
        "front.html",
        papers=overviews,
        has_spaces=any(one.mostly for one in overviews),
        classes=CLASSES,
        verdicts=[word for word in Word if any(counted[word] for counted in found)],
    )


def _of_claims(paper: Paper, shown: Mapping[str, Same]) -> dict[str, list[tuple[str, Same]]]:
    """Return the figures of each claim: those that show its numbers or have the number of the paper's; each once."""
    found: dict[str, list[tuple[str, Same]]] = {}
    placed: set[str] = set()
    for claim in paper.claims:
        named = {f"Figure {number}" for number in re.findall(r"\d+", " ".join(_NUMBERED.findall(claim.where)))}
        titles = [
            drawing.title
            for drawing in paper.drawings
            if drawing.title in shown
            and drawing.title not in placed
            and (drawing.title.partition(":")[0] in named or any(panel.numbers == claim.id for panel in drawing.panels))
        ]
        placed |= {*titles}
        found[claim.id] = [(title, shown[title]) for title in titles]
    return found


def _scenario_tables(reproduction: Reproduction) -> list[tuple[str, ScenarioTable, list[tuple[str, list[Cell]]]]]:
    """Return the tables, filled: preset, its description, a line per AQM."""
    found = []
    for table in reproduction.paper.scenario_tables:
        if table.is_measured and not reproduction.has_beyond:
            continue
        # What goes beyond the paper is the same for every preset.
        beyond = reproduction.beyond.get(table.scenario)
        for preset in reproduction.presets if beyond is None else [BEYOND]:
            result = beyond or reproduction.result(preset, table.scenario)
            if result is None:
                continue
            lines = []
            for row in scenario_tables.fill(table, result).iter_rows(named=True):
                cells = [cell(row[column.label], row.get(f"{column.label} ±")) for column in table.columns]
                lines.append((row["aqm"], cells))
            found.append((preset, table, lines))
    return found


def _settings(reproduction: Reproduction) -> dict[str, list[tuple[str, str]]]:
    """Return every setting of every scenario, and the AQMs as they ran."""
    from aqmlab.results.settings import aqms, settings

    found = {}
    for preset, results in [*reproduction.results.items(), ("beyond", reproduction.beyond)]:
        for name, result in results.items():
            every = [*settings(result), *aqms(result)]
            found[f"{preset}, {name}"] = [
                (one.name, f"{one.value} ({one.note})" if one.note else one.value) for one in every
            ]
    return found
