"""Distributions in the user's notation: ``1s``, ``0..1s``, ``exp(1s)``, ``pareto(100ms,1.5)``, ``cdf(FILE)``.

The notation is the same for times, sizes and rates; the result is the simulator's form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _native
from aqmlab.files import system
from aqmlab.vocabulary.errors import did_you_mean
from aqmlab.vocabulary.units import (
    format_bytes,
    format_rate,
    format_span,
    parse_bytes,
    parse_fraction,
    parse_rate,
    parse_span,
    parse_whole,
)

Distribution = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Quantity:
    """The quantity of a distribution: times, sizes or rates."""

    read: Callable[[str], int]
    write: Callable[[int], str]
    example: str

    @property
    def takes(self) -> str:
        """The allowed notation, for messages and help."""
        included = "".join(f", {name}" for name, quantity in INCLUDED.items() if quantity is self)
        return f"{self.example}, LOW..HIGH, {_FORMS}, cdf(FILE){included}"


def _whole(text: str) -> int:
    number = parse_whole(text)
    if number >= 2**53:
        raise ValueError(f"'{text}' is not a whole number below 2^53")
    return number


# Each form's arguments: the first is a quantity, the second a number above zero.
_ARGUMENTS = {
    "exp": ("exponential", "mean", None),
    "pareto": ("pareto", "scale", "shape"),
    "weibull": ("weibull", "scale", "shape"),
    "lognormal": ("lognormal", "median", "sigma"),
}
_USAGE = {
    "exp": "exp(MEAN)",
    "pareto": "pareto(SMALLEST,SHAPE)",
    "weibull": "weibull(SCALE,SHAPE)",
    "lognormal": "lognormal(MEDIAN,SIGMA)",
}
_FORMS = ", ".join(_USAGE.values())

TIMES = Quantity(parse_span, format_span, "a time")
SIZES = Quantity(parse_bytes, format_bytes, "bytes such as 1mb")
NUMBERS = Quantity(_whole, str, "a whole number")
RATES = Quantity(parse_rate, format_rate, "a rate such as 3mbit")
# Quantities of the shipped distributions.
# Some ten thousand points.
LARGEST_BYTES = 1 << 20
INCLUDED = {"websearch": SIZES, "datamining": SIZES, "hadoop": SIZES, "telnet": TIMES}


def read(text: str, quantity: Quantity, folder: Path | None = None) -> Distribution:
    """Parse a distribution; relative files are looked for in `folder`.

    Raises:
        ValueError: saying what is wrong and what is allowed.

    >>> read("exp(20ms)", TIMES)
    {'exponential': {'mean': 20000000}}

    """
    call = re.fullmatch(r"([a-z]+)\((.*)\)", text, re.IGNORECASE | re.DOTALL)
    if call is not None:
        name, inside = call.group(1).lower(), call.group(2).strip()
        if name == "cdf":
            return _file(inside, quantity, folder)
        return _form(text, name, inside, quantity)
    if text.lower() in INCLUDED:
        return _included(text.lower(), quantity)
    if re.fullmatch("[A-Za-z]{3,}", text):
        known = [*_USAGE, *(name for name in INCLUDED if INCLUDED[name] is quantity)]
        raise ValueError(f"'{text}' is not {quantity.takes}{did_you_mean(text, known)}")
    if ".." in text:
        low, high = bounds(text, quantity.read)
        if high == 0:
            raise ValueError(f"'{text}' is always zero")
        return {"uniform": {"low": low, "high": high}}
    return {"constant": {"value": _positive(text, quantity)}}


def write(distribution: Distribution, quantity: Quantity) -> str:
    """Write a distribution so that it reads back as the same.

    >>> write(read("5..20kb", SIZES), SIZES)
    '5kb..20kb'

    """
    ((kind, values),) = distribution.items()
    if kind == "constant":
        return quantity.write(values["value"])
    if kind == "uniform":
        return f"{quantity.write(values['low'])}..{quantity.write(values['high'])}"
    if kind == "empirical":
        name = values["name"]
        return name if name in INCLUDED else f"cdf({name})"
    form, (_, first, second) = next(entry for entry in _ARGUMENTS.items() if entry[1][0] == kind)
    arguments = [quantity.write(values[first]), *([str(values[second])] if second else [])]
    return f"{form}({','.join(arguments)})"


def bounds(text: str, read: Callable[[str], int]) -> tuple[int, int]:
    """Parse ``LOW..HIGH``; LOW may omit its unit."""
    low_text, high_text = (part.strip() for part in text.split("..", 1))
    unit = re.sub(r"[0-9.\s]", "", high_text)
    low = read(low_text + unit if re.fullmatch(r"[0-9.]+", low_text) else low_text)
    high = read(high_text)
    if low > high:
        raise ValueError(f"'{text}' runs backwards")
    return low, high


def _form(text: str, name: str, inside: str, quantity: Quantity) -> Distribution:
    if name not in _ARGUMENTS:
        raise ValueError(f"'{text}' is not {quantity.takes}{did_you_mean(name, _USAGE)}")
    kind, first, second = _ARGUMENTS[name]
    arguments = [argument.strip() for argument in inside.split(",")]
    if len(arguments) != (1 if second is None else 2):
        raise ValueError(f"'{text}' is not {_USAGE[name]}")
    values: dict[str, Any] = {first: _positive(arguments[0], quantity)}
    if second is not None:
        number = float(arguments[1]) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", arguments[1]) else 0.0
        if number <= 0.0:
            raise ValueError(f"'{text}': {second} '{arguments[1]}' is not a number above 0")
        values[second] = number
    return {kind: values}


def _positive(text: str, quantity: Quantity) -> int:
    value = quantity.read(text)
    if value == 0:
        raise ValueError(f"'{text}' is zero")
    return value


def _included(name: str, quantity: Quantity) -> Distribution:
    if INCLUDED[name] is not quantity:
        raise ValueError(f"'{name}' is a distribution of another quantity: allowed is {quantity.takes}")
    return _points(name, name, _native.workload(name), quantity)


def _file(name: str, quantity: Quantity, folder: Path | None) -> Distribution:
    path = (folder or Path()) / name
    with system.reading(path):
        text = system.content(path, LARGEST_BYTES).decode()
    return _points(str(path), f"'{path}'", text, quantity)


def _points(name: str, place: str, text: str, quantity: Quantity) -> Distribution:
    """Parse lines of a value and the share of draws that do not exceed it."""
    points: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2:
            raise ValueError(f"{place} line {number}: '{line.strip()}' is not a value and its share, as '10kb 0.15'")
        try:
            point = [float(quantity.read(words[0])), parse_fraction(words[1])]
        except ValueError as error:
            raise ValueError(f"{place} line {number}: {error}") from None
        if point[1] > 1.0:
            raise ValueError(f"{place} line {number}: '{words[1]}' is out of range: a share is within 0 and 1")
        if points and (point[0] < points[-1][0] or point[1] < points[-1][1]):
            raise ValueError(f"{place} line {number}: '{line.strip()}' does not ascend from the line before")
        points.append(point)
    if not points or points[-1][1] != 1.0 or points[-1][0] == 0.0:
        raise ValueError(f"{place}: the last line must be the largest value, above zero, and its share, 1")
    return {"empirical": {"name": name, "points": points}}
