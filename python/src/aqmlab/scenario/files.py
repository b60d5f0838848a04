"""Experiments as data: a TOML file with the options of a comparison, and sweeps over them."""

from __future__ import annotations

import itertools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, unknown
from aqmlab.scenario.options import BY_NAME, Options, from_values

LARGEST_SWEEP = 1000
# Quantities in a file say their unit; these alone are plain numbers.
PLAIN = ("seeds",)
PATHS = ("link_trace", "capture")


@dataclass(frozen=True)
class Experiment:
    """A titled set of scenarios; more than one if something is swept."""

    title: str
    points: tuple[Options, ...]


def load(path: str | os.PathLike[str], overrides: Mapping[str, str] | None = None) -> Experiment:
    """Read an experiment file. Paths in it are relative to the file; ``overrides`` replace its options.

    Raises:
        InputError: naming file, key and value, what is allowed and the nearest known key.

    """
    place = f"{os.fspath(path)}: "
    table = _read(Path(path), place)
    known = ["title", "allow_unequal_buffers", "sweep", *BY_NAME]
    for key in table:
        if key not in known:
            raise InputError(f"{place}{unknown('key', key, known)}")
    title = table.pop("title", Path(path).stem)
    unequal = table.pop("allow_unequal_buffers", False)
    sweep = table.pop("sweep", {})
    if not isinstance(title, str):
        raise InputError(f"{place}title: '{title}' is not text")
    if not isinstance(unequal, bool):
        raise InputError(f"{place}allow_unequal_buffers: '{unequal}' is neither true nor false")
    table.update(overrides or {})
    points = []
    for point in _points(sweep, table, place):
        values = {key: _value(key, value, place, Path(path).parent) for key, value in {**table, **point}.items()}
        labels = {key: _label(value) for key, value in point.items()}
        points.append(
            from_values(values, place, point=labels, allow_unequal_buffers=unequal, folder=Path(path).parent),
        )
    return Experiment(title=title, points=tuple(points))


def _read(path: Path, place: str) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"{place}cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{place}is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{place}is not TOML: {error}") from None


def _points(sweep: object, table: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """Return the cross product of what is swept; one empty point if nothing is."""
    if not isinstance(sweep, dict):
        raise InputError(f"{place}sweep: is a table of lists, as [sweep] with rate = ['5mbit', '10mbit']")
    for key, values in sweep.items():
        if key not in BY_NAME:
            raise InputError(f"{place}sweep: {unknown('key', key, BY_NAME)}")
        if key in ("aqm", "seeds"):
            raise InputError(f"{place}sweep: '{key}' cannot be swept; list every AQM under aqm")
        if key in table:
            raise InputError(f"{place}sweep: '{key}' is given outside the sweep too: give one of them")
        if not isinstance(values, list) or not values:
            raise InputError(f"{place}sweep: {key}: is a list of values")
        if len({_label(value) for value in values}) < len(values):
            raise InputError(f"{place}sweep: {key}: holds a value twice")
    points = [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]
    if len(points) > LARGEST_SWEEP:
        raise InputError(f"{place}sweep: has {len(points)} points; allowed are {LARGEST_SWEEP}")
    return points


def _value(key: str, value: object, place: str, folder: Path) -> object:
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, str | int) or (isinstance(entry, int) and key not in PLAIN):
            raise InputError(f"{place}{key}: '{entry}' is not text with a unit, as in quotes: \"{_example(key)}\"")
    if key in PATHS:
        placed = [str(folder / str(entry)) for entry in entries]
        return placed if isinstance(value, list) else placed[0]
    return value


def _example(key: str) -> str:
    return {"rate": "10mbit", "rtt": "40ms", "aqm": "codel", "loss": "0.1%"}.get(key, BY_NAME[key].default or "...")


def _label(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, list) else str(value)
