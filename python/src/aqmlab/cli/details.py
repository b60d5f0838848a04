"""What ``aqmlab show`` prints: all tables, differences and settings of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.table import Table

from aqmlab.cli.terminal import Text
from aqmlab.results import Result, groups, precision, ranking, swept
from aqmlab.results.differences import Comparison
from aqmlab.results.directions import named
from aqmlab.results.full_ports import columns_over_settings, orders
from aqmlab.results.metric_tables import SWEEP_COLUMNS, Cell, Column, Lines, in_units
from aqmlab.results.metric_tables import line as line_of
from aqmlab.results.notes import few_seeds
from aqmlab.results.result_json import family
from aqmlab.results.settings import Setting, aqms, settings
from aqmlab.results.sheets import Sheet, Sheets, sheets
from aqmlab.results.summary import Row

PADDING = 2


def details(shown: Result, width: int, *, every: bool = False) -> RenderableType:
    """Return all tables of a result and how its AQMs differ, and its settings: those that matter, or every one."""
    parts: list[RenderableType] = []
    is_large = len(shown.points) > swept.MOST_TABLES
    if is_large:
        parts += [*_sweep(shown), ""]
    for number, (point, tables) in enumerate(zip(shown.points, sheets(shown), strict=True) if not is_large else ()):
        rows = [row for row in shown.shown_rows if row.point == number]
        comparisons = [named(one, shown.scenarios[number]) for one in shown.comparisons if one.point == number]
        if point:
            parts.append(Text(", ".join(f"{key} {value}" for key, value in point.items()), style="bold"))
        parts += [_table(rows, tables, width), ""]
        if comparisons:
            parts += [*_differences(comparisons, shown), ""]
        if len(shown.aqms) > 2:
            parts += _rankings([one.words for one in orders(shown, number)])
    stopped = precision.words(shown)
    parts += [Text(stopped), ""] if stopped else []
    parts.append(_settings(shown, every=every))
    parts += [Text(f"warning: {warning}", style="yellow") for warning in shown.warnings]
    return Group(*parts)


def _sweep(shown: Result) -> list[RenderableType]:
    """Return the best and worst scenarios of a sweep, and where the order of AQMs flips."""
    points = shown.points
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, PADDING, 0, 0))
    for head in ("", "AQM"):
        table.add_column(head, no_wrap=not head)
    for head in ("Best", "Worst"):
        table.add_column(head, justify="right", no_wrap=True)
        table.add_column("at")
    columns = {
        column.metric: column for column in columns_over_settings(shown, in_units(SWEEP_COLUMNS, shown.shown_rows))
    }
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
        note = f" (number of scenarios; paired over the seeds; {_tests(shown)})"
        for reference in dict.fromkeys(one.reference for one in orders):
            against = [one for one in orders if one.reference == reference]
            lines = {
                aqm: Text("\n".join(one.words(points) for one in against if one.aqm == aqm))
                for aqm in dict.fromkeys(one.aqm for one in against)
            }
            parts += ["", *_against(reference, note, lines)]
        if few := few_seeds(shown):
            parts.append(Text(few, style="dim"))
    return parts


def _table(rows: Sequence[Row], tables: Sheets, width: int) -> RenderableType:
    n = max((row.estimate.n for row in rows), default=0)
    note = f"value ± half its 95 % interval over {n} seeds" if n > 1 else "one seed: no intervals"
    parts: list[RenderableType] = [_aligned(tables.summary, width), Text(note, style="dim")]
    for sheet in (*tables.more, *tables.stations):
        parts += ["", _aligned(sheet, width)]
    if tables.not_modelled:
        parts.append(Text(tables.not_modelled, style="dim"))
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


def _differences(comparisons: Sequence[Comparison], shown: Result) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for reference in dict.fromkeys(one.reference for one in comparisons):
        against = [one for one in comparisons if one.reference == reference]
        lines: dict[str, Text] = {}
        for one in against:
            line = lines.setdefault(one.aqm, Text())
            line.append("\n" if line else "")
            line.append(one.words, style="" if one.difference.is_distinguishable else "dim")
        note = f" (paired over the seeds; {_tests(shown)}; share of {reference}'s value)"
        parts += _against(reference, note, lines)
    return parts


def _against(reference: str, note: str, lines: Mapping[str, Text]) -> list[RenderableType]:
    """Return the effects of each AQM beside a reference."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for aqm, line in lines.items():
        grid.add_row(Text(aqm), line)
    return [Text.assemble((f"Against {reference}", "bold"), (note, "dim")), grid]


def _rankings(words: Sequence[str]) -> list[RenderableType]:
    if not words:
        return []
    head = Text.assemble(("Ranking", "bold"), (f" ({ranking.SIGNS})", "dim"))
    return [head, Text("\n".join(words)), ""]


def _tests(shown: Result) -> str:
    """How the tests are accounted for."""
    of = family(shown)
    return f"{of['tests']} tests with {of['correction']}'s correction, simultaneous 95 % intervals"


def _settings(shown: Result, *, every: bool) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column()
    known = [*settings(shown), *aqms(shown)]
    for setting in _resolved(shown, known) if every else _chosen(known):
        note = f" ({setting.note})" if setting.note else ""
        grid.add_row(setting.name, Text.assemble(setting.value, (note, "dim")))
    more = [] if every else [Text("defaults and every key of the flows: aqmlab show DIR --all", style="dim")]
    return Group(Text("Scenario", style="bold"), grid, *more)


def _chosen(known: Sequence[Setting]) -> list[Setting]:
    """Return the settings that were given or derived."""
    return [one for one in known if one.note != "default" or one.name == "flows"]


def _resolved(shown: Result, known: Sequence[Setting]) -> list[Setting]:
    """Return the settings with every key of the flows."""
    found = shown.scenarios[0].get(groups.KEY, ())
    # Blanks let a long flow spec wrap; it reads back with colons.
    full = ", ".join(groups.written(one).replace(":", " ") for one in found)
    is_one = ("", "default")
    return [
        replace(one, value=full or one.value) if one.name == "flows" and one.note in is_one else one for one in known
    ]


__all__ = ["details"]
