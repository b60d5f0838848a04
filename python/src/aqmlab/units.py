"""tc's notation for quantities: ``10mbit``, ``20ms``, ``64kb``, ``1000p``, ``10%``.

Values are whole numbers in base units: bit/s, nanoseconds, bytes, packets. The core has the only parser.
"""

from __future__ import annotations

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
from aqmlab.errors import InputError

__all__ = [
    "Size",
    "as_text",
    "format_bytes",
    "format_rate",
    "format_span",
    "parse_bytes",
    "parse_fraction",
    "parse_rate",
    "parse_size",
    "parse_span",
    "parse_whole",
]

NANOS_PER_SECOND = 1_000_000_000
# More digits are beyond 64 bits, and Python refuses to convert thousands of them.
LONGEST_WHOLE = 18


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
