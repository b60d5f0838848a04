"""Who follows an experiment: nobody, or the reader of a notebook; the command line has its own bars."""

from __future__ import annotations

import sys
import time
from typing import Any

from aqmlab.runs.runner import Progress

# Notebooks are updated at most so often, seconds.
PERIOD_S = 0.25


class Watcher:
    """Receives the progress of an experiment; does nothing by itself."""

    def on_begin(self, what: str) -> None:
        """One of several experiments starts."""

    def on_setup(self) -> None:
        """Inputs are about to be read and networks laid out, which takes seconds where they are large."""

    def on_plan(self, tasks: int, found: int) -> None:
        """Everything is resolved; ``tasks`` runs are to be made, ``found`` were already finished."""

    def on_notice(self, text: str) -> None:
        """Something is worth saying, and no error."""

    def on_progress(self, progress: Progress) -> None:
        """Some time has passed or a run has finished."""

    def on_result(self, result: Any) -> None:
        """Every run has finished and is stored as an `aqmlab.Result`; figures and report are drawn next."""


def default() -> Watcher:
    """Return who watches what is called from Python: a line below the cell in a notebook, else nobody."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    # A terminal's IPython has no kernel, and cannot change what it has shown.
    return Line(sys.modules["IPython"].display) if getattr(shell, "kernel", None) else Watcher()


class Line(Watcher):
    """A line below a notebook's cell, which goes when the runs are done."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None
        self._shown_at = 0.0

    def on_plan(self, tasks: int, found: int) -> None:
        """Show the line."""
        if tasks:
            self._show(f"simulating: 0 of {tasks} runs{f'; {found} were finished' if found else ''}")

    def on_progress(self, progress: Progress) -> None:
        """Change the line, or remove it."""
        if progress.finished == progress.total:
            self._show("")
        elif time.monotonic() - self._shown_at >= PERIOD_S:
            share = progress.simulated_s / progress.total_s if progress.total_s else 0.0
            self._show(f"simulating: {progress.finished} of {progress.total} runs, {share:.0%} of the simulated time")

    def _show(self, text: str) -> None:
        self._shown_at = time.monotonic()
        # As HTML an empty line leaves nothing; as text it leaves a box.
        shown = self._display.HTML(text)
        if self._handle is None:
            self._handle = self._display.display(shown, display_id=True)
        else:
            self._handle.update(shown)
