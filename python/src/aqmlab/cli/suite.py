"""``aqmlab suite``: scenarios that belong together, for any discipline or congestion control, on one page."""

from __future__ import annotations

import shlex
from pathlib import Path
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

    from aqmlab.suites import Outcome


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
        console.print(_shown(outcome, folder, console.width))
        console.print(show.open_page(shown))
    elif as_json != "-":
        give(folder)
    if outcome.failures:
        raise CheckError("; ".join(outcome.failures))


def _shown(outcome: Outcome, folder: Path, width: int) -> RenderableType:
    from rich.console import Group

    from aqmlab.cli import columns
    from aqmlab.suites.engines import headline
    from aqmlab.suites.matrix import LEGEND, OTHER, matrix, notes, reference, sentences

    rows, first = matrix(outcome), reference(outcome)
    others = [place for place, one in enumerate(outcome.contestants) if one != first]
    names = [f"{row.entry.section:7}{row.entry.name}" for row in rows]
    cells = [[row.verdicts[place].text for place in others] for row in rows]
    # The marks stand to the right of the numbers.
    cells = [[one if one.endswith(OTHER) else f"{one} " for one in own] for own in cells]
    left = max(map(len, names), default=0)
    used = left + sum(
        columns.GAP + max(len(outcome.contestants[place]), *(len(own[column]) for own in cells))
        for column, place in enumerate(others)
    )
    measures = [row.measure for row in rows]
    has_room = used + columns.GAP + max(map(len, measures), default=0) <= width
    heads = [*((("", "Measure"),) if has_room else ()), *(("", outcome.contestants[place]) for place in others)]
    lines = [
        (name, [*((Text(row.measure, "dim"),) if has_room else ()), *map(Text, own)])
        for name, row, own in zip(names, rows, cells, strict=True)
    ]
    parts: list[RenderableType] = [Text(outcome.suite.title, style="bold"), *map(Text, headline(outcome)), ""]
    parts += [*map(Text, sentences(outcome)), "", columns.table(heads, lines, left=left)]
    measured = "" if has_room else " The measure of each is on the page."
    parts.append(
        Text(
            f"Against {first}: {LEGEND}; per cent of a scenario's first measure, median over settings.{measured}",
            style="dim",
        )
    )
    parts += [Text(one, style="dim") for one in notes(rows)]
    parts += [Text(f"not run: {one}", style="yellow") for one in outcome.skipped]
    if outcome.parts:
        one = folder / outcome.parts[0].entry.name
        parts += ["", Text(f"Tables of a scenario: aqmlab show {shlex.quote(str(one))}", style="dim")]
    return Group(*parts)


__all__ = ["suite"]
