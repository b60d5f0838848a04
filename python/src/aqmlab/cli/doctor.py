"""``aqmlab doctor``: whether live links work here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.compare import Force, Json, check_target, write_json
from aqmlab.cli.terminal import Terminal, Text
from aqmlab.vocabulary.json_text import json_text

if TYPE_CHECKING:
    from aqmlab.live.checkup import SelfTest

UNABLE = 1


def doctor(
    selftest: Annotated[
        bool, typer.Option("--selftest", help="Fill a link for three seconds, and measure how punctual it is.")
    ] = False,
    as_json: Json = None,
    force: Force = False,
) -> None:
    """Check whether live links work on this machine, and how to get what is missing.

    The status is 1 where none can be made.
    """
    from rich.table import Table

    from aqmlab.live import checkup

    check_target(as_json, force=force)
    found = checkup.findings()
    is_able = checkup.is_able(found)
    tested = checkup.self_test() if selftest and is_able else None
    write_json(json_text(checkup.document(found, tested)), as_json)
    if as_json != "-":
        console = Terminal()
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        for one in found:
            advice = "" if one.is_well or not one.advice else f": {one.advice}"
            table.add_row(Text("ok" if one.is_well else "look"), Text(one.name), Text(f"{one.finding}{advice}"))
        console.print(table)
        if tested:
            _show(console, tested)
    raise typer.Exit(0 if is_able else UNABLE)


def _show(console: Terminal, tested: SelfTest) -> None:
    for name, late in (("idle timer", tested.timers), ("link", tested.link)):
        places = ", ".join(f"{place} {ms:.3f}" for place, ms in late.items())
        console.print(Text(f"{name}: late by {places} ms"))
    console.print(Text(tested.finding))


__all__ = ["doctor"]
