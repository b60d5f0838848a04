"""``aqmlab suite``: scenarios that belong together, for any discipline or congestion control, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.compare import (
    Engine,
    Force,
    Jobs,
    Json,
    Many,
    Out,
    Quiet,
    Seeds,
    Unequal,
    check_count,
    check_target,
    write_json,
)
from aqmlab.cli.terminal import Terminal, Text, give
from aqmlab.vocabulary.errors import CheckError
from aqmlab.vocabulary.json_text import json_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aqmlab.suites import Outcome, Part


def suite(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SUITE", help="rfc7928 (of AQMs), rfc9743 (of congestion controls), or a folder with a suite.toml."
        ),
    ],
    aqm: Annotated[
        Many, typer.Option("--aqm", metavar="SPEC", help="Queue disciplines; those of the suite unless given.")
    ] = None,
    flows: Annotated[
        Many,
        typer.Option(
            "--flows", metavar="SPEC", help="Congestion controls of a suite that compares them, as 1*bbr3:pacing=on."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, fewer points and seeds.")] = False,
    only: Annotated[
        Many, typer.Option("--only", metavar="SECTION", help="Only these sections or scenarios, as 8.2,mild.")
    ] = None,
    allow_unequal_buffers: Unequal = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    out: Out = None,
    engine: Engine = None,
    as_json: Json = None,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Run every scenario of a suite, as RFC 7928's, for some disciplines or congestion controls, and write one page.

    For example:

    aqmlab suite rfc7928 --quick --aqm fifo,codel,pie

    aqmlab suite rfc7928 --only 8.2 --aqm "pie target 5ms" --aqm "pie target 20ms"

    aqmlab suite rfc9743 --quick --flows 1*bbr3 --flows 1*cubic
    """
    from aqmlab import scenario, store, suites
    from aqmlab.cli import show
    from aqmlab.engine import DEFAULT
    from aqmlab.suites import suite_page

    number, count = check_count("--jobs", jobs), check_count("--seeds", seeds)
    check_target(as_json, force=force)
    chosen = suites.find(name)
    folder = store.dated("suite") if out is None else out
    with show.watching(show.Bars, folder, dated=out is None, quiet=quiet) as bar:
        outcome = suites.run_suite(
            chosen,
            [spec for text in aqm or [] for spec in scenario.split_specs(text)],
            folder=folder,
            controls=flows or [],
            quick=quick,
            only=[one.strip() for text in only or [] for one in text.split(",")],
            seeds=count,
            jobs=number,
            allow_unequal_buffers=allow_unequal_buffers,
            engine=engine or DEFAULT,
            watcher=bar,
        )
        shown = suite_page.write(outcome, folder)
    write_json(json_text(suites.document(outcome)), as_json)
    if not quiet:
        console = Terminal(to_stderr=as_json == "-")
        console.print(_shown(outcome))
        console.print(show.open_page(shown))
    elif as_json != "-":
        give(folder)
    if outcome.failures:
        raise CheckError("; ".join(outcome.failures))


def _shown(outcome: Outcome) -> RenderableType:
    from rich.console import Group

    from aqmlab.suites.engines import headline

    parts: list[RenderableType] = [Text(outcome.suite.title, style="bold"), *map(Text, headline(outcome)), ""]
    for part in outcome.parts:
        parts += [
            Text.assemble((part.entry.section, "bold"), f"  {part.entry.title}"),
            _table(part, outcome.suite.subject),
            "",
        ]
    parts += [Text(f"not run: {one}", style="yellow") for one in outcome.skipped]
    return Group(*parts)


def _table(part: Part, subject: str) -> RenderableType:
    from rich.table import Table

    from aqmlab.suites.table import table

    grid, swept = table(part), len(part.shown.points) > 1
    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for head in ["", subject] if swept else [subject]:
        shown.add_column(head, no_wrap=True)
    for title, unit in grid.heads:
        shown.add_column(f"{title}\n{unit}", justify="right")
    for line in grid.lines:
        cells = []
        for column, cell in enumerate(line.cells):
            value, half = grid.text(column, cell)
            cells.append(Text.assemble(value, (f" ± {half}" if half else "", "dim")))
        shown.add_row(*([line.point] if swept else []), line.aqm, *cells)
    return shown


__all__ = ["suite"]
