"""``aqmlab flows``: the kinds of flow, and the meaning of their keys."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from aqmlab.cli.help import Command
from aqmlab.cli.terminal import Terminal, Text
from aqmlab.scenario.flows import defaults_of, keys_of, of_profile, of_the_field
from aqmlab.scenario.kinds import ALIASES, KINDS, PAPERS, PROFILES, TRANSPORTS, SourceKind
from aqmlab.vocabulary.errors import unknown

app = typer.Typer(help="List the kinds of flow and show their keys.", no_args_is_help=True)


@app.command("list", cls=Command)
def list_(
    papers: Annotated[bool, typer.Option("--papers", help="List the senders that only papers' authors ran.")] = False,
) -> None:
    """List the kinds of flow."""
    table = _table("Kind", "What it is")
    for kind in KINDS.values():
        if (kind.extension == PAPERS) == papers:
            table.add_row(kind.name, kind.help)
    console = Terminal()
    console.print(table)
    console.print(Text("\naqmlab flows show KIND lists the keys of one of them.", style="dim"))


@app.command(cls=Command)
def show(name: Annotated[str, typer.Argument(metavar="KIND", help="For example web or cubic.")]) -> None:
    """Show the keys of a kind of flow: values, meaning and default of each."""
    kind = KINDS.get(ALIASES.get(name.lower(), name.lower()))
    if kind is None:
        raise unknown("kind", name, [*KINDS, *ALIASES])
    table = _table("Key", "Default", "Takes", "Meaning")
    keys = keys_of(kind)
    usual = defaults_of(kind)
    for key in map(of_the_field, keys.values()):
        default = "must be given" if key.name in kind.must else usual.get(key.name) or ""
        table.add_row(key.name, default, key.allowed, key.help)
    needed = "".join(f":{name}=..." for name in kind.must)
    console = Terminal()
    console.print(f"{kind.name}: {kind.help}\nCOUNT*{kind.name}{needed}[:key=value]...\n", table)
    if "profile" in keys:
        console.print("\n", _profiles(kind))
        for name in PROFILES:
            console.print(f"\nprofile={name}: {of_profile(TRANSPORTS[kind.transport], name)[1]}")


def _profiles(kind: SourceKind) -> Table:
    """Return the keys whose default is another in another profile, and where the values come from."""
    defaults = [defaults_of(kind, profile=name) for name in PROFILES]
    table = _table("Key", *PROFILES, "Source")
    for key in keys_of(kind).values():
        values = [of[key.name] or "" for of in defaults]
        if len(set(values)) > 1 and key.name != "profile":
            table.add_row(key.name, *values, key.reference)
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=column in ("Kind", "Key"))
    return table
