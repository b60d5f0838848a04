"""The page of a diagnosis: one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.advice import advice_page
from aqmlab.advice import words as advice_words
from aqmlab.diagnosis import diagnosis_figure, words
from aqmlab.diagnosis.diagnosis import Diagnosis
from aqmlab.files import disk
from aqmlab.plots import PAPER
from aqmlab.report import inline
from aqmlab.report.templates import rendered

if TYPE_CHECKING:
    from markupsafe import Markup

    from aqmlab.advice import Advice
    from aqmlab.diagnosis.direction import Direction

PAGE = "diagnosis.html"


def write(diagnosis: Diagnosis, folder: Path, advice: Advice | None = None, without: str = "") -> Path:
    """Write the page, and that of an advice beside it; return it. ``without`` says why there is no advice."""
    if advice is not None:
        advice_page.write(advice, folder)
    [page] = disk.put_all(folder, {PAGE: render(diagnosis, advice, without).encode()})
    return page


def render(diagnosis: Diagnosis, advice: Advice | None = None, without: str = "") -> str:
    """Return the page."""
    return rendered(
        __file__,
        PAGE,
        diagnosis=diagnosis,
        headline=words.headline(diagnosis),
        directions=[
            (direction, words.TOWARDS[direction.name], words.table(direction), _figure(direction))
            for direction in diagnosis.directions
        ],
        about=words.about(diagnosis),
        advice=advice and advice_words.sentences(advice),
        advice_page=advice_page.PAGE,
        line=advice and str(advice.line),
        without=without,
    )


def _figure(direction: Direction) -> tuple[Markup, str] | None:
    drawn = diagnosis_figure.figure(direction)
    # So narrow that a phone shows it at its size.
    return (inline(drawn.content("svg", PAPER).decode(), drawn.title), drawn.caption) if drawn else None


__all__ = ["PAGE", "render", "write"]
