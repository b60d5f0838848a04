"""``aqmlab engine``: what runs the scenarios, and what has to be built for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.help import Command
from aqmlab.cli.terminal import Terminal, tell
from aqmlab.vocabulary.errors import InputError, Interrupted, unknown

if TYPE_CHECKING:
    from aqmlab.engine import SingleEngine

app = typer.Typer(help="Engines: the simulator, and the Linux kernel in virtual time.", no_args_is_help=True)


@app.command("list", cls=Command)
def list_() -> None:
    """List the engines, whether each is ready, and what it runs."""
    from aqmlab.engine import ENGINES

    console = Terminal()
    for engine in ENGINES.values():
        console.print(f"{engine.name:8}  {engine.about}")
        console.print(f"{'':8}  {_state(engine)}")
        able = engine.capabilities
        for what, names in (("disciplines", able.aqms), ("flows", able.kinds), ("topologies", able.topologies)):
            console.print(f"{'':8}  {what}: {'all' if names is None else ', '.join(sorted(names))}")


@app.command(cls=Command)
def build(
    name: Annotated[str, typer.Argument(metavar="ENGINE", help="linux.")],
    kernel: Annotated[
        Path | None,
        typer.Option("--kernel", metavar="DIR", help="A kernel's source tree, instead of Debian's newest package."),
    ] = None,
) -> None:
    """Build what an engine needs, once: some minutes, 4 GB meanwhile. An interrupted build continues.

    For example:

    aqmlab engine build linux
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from aqmlab.engine import ENGINES

    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    if name != "linux":
        raise InputError(f"engine {name}: needs no build")
    from aqmlab.engine.linux.build import build as build_linux

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    console = Terminal(to_stderr=True)
    last = "preparing"
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=1.0)

        def advance(step: str, share: float) -> None:
            nonlocal last
            if step != last and not console.is_terminal:
                tell(step)
            last = step
            progress.update(task, description=step, completed=share)

        try:
            built = build_linux(advance, kernel)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted while {last}: the same command continues") from None
    Terminal().print(f"Linux {built.release} is ready in {built.folder}")


def _state(engine: SingleEngine) -> str:
    try:
        return f"ready: {engine.version}"
    except InputError as error:
        return error.problem or str(error)


__all__ = ["app"]
