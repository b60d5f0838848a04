"""The options of a comparison, for the command line, for files and for Python.

Each is declared once, in `scenario/options` of the simulator.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab import _native
from aqmlab.vocabulary.errors import InputError, about, unknown
from aqmlab.vocabulary.printable import is_utf_8
from aqmlab.vocabulary.renames import SCENARIO_KEYS
from aqmlab.vocabulary.units import as_text


@dataclass(frozen=True)
class Option:
    """The declaration of an option: its default in tc's notation (empty: none), its meaning, its notation.

    ``form`` is text, file, flows, quantity (with a unit, or one of ``words``), span, rate, bytes, packets, share,
    loss, reorder, slots, count, names (with commas), or switch (one of two ``words``). ``field`` is the field of a
    resolved scenario that has its value (empty: it decides more than one, or none), and ``value`` the default there;
    ``low`` and ``high`` are in base units. Help lists it under ``section``; a live link has it if ``is_live``, and each
    link of a topology if ``is_wire``.
    """

    name: str
    form: str
    words: tuple[str, ...]
    field: str
    default: str
    value: Any
    is_nullable: bool
    is_left_out: bool
    low: float
    high: float
    many: bool
    example: str
    section: str
    is_live: bool
    is_wire: bool
    metavar: str
    help: str
    reference: str

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def read(self, text: str) -> Any:
        """Return a value in base units.

        Raises:
            InputError: naming the value, the problem and what is allowed.

        >>> BY_NAME["device_ring"].read("8p"), BY_NAME["series"].read("groups"), BY_NAME["access_rate"].read("10x")
        (8, False, None)

        """
        return json.loads(_native.read_option(self.name, text))

    def write(self, value: Any) -> str:
        """Return a value in tc's notation.

        >>> BY_NAME["loss"].write(0.001), BY_NAME["overhead"].write(14)
        ('0.1%', '14b')

        """
        return _native.write_option(self.name, json.dumps(value))


def _declared(one: dict[str, Any]) -> Option:
    high = math.inf if one["high"] is None else one["high"]
    return Option(**{**one, "words": tuple(one["words"]), "high": high})


_DECLARED = json.loads(_native.options())
OPTIONS: tuple[Option, ...] = tuple(map(_declared, _DECLARED["options"]))
BY_NAME = {option.name: option for option in OPTIONS}
# Options whose value is a field of a resolved scenario.
SETTINGS: tuple[Option, ...] = tuple(option for option in OPTIONS if option.field)
# What a wire does to packets beside its delay: options of a bottleneck, of a link of a topology, and of a live link.
WIRE: tuple[str, ...] = tuple(option.name for option in OPTIONS if option.is_wire)
# All fields of a resolved scenario, in the order in which it is written.
FIELDS: tuple[str, ...] = tuple(_DECLARED["fields"])
_TWO_RATES = re.compile(r"(\d+(?:\.\d+)?[a-z]*) ?/ ?(\d+(?:\.\d+)?[a-z]*)")
_NAME = re.compile(r"\$(?P<name>[a-z_][a-z0-9_]*)")

# What `$names` may add to an option, and to a topology's file, in characters: a value may name others many times.
MOST_FILLED = 10_000
MOST_FILLED_FILE = 1_000_000
# How many values may be within one another.
DEEPEST = 20


@dataclass(frozen=True)
class Options:
    """The user's options, as text; missing ones have their defaults.

    ``place`` starts every message; ``point`` says what each swept value is called; ``named`` holds the values of
    ``$names``, and ``varied`` those names that differ over a sweep; files of flows are looked for in ``folder``;
    ``asked`` holds the disciplines that the user names beside the file, and which may be code; with ``any_size`` no
    network is too large.
    """

    given: Mapping[str, tuple[str, ...]]
    place: str = ""
    allow_unequal_buffers: bool = False
    point: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)
    varied: tuple[str, ...] = ()
    folder: Path | None = None
    asked: tuple[str, ...] = ()
    any_size: bool = False

    def text(self, name: str) -> str:
        """Return the value of an option that is given at most once."""
        values = self.texts(name)
        return values[0] if values else BY_NAME[name].default

    def value(self, name: str) -> Any:
        """Return the value of an option in base units, or its default.

        Raises:
            InputError: naming the option, its value, the problem and what is allowed; or that it is missing.

        """
        option, text = BY_NAME[name], self.text(name)
        if not text:
            raise self.error(name, f"is missing: give the {option.help}")
        try:
            return option.read(text)
        except ValueError as error:
            raise self.error(name, error) from None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the values of an option that may be repeated, without its default, with ``$names`` replaced."""
        return self._texts(name, self.named)

    def labels(self, name: str) -> tuple[str, ...]:
        """Return an option's texts as labels that are the same over a sweep: swept values stay ``$names``."""
        swept = {value: f"${value}" for value in self.varied}
        return self._texts(name, {**self.named, **swept})

    def fill(self, most: int = MOST_FILLED_FILE) -> Fill:
        """Return what replaces the ``$names`` in all texts of a file."""
        return Fill(self.named, most)

    @property
    def used(self) -> set[str]:
        """The ``$names`` in options and in other values."""
        return names([*(text for entries in self.given.values() for text in entries), *self.named.values()])

    def _texts(self, name: str, named: Mapping[str, str]) -> tuple[str, ...]:
        try:
            return tuple(map(Fill(named), self.given.get(name, ())))
        except ValueError as error:
            raise self.error(name, error) from None

    def is_given(self, name: str) -> bool:
        """Whether the user gave this option."""
        return bool(self.given.get(name))

    def label(self, name: str) -> str:
        """Return the option as the user wrote it, for messages."""
        return BY_NAME[name].flag if self.place == "--" else f"{self.place}{name}"

    def error(self, name: str, problem: object) -> InputError:
        """Return the error about an option."""
        rates = two_rates("".join(self.given.get(name, ()))) if name == "rate" else None
        if rates is not None:
            down, up = rates
            shown = "".join(self.given[name])
            topology = f"{self.label('topology')} asymmetric:up={up}"
            problem = f"'{shown}' is a rate for each direction: give {self.label(name)} {down} with {topology}"
        return about(name, problem, self.label(name))

    def located(self, refusal: InputError) -> InputError:
        """Return what another layer refuses (``flows: 'voip': gap is ...``) as the error about that option."""
        return self.error(refusal.option, refusal) if refusal.option in BY_NAME else refusal


def two_rates(text: str) -> tuple[str, str] | None:
    """Return the rates down and up of a line as providers name them; nothing of any other text.

    >>> two_rates("50/10mbit"), two_rates("1gbit/50mbit"), two_rates("50/10"), two_rates("50mbit")
    (('50mbit', '10mbit'), ('1gbit', '50mbit'), ('50mbit', '10mbit'), None)

    """
    found = _TWO_RATES.fullmatch(text.strip())
    if found is None:
        return None
    down, up = found.groups()
    unit = next((one.lstrip("0123456789.") for one in (up, down) if not one[-1].isdigit()), "mbit")
    down, up = (f"{one}{unit}" if one[-1].isdigit() else one for one in (down, up))
    return down, up


def unknown_option(name: str, known: Iterable[str]) -> InputError:
    """Return the error for a key that is no option: where it was one, with what takes its place.

    >>> print(unknown_option("flow_monitor", BY_NAME))
    'flow_monitor' is now observe = "flow_monitor"

    """
    if name in SCENARIO_KEYS:
        return InputError(f"'{name}' is now {SCENARIO_KEYS[name]}")
    return unknown("key", name, known)


def names(texts: Iterable[str]) -> set[str]:
    """Return the ``$names`` in some texts.

    >>> sorted(names(["$count*cubic:mss=$mss", "fifo"]))
    ['count', 'mss']

    """
    return {match["name"] for text in texts for match in _NAME.finditer(text)}


def from_values(values: Mapping[str, Any], place: str = "", **rest: Any) -> Options:
    """Return options from values by name, each single or (where it may be repeated) in a list.

    Raises:
        InputError: for an unknown option, or a list where one value is expected.

    """
    given: dict[str, tuple[str, ...]] = {}
    for name, value in values.items():
        if name not in BY_NAME:
            raise InputError(f"{place}{unknown_option(name, BY_NAME)}")
        if value is None:
            continue
        many = not isinstance(value, str) and isinstance(value, Sequence)
        if many and not BY_NAME[name].many:
            raise InputError(f"{place}{name}: takes one value, not a list")
        entries = value if many else [value]
        if name in ("aqm", "flows", "capture") and not all(_is_textual(entry) for entry in entries):
            raise InputError(f"{place}{name}: '{value}' is not text")
        given[name] = tuple(as_text(entry) for entry in entries)
        # Names of files may be any bytes; those that a result names are part of it.
        if no_text := [entry for entry in given[name] if not is_utf_8(entry)]:
            raise InputError(f"{place}{name}: '{no_text[0]}' holds bytes that are not text in UTF-8")
    return Options(given=given, place=place, **rest)


def _is_textual(value: object) -> bool:
    import os

    return isinstance(value, str | os.PathLike)


class Fill:
    """Replaces the ``$names`` in texts by their values, which add up to ``most`` characters in all texts together.

    A value may name others, but not itself; a name that is to stay has itself as its value.

    >>> Fill({"kind": "cubic:mss=$mss", "mss": "1000b"})("2*$kind")
    '2*cubic:mss=1000b'

    """

    def __init__(self, named: Mapping[str, str], most: int = MOST_FILLED) -> None:
        self._named = named
        self._most = most
        self._added = 0

    def __call__(self, text: str) -> str:
        """Return a text with its names replaced.

        Raises:
            InputError: naming a name that has no value, and those that have; or the value that is too large.

        """
        return self._filled(text, ())

    def _filled(self, text: str, within: tuple[str, ...]) -> str:
        return _NAME.sub(lambda match: self._value(match["name"], text, within), text)

    def _value(self, name: str, text: str, within: tuple[str, ...]) -> str:
        if name not in self._named or name in within:
            known = [one for one in self._named if one not in within]
            raise InputError(f"'{text}': {unknown('value', name, known) if known else f'there is no ${name}'}")
        value = self._named[name]
        if value == f"${name}":
            return value
        named = (*within, name)
        # A value of no characters takes time, too.
        self._added += len(value) + 1
        if self._added > self._most:
            raise InputError(f"the value of ${named[0]} is too long: all together may add {self._most} characters")
        if len(within) > DEEPEST:
            raise InputError(f"the value of ${named[0]} is too deep: it names others {DEEPEST} deep at most")
        return self._filled(value, named)
