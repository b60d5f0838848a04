"""The options of a comparison: one table for the command line, for files and for Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.printable import is_utf_8
from aqmlab.vocabulary.units import as_text


@dataclass(frozen=True)
class Option:
    """An option: its default in tc's notation (empty: none), its meaning, and its form.

    ``form`` is text, quantity (with a unit), share, packets, count, flows, or words with ``|`` between.
    """

    name: str
    default: str
    help: str
    form: str = "text"
    many: bool = False


OPTIONS: tuple[Option, ...] = (
    Option("aqm", "", "queue discipline in tc's notation, as 'pie target 15ms ecn'; name:preset", many=True),
    Option("rate", "", "rate of the bottleneck, as 10mbit", form="quantity"),
    Option("rtt", "", "base (propagation) round-trip time, as 40ms", form="quantity"),
    Option("buffer", "1bdp", "buffer of every AQM: 1000p, 64kb, 200ms or 1bdp (at least 20p)", form="quantity"),
    Option("flows", "1*cubic", "flows as 'COUNT*KIND[:key=value]...', as 10*newreno:rtt=20ms", form="flows", many=True),
    Option("topology", "dumbbell", "dumbbell, parking_lot:hops=3, star, many_to_one, leaf_spine, ... or FILE.toml"),
    Option("measure", "", "ports whose queues are measured, as down,up; the bottleneck unless given", many=True),
    Option(
        "link_trace",
        "",
        "delivery opportunities in mahimahi's format, or steps:100mbit*20s,10mbit*20s, instead of a rate",
    ),
    Option("capture", "", "recorded traffic (pcap, pcapng) to replay through the bottleneck", many=True),
    Option("overhead", "14b", "link-layer bytes added to every IP packet", form="quantity"),
    Option(
        "device_ring",
        "1p",
        "packets that the device takes ahead of the wire, the one being sent included",
        form="packets",
    ),
    Option("access_rate", "10x", "rate of every access link; ten times the bottleneck's unless given", form="quantity"),
    Option("loss", "0%", "random loss behind the bottleneck's queue, as 0.1%", form="share"),
    Option("jitter", "0ms", "largest random extra delay behind the bottleneck's queue", form="quantity"),
    Option("duration", "30s", "simulated time", form="quantity"),
    Option(
        "warmup",
        "auto",
        "time at the start that is not measured; auto, or mser5: longer where a run is not steady",
        form="auto|mser5|quantity",
    ),
    Option(
        "series",
        "flows",
        "time series of every flow (flows; up to 100 of them) or of groups only (groups)",
        form="flows|groups",
    ),
    Option(
        "flow_monitor",
        "off",
        "measure once more as ns-3's FlowMonitor is read by the authors of dAQM: metrics flowmon_*",
        form="off|on",
    ),
    Option("seeds", "10", "independent runs per AQM; every AQM gets the same seeds", form="count"),
    Option("first_seed", "1", "seed of the first run; those of the others follow it", form="count"),
)
_NAME = re.compile(r"\$(?P<name>[a-z_][a-z0-9_]*)")

BY_NAME = {option.name: option for option in OPTIONS}

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
    ``asked`` holds the disciplines that the user names beside the file, and which may be code.
    """

    given: Mapping[str, tuple[str, ...]]
    place: str = ""
    allow_unequal_buffers: bool = False
    point: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)
    varied: tuple[str, ...] = ()
    folder: Path | None = None
    asked: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Return the value of an option that is given at most once."""
        values = self.texts(name)
        return values[0] if values else BY_NAME[name].default

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
        return f"--{name.replace('_', '-')}" if self.place == "--" else f"{self.place}{name}"

    def error(self, name: str, problem: object) -> InputError:
        """Return the error about an option."""
        return InputError(f"{self.label(name)}: {problem}")

    def located(self, refusal: InputError) -> InputError:
        """Return what another layer refuses (``flows: 'voip': gap is ...``) as the error about that option."""
        name, colon, problem = str(refusal).partition(": ")
        return self.error(name, problem) if colon and name in BY_NAME else refusal


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
            raise InputError(f"{place}{unknown('key', name, BY_NAME)}")
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
