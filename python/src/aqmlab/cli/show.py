"""A result, formatted for a terminal: table, differences in words, settings, and which file to open."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from aqmlab import store
from aqmlab.cli.terminal import Terminal, Text, tell
from aqmlab.runs import runner
from aqmlab.runs.watcher import Watcher
from aqmlab.vocabulary.errors import Interrupted
from aqmlab.vocabulary.printable import printable

if TYPE_CHECKING:
    from aqmlab.results import Result

# How long an experiment may be set up in silence.
SETUP_S = 2.0


def pace(simulated_s: float, elapsed_s: float) -> str:
    """Return how fast a simulation is: that it goes on is to be seen, even if a second takes a minute.

    >>> pace(0.0, 9.0), pace(0.3, 9.0), pace(900.0, 9.0)
    ('setting up', '0.033 simulated s per s', '100 simulated s per s')

    """
    if simulated_s == 0.0:
        return "setting up"
    speed = simulated_s / max(elapsed_s, 1.0)
    return f"{speed:.0f} simulated s per s" if speed >= 10.0 else f"{speed:.2g} simulated s per s"


class Notices(Watcher):
    """What is worth saying, on standard error, and no progress."""

    # Prints the answer: drawing figures takes longer than many experiments.
    answer: Callable[[Result], None] | None = None

    def on_result(self, result: Result) -> None:
        """Print the answer, once."""
        self.close()
        if self.answer is not None:
            self.answer(result)
            self.answer = None

    def on_notice(self, text: str) -> None:
        """Say it."""
        tell(text)

    def close(self) -> None:
        """Nothing is left to remove."""


class Setup(Notices):
    """Notices, and a line where there is nothing to show yet for seconds."""

    _timer: threading.Timer | None = None

    def on_setup(self) -> None:
        """Say what happens, if it lasts."""
        self._set_up()
        self._timer = threading.Timer(SETUP_S, tell, ("setting up: reading the inputs and laying out the network",))
        self._timer.daemon = True
        self._timer.start()

    def on_plan(self, tasks: int, found: int) -> None:
        """Say nothing more."""
        super().on_plan(tasks, found)
        self._set_up()

    def close(self) -> None:
        """Say nothing more."""
        self._set_up()

    def _set_up(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Bar(Setup):
    """A progress bar on standard error: simulated time, speed and remaining time."""

    def __init__(self, what: str = "simulating") -> None:
        self._what = printable(what)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[runs]}"),
            TextColumn("{task.fields[speed]}", style="dim"),
            TimeRemainingColumn(),
            TimeElapsedColumn(),
            console=Terminal(to_stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None

    def on_plan(self, tasks: int, found: int) -> None:
        """Show the bar."""
        super().on_plan(tasks, found)
        if found:
            self._progress.console.print(f"{found} finished runs were found and are reused")
        if tasks:
            self._task = self._progress.add_task(self._what, runs=f"0/{tasks} runs", speed="", total=None)
            self._progress.start()

    def on_progress(self, progress: runner.Progress) -> None:
        """Update the bar."""
        if self._task is None:
            return
        elapsed_s = self._progress.tasks[0].elapsed or 0.0
        speed = pace(progress.simulated_s, elapsed_s)
        self._progress.update(
            self._task,
            completed=progress.simulated_s,
            total=progress.total_s,
            runs=f"{progress.finished}/{progress.total} runs",
            speed=speed,
        )

    def close(self) -> None:
        """Remove the bar."""
        super().close()
        self._progress.stop()


class Bars(Notices):
    """A progress bar for each of several experiments in turn."""

    def __init__(self) -> None:
        self._bar = Bar()

    def on_begin(self, what: str) -> None:
        """Start another bar."""
        self._bar.close()
        self._bar = Bar(what)

    def on_setup(self) -> None:
        """Say what happens, if it lasts."""
        self._bar.on_setup()

    def on_plan(self, tasks: int, found: int) -> None:
        """Show the bar."""
        self._bar.on_plan(tasks, found)

    def on_progress(self, progress: runner.Progress) -> None:
        """Update the bar."""
        self._bar.on_progress(progress)

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


@contextmanager
def watching(bar: type[Bar | Bars], folder: Path, *, dated: bool, quiet: bool) -> Iterator[Notices]:
    """Show bars at a terminal while runs are made into a folder, and say what an interrupt left in it.

    A ``dated`` folder that stays empty is removed.

    Raises:
        Interrupted: if the folder holds finished runs.

    """
    shown = Notices() if quiet else bar() if sys.stderr.isatty() else Setup()
    try:
        yield shown
    except KeyboardInterrupt:
        if any(path.is_file() for path in folder.rglob("*")):
            raise Interrupted(f"interrupted: {folder} holds the finished runs") from None
        raise
    finally:
        shown.close()
        if dated:
            store.discard_if_empty(folder, folder.parent)


def open_page(page: Path) -> RenderableType:
    """Return which file to open."""
    return Text.assemble("open ", (str(page), "bold"))


__all__ = ["Bar", "Bars", "Notices", "open_page", "watching"]
