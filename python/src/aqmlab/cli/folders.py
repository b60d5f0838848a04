"""``aqmlab report``, ``plot`` and ``export``: output from existing result folders."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.compare import Force, Quiet
from aqmlab.errors import CheckError, InputError, unknown

# A test holds that these are all; naming them here costs no import of what draws them.
_KINDS = (
    "applications, bars, box, ccdf, cdf, fairness, fct, groups, jain, pareto, queue, slowdown, sweep, timeseries or "
    "tradeoff."
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A result folder.")]


def report(folder: Folder) -> None:
    """Write the report and the figures of a result folder again."""
    from aqmlab import experiment, publishing

    result = experiment.report(folder)
    if result.is_partial:
        print(f"aqmlab: {folder}: {result.warnings[0]}", file=sys.stderr)
    typer.echo(str(folder / publishing.REPORT))


def merge(
    parts: Annotated[
        list[Path], typer.Argument(metavar="PART...", help="What --shard made, or folders of the same experiment.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The new folder.")],
    quiet: Quiet = False,
) -> None:
    """Merge the parts of an experiment into the folder that one machine would have written.

    For example, on three machines and then on one:

    aqmlab sweep ... --shard 1/3 --out part1

    aqmlab merge part1 part2 part3 --out whole
    """
    from aqmlab import experiment
    from aqmlab.cli import show

    class Watcher(experiment.Watcher):
        def on_notice(self, text: str) -> None:
            print(f"aqmlab: {text}", file=sys.stderr)

    result = experiment.merge(parts, out, Watcher())
    if quiet:
        typer.echo(str(out))
    else:
        console = show.console()
        console.print(show.result(result, out, console.width))
    if result.is_partial:
        raise CheckError(f"{out}: is not complete; the whole command with --out {out} makes what is missing")


def plot(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=_KINDS)],
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Result folders, drawn in one figure.")],
    column: Annotated[str | None, typer.Option("--column", help="What to draw, such as qdelay_ms or owd_ms.")] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE|DIR", help="File (.svg, .pdf or .png) or folder; its CSV is beside.")
    ] = Path("."),
    paper: Annotated[
        bool, typer.Option("--paper", help="As wide as a column of a paper (3.5 in), letters of 8 pt, no caption.")
    ] = False,
    force: Force = False,
) -> None:
    """Draw a figure from one or more results, as SVG, PDF or PNG with its numbers as CSV.

    For example:

    aqmlab plot cdf results/one results/other --out delay.pdf --paper
    """
    from aqmlab import plots, store
    from aqmlab.experiment import load
    from aqmlab.store import files

    if kind not in plots.KINDS:
        raise unknown("kind of figure", kind, plots.KINDS)
    ending = next((one for one in plots.ENDINGS if out.suffix.lower() == f".{one}"), None)
    target = out.parent if ending else out
    store.check_writable(target)
    drawn = plots.figures(kind, [load(folder) for folder in folders], column)
    if ending:
        if len(drawn) > 1:
            raise InputError(f"--out: '{out}' is one file, and there are {len(drawn)} figures: name a folder")
        drawn = [replace(drawn[0], name=out.stem)]
    contents = plots.contents(drawn, ending or "svg", plots.PAPER if paper else plots.SCREEN)
    files.check_free((target / name for name in contents), force=force)
    for path in files.put_all(target, contents):
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
