"""``aqmlab aqm``: the disciplines, and the meaning of their parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from aqmlab.cli.help import Command
from aqmlab.cli.terminal import Terminal, Text
from aqmlab.scenario import aqm_texts, registry
from aqmlab.scenario.registry import Discipline, Preset, Spec
from aqmlab.vocabulary.errors import CheckError, InputError
from aqmlab.vocabulary.units import Size, parse_bytes, parse_rate, parse_span

if TYPE_CHECKING:
    from aqmlab.analysis.card import Row

Q = TypeVar("Q")

app = typer.Typer(help="List the queue disciplines and show their parameters.", no_args_is_help=True)


@app.command("list", cls=Command)
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="All declarations as JSON.")] = False,
    papers: Annotated[bool, typer.Option("--papers", help="List the disciplines of papers' programs instead.")] = False,
) -> None:
    """List the queue disciplines."""
    if as_json:
        typer.echo(json.dumps(registry.listing(papers=papers), indent=2, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Name", "What it does", "Presets"):
        table.add_column(column, no_wrap=column == "Name")
    group = ""
    for discipline in registry.of_papers() if papers else registry.disciplines():
        if discipline.group != group:
            group = discipline.group
            table.add_row(Text(group, style="dim italic"))
        presets = ", ".join(preset.name for preset in discipline.presets)
        table.add_row(f"  {discipline.name}", discipline.summary, presets)
    console = Terminal()
    console.print(table)
    console.print(Text("\naqmlab aqm show NAME explains one of them with its parameters and presets.", style="dim"))


@app.command(cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME[:PRESET]", help="For example pie or pie:linux, or tc's text: tc qdisc add ..."),
    ],
    card: Annotated[bool, typer.Option(help="Add the RFC 7567 card.")] = True,
    measure: Annotated[
        bool,
        typer.Option("--measure", help="Measure the card now: about eighty short runs. With parameters it always is."),
    ] = False,
) -> None:
    """Show a discipline: parameters and where each default comes from, presets, and its RFC 7567 card.

    tc's text is translated first: a command, what tc qdisc show prints, or its JSON (tc -j).

    For example:

    aqmlab aqm show pie:linux

    aqmlab aqm show "$(tc qdisc show dev eth0)"
    """
    written = aqm_texts.read(name, name)
    spec = Spec.parse(written.text)
    discipline = registry.find(spec.name)
    preset = next(preset for preset in discipline.presets if preset.name == spec.preset)
    console = Terminal()
    if written.text != name:
        name = written.text
        console.print(
            Text(f"--aqm '{name}'", style="bold"), *(Text(note, style="dim") for note in written.notes), sep="\n"
        )
        console.print()
    console.print(_declared(discipline, preset, spec))
    if card:
        console.print("", _rfc7567(name, measure))


@app.command(cls=Command)
def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="For example python:codel.py:CoDel, or pie.")],
) -> None:
    """Run the conformance tests on a discipline, of which those in Python have no others."""
    from aqmlab import _native
    from aqmlab.runs import workers

    spec = Spec.parse(name)
    found = workers.apart(lambda monitor: _native.conformance(spec.canonical, monitor))
    console = Terminal()
    if not registry.find(spec.name).traits["signals"]:
        console.print("never signals: a plain queue")
    for test, why in found:
        outcome = "ok  " if why is None else "FAIL"
        because = "" if why is None else f": {' '.join(why.split())}"
        console.print(f"{outcome} {test.replace('_', ' ')}{because}", soft_wrap=True)
    failed = sum(why is not None for _, why in found)
    if failed:
        raise CheckError(f"{name}: {failed} of {len(found)} conformance tests failed")
    console.print(f"{len(found)} of {len(found)} passed")


@app.command(cls=Command)
def thresholds(
    delay: Annotated[str, typer.Option(help="Delay that the flows allow from end to end, as 50ms.")],
    buffer: Annotated[str, typer.Option(help="Room in the queue, as 200p.")],
    horizon: Annotated[str, typer.Option(help="How long the queue is to go on at its present slope, as 1s.")],
    hops: Annotated[int, typer.Option(help="Queues on the path, among which the delay is divided.")] = 1,
    rate: Annotated[
        str, typer.Option(help="Rate of the link: the queue holds what it can send within the limit.")
    ] = "",
    packet: Annotated[str, typer.Option(help="Size of a packet on it.")] = "1514b",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Turn a delay limit, a buffer and a horizon into dAQM's thresholds (equations 1 to 19 of its paper).

    ECN thresholds of switches are another matter: aqmlab run data-center/thresholds-100g sweeps them.
    """
    from dataclasses import asdict

    from aqmlab.analysis.thresholds import thresholds as derive

    delay_ms, horizon_ms = (
        _quantity(name, text, parse_span) / 1e6 for name, text in (("delay", delay), ("horizon", horizon))
    )
    size = _quantity("buffer", buffer, Size.parse)
    if not size.in_packets:
        raise InputError(f"--buffer: '{buffer}' is not a number of packets, as 200p")
    packet_ms = None
    if rate:
        bit_per_s = _quantity("rate", rate, parse_rate)
        if bit_per_s == 0:
            raise InputError(f"--rate: '{rate}' is out of range: allowed is a rate above zero")
        packet_ms = _quantity("packet", packet, parse_bytes) * 8e3 / bit_per_s
    found = derive(delay_ms, size.count, horizon_ms, hops=hops, packet_ms=packet_ms)
    if as_json:
        typer.echo(json.dumps({**asdict(found), "spec": found.spec}))
        return
    table = Table("Feature", "Threshold", "From", box=None, pad_edge=False, header_style="bold")
    units = ("ms", "ms/ms", "1/ms", "1/ms2", "packets", "packets/sample", "packets/sample2", "packets/sample3")
    origins = ("eqs. 1, 2", "eqs. 9, 10", "eq. 11", "eq. 12", "eqs. 3, 4", "eqs. 16, 19", "eq. 17", "eq. 18")
    for (name, value), unit, origin in zip(asdict(found).items(), units, origins, strict=True):
        table.add_row(name, f"{value:.6g} {unit}", origin)
    console = Terminal()
    console.print(table)
    if found.s1 >= 1.0:
        console.print("\ns1 is at most 1: with a limit that is not below the horizon it is never exceeded.")
    typer.echo(f"\n--aqm '{found.spec}'")


def _quantity(name: str, text: str, read: Callable[[str], Q]) -> Q:
    try:
        return read(text)
    except ValueError as error:
        raise InputError(f"--{name}: {error}") from None


def _order(traits: dict[str, bool | int]) -> str:
    if traits["reorders_within_flow"]:
        return "packets may overtake others of the same flow"
    return "kept within a flow" if traits["reorders_flows"] else "first in, first out"


def _measured(text: str) -> list[Row]:
    from aqmlab.analysis.card import rfc7567

    columns = (TextColumn("measuring the RFC 7567 card"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Terminal(to_stderr=True), transient=True) as progress:
        bar = progress.add_task("")
        return rfc7567(text, lambda done, total: progress.update(bar, completed=done, total=total))


def _rfc7567(text: str, measure: bool) -> Table:
    from aqmlab.analysis.card import ASKED, shipped

    rows = (None if measure else shipped(text)) or _measured(text)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("RFC 7567", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("What it asks, what is run, what was found")
    for row in rows:
        style = {"meets": "green", "partly": "yellow", "departs": "red"}.get(row.verdict, "dim")
        asked = ASKED[row.id]
        run = "".join(f"\n{text}" for text in (asked.run, asked.enough and f"enough: {asked.enough}") if text)
        found = Text.assemble(asked.asks, (run, "dim"), f"\n{row.how}: {row.finding}")
        table.add_row(row.id, Text(row.verdict, style=style), found)
    return table


def _declared(discipline: Discipline, preset: Preset, spec: Spec) -> RenderableType:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    facts.add_row("Defined by", discipline.reference)
    facts.add_row("Preset", f"{preset.name} ({preset.source})")
    facts.add_row("Departs from it", discipline.deviations)
    facts.add_row("ECN", "can mark" if discipline.traits["ecn"] else "never marks")
    drops = "also packets that already wait" if discipline.traits["drops_queued"] else "on arrival"
    if not discipline.traits["signals"]:
        drops += ", when it is full"
    facts.add_row("Drops", drops)
    facts.add_row("Order", _order(discipline.traits))
    parts: list[RenderableType] = [
        Text.assemble((f"{discipline.name}:{preset.name}", "bold"), "  ", discipline.summary),
        "",
        facts,
        "",
        _parameters(discipline, preset, spec),
    ]
    if len(discipline.presets) > 1:
        parts += ["", _presets(discipline)]
    if discipline.probes:
        probes = Table("Probe", "Unit", "What it is", box=None, pad_edge=False, header_style="bold")
        for probe in discipline.probes:
            probes.add_row(probe.name, probe.unit, probe.help)
        parts += ["", probes]
    return Group(*parts)


def _parameters(discipline: Discipline, preset: Preset, spec: Spec) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Parameter", no_wrap=True)
    table.add_column("Value", no_wrap=True)
    table.add_column("What it does; what is allowed; where the value comes from")
    for param in discipline.params:
        origin = preset.source if param.name in preset.values else param.reference
        auto = f" (auto: {param.auto})" if param.auto else ""
        about = Text.assemble(f"{param.help}{auto}\n", (f"{param.allowed}; {origin}", "dim"))
        table.add_row(param.name, spec.params[param.name], about)
    return table


def _presets(discipline: Discipline) -> Table:
    """Only what differs: one column per preset, one row per parameter that some preset changes."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Preset", no_wrap=True)
    for preset in discipline.presets:
        table.add_column(preset.name, no_wrap=True)
    for param in discipline.params:
        values = [preset.values.get(param.name, param.default) for preset in discipline.presets]
        if len(set(values)) > 1:
            table.add_row(param.name, *values)
    return table
