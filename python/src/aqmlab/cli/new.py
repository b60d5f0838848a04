"""``aqmlab new``: the files of something new, from templates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.help import Command
from aqmlab.cli.terminal import give

app = typer.Typer(help="Make the files of something new.", no_args_is_help=True)


@app.callback()
def _root() -> None:
    pass


@app.command(cls=Command)
def aqm(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, as fair_coin.")],
    in_python: Annotated[bool, typer.Option("--python", help="One file in Python, here: slow, for trying.")] = False,
) -> None:
    """Make a queue discipline: a simple law that passes all tests, to be replaced.

    In a checkout it makes the Rust file with a test and the oracle, and adds both to the lists.
    docs/dev/aqm.md has the steps after it.
    """
    from aqmlab import new

    here = Path.cwd()
    if in_python:
        path = new.python(name, here)
        typer.echo(f"made {path.name}; try it:")
        place = f"python:{path.name}:{new.class_of(name)}"
        typer.echo(f"  aqmlab compare --rate 10mbit --rtt 40ms --aqm fifo,{place}")
        typer.echo(f"  aqmlab aqm check {place}")
        typer.echo(f"  aqmlab aqm show {place}")
        return
    rust, oracle, *changed = new.aqm(name, here)
    for path in (rust, oracle):
        give(f"made {path}")
    for path in changed:
        give(f"added {name} to {path}")
    typer.echo("then, as docs/dev/aqm.md says:")
    typer.echo("  INSTA_UPDATE=always cargo test --locked -p aqm-core --test conformance --test golden")
    typer.echo(f"  make setup && .venv/bin/aqmlab compare --rate 10mbit --rtt 40ms --aqm fifo,{name}")
