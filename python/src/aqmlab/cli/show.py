"""A result, formatted for a terminal: table, differences in words, settings, and which file to open."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from aqmlab import publishing, store
from aqmlab.cli.terminal import Terminal, Text, tell
from aqmlab.results import Result, precision, swept
from aqmlab.results.settings import aqms, settings
from aqmlab.results.sheets import Sheet, Sheets, sheets
from aqmlab.results.summary import Comparison, Row
from aqmlab.results.tables import SWEEP_COLUMNS, Cell, Column, Lines, in_units
from aqmlab.results.tables import line as line_of
from aqmlab.runs import runner
from aqmlab.runs.watcher import Watcher
from aqmlab.vocabulary.errors import Interrupted
from aqmlab.vocabulary.printable import printable

PADDING = 2
# With fewer a t-test over many scenarios finds only what is obvious.
FEW_SEEDS = 5


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

    def on_notice(self, text: str) -> None:
        """Say it."""
        tell(text)

    def close(self) -> None:
        """Nothing is left to remove."""


class Bar(Notices):
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
        self._progress.stop()


class Bars(Notices):
    """A progress bar for each of several experiments in turn."""

    def __init__(self) -> None:
        self._bar = Bar()

    def on_begin(self, what: str) -> None:
        """Start another bar."""
        self._bar.close()
        self._bar = Bar(what)

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
def watching(bar: type[Bar | Bars], folder: Path, *, dated: bool, quiet: bool) -> Iterator[Watcher]:
    """Show bars at a terminal while runs are made into a folder, and say what an interrupt left in it.

    A ``dated`` folder that stays empty is removed.

    Raises:
        Interrupted: if the folder holds finished runs.

    """
    shown = Notices() if quiet or not sys.stderr.isatty() else bar()
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


def result(shown: Result, folder: Path, width: int) -> RenderableType:
    """Return a whole result for a terminal of this width."""
    if "shard" in shown.manifest:
        return Text(f"shard {shown.manifest['shard']}: {len(shown.runs)} runs are in {folder}; see aqmlab merge --help")
    parts: list[RenderableType] = []
    is_large = len(shown.points) > swept.MOST_TABLES
    if is_large:
        parts += [*_sweep(shown), ""]
    for number, (point, tables) in enumerate(zip(shown.points, sheets(shown), strict=True) if not is_large else ()):
        rows = [row for row in shown.shown_rows if row.point == number]
        comparisons = [one for one in shown.comparisons if one.point == number]
        if point:
            parts.append(Text(", ".join(f"{key} {value}" for key, value in point.items()), style="bold"))
        parts += [_table(rows, tables, width), ""]
        if comparisons:
            parts += [*_differences(comparisons), ""]
        if len(shown.aqms) > 2:
            parts += _rankings([one.words for one in shown.rankings if one.point == number])
    stopped = precision.words(shown)
    parts += [Text(stopped), ""] if stopped else []
    parts.append(_settings(shown))
    parts += [Text(f"warning: {warning}", style="yellow") for warning in shown.warnings]
    is_there = publishing.is_published(shown)
    parts += ["", open_page(folder / publishing.REPORT) if is_there else Text(f"the numbers are in {folder}")]
    return Group(*parts)


def open_page(page: Path) -> RenderableType:
    """Return which file to open."""
    return Text.assemble("open ", (str(page), "bold"))


def _sweep(shown: Result) -> list[RenderableType]:
    """Return the best and worst scenarios of a sweep, and where the order of AQMs flips."""
    points = shown.points
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, PADDING, 0, 0))
    for head in ("", "AQM"):
        table.add_column(head, no_wrap=not head)
    for head in ("Best", "Worst"):
        table.add_column(head, justify="right", no_wrap=True)
        table.add_column("at")
    columns = {column.metric: column for column in in_units(SWEEP_COLUMNS, shown.shown_rows)}
    before = ""
    for one in swept.extremes(shown):
        column = columns[one.metric]
        cells_of = (line_of([row], "", [column])[one.metric] for row in (one.best, one.worst))
        places = (
            ", ".join(f"{key} {value}" for key, value in points[row.point].items()) for row in (one.best, one.worst)
        )
        head = f"{column.title}, {column.unit}" if one.metric != before else ""
        before = one.metric
        (best, worst), (at_best, at_worst) = map(_cell, cells_of), map(Text, places)
        table.add_row(Text(head), Text(one.aqm), best, at_best, worst, at_worst)
    n = max((row.estimate.n for row in shown.rows), default=0)
    note = f"value ± half its 95 % interval over {n} seeds" if n > 1 else "one seed: no intervals"
    parts: list[RenderableType] = [Text(f"{len(points)} scenarios", style="bold"), table, Text(note, style="dim")]
    orders = swept.orders(shown)
    if orders:
        note = " (number of scenarios; paired over the seeds, each metric Holm-corrected over the scenarios)"
        for reference in dict.fromkeys(one.reference for one in orders):
            against = [one for one in orders if one.reference == reference]
            lines = {
                aqm: Text("\n".join(one.words(points) for one in against if one.aqm == aqm))
                for aqm in dict.fromkeys(one.aqm for one in against)
            }
            parts += ["", *_against(reference, note, lines)]
        if 1 < n < FEW_SEEDS:
            parts.append(Text(f"{n} seeds distinguish little; the same with --seeds 10 adds to them", style="dim"))
    return parts


def _table(rows: Sequence[Row], tables: Sheets, width: int) -> RenderableType:
    n = max((row.estimate.n for row in rows), default=0)
    note = f"value ± half its 95 % interval over {n} seeds" if n > 1 else "one seed: no intervals"
    if tables.ports:
        note += f"; queue delay and loss (also of flows) at port {tables.first_port}"
    parts: list[RenderableType] = [_aligned(tables.summary, width), Text(note, style="dim")]
    for sheet in tables.more:
        parts += ["", _aligned(sheet, width)]
    return Group(*parts)


def _aligned(sheet: Sheet, width: int) -> RenderableType:
    """Return a table; one that is too wide for the terminal is split into several, never cut."""
    parts: list[Column] = []
    tables: list[RenderableType] = []
    heads, lines = sheet.heads, sheet.lines
    for column in sheet.columns:
        if parts and _needed(heads, [*parts, column], lines) > width:
            tables += [_table_of(heads, parts, lines), ""]
            parts = []
        parts.append(column)
    return Group(*tables, _table_of(heads, parts, lines))


def _needed(heads: Sequence[str], columns: Sequence[Column], lines: Lines) -> int:
    in_front = sum(
        max(len(head), *(Text(names[place]).cell_len for names in lines)) for place, head in enumerate(heads)
    )
    values = sum(
        max(len(column.title), len(column.unit), *(_cell(line[column.metric]).cell_len for line in lines.values()))
        for column in columns
    )
    return in_front + values + PADDING * (len(heads) + len(columns))


def _table_of(heads: Sequence[str], columns: Sequence[Column], lines: Lines) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, PADDING, 0, 0))
    for head in heads:
        table.add_column(head)
    for column in columns:
        heading = Text.assemble(column.title, "\n", (column.unit, "not bold dim"))
        table.add_column(heading, justify="right", no_wrap=True)
    for names, line in lines.items():
        table.add_row(*map(Text, names), *(_cell(line[column.metric]) for column in columns))
    return table


def _cell(cell: Cell) -> Text:
    notes = [f" ± {cell.half}" if cell.half else "", f" ({cell.runs})" if cell.runs else ""]
    return Text(cell.value).append("".join(notes), "dim")


def _differences(comparisons: Sequence[Comparison]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for reference in dict.fromkeys(one.reference for one in comparisons):
        against = [one for one in comparisons if one.reference == reference]
        lines: dict[str, Text] = {}
        for one in against:
            line = lines.setdefault(one.aqm, Text())
            line.append("\n" if line else "")
            line.append(one.words, style="" if one.difference.is_distinguishable else "dim")
        note = f" (paired over the seeds, Holm-corrected; 95 % interval, share of {reference}'s value)"
        parts += _against(reference, note, lines)
    return parts


def _against(reference: str, note: str, lines: Mapping[str, Text]) -> list[RenderableType]:
    """Return what is told of each AQM beside a reference."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for aqm, line in lines.items():
        grid.add_row(Text(aqm), line)
    return [Text.assemble((f"Against {reference}", "bold"), (note, "dim")), grid]


def _rankings(words: Sequence[str]) -> list[RenderableType]:
    if not words:
        return []
    head = Text.assemble(("Ranking", "bold"), (" (all pairs, paired over the seeds, Holm-corrected by metric)", "dim"))
    return [head, Text("\n".join(words)), ""]


def _settings(shown: Result) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column()
    for setting in settings(shown):
        note = f" ({setting.note})" if setting.note else ""
        grid.add_row(setting.name, Text.assemble(setting.value, (note, "dim")))
    for aqm in aqms(shown):
        note = f" ({aqm.note})" if aqm.note else ""
        grid.add_row(aqm.name, Text.assemble(aqm.value, (note, "dim")))
    return Group(Text("Scenario", style="bold"), grid)


__all__ = ["Bar", "Bars", "Notices", "open_page", "result"]
