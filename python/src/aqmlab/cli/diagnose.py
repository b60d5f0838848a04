"""``aqmlab diagnose``: estimates about one's own line from a capture, and what a better queue would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.advise import check_rate
from aqmlab.cli.compare import Force, Jobs, Json, OptText, Out, Quiet, check_count, check_target, write_json
from aqmlab.cli.terminal import Terminal, Text, give
from aqmlab.vocabulary.errors import CheckError, InputError
from aqmlab.vocabulary.json_text import json_text
from aqmlab.vocabulary.units import parse_rate

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from aqmlab.advice import Advice, Line
    from aqmlab.diagnosis import Diagnosis


def diagnose(
    capture: Annotated[str, typer.Argument(metavar="CAPTURE", help="pcap or pcapng, from the router or a host.")],
    home: Annotated[str, typer.Option("--home", metavar="ADDRESS", help="An address of the home's side.")] = "",
    down: Annotated[
        OptText,
        typer.Option("--down", metavar="R", help="The line's rate towards the home, if the capture cannot tell."),
    ] = None,
    up: Annotated[
        OptText, typer.Option("--up", metavar="R", help="The line's rate from the home, if the capture cannot tell.")
    ] = None,
    linklayer: Annotated[
        str,
        typer.Option("--linklayer", metavar="KIND", help="adsl, vdsl (ptm), docsis (cable), ethernet (fibre), lte."),
    ] = "ethernet",
    advise: Annotated[
        bool,
        typer.Option(
            "--advise/--no-advise", help="Whether to simulate what a better queue would bring.", show_default=False
        ),
    ] = True,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = None,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Estimate rate, RTT, bufferbloat, buffer, loss and marking from a capture, with confidence.

    A capture of a minute in which something large is downloaded, and something is uploaded, gives the best estimates.

    For example:

    aqmlab diagnose evening.pcap

    aqmlab diagnose laptop.pcapng --up 10mbit --linklayer vdsl
    """
    from aqmlab import diagnosis, store
    from aqmlab.advice import layer
    from aqmlab.diagnosis import diagnosis_json, diagnosis_page

    number = check_count("--jobs", jobs)
    rates = [_rate(f"--{name}", text) for name, text in (("down", down), ("up", up))]
    try:
        kind = layer(linklayer)
    except ValueError as error:
        raise InputError(f"--linklayer: {error}") from None
    check_target(as_json, force=force)
    found = diagnosis.diagnose(capture, home)
    folder = store.dated("diagnose") if out is None else out
    store.check_writable(folder)
    advice, without = None, "Not asked for (--no-advise)."
    if advise:
        from aqmlab.diagnosis.diagnosed_line import line

        try:
            asked = line(found, kind, *rates)
        except InputError as error:
            without = f"Not simulated: {error}."
        else:
            advice = _advice(asked, folder, dated=out is None, quiet=quiet, jobs=number)
    shown = diagnosis_page.write(found, folder, advice, without)
    write_json(json_text(diagnosis_json.document(found, advice)), as_json)
    if not quiet:
        console = Terminal(to_stderr=as_json == "-")
        console.print(*_shown(found, advice, without), sep="\n")
        console.print(f"open {shown}", soft_wrap=True)
    elif as_json != "-":
        give(shown)
    if advice is not None and advice.result.manifest["failures"]:
        raise CheckError("; ".join(advice.result.manifest["failures"]))


def _rate(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        rate = parse_rate(text)
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None
    check_rate(rate, f"{option}: '{text}'")
    return rate


def _advice(asked: Line, folder: Path, *, dated: bool, quiet: bool, jobs: int | None) -> Advice:
    from aqmlab import advice
    from aqmlab.cli import show

    with show.watching(show.Bar, folder, dated=dated, quiet=quiet) as bar:
        return advice.advise(asked, folder=folder, quick=True, jobs=jobs, watcher=bar)


def _shown(found: Diagnosis, advice: Advice | None, without: str) -> list[RenderableType]:
    from rich.table import Table

    from aqmlab.diagnosis import words

    parts: list[RenderableType] = [Text(words.headline(found), style="bold")]
    for direction in found.directions:
        head = Text(f"{direction.name.capitalize()}, {words.TOWARDS[direction.name]}", style="bold")
        if not direction.connections:
            parts += ["", head, Text("no connection of TCP has carried enough to tell anything", style="dim")]
            continue
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(min_width=14)
        table.add_column(no_wrap=True)
        table.add_column(style="dim")
        for one in words.table(direction):
            table.add_row(*map(Text, (one.name, one.value, one.confidence, one.why)))
        parts += ["", head, table]
    parts += ["", Text("What would CAKE do here?", style="bold")]
    if advice is None:
        parts.append(Text(without))
    else:
        from aqmlab.advice import words as advice_words

        parts += [Text(str(advice.line), style="dim"), *map(Text, advice_words.sentences(advice))]
    parts += [
        "",
        Text("What this rests on", style="bold"),
        *(Text(f"- {one}", style="dim") for one in words.about(found)),
    ]
    return [*parts, *(Text(f"warning: {one}", style="yellow") for one in found.warnings), ""]


__all__ = ["diagnose"]
