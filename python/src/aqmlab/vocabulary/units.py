"""tc's notation for quantities: ``10mbit``, ``20ms``, ``64kb``, ``1000p``, ``10%``.

Values are whole numbers in base units: bit/s, nanoseconds, bytes, packets. The core has the only parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from aqmlab import _native
from aqmlab._native import (
    format_bytes,
    format_rate,
    format_span,
    parse_bytes,
    parse_fraction,
    parse_rate,
    parse_size,
    parse_span,
)
from aqmlab.vocabulary.errors import InputError, about

__all__ = [
    "Size",
    "as_text",
    "bytes_per_second",
    "check_whole",
    "format_bytes",
    "format_rate",
    "format_span",
    "parse_bytes",
    "parse_fraction",
    "parse_rate",
    "parse_size",
    "parse_span",
    "parse_whole",
    "readable",
]

NANOS_PER_SECOND = 1_000_000_000
# File names may have such a part, but not as a word of their own.
_BYTES_PER_SECOND = re.compile(r"(?<![\w./-])[0-9]+(\.[0-9]+)?[kmgt]?i?bps(?![\w./-])", re.IGNORECASE)
# More digits are beyond 64 bits, and Python refuses to convert thousands of them.
LONGEST_WHOLE = 18


# Units of the same quantity, the smallest first: how many of the first, and how many digits are shown.
_TIMES = (("us", 1.0, 1), ("ms", 1e3, 2), ("s", 1e6, 2))
_SCALES = (
    _TIMES,
    (("Mbit/s", 1.0, 2), ("Gbit/s", 1e3, 3)),
    (("bytes", 1.0, 0), ("kB", 1e3, 1), ("MB", 1e6, 2), ("GB", 1e9, 2)),
)
PERCENT = 100.0


def readable(unit: str, largest: float) -> tuple[str, float, int]:
    """Return the unit for values of up to ``largest``, the factor to it, and the digits to show.

    It is the largest unit in which that value is at least 1. Prefixes are decimal: a kB has 1000 bytes. Nothing is
    shown in a larger unit of time than its own, and shares are shown in percent.

    >>> readable("ms", 0.25), readable("Mbit/s", 94_000.0), readable("bytes", 2.5e9), readable("s", 0.003)
    (('us', 1000.0, 1), ('Gbit/s', 0.001, 3), ('GB', 1e-09, 2), ('ms', 1000.0, 2))
    >>> readable("ms", 40_000.0), readable("packets", 1e6), readable("share", 0.01)
    (('ms', 1.0, 2), ('packets', 1.0, 2), ('%', 100.0, 2))

    """
    if unit == "share":
        return ("%", PERCENT, 2)
    for scale in _SCALES:
        own = next((factor for name, factor, _ in scale if name == unit), None)
        if own is None:
            continue
        if not largest:
            break
        fits = [one for one in scale if largest * own >= one[1]] or [scale[0]]
        name, factor, digits = fits[-1]
        if scale is _TIMES and factor > own:
            break
        return (name, own / factor, digits)
    return (unit, 1.0, 2)


@dataclass(frozen=True)
class Size:
    """A queue size in packets or in bytes."""

    count: int
    in_packets: bool

    @classmethod
    def parse(cls, text: str) -> Size:
        """Read a size.

        >>> str(Size.parse("65536b")), str(Size.parse("50p"))
        ('64kb', '50p')

        """
        return cls(*_native.parse_size(text))

    def in_bytes(self, packet_bytes: int) -> int:
        """Return it in bytes, where packets have so many."""
        return self.count * packet_bytes if self.in_packets else self.count

    def __str__(self) -> str:
        return f"{self.count}p" if self.in_packets else format_bytes(self.count)


def parse_whole(text: str, least: int = 0, most: int | None = None) -> int:
    """Read a whole number within bounds.

    Raises:
        InputError: saying what is allowed.

    >>> parse_whole("8", 1, 10)
    8

    """
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_WHOLE:
        number = int(text)
        if least <= number and (most is None or number <= most):
            return number
    bounds = f" from {least} to {most}" if most is not None else f" from {least}" if least else ""
    raise InputError(f"'{text}' is not a whole number{bounds}")


def check_whole(name: str, value: object, least: int = 0, most: int | None = None) -> int:
    """Return an argument that has to be a whole number within bounds.

    Raises:
        InputError: naming the argument, and saying what is allowed.

    >>> check_whole("jobs", 2, 1)
    2

    """
    if isinstance(value, int) and not isinstance(value, bool) and least <= value and (most is None or value <= most):
        return value
    what = "out of range" if isinstance(value, int) and not isinstance(value, bool) else "no whole number"
    allowed = f"{least} to {most}" if most is not None else f"{least} or more"
    raise about(name, f"'{value}' is {what}: allowed is {allowed}")


def bytes_per_second(texts: Iterable[str]) -> list[str]:
    """Return a warning about each rate in some texts that tc's notation takes for bytes, whoever wrote it.

    >>> bytes_per_second(["1*cbr:rate=10mbps", "10mbit"])
    ["10mbps is 80mbit: as in tc, 'bps' is bytes per second and 'bit' is bits"]

    """
    found = dict.fromkeys(match[0] for text in texts for match in _BYTES_PER_SECOND.finditer(text))
    return [
        f"{one} is {format_rate(parse_rate(one))}: as in tc, 'bps' is bytes per second and 'bit' is bits"
        for one in found
    ]


def as_text(value: object) -> str:
    """Return a quantity given to the Python interface in tc's notation.

    Text stays as it is; a `datetime.timedelta` becomes a time. Numbers stay bare, so that parsers of quantities refuse
    them.

    >>> as_text(timedelta(milliseconds=40))
    '40ms'

    """
    if isinstance(value, timedelta):
        micros = value // timedelta(microseconds=1)
        return format_span(micros * 1000) if micros >= 0 else f"{micros}us"
    return str(value)
