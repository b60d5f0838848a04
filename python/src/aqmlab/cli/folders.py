"""``aqmlab report``, ``plot`` and ``export``: output from existing result folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.compare import Force
from aqmlab.errors import InputError, unknown

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A result folder.")]


def report(folder: Folder) -> None:
    """Write the report and the figures of a result folder again."""
    from aqmlab import experiment, publishing

    result = experiment.report(folder)
    if result.is_partial:
        print(f"aqmlab: {folder}: {result.warnings[0]}", file=sys.stderr)
    typer.echo(str(folder / publishing.REPORT))


def plot(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="cdf, slowdown, timeseries, tradeoff or sweep.")],
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Result folders, drawn in one figure.")],
    column: Annotated[str | None, typer.Option("--column", help="What to draw, such as qdelay_ms or owd_ms.")] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the figure and its CSV.")] = Path("."),
    force: Force = False,
) -> None:
    """Draw a figure from one or more results, as SVG with its numbers as CSV."""
    from aqmlab import plots, store
    from aqmlab.experiment import load
    from aqmlab.store import files

    if kind not in plots.KINDS:
        raise unknown("kind of figure", kind, plots.KINDS)
    store.check_writable(out)
    contents = plots.contents(plots.figures(kind, [load(folder) for folder in folders], column))
    files.check_free((out / name for name in contents), force=force)
    for path in files.put_all(out, contents):
        typer.echo(str(path))


def export(
    folder: Folder,
    csv: Annotated[bool, typer.Option("--csv", help="One CSV file per frame.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="DIR/csv unless given.")] = None,
    force: Force = False,
) -> None:
    """Write a result's frames in another format."""
    import polars as pl

    from aqmlab import store
    from aqmlab.experiment import load
    from aqmlab.results.frames import FRAMES
    from aqmlab.store import files

    if not csv:
        raise InputError("export: name the format: --csv")
    result = load(folder)
    target = folder / "csv" if out is None else out
    store.check_writable(target)
    files.check_free((target / f"{name}.csv" for name in FRAMES), force=force)
    contents = {}
    for name in FRAMES:
        frame: pl.DataFrame = getattr(result.frames, name)
        lists = [column for column, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
        contents[f"{name}.csv"] = frame.with_columns(pl.col(lists).list.join("; ")).write_csv().encode()
    for path in files.put_all(target, contents):
        typer.echo(str(path))
