"""``aqmlab metrics``: what is measured."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from aqmlab.cli.help import Command
from aqmlab.cli.terminal import Terminal, Text
from aqmlab.vocabulary.metrics import METRICS, OBSERVERS, Metric

app = typer.Typer(help="List the metrics.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """List the metrics."""


@app.command("list", cls=Command)
def list_(
    papers: Annotated[
        bool, typer.Option("--papers", help="List the observers of papers' programs and their metrics.")
    ] = False,
) -> None:
    """List the metrics that a run may have."""
    table = Table("Name", "What it is", "Unit", box=None, pad_edge=False, header_style="bold")
    console = Terminal()
    if not papers:
        for metric in METRICS:
            if not metric.observer:
                _add(table, metric)
        console.print(table)
        console.print(Text("\nA run has those that apply to it. --papers lists what observers add.", style="dim"))
        return
    for observer in OBSERVERS.values():
        table.add_row(Text(observer.name, style="bold"), Text(observer.summary, style="dim italic"))
        for metric in METRICS:
            if metric.observer == observer.name:
                _add(table, metric, "  ")
    console.print(table)
    console.print(Text("\nA run has them with --observe NAME.", style="dim"))


def _add(table: Table, metric: Metric, before: str = "") -> None:
    table.add_row(f"{before}{metric.name}", metric.about, metric.unit or ("share" if metric.is_share else ""))
