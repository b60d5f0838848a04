"""Experiments as data: a TOML file with the options of a comparison, and sweeps over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.files import shipped, toml
from aqmlab.scenario import sweeps, topologies
from aqmlab.scenario.flows import Files
from aqmlab.scenario.inputs import STEPS
from aqmlab.scenario.options import BY_NAME, Options, from_values, names, unknown_option
from aqmlab.vocabulary.errors import InputError, unknown

# Quantities in a file have a unit; only these are plain numbers.
PLAIN = ("seeds", "first_seed")
PATHS = ("link_trace", "capture")
# Every point holds the options and values that are not swept: characters in all.
MOST_WRITTEN = 200_000_000
# Starts the name of a recording that does not come with aqmlab.
SHARED = "shared:"


@dataclass(frozen=True)
class Experiment:
    """A titled set of scenarios; more than one if something is swept."""

    title: str
    points: tuple[Options, ...]

    @property
    def absent(self) -> list[str]:
        """The recordings that it names and that are not here."""
        named = [path for point in self.points for key in PATHS for path in point.texts(key)]
        return [path for path in dict.fromkeys(named) if not path.startswith(STEPS) and not Path(path).exists()]


def load(
    path: str | os.PathLike[str],
    overrides: Mapping[str, str | Sequence[str]] | None = None,
    *,
    values: Mapping[str, str] | None = None,
    sweep: Mapping[str, Sequence[str]] | None = None,
    quick: bool = False,
) -> Experiment:
    """Read an experiment file. Paths in it are relative to the file; `shared:` starts those of `shipped.shared`.

    A ``$name`` in an option, in another value or in the topology's file stands for a value of the file.

    Args:
        path: the file.
        overrides: options that replace those of the file.
        values: values that replace those of its ``$names``.
        sweep: values that replace those of what it sweeps.
        quick: apply its ``[quick]`` table: the same experiment in less time.

    Raises:
        InputError: naming file, key and value, what is allowed and the nearest known key.

    """
    place = f"{os.fspath(path)}: "
    table = toml.read(Path(path))
    known = ["title", "allow_unequal_buffers", "values", "sweep", "design", "quick", *BY_NAME]
    for key in table:
        if key not in known:
            raise InputError(f"{place}{unknown_option(key, known)}")
    shortened = _shortened(table, _table(table, "quick", place), place)
    table = shortened if quick else table
    # A file may be named by any bytes; a title is text.
    title = table.pop("title", Path(path).stem.encode(errors="replace").decode())
    unequal = table.pop("allow_unequal_buffers", False)
    named = {key: _text(key, value, f"{place}values: ") for key, value in _table(table, "values", place).items()}
    tried = _table(table, "sweep", place)
    design = _text("design", table.pop("design", "grid"), place)
    if not isinstance(title, str):
        raise InputError(f"{place}title: '{title}' is not text")
    if not isinstance(unequal, bool):
        raise InputError(f"{place}allow_unequal_buffers: '{unequal}' is neither true nor false")
    for key in values or {}:
        if key not in named:
            raise InputError(f"{place}values: {unknown('value', key, named)}")
    # What only a replaced value used need not be used now: a search replaces one by one that does without.
    spared = names(named[key] for key in values or {})
    named.update(values or {})
    for key in sweep or {}:
        if key not in tried:
            raise InputError(f"{place}sweep: {unknown('name', key, tried)}")
    tried.update(sweep or {})
    table.update(overrides or {})
    folder = Path(path).parent

    def check(key: str, value: object) -> object:
        return _value(key, value, place, folder)

    named_here = (overrides or {}).get("aqm", ())
    asked = (named_here,) if isinstance(named_here, str) else tuple(named_here)
    rest: dict[str, Any] = {"folder": folder, "allow_unequal_buffers": unequal, "asked": asked}
    return Experiment(title, _points(table, named, tried, design, place, check, rest, spared))


def swept(
    options: Mapping[str, Any], sweep: Mapping[str, Any], design: str = "grid", place: str = "", **rest: Any
) -> Experiment:
    """Return the experiment that sweeps options, or values that options name as ``$names``.

    Args:
        options: the options that are not swept.
        sweep: per name its values: a list, a table of names and values, or text as ``5ms,20ms`` or ``1ms..20ms*8``.
        design: ``grid`` for all combinations, ``latin*N`` or ``sobol*N`` for a sample of N.
        place: start of every message.
        rest: what else `Options` takes.

    Raises:
        InputError: naming the option or the swept name, and what is allowed.

    """
    given = {name: value for name, value in options.items() if value is not None}
    return Experiment("", _points(given, {}, sweep, design, place, lambda key, value: value, rest))


def _points(
    table: Mapping[str, Any],
    named: Mapping[str, str],
    sweep: Mapping[str, Any],
    design: str,
    place: str,
    check: Callable[[str, object], object],
    rest: Mapping[str, Any],
    spared: Set[str] = frozenset(),
) -> tuple[Options, ...]:
    points = []
    swept = sweeps.points(sweep, design, table, named, place)
    written = len(repr((table, named)))
    if len(swept) * written > MOST_WRITTEN:
        raise InputError(
            f"{place}sweep: {len(swept)} points, each with {written} characters of options and values, are too many: "
            f"together they have {MOST_WRITTEN} at most"
        )
    for labels, point in swept:
        options = {key: value for key, value in point.items() if key in BY_NAME}
        given = {key: check(key, value) for key, value in {**table, **options}.items()}
        values = {key: _text(key, value, f"{place}sweep: ") for key, value in point.items() if key not in BY_NAME}
        own: dict[str, Any] = {"point": labels, "named": {**named, **values}, "varied": tuple(point)}
        points.append(from_values(given, place, **own, **rest))
    _check_used({*named, *points[0].varied} - spared, sweep, points, place)
    return tuple(points)


def _check_used(given: Iterable[str], sweep: Mapping[str, Any], points: Sequence[Options], place: str) -> None:
    """Make sure that every value is used: by an option, by another value or by the topology's file."""
    left = {*given} - {*BY_NAME} - {name for point in points for name in point.used}
    if left:
        files = {point.text("topology"): point for point in points}
        left -= {name for point in files.values() for name in _in_topology(point)}
    for name in sorted(left):
        if name in sweep:
            raise InputError(f"{place}sweep: {unknown('key', name, BY_NAME)}, nor used anywhere as ${name}")
        raise InputError(f"{place}'{name}' is neither an option nor used anywhere as ${name}")


def _in_topology(options: Options) -> set[str]:
    try:
        return names(topologies.texts(options.text("topology"), Files(options.folder), any_size=options.any_size))
    except InputError as error:
        raise options.error("topology", error) from None


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
            raise InputError(f"{place}quick: {unknown_option(key, known)}")
    inner = {}
    for key in ("values", "sweep"):
        tables = [table.get(key), quick.get(key)]
        if any(isinstance(one, dict) for one in tables):
            inner[key] = {name: value for one in tables if isinstance(one, dict) for name, value in one.items()}
    if "sweep" in inner:
        full = table.get("sweep", {})
        inner["sweep"] = {key: _chosen(full.get(key), value) for key, value in inner["sweep"].items()}
    return {**table, **quick, **inner}


def _chosen(full: object, values: object) -> object:
    """Return the values of a sweep; the names of some of its points stand for these points."""
    if isinstance(full, dict) and isinstance(values, list) and all(name in full for name in values):
        return {name: full[name] for name in values}
    return values


def _value(key: str, value: object, place: str, folder: Path) -> object:
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, str | int) or (isinstance(entry, int) and key not in PLAIN):
            raise InputError(f"{place}{key}: '{entry}' is not {_form(key)}")
    if key in PATHS:
        placed = [_placed(str(entry), folder) for entry in entries]
        return placed if isinstance(value, list) else placed[0]
    return value


def _placed(text: str, folder: Path) -> str:
    if text.startswith(STEPS):
        return text
    return str(shipped.shared() / text.removeprefix(SHARED) if text.startswith(SHARED) else folder / text)


def _text(key: str, value: object, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{place}{key}: '{value}' is not text")
    return value


def _form(key: str) -> str:
    option = BY_NAME[key]
    if option.form == "count":
        return f"a whole number, such as {option.example}"
    has_unit = option.form not in ("text", "file", "flows", "switch", "choice")
    return ("text with a unit" if has_unit else "text") + (f', such as "{option.example}"' if option.example else "")
