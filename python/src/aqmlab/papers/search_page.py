"""A search as a section of its paper's page, and its files beside the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from aqmlab import plots
from aqmlab.files import disk
from aqmlab.papers.searching import FOLDER
from aqmlab.plots import Figure
from aqmlab.search import frames, search_figures
from aqmlab.search.outcome import Outcome
from aqmlab.search.plan import Factor
from aqmlab.search.settings_table import Closest, closest, conclusion

SETTINGS = "search.csv"
# The folder of a paper's figures.
FIGURES = "figures"


@dataclass(frozen=True)
class Section:
    """The contents of a search's section."""

    conclusion: Sequence[str]
    closest: Closest
    figures: Sequence[tuple[Figure, Markup]]
    factors: Sequence[Factor]


def placed(figure: Figure, paper: str, *, single_file: bool) -> Markup:
    """Return a figure as a paper's page has it: from its file beside the page, or within.

    Figures are most of the bytes; from files a browser reads them when they come into sight.
    """
    from aqmlab.report import beside, inline

    if single_file:
        return inline(figure.bare_svg, figure.title)
    return beside(figure.bare_svg, f"{paper}/{FIGURES}/{figure.name}.svg", figure.title)


def write(outcome: Outcome, folder: Path, *, single_file: bool = False) -> Section:
    """Write all settings and figures into the folder of a paper; return the section for its page."""
    disk.put_all(folder / FOLDER, {SETTINGS: frames.settings(outcome).write_csv().encode()})
    figures = search_figures.draw(outcome)
    disk.put_all(folder / FIGURES, plots.contents(figures))
    return Section(
        conclusion=conclusion(outcome),
        closest=closest(outcome),
        figures=[(one, placed(one, folder.name, single_file=single_file)) for one in figures],
        factors=outcome.search.factors,
    )
