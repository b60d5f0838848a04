"""``aqmlab flows``: the kinds of flow, and the meaning of their keys."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from aqmlab.cli.help import Command
from aqmlab.cli.terminal import Terminal, Text
from aqmlab.scenario.flows import defaults_of, keys_of, of_profile, of_the_field
from aqmlab.scenario.kinds import ALIASES, GROUPS, KINDS, PAPERS, PROFILES, TRANSPORTS, SourceKind
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
def show(
    name: Annotated[str, typer.Argument(metavar="KIND", help="For example web or cubic.")],
    every: Annotated[bool, typer.Option("--all", help="Show each rule of TCP, and what profiles set.")] = False,
) -> None:
    """Show the keys of a kind of flow: values, meaning and default of each."""
    kind = KINDS.get(ALIASES.get(name.lower(), name.lower()))
    if kind is None:
        raise unknown("kind", name, [*KINDS, *ALIASES])
    keys = [of_the_field(key) for key in keys_of(kind).values()]
    usual = defaults_of(kind)
    # What only one paper's senders do is on a page of its own.
    rules = [key for key in keys if key.group and key.group.of_profiles]
    table = _table("Key", "Default", "Meaning")
    for key in (one for one in keys if not one.group):
        default = "needed" if key.name in kind.must else usual.get(key.name) or ""
        words = f": {key.allowed}" if key.unit == "choice" and key.name not in _EXPLAINED else ""
        table.add_row(key.name, default, key.help + words)
    needed = "".join(f":{name}=..." for name in kind.must)
    console = Terminal()
    console.print(f"{kind.name}: {kind.help}\nCOUNT*{kind.name}{needed}[:key=value]...\n", table)
    if rules and not every:
        more = f"\n{len(rules)} single rules (as {rules[0].name}) are listed by aqmlab flows show {kind.name} --all"
        console.print(Text(more, style="dim"))
    if rules and every:
        advanced = _table("Key", "Default", "Takes", "Meaning")
        for key in rules:
            advanced.add_row(key.name, usual.get(key.name) or "", key.allowed, key.help)
        console.print("\nAdvanced: single rules\n", advanced, "\nWhat profiles set\n", _profiles(kind))
        for profile in PROFILES:
            console.print(f"\nprofile={profile}: {of_profile(TRANSPORTS[kind.transport], profile)[1]}")


# Keys whose meaning has their words, and groups, whose words are those of `profile`.
_EXPLAINED = ("ecn", *GROUPS)


def _profiles(kind: SourceKind) -> Table:
    """Return the keys whose default is another in another profile, and where the values come from."""
    defaults = [defaults_of(kind, profile=name) for name in PROFILES]
    table = _table("Key", *PROFILES, "Source")
    for key in keys_of(kind).values():
        values = [of[key.name] or "" for of in defaults]
        if len(set(values)) > 1 and key.name not in ("profile", *GROUPS):
            table.add_row(key.name, *values, key.reference)
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=column in ("Kind", "Key"))
    return table
