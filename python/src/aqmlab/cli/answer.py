"""What a command prints of its result: the scenario in a line, the answer, one table, and where everything else is."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table

from aqmlab import publishing
from aqmlab.cli import columns
from aqmlab.cli.details import details
from aqmlab.cli.show import open_page
from aqmlab.cli.terminal import Text
from aqmlab.results import Result, precision, swept
from aqmlab.results.brief import brief
from aqmlab.results.headline import headlines
from aqmlab.results.names import short_names
from aqmlab.results.setting_line import setting_line, span

if TYPE_CHECKING:
    from collections.abc import Sequence

INDENT = 2


def result(shown: Result, folder: Path, width: int, *, verbose: bool = False) -> RenderableType:
    """Return a result for a terminal of this width: the answer, or all that `aqmlab show` prints."""
    if "shard" in shown.manifest:
        return Text(f"shard {shown.manifest['shard']}: {len(shown.runs)} runs are in {folder}; see aqmlab merge --help")
    if verbose or len(shown.points) > swept.MOST_TABLES:
        return Group(details(shown, width), "", _page(shown, folder))
    parts: list[RenderableType] = []
    for number in range(len(shown.points)):
        parts += _scenario(shown, number)
    stopped = precision.words(shown)
    parts += [Text(stopped, style="dim")] if stopped else []
    warnings = [Text(f"warning: {warning}", style="yellow") for warning in shown.warnings]
    note = f"{_measured(shown)}All details: aqmlab show {shlex.quote(str(folder))}"
    return Group(*parts, *warnings, Text(note, style="dim"), _page(shown, folder))


def _page(shown: Result, folder: Path) -> RenderableType:
    if publishing.is_published(shown):
        return open_page(folder / publishing.REPORT)
    return Text(f"the numbers are in {folder}")


def _measured(shown: Result) -> str:
    first = span(shown.scenarios[0]["warmup"].rpartition(" ")[2]) if "warmup_s" not in shown.runs.columns else ""
    return f"First {first} not measured. " if first and not first.startswith("0 ") else ""


def _scenario(shown: Result, number: int) -> list[RenderableType]:
    point = shown.points[number]
    head = ", ".join(f"{key} {value}" for key, value in point.items()) if point else setting_line(shown, number)
    parts: list[RenderableType] = [Text(head, style="bold" if point else ""), ""]
    names = _names(shown)
    told = headlines(shown, number)
    if told:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, max_width=columns.LONGEST_NAME)
        grid.add_column()
        for one in told:
            grid.add_row(Text(names[one.aqm], "bold"), Text(one.words))
        parts += [Padding(grid, (0, 0, 0, INDENT)), ""]
    found = brief(shown, number)
    heads = [(column.title, column.unit) for column in found.columns]
    lines = [(names[aqm], [columns.marked(*cell) for cell in cells]) for aqm, cells in found.lines.items()]
    return [*parts, columns.table(heads, lines), *_notes(found.notes), ""]


def _names(shown: Result) -> dict[str, str]:
    """Return the AQMs' labels, and instead of long ones what is short enough for a table."""
    short = {label: name for name, label in short_names(shown).items()}
    return {aqm: aqm if len(aqm) <= columns.LONGEST_NAME else short.get(aqm, aqm) for aqm in shown.aqms}


def _notes(notes: Sequence[str]) -> list[RenderableType]:
    return [Text(note, style="dim") for note in notes]


__all__ = ["result"]
