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
from aqmlab.cli.show import open_page
from aqmlab.cli.terminal import Text
from aqmlab.results import Result, precision, stations
from aqmlab.results.best import best
from aqmlab.results.brief import brief
from aqmlab.results.headline import Headline, headlines
from aqmlab.results.setting_line import setting_line, span, sweep_line
from aqmlab.results.short_labels import short_labels
from aqmlab.vocabulary.names import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INDENT = 2
# Where `aqmlab export --latex` writes by default.
LATEX = "latex"


def result(shown: Result, folder: Path, width: int, *, verbose: bool = False) -> RenderableType:
    """Return a result for a terminal of this width: the answer, or all that `aqmlab show` prints, and what to open."""
    if "shard" in shown.manifest:
        return shard(shown, folder)
    return Group(findings(shown, folder, width, verbose=verbose), page(shown, folder))


def findings(shown: Result, folder: Path, width: int, *, verbose: bool = False) -> RenderableType:
    """Return the same without what to open, which is there once the report is written."""
    if verbose:
        from aqmlab.cli.details import details

        return Group(details(shown, width), "")
    parts = _sweep(shown, width) if shown.points[0] else _scenario(shown)
    left_out = stations.not_modelled(shown.rows)
    parts += [Text(left_out, style="dim")] if left_out else []
    stopped = precision.words(shown)
    parts += [Text(stopped, style="dim")] if stopped else []
    warnings = [Text(f"warning: {warning}", style="yellow") for warning in shown.warnings]
    note = f"{_measured(shown)}All details: aqmlab show {shlex.quote(str(folder))}"
    return Group(*parts, *warnings, Text(note, style="dim"))


def page(shown: Result, folder: Path) -> RenderableType:
    """Return what to open of a result, or where its numbers are."""
    if not publishing.is_published(shown):
        return Text(f"the numbers are in {folder}")
    page = open_page(folder / publishing.REPORT)
    return Group(Text(stale, style="yellow"), page) if (stale := _stale(shown, folder)) else page


def _stale(shown: Result, folder: Path) -> str:
    """Say that a table was exported before seeds or AQMs were added; empty if not."""
    if not (folder / LATEX).is_dir():
        return ""
    # It imports other libraries, which most results need not wait for.
    from aqmlab.exports.latex import TABLE, is_stale

    table = folder / LATEX / TABLE
    if not table.is_file() or not is_stale(shown, table.read_bytes()):
        return ""
    return f"{table} is of other runs than these: aqmlab export {shlex.quote(str(folder))} --latex --force"


def shard(shown: Result, folder: Path) -> RenderableType:
    """Return what there is to say about a part of an experiment."""
    return Text(f"shard {shown.manifest['shard']}: {len(shown.runs)} runs are in {folder}; see aqmlab merge --help")


def _measured(shown: Result) -> str:
    first = span(shown.scenarios[0]["warmup"].rpartition(" ")[2]) if "warmup_s" not in shown.runs.columns else ""
    # The rule says why; of a short run it is not the usual one.
    is_third = "a third" in str(shown.scenarios[0]["rules"].get("warmup", ""))
    why = "warm-up, a third" if is_third else "warm-up"
    return f"First {first} ({why}) not measured. " if first and not first.startswith("0 ") else ""


def _scenario(shown: Result) -> list[RenderableType]:
    names = short_labels(shown.aqms)
    found = brief(shown)
    heads = [(column.title, column.unit) for column in found.columns]
    lines = [(names[aqm], [columns.marked(*cell) for cell in cells]) for aqm, cells in found.lines.items()]
    head = Text(setting_line(shown))
    parts: list[RenderableType] = [head, "", *_headline_rows(headlines(shown), names)]
    if first := best(shown, names):
        # Below the last headline, without a line between them.
        parts[-1:] = [Padding(Text(first), (0, 0, 0, INDENT)), ""]
    return [*parts, columns.table(heads, lines), *_notes(found.notes), ""]


def _sweep(shown: Result, width: int) -> list[RenderableType]:
    from aqmlab.cli.heat import flipped, heat
    from aqmlab.results import over_settings

    names = short_labels(shown.aqms)
    parts: list[RenderableType] = [Text(sweep_line(shown)), ""]
    rows = over_settings.headlines(shown)
    first = listed(list(dict.fromkeys(names[one.reference] for one in rows))) if rows else ""
    if rows:
        parts += [Text(f"Against {first}, and in how many settings:"), *_headline_rows(rows, names)]
    spans = over_settings.ranges(shown)
    parts += [*map(Text, spans), ""] if spans else []
    parts += heat(shown, names, width)
    flip_lines = flipped(shown)
    return [*parts, "", *flip_lines, ""] if flip_lines else [*parts, ""]


def _headline_rows(rows: Sequence[Headline], names: Mapping[str, str]) -> list[RenderableType]:
    if not rows:
        return []
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, max_width=columns.LONGEST_NAME)
    grid.add_column()
    for one in rows:
        grid.add_row(Text(names[one.aqm], "bold"), Text(one.words))
    return [Padding(grid, (0, 0, 0, INDENT)), ""]


def _notes(notes: Sequence[str]) -> list[RenderableType]:
    return [Text(note, style="dim") for note in notes]


__all__ = ["findings", "page", "result", "shard"]
