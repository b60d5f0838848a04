"""``aqmlab tune``: parameters by search, judged where they were not chosen."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from aqmlab.errors import Interrupted
from aqmlab.metrics import number


def tune(
    training: Annotated[list[Path], typer.Argument(metavar="TRAINING.toml...", help="Experiments to tune on.")],
    aqm: Annotated[list[str], typer.Option(help="An AQM with ranges, as 'pie target 1ms..50ms'; repeatable.")],
    judge: Annotated[list[Path] | None, typer.Option(help="Experiments that choose nothing; repeatable.")] = None,
    minimise: Annotated[str, typer.Option(help="The metric.")] = "loss_ratio",
    keep: Annotated[list[str] | None, typer.Option(help="A bound, as 'qdelay_p95_ms <= 20'; repeatable.")] = None,
    trials: Annotated[int, typer.Option(min=1, help="Settings that are tried, those of the journal included.")] = 50,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 1,
    journal: Annotated[Path | None, typer.Option(help="File that keeps the trials, to go on from.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Threads.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Search an AQM's parameters: the least of a metric within bounds, on some experiments, judged on others."""
    # Frames and the runner, which other commands start without.
    from aqmlab import tuning

    def search(space: str) -> tuning.Tuned:
        return tuning.tune(
            space,
            training,
            judge or (),
            minimise=minimise,
            keep=keep or (),
            trials=trials,
            seed=seed,
            journal=journal,
            jobs=jobs,
        )

    try:
        found = [search(space) for space in aqm]
    except KeyboardInterrupt:
        if journal is None:
            raise
        raise Interrupted(f"interrupted: {journal} holds the finished trials") from None
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in found]))
        return
    columns = list(found[0].training)
    table = Table("Tuned", *columns, box=None, pad_edge=False, header_style="bold")
    for one in found:
        sides = (one.training, one.judged) if judge else (one.training,)
        table.add_row(one.spec, *(" / ".join(number(side[name]) for side in sides) for name in columns))
    console = Console(markup=False)
    console.print(table)
    console.print(
        f"Means over the experiments{', training / judging' if judge else ''}; {found[0].trials} trials each."
    )
