"""The page of a tuning, and its figures beside it."""

from __future__ import annotations

from pathlib import Path

from aqmlab import __version__, plots
from aqmlab.files import disk
from aqmlab.report import environment, inline
from aqmlab.report.publishing import FIGURES, REPORT
from aqmlab.tuning import drawing, sensitivity
from aqmlab.tuning.outcome import FILE, UNSEEN, Tuning
from aqmlab.vocabulary import metrics


def write(tuning: Tuning, folder: Path) -> Path:
    """Write page and figures into a folder; return the page."""
    figures = drawing.draw(tuning)
    disk.put_all(folder / FIGURES, plots.contents(figures))
    text = (
        environment(Path(__file__).parent)
        .get_template("tuning.html")
        .render(
            tuning=tuning,
            goal=tuning.goal,
            title=f"{tuning.default.aqm} tuned",
            rows=table(tuning),
            figures=[(one, inline(one.bare_svg, one.title)) for one in figures],
            sensitivity=sensitivity.words(tuning.indices),
            unseen=f"{UNSEEN}/{REPORT}",
            file=FILE,
            version=__version__,
        )
    )
    [page] = disk.put_all(folder, {REPORT: text.encode()})
    return page


def table(tuning: Tuning) -> list[tuple[str, list[str]]]:
    """Return the default and the front with their means on the training scenarios, as text."""
    names = tuning.goal.metrics
    return [(one.aqm, [metrics.number(one.values[name]) for name in names]) for one in (tuning.default, *tuning.front)]
