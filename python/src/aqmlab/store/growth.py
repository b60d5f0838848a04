"""Growing folders: more seeds, AQMs and points of the same experiment are added to a folder.

Every AQM has the same seeds at every point: the union of existing and requested ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aqmlab.own import python_aqm
from aqmlab.results import groups
from aqmlab.scenario import Experiment, Plan
from aqmlab.scenario.options import Options
from aqmlab.vocabulary.errors import InputError

# Keys that may differ between a folder and an addition, and keys derived from others.
_FREE = ("aqm", "seeds", "rules", "defaults", groups.KEY)


def entry(options: Options, plan: Plan) -> dict[str, Any]:
    """Return a point for the manifest: resolved, and as requested."""
    return {
        "point": dict(options.point),
        "scenario": plan.echo,
        "files": plan.files,
        "options": {
            "given": {name: list(texts) for name, texts in options.given.items()},
            "named": dict(options.named),
            "varied": list(options.varied),
            "folder": None if options.folder is None else str(options.folder),
            "allow_unequal_buffers": options.allow_unequal_buffers,
        },
    }


def grown(
    experiment: Experiment, plans: Sequence[Plan], held: Mapping[str, Any], version: str, folder: Path
) -> Experiment:
    """Return the experiment extended by the seeds, AQMs and points of the folder.

    Raises:
        InputError: if the folder holds another experiment, naming the key that differs.

    """
    if held["code"] != version or any("options" not in one for one in held["points"]):
        raise _other(folder, f"by another version of aqmlab ({held['code']}; this one is {version})")
    there = {_place(one["point"]): one for one in held["points"]}
    here = {_place(one.point): plan for one, plan in zip(experiment.points, plans, strict=True)}
    _check_same(experiment, plans, held["points"], folder)
    labels = _union([one["label"] for one in held["points"][0]["scenario"]["aqm"]], _labels(plans[0]))
    _check_code(labels, [one["options"] for one in held["points"]], experiment, folder)
    seeds = max(len(held["points"][0]["scenario"]["seeds"]), len(plans[0].seeds))
    places = _union(list(there), list(here))
    if places == list(here) and labels == _labels(plans[0]) and seeds == len(plans[0].seeds):
        return experiment
    given = {_place(one.point): one for one in experiment.points}
    points = [given[place] if place in given else options(there[place], experiment.points[0]) for place in places]
    wider = {"aqm": tuple(labels), "seeds": (str(seeds),)}
    return replace(experiment, points=tuple(replace(one, given={**one.given, **wider}) for one in points))


def _check_code(
    labels: Sequence[str], asked: Sequence[Mapping[str, Any]], experiment: Experiment, folder: Path
) -> None:
    """Refuse a folder that names code to run which the user has not named: it may come from somebody else."""
    there = python_aqm.named(json.dumps([list(labels), list(asked)]))
    here = python_aqm.named(json.dumps([[dict(one.given), dict(one.named)] for one in experiment.points]))
    for name in sorted(there - here):
        raise InputError(
            f"{folder}: holds runs of {name}, which is code: name it with --aqm too, or name another folder"
        )


def _check_same(experiment: Experiment, plans: Sequence[Plan], held: Sequence[Mapping[str, Any]], folder: Path) -> None:
    swept_there, swept_here = (", ".join(one) or "nothing" for one in (held[0]["point"], experiment.points[0].point))
    if swept_there != swept_here:
        raise _other(folder, f"it sweeps {swept_there}, this one {swept_here}")
    first_there, first_here = held[0]["scenario"]["seeds"][0], plans[0].seeds[0]
    if first_there != first_here:
        raise _other(folder, f"its first seed is {first_there}, this one's {first_here}")
    there = {_place(one["point"]): one for one in held}
    is_met = False
    for options, plan in zip(experiment.points, plans, strict=True):
        one = there.get(_place(options.point))
        if one is None:
            continue
        is_met = True
        check_same(one["scenario"], json.loads(json.dumps(plan.echo)), folder)
        for path, digest in plan.files.items():
            if one["files"].get(path) != digest:
                raise _other(folder, f"the content of {path} differs")
    if not is_met:
        # No common point: the requested options must be the same except for swept ones.
        asked, options = held[0]["options"], experiment.points[0]
        free = {*_FREE, *options.point, *options.varied}
        given = {name: list(texts) for name, texts in options.given.items()}
        check_same(
            {name: value for name, value in {**asked["named"], **asked["given"]}.items() if name not in free},
            {name: value for name, value in {**options.named, **given}.items() if name not in free},
            folder,
        )


def check_same(there: Mapping[str, Any], here: Mapping[str, Any], folder: Path) -> None:
    """Make sure that what a folder holds is what is asked for, but for what may grow.

    Raises:
        InputError: naming the first key that differs.

    """
    for name in {**there, **here}:
        # What an earlier version did not write was empty.
        if name not in _FREE and (there.get(name) or None) != (here.get(name) or None):
            raise _other(folder, f"{name} is {_words(there.get(name))} there and {_words(here.get(name))} here")


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) and value else str(value or "nothing")


def _other(folder: Path, why: str) -> InputError:
    return InputError(f"{folder}: holds another experiment: {why}; results are never overwritten: name another folder")


def options(one: Mapping[str, Any], like: Options) -> Options:
    """Return the options of a manifest's point; what the manifest does not say is as in ``like``."""
    asked = one["options"]
    return replace(
        like,
        given={name: tuple(texts) for name, texts in asked["given"].items()},
        named=asked["named"],
        varied=tuple(asked.get("varied", like.varied)),
        point=one["point"],
        folder=None if asked["folder"] is None else Path(asked["folder"]),
        allow_unequal_buffers=asked["allow_unequal_buffers"] or like.allow_unequal_buffers,
    )


def _labels(plan: Plan) -> list[str]:
    return [contestant.label for contestant in plan.contestants]


def _place(point: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(point.items())


def _union(there: list[Any], here: list[Any]) -> list[Any]:
    """Return all of both: in the new order if it has everything, else with new entries last."""
    return list(dict.fromkeys([*(() if set(there) <= set(here) else there), *here]))
