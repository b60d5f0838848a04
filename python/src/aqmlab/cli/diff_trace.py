"""``aqmlab diff-trace``: where two engines, or two profiles, part in the same scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.compare import Force, Json, Out, Quiet, check_target, with_options, write_json
from aqmlab.cli.terminal import Terminal, Text, give
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.json_text import json_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aqmlab.analysis.divergence import Divergence
    from aqmlab.analysis.traces import Difference

FILE = "diff-trace.json"


@with_options
def diff_trace(
    *,
    values: dict[str, Any],
    engine: Annotated[
        str, typer.Option("--engine", metavar="A,B", help="Two engines; or one, which runs both profiles.")
    ] = "",
    profile: Annotated[str, typer.Option("--profile", metavar="A,B", help="Two profiles of all TCP flows.")] = "",
    tolerance: Annotated[
        str, typer.Option("--tolerance", metavar="T", help="How much later the same event may be (default 2ms).")
    ] = "2ms",
    out: Out = None,
    as_json: Json = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    r"""Run a scenario in two engines or with two profiles, and show their first difference.

    A flow starts at once unless it says when.

    For example:

    aqmlab diff-trace --rate 10mbit --rtt 40ms --flows "1*newreno:profile=linux" --aqm codel:linux --engine native,linux

    aqmlab diff-trace --rate 10mbit --rtt 40ms --flows "1*cubic" --aqm codel --profile rfc,linux
    """
    from aqmlab import plots
    from aqmlab.analysis import trace_figure, trace_json, traces
    from aqmlab.files import disk

    if values.pop("seeds") is not None:
        raise InputError("--seeds: one run of each is traced; --first-seed says which")
    check_target(as_json, force=force)
    if out is not None:
        disk.check_writable(out)
        disk.check_free((out / name for name in (FILE, *trace_figure.FILES)), force=force)
    found = traces.diff(values, engine, profile, tolerance, "--")
    if out is not None:
        drawn = [trace_figure.figure(found, one) for one in found.divergences[:1]]
        contents = {FILE: json_text(trace_json.document(found)).encode(), **plots.contents(drawn)}
        disk.put_all(out, contents)
    write_json(json_text(trace_json.document(found)), as_json)
    if not quiet:
        console = Terminal(to_stderr=as_json == "-")
        for line in traces.words(found):
            console.print(Text(line, style="bold"))
        for part in _shown(found, found.divergences[0]) if found.divergences else []:
            console.print(part)
    if out is not None and as_json != "-":
        give(out)


def _shown(found: Difference, one: Divergence) -> list[RenderableType]:
    from rich.table import Table

    from aqmlab.analysis import traces

    events = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    events.add_column("")
    for side in found.sides:
        events.add_column(f"{side.name}\nms", justify="right", no_wrap=True)
        events.add_column("\nevent, in segments", no_wrap=True)
        events.add_column("\nwindow", justify="right", no_wrap=True)
    for number, (ours, theirs) in enumerate(traces.rows(found, one)):
        is_here = number == traces.AROUND
        cells = [Text(cell, style="bold" if is_here else "") for cell in (*ours, *theirs)]
        events.add_row(Text(">" if is_here else ""), *cells)
    states = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    states.add_column("Before it")
    for title in ("window", "ssthresh", "srtt, ms", "rto, ms", "state"):
        states.add_column(title, justify="right")
    for side in found.sides:
        state = side.flows[one.flow].before(one.time_ns)
        if state is None:
            continue
        ssthresh = "none" if state.ssthresh is None else f"{state.ssthresh:.1f}"
        timers = [f"{state.srtt_ms:.2f}", f"{state.rto_ms:.1f}"]
        states.add_row(side.name, f"{state.cwnd:.1f}", ssthresh, *timers, state.phase)
    return ["", events, "", states, ""]


__all__ = ["diff_trace"]
