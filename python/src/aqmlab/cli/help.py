"""The help of commands: options and commands in groups, each with its whole name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group as Rows
from rich.table import Table
from typer.core import TyperCommand, TyperGroup

from aqmlab.cli.plain_values import read_plainly
from aqmlab.cli.terminal import Terminal, Text

if TYPE_CHECKING:
    from rich.console import RenderableType

# What belongs to one command alone stands before the groups.
OWN = "Options"
# Options of a scenario bring their group; these are what commands declare themselves.
OPTIONS = {
    "Link": ("rate", "down", "up", "down_trace", "up_trace", "link", "rtt", "buffer", "overhead", "measure"),
    "Traffic": ("flows", "server", "downloads", "uploads", "cc", "ecn"),
    "Disciplines": ("aqm", "aqm_down", "aqm_up", "allow_unequal_buffers"),
    "Statistics": ("duration", "warmup", "seeds", "seed", "until_ci"),
    "Running": ("jobs", "engine", "on", "shard", "yes"),
    "Output": ("out", "report", "log", "pcap", "as_json", "force", "quiet", "help"),
}  # fmt: skip
COMMANDS = {
    "Home line": ("advise", "diagnose"),
    "Experiments": ("compare", "sweep", "run", "suite", "tune"),
    "Live": ("link", "live-compare", "doctor"),
    "Papers": ("reproduce",),
    "Results": ("report", "plot", "export", "merge"),
    "Catalogue": ("aqm", "flows", "metrics", "engine", "schema", "teach"),
    "Tools": (),
}
LONGEST_NAME = 26


class Command(TyperCommand):
    """A command whose help has groups, and which says what a word without an option was meant to be."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read its options; refuse words that belong to none."""
        read_plainly(self.get_params(ctx))
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if ctx.args:
            takes_aqm = any("--aqm" in one.opts for one in self.params)
            meant = f", did you mean '--aqm {ctx.args[0]}'?" if takes_aqm else ""
            ctx.fail(f"'{ctx.args[0]}' belongs to no option{meant}")
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print it."""
        del formatter
        shown = [one for one in self.get_params(ctx) if not getattr(one, "hidden", False)]
        _print(ctx, self, arguments(shown), *options(shown))


class Group(TyperGroup):
    """A command with commands of its own, in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read its options."""
        read_plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print it."""
        del formatter
        shown = [one for one in self.get_params(ctx) if not getattr(one, "hidden", False)]
        _print(ctx, self, *commands(self.lines(ctx)), *options(shown))

    def lines(self, ctx: Any) -> dict[str, str]:
        """Return its commands and what each does."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        return {name: sentence(one.help or "") for name, one in found.items() if one and not one.hidden}


def _print(ctx: Any, command: Any, *parts: tuple[str, list[tuple[str, str]]]) -> None:
    console = Terminal()
    pieces = " ".join(command.collect_usage_pieces(ctx))
    out: list[RenderableType] = [Text(f"Usage: {ctx.command_path} {pieces}", style="bold"), ""]
    for paragraph in re.split(r"\n\s*\n", (command.help or "").strip()):
        out += [Text(" ".join(paragraph.split())), ""]
    names = [name for _, lines in parts for name, _ in lines]
    width = max((len(name) for name in names if len(name) <= LONGEST_NAME), default=0) + 2
    for title, lines in parts:
        if lines:
            out += [Text(title, style="bold"), _listed(lines, width), ""]
    console.print(*out[:-1], sep="\n")


def _listed(lines: Iterable[tuple[str, str]], width: int) -> RenderableType:
    """Return names beside what they mean; a long name has a line of its own."""
    grid = _grid(width)
    rows: list[RenderableType] = []
    for name, meaning in lines:
        if len(name) <= LONGEST_NAME:
            grid.add_row(Text(f"  {name}"), Text(meaning))
            continue
        rows += [grid, Text(f"  {name}")]
        grid = _grid(width)
        grid.add_row("", Text(meaning))
    return Rows(*(one for one in [*rows, grid] if not isinstance(one, Table) or one.row_count))


def _grid(width: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=width, no_wrap=True)
    grid.add_column()
    return grid


def arguments(params: Sequence[Any]) -> tuple[str, list[tuple[str, str]]]:
    """Return the arguments of a command with their meaning, and what they are called together."""
    found = [one for one in params if one.param_type_name == "argument"]
    return "Arguments", [(str(one.metavar or one.name.upper()), str(one.help or "")) for one in found]


def options(params: Sequence[Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the options of a command, as they are typed, with their meaning, by group; some groups are empty."""
    groups: dict[str, list[tuple[str, str]]] = {OWN: [], **{name: [] for name in OPTIONS}}
    place = {option: name for name, options in OPTIONS.items() for option in options}
    for one in params:
        if one.param_type_name == "option":
            group = one.rich_help_panel or place.get(one.name, OWN)
            groups[group].append((_spelled(one), _meaning(one)))
    *rest, last = OPTIONS
    if not any(groups[name] for name in rest) and len(groups[last]) == 1:
        # Help alone needs no group.
        groups[OWN] += groups.pop(last)
    return list(groups.items())


def _spelled(option: Any) -> str:
    """An option as it is typed.

    >>> from types import SimpleNamespace as Option
    >>> _spelled(Option(opts=["--quiet", "-q"], secondary_opts=[], is_flag=True, metavar=None))
    '-q, --quiet'
    >>> _spelled(Option(opts=["--rate"], secondary_opts=[], is_flag=False, metavar="R"))
    '--rate R'

    """
    names = sorted([*option.opts, *option.secondary_opts], key=lambda name: (name.startswith("--"), len(name)))
    if option.secondary_opts:
        names = [*option.opts, *option.secondary_opts]
    return ", ".join(names) + ("" if option.is_flag else f" {option.metavar or 'TEXT'}")


def _meaning(option: Any) -> str:
    text, default = str(option.help or ""), option.default
    if option.required:
        return f"{text} (required)"
    is_worth = option.show_default and not option.is_flag and isinstance(default, str | int | float) and default != ""
    return f"{text} (default {default})" if is_worth else text


def commands(lines: dict[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return commands with a line about each, by group; some groups are empty."""
    place = {command: name for name, commands in COMMANDS.items() for command in commands}
    if not set(lines) & set(place):
        return [("Commands", list(lines.items()))]
    groups: dict[str, list[tuple[str, str]]] = {name: [] for name in COMMANDS}
    for command in [*(one for one in place if one in lines), *(one for one in lines if one not in place)]:
        groups[place.get(command, "Tools")].append((command, lines[command]))
    return list(groups.items())


def sentence(text: str) -> str:
    """Return the first sentence, without what it says after a colon."""
    return " ".join(text.split("\n\n")[0].split()).partition(":")[0].rstrip(".") + "."


__all__ = ["COMMANDS", "OPTIONS", "Command", "Group", "arguments", "commands", "options", "sentence"]
