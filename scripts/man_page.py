#!/usr/bin/env python3
"""Write the manual page of the command, in man(7)'s macros, from what --help shows.

    scripts/man_page.py python/wheel/data/share/man/man1/aqmlab.1
    man -l python/wheel/data/share/man/man1/aqmlab.1

The wheel installs it, so that `man aqmlab` finds it where the environment's commands are on the path.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer.main

from aqmlab import __version__
from aqmlab.cli.help import arguments, commands, options, sentence
from aqmlab.cli.main import app

STATUS = {
    "0": "done",
    "1": "a check failed, or the machine did",
    "2": "the input is wrong: the line on standard error says what, and what is allowed",
    "70": "an error of aqmlab itself",
    "130": "interrupted; finished runs are kept",
}
ALSO = ("tc(8)", "tc-cake(8)", "tc-codel(8)", "tc-fq_codel(8)", "tc-pie(8)", "tc-red(8)", "flent(1)", "iperf3(1)")


def page() -> str:
    """Return the manual page."""
    root: Any = typer.main.get_command(app)
    context = root.make_context("aqmlab", [], resilient_parsing=True)
    known = _commands(root, context)
    lines = [f'.TH AQMLAB 1 "" "aqmlab {__version__}" "User Commands"', ".SH NAME"]
    lines += [f"aqmlab \\- {_text(root.help).rstrip('.')}"]
    lines += [".SH SYNOPSIS", r".B aqmlab", r"\fICOMMAND\fR ...", ".SH COMMANDS"]
    for group, found in commands({name: sentence(one.help or "") for name, one in known.items()}):
        lines += [f".SS {group}", *_listed(found)] if found else []
    lines += [".SH OPTIONS", *(line for _, found in options(_shown(root, context)) for line in _listed(found))]
    for name, command in known.items():
        lines += _command(command, f"aqmlab {name}")
    lines += [".SH EXIT STATUS", *_listed(STATUS.items())]
    lines += [".SH SEE ALSO", ", ".join(rf"\fB{one.partition('(')[0]}\fR({one[-2]})" for one in ALSO)]
    return "\n".join(lines) + "\n"


def _command(command: Any, name: str) -> Iterator[str]:
    """Write a command, and after it those that it has itself."""
    context = command.make_context(name, [], resilient_parsing=True)
    yield f'.SH "{name.upper()}"'
    yield rf"\fB{_text(name)}\fR {_text(' '.join(command.collect_usage_pieces(context)))}"
    for paragraph in re.split(r"\n\s*\n", (command.help or "").strip()):
        yield from (".PP", _text(paragraph))
    for title, found in (arguments(_shown(command, context)), *options(_shown(command, context))):
        if found:
            yield from (f".SS {title}", *_listed(found))
    for inner, one in _commands(command, context).items():
        yield from _command(one, f"{name} {inner}")


def _commands(command: Any, context: Any) -> dict[str, Any]:
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    return {name: one for name in names if not (one := command.get_command(context, name)).hidden}


def _shown(command: Any, context: Any) -> list[Any]:
    return [one for one in command.get_params(context) if not getattr(one, "hidden", False)]


def _listed(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in found:
        yield from (".TP", rf"\fB{_text(name)}\fR", _text(meaning))


def _text(text: str) -> str:
    """Write a text so that none of it is a macro: hyphens as they are typed, nothing special at the start of a line."""
    plain = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return rf"\&{plain}" if plain.startswith(".") else plain


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
