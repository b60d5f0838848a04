"""Sweeps: which values are tried, all combinations of them or a sample.

Values are a list, as ``5ms,20ms``, or a range, as ``1ms..20ms*8`` for eight values at equal distances and
``1ms..100ms*8log`` for equal ratios. A sample (``latin*30``, ``sobol*32``) needs no number of values: each point has a
value of its own from every range.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab.scenario.options import BY_NAME
from aqmlab.vocabulary import quantities
from aqmlab.vocabulary.errors import InputError, did_you_mean
from aqmlab.vocabulary.metrics import METRICS
from aqmlab.vocabulary.units import as_text, parse_whole

DESIGNS = ("grid", "latin", "sobol")
MOST_VALUES = 1000
# Values between the ends of a range are rounded to this many digits, so that they can be read and typed again.
DIGITS = 4
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
        "equivalent",
        "words",
    ),
    *("scenario", "time_s", "name", "value", "value_ns", "count", "share"),
)
_COLUMNS = frozenset((*RESERVED, *(metric.name for metric in METRICS)))
LARGEST = 10_000
_RANGE = re.compile(r"(?P<low>[^.,*]+(?:\.\d+)?[^.,*]*)\.\.(?P<high>[^*,]+?)(?:\*(?P<count>[^*,]*?)(?P<log>log)?)?")


@dataclass(frozen=True)
class Range:
    """All values between two, at equal distances or at equal ratios.

    >>> Range.parse("1ms..100ms*3log").values()
    ['1ms', '10ms', '100ms']

    """

    kind: quantities.QuantityKind
    low: float
    high: float
    count: int | None
    is_log: bool
    is_whole: bool

    @classmethod
    def parse(cls, text: str) -> Range | None:
        """Read a range; nothing if the text is none.

        Raises:
            InputError: naming what is wrong with it.

        """
        found = _RANGE.fullmatch(text)
        if found is None:
            return None
        ends = quantities.read([found["low"].strip(), found["high"].strip()])
        if ends is None:
            return None
        kind, (low, high) = ends
        if low >= high:
            raise InputError(f"'{text}': the first end is not below the second")
        if found["log"] and low <= 0.0:
            raise InputError(f"'{text}': equal ratios need an end above zero")
        count = None if found["count"] is None else _count(text, found["count"])
        are_whole = kind.is_whole or (low.is_integer() and high.is_integer() and "." not in text.replace("..", ""))
        return cls(kind, low, high, count, bool(found["log"]), are_whole)

    def at(self, share: float) -> str:
        """Return the value at a share of the range, from 0 to 1."""
        ratio, distance = self.high / self.low if self.is_log else 0.0, self.high - self.low
        value = self.low * ratio**share if self.is_log else self.low + distance * share
        short = float(f"{value:.{DIGITS}g}")
        return self.kind.write(min(max(round(short) if self.is_whole else short, self.low), self.high))

    def values(self) -> list[str]:
        """Return its values, ends included; those that are equal after rounding once."""
        assert self.count is not None
        return list(dict.fromkeys(self.at(place / (self.count - 1)) for place in range(self.count)))


@dataclass(frozen=True)
class Design:
    """How points are chosen from what is swept."""

    name: str
    points: int = 0

    @classmethod
    def parse(cls, text: str) -> Design:
        """Read a design.

        Raises:
            InputError: naming what is allowed.

        >>> Design.parse("latin*30")
        Design(name='latin', points=30)

        """
        name, star, count = text.partition("*")
        if name not in DESIGNS:
            raise InputError(f"'{text}' is none of grid, latin*N, sobol*N{did_you_mean(name, DESIGNS)}")
        if (name == "grid") == bool(star):
            rule = "grid has the points of its values" if star else f"how many points? As {name}*30"
            raise InputError(f"'{text}': {rule}")
        return cls(name, _whole(text, count, 2) if star else 0)

    def count(self, values: Sequence[str] | Range) -> int:
        """Return how many values of one name the grid has."""
        return len(values) if not isinstance(values, Range) else values.count or 1

    def points_of(self, swept: Mapping[str, Sequence[str] | Range]) -> list[tuple[str, ...]]:
        """Return the values of each point, in the order of the names.

        Raises:
            InputError: if a range lacks the number of its values.

        """
        if self.name == "grid":
            return list(itertools.product(*(_levels(name, values) for name, values in swept.items())))
        # Not above: they need NumPy, which no command loads at its start.
        from aqmlab.stats import sobol
        from aqmlab.stats.hypercube import even

        shares = sobol.points(self.points, len(swept)) if self.name == "sobol" else even(self.points, len(swept))
        chosen = [
            tuple(_at(values, float(share)) for values, share in zip(swept.values(), row, strict=True))
            for row in shares
        ]
        return list(dict.fromkeys(chosen))


def values(text: str) -> list[str] | Range:
    """Read the values of one name, separated by commas, or a range.

    >>> values("5ms, 20ms"), values("0.5..2*4").values()
    (['5ms', '20ms'], ['0.5', '1', '1.5', '2'])

    """
    found = Range.parse(text.strip())
    return [part.strip() for part in text.split(",")] if found is None else found


def points(
    sweep: Mapping[str, Any], design: str, table: Mapping[str, Any], named: Mapping[str, str], place: str
) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Return the points of a sweep of options or values; one empty point if nothing is swept.

    Each point has what its values are called, and the values.

    Args:
        sweep: per name a list of values, a table of names and values, or text (see `values`); values that belong
            together are a table under each name.
        design: see `Design`.
        table: the options that are not swept.
        named: the values that are not swept.
        place: start of every message.

    Raises:
        InputError: naming the swept name and what is allowed.

    """
    try:
        chosen = Design.parse(design)
    except InputError as error:
        raise InputError(f"{place}design: {error}") from None
    swept: dict[str, Range | list[str]] = {}
    called: dict[str, dict[str, Any]] = {}
    inner: list[str] = []
    for key, given in sweep.items():
        called[key], swept[key] = _read(key, given, place)
        for name in _together(key, called[key], place):
            _check_name(name, key, table, named, place)
            if name in inner:
                raise InputError(f"{place}sweep: '{name}' is swept twice")
            inner.append(name)
    if not swept:
        return [({}, {})]
    size = math.prod(chosen.count(values) for values in swept.values()) if chosen.name == "grid" else chosen.points
    if size > LARGEST:
        raise InputError(f"{place}sweep: has {size} points; at most {LARGEST} are allowed")
    try:
        rows = chosen.points_of(swept)
    except InputError as error:
        raise InputError(f"{place}sweep: {error}") from None
    labels = [dict(zip(swept, row, strict=True)) for row in rows]
    return [(one, _values_of(one, called)) for one in labels]


def _values_of(point: Mapping[str, str], called: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, label in point.items():
        value = called[key].get(label, label)
        found.update(value if isinstance(value, dict) else {key: value})
    return found


def _together(key: str, called: Mapping[str, Any], place: str) -> list[str]:
    """Return the names that a swept key gives values: its own, or those of its tables, which must be the same."""
    tables = {label: list(value) if isinstance(value, dict) else [key] for label, value in called.items()}
    if not tables:
        return [key]
    first, expected = next(iter(tables.items()))
    for label, given in tables.items():
        if set(given) != set(expected):
            raise InputError(
                f"{place}sweep: {key}: '{label}' has other values ({', '.join(given)}) than "
                f"'{first}' ({', '.join(expected)})"
            )
    return expected


def _check_name(name: str, key: str, table: Mapping[str, Any], named: Mapping[str, str], place: str) -> None:
    columns = {f"{key}{kind.unit}" for kind in quantities.KINDS}
    if key not in BY_NAME and columns & _COLUMNS:
        raise InputError(f"{place}sweep: '{key}' is the name of a column in every result: choose another name")
    if name in ("aqm", "seeds", "first_seed"):
        rather = "list every AQM under aqm" if name == "aqm" else "every scenario is run with all seeds"
        raise InputError(f"{place}sweep: '{name}' cannot be swept; {rather}")
    if name != key and name in BY_NAME:
        raise InputError(f"{place}sweep: {key}: '{name}' is an option: use a $name in it, and sweep that")
    if name in table or name in named:
        raise InputError(f"{place}sweep: '{name}' is given outside the sweep too: give one of them")


def _read(key: str, given: Any, place: str) -> tuple[dict[str, Any], Range | list[str]]:
    """Return the values by what they are called, and the range or the names to choose from."""
    if isinstance(given, str):
        try:
            given = values(given)
        except InputError as error:
            raise InputError(f"{place}sweep: {key}: {error}") from None
    if isinstance(given, Range):
        return {}, given
    if not isinstance(given, list | tuple | dict) or not given:
        raise InputError(f"{place}sweep: {key}: must be a list of values, or a table of names and values")
    called = given if isinstance(given, dict) else {_label(value): value for value in given}
    if len(called) < len(given):
        raise InputError(f"{place}sweep: {key}: holds a value twice")
    return called, list(called)


def _label(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, list) else as_text(value)


def _levels(name: str, swept: Sequence[str] | Range) -> Sequence[str]:
    if not isinstance(swept, Range):
        return swept
    if swept.count is None:
        raise InputError(f"{name}: a range needs the number of its values, as {swept.at(0)}..{swept.at(1)}*8")
    return swept.values()


def _at(swept: Sequence[str] | Range, share: float) -> str:
    return swept.at(share) if isinstance(swept, Range) else swept[int(share * len(swept))]


def _count(text: str, count: str) -> int:
    return _whole(text, count, 2)


def _whole(text: str, count: str, least: int) -> int:
    try:
        return parse_whole(count, least, MOST_VALUES)
    except InputError as error:
        raise InputError(f"'{text}': {error}") from None
