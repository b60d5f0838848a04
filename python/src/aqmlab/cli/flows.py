"""``aqmlab flows``: the kinds of flow, and the meaning of their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Table

from aqmlab.cli.help import Command
from aqmlab.cli.terminal import Terminal, Text
from aqmlab.scenario.flows import defaults_of, keys_of, of_profile, of_the_field
from aqmlab.scenario.kinds import ALIASES, GROUPS, KINDS, PAPERS, PROFILES, TRANSPORTS, Key, SourceKind
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
    rules = [key for key in keys if key.group and key.group.of_profiles]
    # No profile sets these.
    of_papers = [key for key in keys if key.group and not key.group.of_profiles]
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
        console.print("\nAdvanced: single rules\n", _rules(rules, usual), "\nWhat profiles set\n", _profiles(kind))
        for profile in PROFILES:
            console.print(f"\nprofile={profile}: {of_profile(TRANSPORTS[kind.transport], profile)[1]}")
    if of_papers and every:
        summaries = {group.summary for key in of_papers if (group := key.group)}
        console.print(f"\nOf papers' senders: {', '.join(sorted(summaries))}\n", _rules(of_papers, usual))


# Keys whose meaning has their words, and groups, whose words are those of `profile`.
_EXPLAINED = ("ecn", *GROUPS)


def _rules(keys: Sequence[Key], usual: Mapping[str, str | None]) -> Table:
    """Return rules with their default, what they take and their meaning."""
    table = _table("Key", "Default", "Takes", "Meaning")
    for key in keys:
        table.add_row(key.name, usual.get(key.name) or "", key.allowed, key.help)
    return table


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
