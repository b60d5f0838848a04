"""``aqmlab show``, ``report``, ``plot`` and ``export``: output from existing result folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.compare import Force, Quiet, Report
from aqmlab.cli.terminal import Terminal, give, tell
from aqmlab.vocabulary.errors import CheckError, InputError, about, unknown

if TYPE_CHECKING:
    from aqmlab.plots import Ending

# A test holds that these are all; naming them here costs no import of what draws them.
_KINDS = (
    "airtime, applications, bars, box, ccdf, cdf, fairness, fct, groups, jain, layers, pareto, queue, slowdown, "
    "stations, sweep, timeseries or tradeoff."
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A result folder.")]


def show(
    folder: Folder,
    every: Annotated[bool, typer.Option("--all", help="Every setting as resolved, defaults included.")] = False,
) -> None:
    """Print all tables, differences and settings of a result folder.

    For example:

    aqmlab show first

    aqmlab show first --all
    """
    from aqmlab import experiment
    from aqmlab.cli.details import details
    from aqmlab.cli.show import Notices

    console = Terminal()
    console.print(details(experiment.load(folder, Notices()), console.width, every=every))


def report(folder: Folder) -> None:
    """Write the report and the figures of a result folder again."""
    from aqmlab import experiment, publishing
    from aqmlab.cli import show

    result = experiment.report(folder, show.Notices())
    if result.is_partial:
        tell(f"{folder}: {result.warnings[0]}")
    give(folder / publishing.REPORT)


def merge(
    parts: Annotated[
        list[Path], typer.Argument(metavar="PART...", help="What --shard made, or folders of the same experiment.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The new folder.")],
    report: Report = True,
    quiet: Quiet = False,
) -> None:
    """Merge the parts of an experiment into the folder that one machine would have written.

    For example, on three machines and then on one:

    aqmlab sweep ... --shard 1/3 --out part1

    aqmlab merge part1 part2 part3 --out whole
    """
    from aqmlab import experiment
    from aqmlab.cli import answer, show

    result = experiment.merge(parts, out, show.Notices(), with_report=report)
    if quiet:
        give(out)
    else:
        console = Terminal()
        console.print(answer.result(result, out, console.width))
    if result.is_partial:
        raise CheckError(f"{out}: is not complete; the whole command with --out {out} makes what is missing")


def plot(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=_KINDS)],
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...", help="Result folders, or files of flent, iperf3 (JSON) and tc -s -j; in one figure."
        ),
    ],
    column: Annotated[str | None, typer.Option("--column", help="What to draw, such as qdelay_ms or owd_ms.")] = None,
    mark: Annotated[
        list[str] | None,
        typer.Option("--mark", metavar="TEXT", help="In a sweep, a setting to name: 'NAME: SWEPT=VALUE ...'."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE|DIR", help="File (.svg, .pdf or .png) or folder; its CSV is beside.")
    ] = Path("."),
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="For a column of a paper: 3.5 in wide, letters of 8 pt, caption printed. 7 in with over two panels "
            "side by side.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Draw a figure from one or more results, as SVG, PDF or PNG with its numbers as CSV.

    For example:

    aqmlab plot cdf results/one results/other --out delay.pdf --paper

    aqmlab plot timeseries results/simulated rrul-evening.flent.gz
    """
    from aqmlab import measured, plots, store
    from aqmlab.cli import show
    from aqmlab.experiment import load
    from aqmlab.files import disk

    if kind not in plots.KINDS:
        raise unknown("kind of figure", kind, plots.KINDS)
    ending = _ending(out, plots.ENDINGS)
    target = out.parent if ending else out
    store.check_writable(target)
    results = [measured.read(path) if path.is_file() else load(path, show.Notices()) for path in folders]
    for result in results:
        if not result.folder:
            tell(f"{result.title}: {'; '.join(result.warnings)}" if result.warnings else "")
    drawn = plots.figures(kind, results, column)
    drawn = [plots.with_annotations(figure, mark or ()) for figure in drawn]
    if ending:
        if len(drawn) > 1:
            raise InputError(f"--out: '{out}' is one file, and there are {len(drawn)} figures: name a folder")
        drawn = [replace(drawn[0], name=out.stem)]
    contents = plots.contents(drawn, ending or "svg", plots.PAPER if paper else plots.SCREEN)
    # The same figure in another format has the same numbers.
    kept = {f"{one.name}.csv" for one in drawn if _holds(target / f"{one.name}.csv", contents[f"{one.name}.csv"])}
    disk.check_free((target / name for name in contents if name not in kept), force=force)
    for path in disk.put_all(target, contents):
        give(path)
    # What the figure itself does not say there.
    for figure in drawn if paper else ():
        tell(f"caption: {figure.title}. {figure.caption}.")


def _ending(out: Path, known: Sequence[Ending]) -> Ending | None:
    """Return the format that the suffix of a file names; nothing for a folder."""
    suffix = out.suffix.lower().removeprefix(".")
    found = next((one for one in known if one == suffix), None)
    # A new folder may be called `v1.2`, but what ends in letters was meant to be a file.
    if found is None and suffix.isalpha() and not out.is_dir():
        allowed = ", ".join(f".{one}" for one in known)
        raise InputError(f"--out: '{out}' is of no format that figures have: allowed are {allowed}, or a folder")
    return found


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def export(
    folder: Folder,
    csv: Annotated[bool, typer.Option("--csv", help="A table for each frame; the two longest compressed.")] = False,
    flent: Annotated[bool, typer.Option("--flent", help="A .flent.gz for each run, which flent opens.")] = False,
    pcapng: Annotated[bool, typer.Option("--pcapng", help="Each run's packets; the run is made once more.")] = False,
    qlog: Annotated[bool, typer.Option("--qlog", help="What senders and queues did, as qlog; the same.")] = False,
    latex: Annotated[
        bool, typer.Option("--latex", help="A table of means with intervals, for booktabs and siunitx.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="METRIC", help="Of --latex, a metric instead of the usual; repeat it."),
    ] = None,
    aqm: Annotated[
        str | None, typer.Option("--aqm", metavar="LABEL", help="Of single runs, those of this AQM.")
    ] = None,
    seed: Annotated[str | None, typer.Option("--seed", metavar="N", help="Of single runs, those of this seed.")] = None,
    point: Annotated[
        str | None,
        typer.Option("--point", metavar="N", help="Of single runs, those of this scenario of a sweep, from 0."),
    ] = None,
    tap: Annotated[
        str | None,
        typer.Option(
            "--tap",
            metavar="WHERE",
            help="Where --pcapng records packets: senders (unless given), receivers, home or queue.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="DIR/csv, DIR/flent, DIR/latex, DIR/pcapng or DIR/qlog unless given."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write a result's frames, or its runs, in another format.

    For example:

    aqmlab export results/mine --csv

    aqmlab export results/mine --latex --out paper/

    aqmlab export results/mine --pcapng --aqm pie --seed 1
    """
    from aqmlab import exports, store
    from aqmlab.cli import show
    from aqmlab.cli.compare import check_count
    from aqmlab.experiment import load
    from aqmlab.exports import names
    from aqmlab.files import disk

    asked = (("csv", csv), ("flent", flent), ("pcapng", pcapng), ("qlog", qlog), ("latex", latex))
    formats = [name for name, wanted in asked if wanted]
    if len(formats) != 1:
        raise about("export", "name one format: --csv, --flent, --latex, --pcapng or --qlog")
    if (csv or latex) and not (aqm is None and seed is None and point is None):
        raise about("export", "--aqm, --seed and --point choose among single runs, with --flent, --pcapng or --qlog")
    if tap is not None and not pcapng:
        raise about("export", "--tap goes with --pcapng")
    if column and not latex:
        raise about("export", "--column goes with --latex")
    chosen = (aqm, check_count("--seed", seed), check_count("--point", point, 0))
    result = load(folder, show.Notices())
    target = folder / formats[0] if out is None else out
    store.check_writable(target)
    parts: Iterable[dict[str, bytes]]
    if csv:
        parts = [exports.csv(result)]
    elif latex:
        parts = [exports.latex(result, column or ())]
    elif flent:
        parts = [exports.flent(result, *chosen)]
    elif qlog:
        # All folders that exist are named before the first run is made.
        stems = [one.file for one in names.runs(result, *chosen)]
        disk.check_free((path for stem in stems for path in target.glob(f"{stem}.*-*.sqlog")), force=force)
        parts = exports.qlog(result, *chosen)
    else:
        parts = [exports.pcapng(result, *chosen, tap="senders" if tap is None else tap)]
    for path in disk.put_parts(target, _free(target, parts, force=force)):
        give(path)


def _free(folder: Path, parts: Iterable[dict[str, bytes]], *, force: bool) -> Iterator[dict[str, bytes]]:
    """Pass on what would replace no file, unless the user wants it."""
    from aqmlab.files import disk

    for contents in parts:
        disk.check_free((folder / name for name in contents), force=force)
        yield contents
