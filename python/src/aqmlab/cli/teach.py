"""``aqmlab teach``: lessons and playground, in a folder of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.terminal import give

FOLDER = "lessons"


def teach(
    out: Annotated[Path, typer.Option(metavar="DIR", help="New folder for them.")] = Path(FOLDER),
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the playground, or only say where it is."),
    ] = True,
) -> None:
    """Put the five lessons for a class and the playground into a folder, and open the playground.

    The playground is the simulator in one page, without a server; the lessons are notebooks, which need Jupyter.

    For example:

    aqmlab teach --out lessons --no-browser
    """
    from aqmlab.files import course

    page = course.write(out)
    count = len(list(out.glob("*.ipynb")))
    typer.echo(f"{count} lessons: jupyter lab {out} (pip install jupyterlab)")
    if page is None:
        typer.echo("no playground: it comes with the wheel, and `make playground` builds it in a checkout")
        return
    give(page)
    if browser:
        typer.launch(page.resolve().as_uri())


__all__ = ["teach"]
