"""``aqmlab link``: a real program behind a real bottleneck."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.compare import (
    Force,
    Json,
    Many,
    OptText,
    Quiet,
    check_target,
    folder,
    option,
    with_options,
    write_json,
)
from aqmlab.cli.terminal import Terminal, Text, tell
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.json_text import json_text

if TYPE_CHECKING:
    from aqmlab.live.carrying import Carried

STANDARD_ERROR = 2
# The status of a command that ended well behind a link that did not.
FAULTY = 1
ROWS = (
    ("throughput_mbit", "Throughput", "Mbit/s", 1.0, 2),
    ("utilization", "Utilization", "%", 100.0, 1),
    ("qdelay_mean_ms", "Queue delay, mean", "ms", 1.0, 2),
    ("qdelay_p50_ms", "Queue delay, median", "ms", 1.0, 2),
    ("qdelay_p99_ms", "Queue delay, 99 %", "ms", 1.0, 2),
    ("packets_arrived", "Arrived", "packets", 1.0, 0),
    ("drops_early", "Dropped by the AQM", "packets", 1.0, 0),
    ("drops_overflow", "Dropped by a full queue", "packets", 1.0, 0),
    ("ack_drops", "Filtered ACKs, which are no loss", "packets", 1.0, 0),
    ("marks", "CE marks", "packets", 1.0, 0),
)
Down = Annotated[OptText, typer.Option("--down", metavar="R", help="Rate towards the near end, as 20mbit.")]
Up = Annotated[OptText, typer.Option("--up", metavar="R", help="Rate from the near end, as 5mbit.")]
Rtt = Annotated[OptText, option("rtt")]
Buffer = Annotated[OptText, option("buffer")]
Overhead = Annotated[OptText, option("overhead")]
Classes = Annotated[
    OptText,
    typer.Option("--classes", metavar="DSCP,...", help="Code points of the first class, the second, and so on."),
]
Cc = Annotated[
    OptText, typer.Option("--cc", metavar="NAME", help="Congestion control of TCP at both ends (default cubic).")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", parser=folder, help="New folder for a result as compare's, with its report."),
]
DataPath = Annotated[
    OptText,
    typer.Option("--path", metavar="NAME", help="What carries packets: veth, or tun where that is not permitted."),
]
Ecn = Annotated[bool, typer.Option("--ecn", help="Let TCP ask for ECN at both ends (default: neither has it).")]


@with_options
def link(
    *,
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="What runs behind the link, with its arguments, after --.")
    ],
    down: Down = None,
    up: Up = None,
    down_trace: Annotated[
        OptText, typer.Option("--down-trace", metavar="FILE", help="Recorded capacity (mahimahi) in place of --down.")
    ] = None,
    up_trace: Annotated[
        OptText, typer.Option("--up-trace", metavar="FILE", help="Recorded capacity (mahimahi) in place of --up.")
    ] = None,
    rtt: Rtt = None,
    aqm: Annotated[
        OptText, typer.Option("--aqm", metavar="SPEC", help="Discipline of both directions, as codel.")
    ] = None,
    aqm_down: Annotated[
        OptText, typer.Option("--aqm-down", metavar="SPEC", help="Discipline towards the command, in place of --aqm.")
    ] = None,
    aqm_up: Annotated[
        OptText, typer.Option("--aqm-up", metavar="SPEC", help="Discipline from the command, in place of --aqm.")
    ] = None,
    buffer: Buffer = None,
    overhead: Overhead = None,
    wire: dict[str, Any],
    classes: Classes = None,
    seed: Annotated[
        OptText, typer.Option("--seed", metavar="N", help="Seed of all random numbers (default 1).")
    ] = None,
    server: Annotated[
        Many,
        typer.Option("--server", metavar="CMD", help="Started at the far end before the command; may be repeated."),
    ] = None,
    cc: Cc = None,
    ecn: Ecn = False,
    path: DataPath = None,
    self_contained: Annotated[
        bool, typer.Option("--self-contained", help="The far end has no route to this machine's network.")
    ] = False,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Every call into the disciplines, as .parquet or .csv; replayed."),
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option("--pcap", metavar="FILE", help="Capture (pcapng) of what passes the near end.")
    ] = None,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Show rates, queues, drops and marks while it runs, below its output.")
    ] = False,
    out: Out = None,
    as_json: Json = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    r"""Run a program behind a real bottleneck: its packets pass a rate, a delay and any discipline, in both directions.

    Servers run at the far end, a network of its own. Its addresses are in AQMLAB_FAR and AQMLAB_FAR6.

    For root, where nft or iptables is installed, the program reaches whatever this machine does (IPv4, NAT). Otherwise
    it reaches the far end alone.

    Needs Linux and iproute2, and either root or user namespaces. The status is that of the command.

    For example:

    aqmlab link --down 20mbit --up 5mbit --rtt 40ms --aqm fq_codel -- curl -O https://www.kernel.org/

    aqmlab link --down 20mbit --up 5mbit --rtt 40ms --aqm cake --server "iperf3 -s" -- sh -c 'iperf3 -c $AQMLAB_FAR'

    aqmlab link --down 20mbit --up 5mbit --rtt 40ms --aqm-down fq_codel --aqm-up "pie target 15ms" -- bash
    """
    from aqmlab.cli import dashboard as dashboards
    from aqmlab.files import disk
    from aqmlab.live import carrying, checkup, link_json, outside, results
    from aqmlab.live import log as logs
    from aqmlab.live.directions import lines

    check_target(as_json, force=force)
    if dashboard:
        dashboards.check()
    if log is not None:
        logs.check(log)
    for name, file in (("log", log), ("pcap", pcap)):
        if file:
            disk.check_place(f"--{name}", file, force=force)
    check_path(path)
    shared = {"rtt": rtt, "buffer": buffer, "overhead": overhead, "first_seed": seed, "classes": classes}
    own = {
        "down": {"rate": down, "link_trace": down_trace, "aqm": aqm_down},
        "up": {"rate": up, "link_trace": up_trace, "aqm": aqm_up},
    }
    both = lines({**wire, **{name: value for name, value in shared.items() if value is not None}, "aqm": aqm}, own)
    servers = [_words(one) for one in server or ()]
    closed = "--self-contained" if self_contained else outside.missing()
    if closed and not (self_contained or servers or quiet):
        tell(f"nothing beyond the far end can be reached: {closed}")
    with results.folder(out) as place:
        accuracy = checkup.accuracy() if place else {}
        carried = carrying.carry(
            carrying.Link(
                *both, seed=int(seed or 1), congestion_control=cc or "", ecn=ecn, is_open=not closed, path=path or ""
            ),
            command,
            servers,
            log,
            pcap,
            # Standard output is the document's.
            stdout=STANDARD_ERROR if as_json == "-" else None,
            watch=dashboards.shown if dashboard else carrying.unwatched,
        )
        faults = carried.report["faults"]
        if place:
            with carrying.noted(faults, place.path):
                results.publish(results.of_link(carried, accuracy), place)
    with carrying.noted(faults, "standard output" if as_json == "-" else str(as_json)):
        write_json(json_text(link_json.document(carried)), as_json)
    if quiet:
        # What makes the status 1 is printed all the same.
        for fault in faults:
            tell(fault)
    else:
        _show(carried)
        if out is not None:
            tell(f"the result, with figures and report, is in {out}")
    is_faulty = bool(faults) or bool(carried.replayed and carried.replayed["parts_at"])
    # Not typer's exit, which takes 130 for an interrupt of aqmlab.
    sys.exit(carried.status or (FAULTY if is_faulty else 0))


def check_path(path: str | None) -> None:
    """Refuse what is no data path."""
    from aqmlab.live.carrying import PATHS

    if path is not None and path not in PATHS:
        raise unknown("data path", path, PATHS)


def _words(server: str) -> list[str]:
    try:
        words = shlex.split(server)
    except ValueError as error:
        raise InputError(f"--server: '{server}': {error}") from None
    if not words:
        raise InputError("--server: it is empty: give a program with its arguments")
    return words


def _show(carried: Carried) -> None:
    from rich.table import Table

    from aqmlab.live import link_json

    # Standard output is the command's.
    console = Terminal(to_stderr=True)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    both = (carried.link.down, carried.link.up)
    for title in ("", "", *(one.name for one in both)):
        table.add_column(title, justify="right" if title else "left")
    table.add_row("Discipline", "", *(Text(one.label) for one in both))
    for name, title, unit, scale, digits in ROWS:
        metrics = [carried.report[one.name]["metrics"] for one in both]
        table.add_row(title, unit, *(f"{one[name] * scale:.{digits}f}" if name in one else "-" for one in metrics))
    tcp, late = carried.report["tcp"], _lateness(carried)
    console.print("", table, "")
    console.print(Text(f"{carried.report['duration_s']:.1f} s; {late}"))
    console.print(Text(f"TCP of both ends: {tcp_of(tcp)}; packets passed by {carried.report['path']}"))
    if carried.by:
        console.print(
            Text(f"beyond the far end (NAT by {carried.by}) paths add their round trip, hosts have their own TCP")
        )
    if carried.replayed and not carried.replayed["parts_at"]:
        console.print(Text(f"the log's {carried.replayed['calls']} calls were replayed, with the same decisions"))
    for warning in link_json.warnings(carried):
        console.print(Text(f"warning: {warning}", style="yellow"))


def tcp_of(tcp: Mapping[str, str]) -> str:
    """Say what TCP of both ends was set to."""
    ecn = "with" if tcp["tcp_ecn"] == "1" else "without"
    return f"{tcp['congestion_control']}, {ecn} ECN, tcp_rmem {tcp['tcp_rmem']}"


def _lateness(carried: Carried) -> str:
    """How punctual the link was."""
    from aqmlab.live.link_json import lateness_ms

    late = [lateness_ms(carried.report[line.name]["lateness_ms"]) for line in (carried.link.down, carried.link.up)]
    known = [one for one in late if one]
    if not known:
        return "no packet passed"
    median, worst = (max(one[place] for one in known) for place in ("p50", "p99"))
    return f"packets left {median:.2f} ms late in the median, 99 % within {worst:.2f} ms"


__all__ = ["check_path", "link", "tcp_of"]
