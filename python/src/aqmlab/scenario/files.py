"""Experiments as data: a TOML file with the options of a comparison, and sweeps over them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import toml
from aqmlab.errors import InputError, unknown
from aqmlab.metrics import METRICS
from aqmlab.scenario.options import BY_NAME, Options, from_values

LARGEST_SWEEP = 1000
# Quantities in a file have a unit; only these are plain numbers.
PLAIN = ("seeds",)
PATHS = ("link_trace", "capture")
# Swept values become columns beside these.
RESERVED = (
    *("point", "aqm", "seed", "engine", "events", "bottleneck_packets", "cpu_s", "warnings", "key", "reference"),
    *(
        "metric",
        "mean",
        "ci95_low",
        "ci95_high",
        "n",
        "method",
        "difference",
        "p",
        "p_holm",
        "distinguishable",
        "words",
    ),
    *("scenario", "time_s", "name", "value", "value_ns", "count", "share"),
)
_METRICS = frozenset(metric.name for metric in METRICS)


@dataclass(frozen=True)
class Experiment:
    """A titled set of scenarios; more than one if something is swept."""

    title: str
    points: tuple[Options, ...]


def load(
    path: str | os.PathLike[str],
    overrides: Mapping[str, str] | None = None,
    *,
    values: Mapping[str, str] | None = None,
    quick: bool = False,
) -> Experiment:
    """Read an experiment file. Paths in it are relative to the file.

    Args:
        path: the file.
        overrides: options that replace those of the file.
        values: values that replace those of its ``$names``.
        quick: apply its ``[quick]`` table: the same experiment in less time.

    Raises:
        InputError: naming file, key and value, what is allowed and the nearest known key.

    """
    place = f"{os.fspath(path)}: "
    table = toml.read(Path(path))
    known = ["title", "allow_unequal_buffers", "values", "sweep", "quick", *BY_NAME]
    for key in table:
        if key not in known:
            raise InputError(f"{place}{unknown('key', key, known)}")
    shortened = _shortened(table, _table(table, "quick", place), place)
    table = shortened if quick else table
    title = table.pop("title", Path(path).stem)
    unequal = table.pop("allow_unequal_buffers", False)
    named = {key: _text(key, value, f"{place}values: ") for key, value in _table(table, "values", place).items()}
    sweep = _table(table, "sweep", place)
    if not isinstance(title, str):
        raise InputError(f"{place}title: '{title}' is not text")
    if not isinstance(unequal, bool):
        raise InputError(f"{place}allow_unequal_buffers: '{unequal}' is neither true nor false")
    for key in values or {}:
        if key not in named:
            raise InputError(f"{place}values: {unknown('value', key, named)}")
    named.update(values or {})
    table.update(overrides or {})
    points = []
    for labels, point in _points(sweep, table, named, place):
        options = {key: value for key, value in {**table, **point}.items() if key in BY_NAME}
        given = {key: _value(key, value, place, Path(path).parent) for key, value in options.items()}
        swept = {key: _text(key, value, f"{place}sweep: ") for key, value in point.items() if key not in BY_NAME}
        rest: dict[str, Any] = {"point": labels, "named": {**named, **swept}, "folder": Path(path).parent}
        points.append(from_values(given, place, allow_unequal_buffers=unequal, **rest))
    for name in sorted({*named, *sweep} - {*BY_NAME}):
        if not any(point.uses(name) for point in points):
            raise InputError(f"{place}'{name}' is neither an option nor used anywhere as ${name}")
    return Experiment(title=title, points=tuple(points))


def _table(table: dict[str, Any], key: str, place: str) -> dict[str, Any]:
    """Take a table out of another."""
    found = table.pop(key, {})
    if not isinstance(found, dict):
        example = "lists, as [sweep] with rate = ['5mbit', '10mbit']" if key == "sweep" else "options"
        raise InputError(f"{place}{key}: must be a table of {example}")
    return found


def _shortened(table: dict[str, Any], quick: dict[str, Any], place: str) -> dict[str, Any]:
    """Return the experiment after applying `[quick]`; tables are merged key by key."""
    known = ["values", "sweep", *BY_NAME]
    for key in quick:
        if key not in known:
            raise InputError(f"{place}quick: {unknown('key', key, known)}")
    inner = {}
    for key in ("values", "sweep"):
        tables = [table.get(key), quick.get(key)]
        if any(isinstance(one, dict) for one in tables):
            inner[key] = {name: value for one in tables if isinstance(one, dict) for name, value in one.items()}
    return {**table, **quick, **inner}


def _points(
    sweep: Mapping[str, Any], table: Mapping[str, Any], named: Mapping[str, str], place: str
) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Return the cross product of what is swept, options or values; one empty point if nothing is.

    Each point has what its values are called, and the values. They are given in a list, or by names in a table.
    """
    swept = {}
    for key, values in sweep.items():
        if key not in BY_NAME and not any(f"${key}" in text for text in _texts(table)):
            raise InputError(f"{place}sweep: {unknown('key', key, BY_NAME)}")
        if key not in BY_NAME and (key in RESERVED or key in _METRICS):
            raise InputError(f"{place}sweep: '{key}' is the name of a column in every result: choose another name")
        if key in ("aqm", "seeds"):
            raise InputError(f"{place}sweep: '{key}' cannot be swept; list every AQM under aqm")
        if key in table or key in named:
            raise InputError(f"{place}sweep: '{key}' is given outside the sweep too: give one of them")
        if not isinstance(values, list | dict) or not values:
            raise InputError(f"{place}sweep: {key}: must be a list of values, or a table of names and values")
        named_values = values.items() if isinstance(values, dict) else [(_label(value), value) for value in values]
        swept[key] = list(named_values)
        if len({label for label, _ in swept[key]}) < len(values):
            raise InputError(f"{place}sweep: {key}: holds a value twice")
    chosen = list(itertools.product(*swept.values()))
    if len(chosen) > LARGEST_SWEEP:
        raise InputError(f"{place}sweep: has {len(chosen)} points; at most {LARGEST_SWEEP} are allowed")
    labels = [dict(zip(swept, (label for label, _ in one), strict=True)) for one in chosen]
    return [
        (names, dict(zip(swept, (value for _, value in one), strict=True)))
        for names, one in zip(labels, chosen, strict=True)
    ]


def _value(key: str, value: object, place: str, folder: Path) -> object:
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, str | int) or (isinstance(entry, int) and key not in PLAIN):
            raise InputError(f"{place}{key}: '{entry}' is not text with a unit, such as \"{_example(key)}\"")
    if key in PATHS:
        placed = [str(folder / str(entry)) for entry in entries]
        return placed if isinstance(value, list) else placed[0]
    return value


def _text(key: str, value: object, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{place}{key}: '{value}' is not text")
    return value


def _texts(table: Mapping[str, Any]) -> list[str]:
    """Return every text among the options."""
    values = [value for key, value in table.items() if key in BY_NAME]
    return [str(entry) for value in values for entry in (value if isinstance(value, list) else [value])]


def _example(key: str) -> str:
    return {"rate": "10mbit", "rtt": "40ms", "aqm": "codel", "loss": "0.1%"}.get(key, BY_NAME[key].default or "...")


def _label(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, list) else str(value)
