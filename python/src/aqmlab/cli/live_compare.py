"""``aqmlab live-compare``: the same kernel traffic under several disciplines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.compare import Force, Json, Many, Quiet, check_target, write_json
from aqmlab.cli.link import Buffer, Cc, Down, Ecn, Jitter, Loss, Overhead, Rtt, Up, tcp_of
from aqmlab.cli.terminal import Terminal, Text, tell
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.json_text import json_text
from aqmlab.vocabulary.units import NANOS_PER_SECOND, parse_span, parse_whole

if TYPE_CHECKING:
    from aqmlab.live.comparing import Compared
    from aqmlab.stats.statistics import Estimate

MOST_FLOWS = 200
MOST_SEEDS = 1000
COLUMNS = (
    ("goodput_mbit", "Goodput", "Mbit/s", 1.0, 2),
    ("qdelay_mean_ms", "Queue delay", "mean, ms", 1.0, 1),
    ("qdelay_p50_ms", "Queue delay", "median, ms", 1.0, 1),
    ("qdelay_p99_ms", "Queue delay", "99 %, ms", 1.0, 1),
    ("ping_mean_ms", "Ping", "mean, ms", 1.0, 1),
    ("ping_p99_ms", "Ping", "99 %, ms", 1.0, 1),
    ("pings_unanswered", "Pings lost", "mean", 1.0, 1),
    ("loss_ratio", "Drops", "%", 100.0, 2),
    ("marks", "CE marks", "packets", 1.0, 0),
    ("jain_index", "Jain index", "0 to 1", 1.0, 3),
)


def live_compare(
    down: Down = None,
    up: Up = None,
    rtt: Rtt = None,
    aqm: Annotated[
        Many, typer.Option("--aqm", metavar="SPEC", help="A discipline for both directions; repeat it, or give a list.")
    ] = None,
    buffer: Buffer = None,
    overhead: Overhead = None,
    loss: Loss = None,
    jitter: Jitter = None,
    downloads: Annotated[
        str, typer.Option("--downloads", metavar="N", help="Bulk transfers towards the near end.")
    ] = "2",
    uploads: Annotated[str, typer.Option("--uploads", metavar="N", help="Bulk transfers from the near end.")] = "0",
    cc: Cc = None,
    ecn: Ecn = False,
    duration: Annotated[str, typer.Option("--duration", metavar="T", help="Measured time of a run.")] = "10s",
    warmup: Annotated[str, typer.Option("--warmup", metavar="T", help="Time before it, of traffic alike.")] = "3s",
    seeds: Annotated[str, typer.Option("--seeds", metavar="N", help="Runs of each discipline.")] = "3",
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
    from aqmlab.live.line import lines
    from aqmlab.scenario import split_specs

    check_target(as_json, force=force)
    traffic = comparing.Traffic(
        _count("downloads", downloads, 0, MOST_FLOWS),
        _count("uploads", uploads, 0, MOST_FLOWS),
        _seconds("duration", duration),
        _seconds("warmup", warmup),
    )
    if traffic.down + traffic.up == 0:
        raise InputError("--downloads: nothing is sent: give at least one transfer")
    if not aqm:
        raise InputError("--aqm: is missing: name at least one discipline ('aqmlab aqm list' shows all)")
    shared = {"rtt": rtt, "buffer": buffer, "overhead": overhead, "loss": loss, "jitter": jitter}
    given = {name: value for name, value in shared.items() if value is not None}
    own = {"down": {"rate": down}, "up": {"rate": up}}
    links = {}
    for spec in (" ".join(part.split()) for text in aqm for part in split_specs(text)):
        both = lines({**given, "aqm": spec}, own)
        if both[0].label in links:
            raise InputError(f"--aqm: '{both[0].label}' is given twice")
        links[both[0].label] = both
    numbers = range(1, _count("seeds", seeds, 1, MOST_SEEDS) + 1)
    told = (lambda text: None) if quiet else (lambda text: tell(f"running {text}"))
    compared = comparing.compare(links, traffic, numbers, cc or "", told, ecn=ecn)
    write_json(json_text(comparing.document(compared)), as_json)
    if not quiet:
        _show(compared, to_stderr=as_json == "-")


def _count(name: str, text: str, least: int, most: int) -> int:
    try:
        count = parse_whole(text)
    except ValueError as error:
        raise InputError(f"--{name}: {error}") from None
    if not least <= count <= most:
        raise InputError(f"--{name}: {count} is not from {least} to {most}")
    return count


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

    console = Terminal(to_stderr=to_stderr)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("")
    for aqm in compared.estimates:
        table.add_column(Text(aqm), justify="right", overflow="fold")
    for name, title, unit, scale, digits in COLUMNS:
        found = [estimates.get(name) for estimates in compared.estimates.values()]
        if any(found):
            table.add_row(title, unit, *(_cell(one, scale, digits) for one in found))
    tcp: dict[str, Any] = compared.runs[0].carried.report["tcp"]
    runs = len(compared.runs) // len(compared.estimates)
    console.print("", table, "")
    console.print(
        Text(f"{runs} runs each of {compared.traffic.duration_s:g} s, with 95 % intervals; TCP {tcp_of(tcp)}")
    )
    for warning in compared.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))


def _cell(one: Estimate | None, scale: float, digits: int) -> str:
    if one is None:
        return "-"
    half = "" if one.half_width is None else f" ± {one.half_width * scale:.{digits}f}"
    return f"{one.value * scale:.{digits}f}{half}"


__all__ = ["live_compare"]
