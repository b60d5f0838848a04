"""Which commands there are, and the module of each: only that of the command that is called is loaded."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from aqmlab.cli.help import Command, Group

# The module of each in this package, with what the command is there if not a function of its name.
PLACES = {
    "compare": "compare",
    "sweep": "compare",
    "run": "compare",
    "reproduce": "reproduce",
    "show": "folders",
    "report": "folders",
    "merge": "folders",
    "plot": "folders",
    "export": "folders",
    "schema": "schema",
    "classify": "classify",
    "diff-trace": "diff_trace",
    "tune": "tune",
    "suite": "suite",
    "advise": "advise",
    "diagnose": "diagnose",
    "teach": "teach",
    "link": "link",
    "doctor": "doctor",
    "live-compare": "live_compare",
    "aqm": "aqm:app",
    "flows": "flows:app",
    "metrics": "metrics:app",
    "engine": "engine:app",
    "new": "new:app",
}
# What help says of each: the first sentence of its own help, as a test holds.
LINES = {
    "compare": "Compare queue disciplines on one bottleneck, over seeds.",
    "sweep": "Compare queue disciplines over a space of settings.",
    "run": "Run an experiment.",
    "reproduce": "Run a paper's scenarios and judge its claims.",
    "show": "Print all tables, differences and settings of a result folder.",
    "report": "Write the report and the figures of a result folder again.",
    "merge": "Merge the parts of an experiment into the folder that one machine would have written.",
    "plot": "Draw a figure from one or more results, as SVG, PDF or PNG with its numbers as CSV.",
    "export": "Write a result's frames, or its runs, in another format.",
    "schema": "Print the JSON Schema of experiment files, or of resolved scenarios.",
    "classify": "Run heavy-hitter classifiers on captures, and compare with exact byte counts.",
    "diff-trace": "Run a scenario in two engines or with two profiles, and show their first difference.",
    "tune": "Search an AQM's parameters, and validate them on held-out scenarios and seeds.",
    "suite": "Run every scenario of a suite, as RFC 7928's, for some disciplines or congestion controls, "
    "and write one page.",
    "advise": "Recommend a queue discipline for a home line, with its gains, costs and lines to paste.",
    "diagnose": "Estimate rate, RTT, bufferbloat, buffer, loss and marking from a capture, with confidence.",
    "teach": "Put the five lessons for a class and the playground into a folder, and open the playground.",
    "link": "Run a program behind a real bottleneck.",
    "doctor": "Check whether live links work on this machine, and how to get what is missing.",
    "live-compare": "Compare disciplines under the same real traffic.",
    "aqm": "List the queue disciplines and show their parameters.",
    "flows": "List the kinds of flow and show their keys.",
    "metrics": "List the metrics.",
    "engine": "Engines.",
    "new": "Make the files of something new.",
}


class Root(Group):
    """The command, whose own commands are built when they are asked for."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named | {"commands": {}})
        self.commands: Any = _Built()

    def lines(self, ctx: Any) -> dict[str, str]:
        """Return the commands and what each does."""
        del ctx
        return dict(LINES)


class _Built(Mapping[str, Any]):
    """Commands by name, each built when it is asked for first."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.known:
            self.known[name] = _build(name, PLACES[name])
        return self.known[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a command; unlike a mapping's own, with whatever goes wrong while it is built."""
        return self[name] if name in PLACES else default

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)

    def __contains__(self, name: object) -> bool:
        return name in PLACES


def _build(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    what = getattr(importlib.import_module(f"aqmlab.cli.{module}"), attribute or name.replace("-", "_"))
    # Typer builds commands of a group, and a group is what has a callback.
    group = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False)
    group.callback()(lambda: None)
    if isinstance(what, typer.Typer):
        group.add_typer(what, cls=Group, name=name)
    else:
        group.command(name, cls=Command)(what)
    built: Any = typer.main.get_command(group)
    return built.commands[name]


__all__ = ["LINES", "PLACES", "Root"]
