"""A baseline: the earlier result of a scenario that a new one is compared with, and where that is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import scenario, store
from aqmlab.files import disk
from aqmlab.results import Result
from aqmlab.results.baseline import FILE, changes, changes_json, first_difference
from aqmlab.vocabulary.errors import InputError, about
from aqmlab.vocabulary.json_text import json_text

if TYPE_CHECKING:
    from aqmlab.scenario import Experiment


def load(folder: Path, experiment: Experiment, out: Path | None) -> Result:
    """Return the baseline of an experiment that is about to run.

    Raises:
        InputError: if the folder is no result, the one that is written, or that of another scenario.

    """
    if out is not None and folder.resolve() == out.resolve():
        raise about("baseline", f"'{folder}' is the folder of the new result (out): name another one for it")
    try:
        stored = store.read(folder)
    except InputError as error:
        raise about("baseline", error) from None
    baseline = Result(stored.manifest, stored.frames, folder)
    if len(baseline.points) != len(experiment.points):
        problem = f"'{folder}' has {len(baseline.points)} scenarios, and this experiment {len(experiment.points)}"
        raise about("baseline", problem)
    for options, theirs, point in zip(experiment.points, baseline.scenarios, baseline.points, strict=True):
        found = first_difference(scenario.resolve(options).echo, theirs)
        if not found and dict(options.point) != dict(point):
            found = f"point: '{point}' there and '{dict(options.point)}' here"
        if found:
            raise about("baseline", f"'{folder}' is of another scenario: {found}")
    return baseline


def compared(result: Result, baseline: Result) -> Result:
    """Return a result that knows what changed since its baseline; its folder, if it has one, keeps that as a file."""
    found = {**changes_json(changes(result, baseline), result, baseline), "of": result.manifest["frames"]}
    if result.folder is not None:
        disk.put(result.folder / FILE, json_text(found).encode())
    return replace(result, since=found)


def recorded(folder: Path, manifest: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a folder says of its baseline; nothing if it has none, or has got other runs since."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("of") == manifest["frames"] else None


__all__ = ["compared", "load", "recorded"]
