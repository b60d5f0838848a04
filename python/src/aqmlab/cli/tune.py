"""``aqmlab tune``: parameters by search, judged where they were not chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.compare import (
    Force,
    Jobs,
    Json,
    NoSizeCheck,
    Out,
    Quiet,
    Unequal,
    check_count,
    check_target,
    named_values,
    with_options,
    write_json,
)
from aqmlab.cli.terminal import Terminal, Text, give
from aqmlab.vocabulary.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aqmlab.tuning import Tuning


@with_options
def tune(
    *,
    values: dict[str, Any],
    training: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TRAINING.toml]...", help="Experiments to tune on, in place of options."),
    ] = None,
    validate: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Held-out experiments to validate on; half of all unless given."),
    ] = None,
    minimise: Annotated[
        list[str], typer.Option(metavar="METRIC", help="A metric, as qdelay_p99_ms; several: a Pareto front.")
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="BOUND", help="As 'goodput_mbit >= 0.95*fifo' or 'qdelay_p95_ms <= 20'; repeatable."),
    ] = None,
    swept: Annotated[
        list[str] | None,
        typer.Option("--sweep", metavar="NAME=VALUES", help="What varies over the scenarios, as rtt=10ms..100ms*5."),
    ] = None,
    design: Annotated[
        str, typer.Option(metavar="WHAT", help="How scenarios are chosen from it: grid, latin*N or sobol*N.")
    ] = "latin*16",
    trials: Annotated[str, typer.Option(metavar="N", help="Settings to propose after the first sample.")] = "50",
    sensitivity: Annotated[
        str, typer.Option(metavar="N", help="Base size of the first sample, for Sobol indices: 2, 4, 8...; 0 for none.")
    ] = "32",
    training_seeds: Annotated[
        str, typer.Option(metavar="N", help="Runs of a setting in each training scenario.")
    ] = "2",
    pareto: Annotated[
        str, typer.Option(metavar="N", help="Settings of the Pareto front to validate, spread over it.")
    ] = "4",
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of the search.")] = "1",
    allow_unequal_buffers: Unequal = False,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = None,
    force: Force = False,
    quiet: Quiet = False,
    no_size_check: NoSizeCheck = False,
) -> None:
    r"""Search an AQM's parameters, and validate them on held-out scenarios and seeds.

    For example:

    aqmlab tune --aqm "pie target 5ms..40ms" --minimise qdelay_p99_ms --keep "goodput_mbit >= 0.95*fifo"

    Where rate, rtt or flows are not given they vary over 16 scenarios. Half of them are held out for validation.
    """
    numbers = [
        check_count(name, text, least)
        for name, text, least in (
            ("--trials", trials, 0),
            ("--sensitivity", sensitivity, 0),
            ("--training-seeds", training_seeds, 1),
            ("--pareto", pareto, 1),
            ("--seed", seed, 0),
        )
    ]
    processes = check_count("--jobs", jobs)
    check_target(as_json, force=force)
    options = dict(values)
    aqms = options.pop("aqm") or []
    if len(aqms) != 1:
        raise InputError("--aqm: name one AQM with ranges, as 'pie target 5ms..40ms tupdate 5ms..50ms'")
    from aqmlab import store
    from aqmlab.cli import show
    from aqmlab.tuning.goal import Goal
    from aqmlab.tuning.space import Space
    from aqmlab.tuning.tuning import Asked, choose, run_tuning

    space, goal = Space.parse(aqms[0]), Goal.parse(minimise, keep or [])
    proposals, base, runs, most, first = (number or 0 for number in numbers)
    sweep = named_values(swept or [])
    split = choose(
        training or [], validate or [], options, sweep, design, first, "--", allow_unequal_buffers=allow_unequal_buffers
    )
    asked = Asked(space, goal, split, proposals, base, runs, most, first)
    folder = store.dated("tune") if out is None else out
    with show.watching(show.Bars, folder, dated=out is None, quiet=quiet) as bar:
        found = run_tuning(asked, folder, processes, bar, no_size_check=no_size_check)
    write_json(found.to_json(), as_json)
    if not quiet:
        console = Terminal(to_stderr=as_json == "-")
        for part in shown(found, folder):
            console.print(part)
    elif as_json != "-":
        give(folder)


def shown(found: Tuning, folder: Path) -> Sequence[RenderableType]:
    """Return a tuning for a terminal."""
    from rich.table import Table

    from aqmlab import publishing
    from aqmlab.cli.show import open_page
    from aqmlab.tuning import sensitivity, tuning_page

    def table(name: str, columns: Sequence[str], rows: Sequence[tuple[str, list[str]]]) -> Table:
        made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        made.add_column(name)
        for column in columns:
            made.add_column(column, justify="right", no_wrap=True)
        for place, (aqm, cells) in enumerate(rows):
            made.add_row(Text(aqm if place else f"{aqm} (default)", style="" if place else "dim"), *cells)
        return made

    names = found.goal.metrics
    fronts = ["on the front"] if len(found.goal.minimise) > 1 else []
    scenarios = len(found.question["training"])
    note = f"means over the {scenarios} training scenarios, which chose: what they are worth is below"
    words = [Text(line) for line in (*found.words, *sensitivity.words(found.indices))]
    front, judged = (
        table("Front", names, tuning_page.table(found)),
        table("Judged", [*names, *fronts], tuning_page.table_judged(found)),
    )
    return [front, Text(note, style="dim"), "", judged, "", *words, "", open_page(folder / publishing.REPORT)]
