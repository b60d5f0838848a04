"""``aqmlab classify``: which flows of a capture the classifiers report as heavy."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from aqmlab.cli.terminal import Terminal, Text, tell
from aqmlab.vocabulary.errors import InputError, unknown


def classify(
    captures: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Captures (pcap, pcapng); several are merged.")
    ],
    with_: Annotated[
        str, typer.Option("--with", metavar="NAME,...", help="Classifiers: lru, l_lru, m_lru, with their parameters.")
    ] = "m_lru,l_lru,lru",
    heavy: Annotated[
        str, typer.Option("--heavy", metavar="SHARE", help="Share of all bytes from which on a flow is heavy.")
    ] = "1%",
    udp: Annotated[str, typer.Option("--udp", metavar="RATE", help="Add a UDP flow of this rate, as 3mbit.")] = "",
    duration: Annotated[str, typer.Option("--duration", metavar="TIME", help="Leave out what comes later.")] = "",
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**64 - 1, help="Seed of what classifiers draw.")] = 1,
    limit: Annotated[int, typer.Option("--flows", min=0, help="How many of the heaviest flows are listed.")] = 20,
) -> None:
    """Run heavy-hitter classifiers on captures, and compare with exact byte counts."""
    from aqmlab.analysis import classification
    from aqmlab.vocabulary.units import parse_fraction, parse_span

    try:
        share = parse_fraction(heavy)
    except ValueError as error:
        raise InputError(f"--heavy: {error}") from None
    if share > 1:
        raise InputError(f"--heavy: '{heavy}' is more than all bytes: allowed are 0 to 100%")
    names = [name.strip() for name in with_.split(",") if name.strip()]
    for name in names or [with_]:
        plain = name.partition(" ")[0].partition(":")[0]
        if plain.lower().replace("-", "_") not in classification.CLASSIFIERS:
            raise unknown("classifier", plain, classification.CLASSIFIERS)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--with: '{twice}' is given twice")
    try:
        duration_s = parse_span(duration) / 1e9 if duration else None
    except ValueError as error:
        raise InputError(f"--duration: {error}") from None
    traffic = classification.read(captures, udp, duration_s)
    found = [classification.classify(traffic, name, share, seed) for name in names]
    wanted = classification.heavy(traffic, share)

    for warning in traffic.warnings:
        tell(warning)
    console = Terminal()
    total = sum(flow.bytes for flow in traffic.flows)
    console.print(
        f"{len(traffic.hashes)} packets of {len(traffic.flows)} flows; "
        f"the {len(wanted)} flows with {share:.3g} of the {total} bytes or more are heavy.\n",
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Classifier")
    for title in ("Reported", "Precision", "Recall", "Packets", "Heavy bytes", "State"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, one in zip(names, found, strict=True):
        shares = (one.precision, one.recall, one.packets, one.caught_bytes)
        cells = ["" if value is None else f"{value:.3f}" for value in shares]
        table.add_row(name, str(len(one.reported)), *cells, str(one.state_bytes))
    console.print(table)
    note = "Reported: flows; Packets, Heavy bytes: the share of them in reported packets; State: bytes."
    console.print(Text(note, style="dim"))
    if not limit:
        return
    listed = Table(box=None, pad_edge=False, header_style="bold")
    listed.add_column("Flow")
    for title in ("Packets", "Bytes", "Share"):
        listed.add_column(title, justify="right")
    listed.add_column("Reported by")
    reporters = [(name, {flow.hash for flow in one.reported}) for name, one in zip(names, found, strict=True)]
    for flow in traffic.flows[:limit]:
        by = ", ".join(name for name, hashes in reporters if flow.hash in hashes)
        mark = "*" if flow in wanted else ""
        listed.add_row(
            flow.name + mark, str(flow.packets), str(flow.bytes), f"{flow.bytes / total:.2%}", by or "nobody"
        )
    console.print("\n", listed, Text("\n* heavy by the byte counts", style="dim"))
