"""``aqmlab live-compare``: the same kernel traffic under several disciplines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.compare import Force, Json, Many, Quiet, check_count, check_target, with_options, write_json
from aqmlab.cli.link import (
    Buffer,
    Cc,
    Classes,
    DataPath,
    Down,
    Ecn,
    Out,
    Overhead,
    Rtt,
    Up,
    check_path,
    tcp_of,
)
from aqmlab.cli.terminal import Terminal, Text, tell
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.json_text import json_text
from aqmlab.vocabulary.units import NANOS_PER_SECOND, parse_span

if TYPE_CHECKING:
    from aqmlab.live import comparing
    from aqmlab.live.comparing import Compared
    from aqmlab.results.metric_tables import Cell

MOST_FLOWS = 200
MOST_SEEDS = 1000


@with_options
def live_compare(
    *,
    down: Down = None,
    up: Up = None,
    rtt: Rtt = None,
    aqm: Annotated[
        Many, typer.Option("--aqm", metavar="SPEC", help="A discipline for both directions; repeat it, or give a list.")
    ] = None,
    buffer: Buffer = None,
    overhead: Overhead = None,
    wire: dict[str, Any],
    classes: Classes = None,
    downloads: Annotated[
        str, typer.Option("--downloads", metavar="N", help="Bulk transfers towards the near end.")
    ] = "2",
    uploads: Annotated[str, typer.Option("--uploads", metavar="N", help="Bulk transfers from the near end.")] = "0",
    rated: Annotated[
        str,
        typer.Option("--rated", metavar="N*CONTROL", help='Rate-based senders to the near end, as "2*dcqcn cnp 5ms".'),
    ] = "",
    page: Annotated[
        bool, typer.Option("--page", help="Chromium loads a page of 30 images again and again while it is measured.")
    ] = False,
    cc: Cc = None,
    ecn: Ecn = False,
    path: DataPath = None,
    duration: Annotated[str, typer.Option("--duration", metavar="T", help="Measured time of a run.")] = "10s",
    warmup: Annotated[str, typer.Option("--warmup", metavar="T", help="Time before it, of traffic alike.")] = "3s",
    seeds: Annotated[str, typer.Option("--seeds", metavar="N", help="Runs of each discipline.")] = "3",
    out: Out = None,
    as_json: Json = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    r"""Compare disciplines under the same real traffic: transfers by the kernel's TCP, and pings, over a live link.

    Queue delay, drops and marks are those of the direction that is loaded: down, unless there are only uploads. Runs
    take their time, one after the other, the disciplines in turn. Needs what aqmlab link needs.

    For example:

    aqmlab live-compare --down 20mbit --up 5mbit --rtt 40ms --aqm fifo --aqm fq_codel --aqm "pie target 15ms"
    """
    from aqmlab.live import comparing
    from aqmlab.live import web_page as pages
    from aqmlab.live.directions import lines
    from aqmlab.scenario import split_texts

    check_target(as_json, force=force)
    check_path(path)
    traffic = comparing.Traffic(
        check_count("--downloads", downloads, 0, MOST_FLOWS) or 0,
        check_count("--uploads", uploads, 0, MOST_FLOWS) or 0,
        _seconds("duration", duration),
        _seconds("warmup", warmup),
        rated=_rated(rated) if rated else comparing.Rated(),
        browser=pages.browser() if page else "",
    )
    if traffic.down + traffic.up + traffic.rated.count == 0:
        raise InputError("--downloads: nothing is sent: give at least one transfer")
    if not aqm:
        raise InputError("--aqm: is missing: name at least one discipline ('aqmlab aqm list' shows all)")
    shared = {"rtt": rtt, "buffer": buffer, "overhead": overhead, "classes": classes}
    given = wire | {name: value for name, value in shared.items() if value is not None}
    own = {"down": {"rate": down}, "up": {"rate": up}}
    if page and not traffic.browser:
        tell(f"warning: --page: no page is loaded: there is no {' or '.join(pages.BROWSERS)} here")
    links = {}
    for spec in (part for text in aqm for part in split_texts(text)):
        both = lines({**given, "aqm": spec}, own)
        if both[0].label in links:
            raise InputError(f"--aqm: '{both[0].label}' is given twice")
        links[both[0].label] = both
    numbers = range(1, (check_count("--seeds", seeds, 1, MOST_SEEDS) or 0) + 1)
    progress = (lambda text: None) if quiet else (lambda text: tell(f"running {text}"))
    compared = comparing.compare(links, traffic, numbers, cc or "", progress, ecn=ecn, path=path or "", out=out)
    write_json(json_text(comparing.document(compared)), as_json)
    if not quiet:
        _show(compared, to_stderr=as_json == "-")
        if out is not None:
            tell(f"the result, with figures and report, is in {out}")


def _rated(text: str) -> comparing.Rated:
    from aqmlab import _native
    from aqmlab.live import comparing

    count, star, control = text.partition("*")
    if not star:
        count, control = "1", text
    try:
        _native.RateReceiver(control)
    except InputError as error:
        raise InputError(f"--rated: {error}") from None
    return comparing.Rated(check_count("--rated", count.strip(), 1, MOST_FLOWS) or 0, " ".join(control.split()))


def _seconds(name: str, text: str) -> float:
    try:
        nanos = parse_span(text)
    except ValueError as error:
        raise InputError(f"--{name}: {error}") from None
    if nanos <= 0:
        raise InputError(f"--{name}: {text} is no time to run")
    return nanos / NANOS_PER_SECOND


def _show(compared: Compared, *, to_stderr: bool) -> None:
    from rich.table import Table

    from aqmlab.results.metric_tables import APPLICATION_COLUMNS, COLUMNS, PING_COLUMNS, Lines, filled, line
    from aqmlab.results.summary import Row

    runs = len(compared.result.frames.runs) // len(compared.estimates)
    columns = (*COLUMNS, *PING_COLUMNS, *APPLICATION_COLUMNS)
    lines: Lines = {
        (aqm,): line([Row(0, aqm, name, "", one, runs) for name, one in estimates.items()], "", columns)
        for aqm, estimates in compared.estimates.items()
    }
    console = Terminal(to_stderr=to_stderr)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("")
    for aqm in compared.estimates:
        table.add_column(Text(aqm), justify="right", overflow="fold")
    for column in filled(columns, lines):
        table.add_row(column.title, column.unit, *(_shown(one[column.metric]) for one in lines.values()))
    console.print("", table, "")
    console.print(Text(f"{runs} runs each of {compared.traffic.duration_s:g} s, with 95 % intervals"))
    console.print(Text(f"TCP of both ends: {tcp_of(compared.tcp)}; packets passed by {compared.path}"))
    for warning in compared.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))


def _shown(cell: Cell) -> str:
    return " ".join(filter(None, (cell.value, cell.half and f"± {cell.half}", cell.runs)))


__all__ = ["live_compare"]
