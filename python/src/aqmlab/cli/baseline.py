"""``--baseline DIR``: what changed against an earlier result of the same scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table

from aqmlab import scenario
from aqmlab.cli.terminal import Text
from aqmlab.results import Result
from aqmlab.results.baseline import Change, changes, changes_json, first_difference
from aqmlab.vocabulary.errors import about
from aqmlab.vocabulary.json_text import json_text

if TYPE_CHECKING:
    from aqmlab.scenario import Experiment

FILE = "baseline.json"
# More settings of a sweep are in the file.
MOST_LINES = 24


def load(folder: Path, experiment: Experiment, out: Path) -> Result:
    """Return the baseline of an experiment that is about to run.

    Raises:
        InputError: if the folder is no result, the one that is written, or that of another scenario.

    """
    from aqmlab import experiment as experiments

    if folder.resolve() == out.resolve():
        raise about("baseline", f"'{folder}' is the folder of --out: name another one for the new runs", "--baseline")
    kept = experiments.load(folder)
    if len(kept.points) != len(experiment.points):
        problem = f"'{folder}' has {len(kept.points)} scenarios, and this experiment {len(experiment.points)}"
        raise about("baseline", problem, "--baseline")
    for options, theirs, point in zip(experiment.points, kept.scenarios, kept.points, strict=True):
        found = first_difference(scenario.resolve(options).echo, theirs)
        if not found and dict(options.point) != dict(point):
            found = f"point: '{point}' there and '{dict(options.point)}' here"
        if found:
            raise about("baseline", f"'{folder}' is of another scenario: {found}", "--baseline")
    return kept


def write(result: Result, baseline: Result, folder: Path) -> list[Change]:
    """Write what changed into the folder of the new result, and return it."""
    from aqmlab.files import disk

    found = changes(result, baseline)
    disk.put(folder / FILE, json_text(changes_json(found, result, baseline)).encode())
    return found


def shown(found: Sequence[Change], result: Result, baseline: Result) -> RenderableType:
    """Return what changed for a terminal: a line for each discipline and metric that did."""
    head = f"Since {baseline.folder} (aqmlab {baseline.manifest['aqmlab']}, {baseline.manifest['created'][:10]}):"
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    lines = 0
    for point, setting in enumerate(result.points):
        place = " ".join(f"{key} {value}" for key, value in setting.items())
        for aqm in result.aqms:
            own = [one for one in found if (one.point, one.aqm) == (point, aqm)]
            name = f"{aqm} {place}".strip()
            changed = [one for one in own if not (one.difference.is_zero or one.old == one.new)]
            if not own:
                grid.add_row(Text(name), Text("not in the baseline, or no seed in common", style="dim"))
            elif not changed:
                grid.add_row(Text(name), Text("the same in every run", style="dim"))
            for number, one in enumerate(changed):
                grid.add_row(Text("" if number else name), Text(one.words))
            lines += max(1, len(changed))
            if lines > MOST_LINES:
                more = Text(f"everything is in {FILE} of the new folder", style="dim")
                return Group(Text(head, style="bold"), grid, more, "")
    clear = sum(one.difference.is_distinguishable for one in found)
    note = f"* beyond chance ({clear} of {len(found)}), ≈ no clear difference; written to {FILE}."
    return Group(Text(head, style="bold"), grid, Text(note, style="dim"), "")


__all__ = ["load", "shown", "write"]
