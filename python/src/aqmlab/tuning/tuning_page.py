"""The page of a tuning, and its figures beside it."""

from __future__ import annotations

from pathlib import Path

from aqmlab import plots
from aqmlab.files import disk
from aqmlab.publishing import FIGURES, REPORT
from aqmlab.report import inline
from aqmlab.report.templates import rendered
from aqmlab.tuning import sensitivity, tuning_figures
from aqmlab.tuning.outcome import FILE, UNSEEN, Tuning
from aqmlab.vocabulary import metrics


def write(tuning: Tuning, folder: Path) -> Path:
    """Write page and figures into a folder; return the page."""
    figures = tuning_figures.draw(tuning)
    disk.put_all(folder / FIGURES, plots.contents(figures))
    text = rendered(
        __file__,
        "tuning.html",
        tuning=tuning,
        goal=tuning.goal,
        title=f"{tuning.default.aqm} tuned",
        rows=table(tuning),
        judged=table_judged(tuning),
        figures=[(one, inline(one.bare_svg, one.title)) for one in figures],
        sensitivity=sensitivity.words(tuning.indices),
        unseen=f"{UNSEEN}/{REPORT}",
        file=FILE,
    )
    [page] = disk.put_all(folder, {REPORT: text.encode()})
    return page


def table(tuning: Tuning) -> list[tuple[str, list[str]]]:
    """Return the default and the front with their means on the training scenarios, as text."""
    names = tuning.goal.metrics
    return [(one.aqm, [metrics.number(one.values[name]) for name in names]) for one in (tuning.default, *tuning.front)]


def table_judged(tuning: Tuning) -> list[tuple[str, list[str]]]:
    """Return the default and the judged settings with their means where nothing was chosen, as text.

    The last cell says whether a setting is on the front there, if several metrics are minimised.
    """
    names, several = tuning.goal.metrics, len(tuning.goal.minimise) > 1
    return [
        (
            one.aqm,
            [*(metrics.number(one.values[name]) for name in names), *(["yes" if one.is_front else "no"] * several)],
        )
        for one in tuning.judged
    ]
