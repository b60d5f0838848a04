"""Texts as quantities of any kind: for values of a sweep, their columns, and their places on an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from aqmlab.vocabulary.units import (
    format_bytes,
    format_rate,
    format_span,
    parse_bytes,
    parse_fraction,
    parse_rate,
    parse_span,
)


@dataclass(frozen=True)
class QuantityKind:
    """A kind of quantity.

    Attributes:
        unit: ending of a column of such values; nothing for plain numbers.
        axis: the unit as written on an axis.
        scale: base units in one of the column's unit.
        parse: reads a text, in base units (bit/s, nanoseconds, bytes, packets); raises ValueError.
        write: writes base units; reading it gives the same value.
        is_whole: whether base units are whole numbers.

    """

    unit: str
    axis: str
    scale: float
    parse: Callable[[str], float]
    write: Callable[[float], str]
    is_whole: bool = True


def _packets(text: str) -> float:
    if not (text.endswith("p") and text[:-1].isdigit()):
        raise ValueError(f"'{text}' is not a number of packets")
    return int(text[:-1])


def _percent(text: str) -> float:
    if not text.endswith("%"):
        raise ValueError(f"'{text}' is not a percentage")
    return float(parse_fraction(text))


def _frequency(text: str) -> float:
    if not text.lower().endswith("hz"):
        raise ValueError(f"'{text}' is not a gain per second")
    return _number(text[:-2])


def _number(text: str) -> float:
    # Python would also read '1_000', 'nan' and 'infinity'.
    if not all(letter in "0123456789.e+-" for letter in text):
        raise ValueError(f"'{text}' is not a number")
    return float(text)


def _span(value: float) -> str:
    """Write a time in the largest unit of which there is one, as people say it: 4.8ms, not 4800us."""
    text = next((f"{value / size:.10g}{unit}" for unit, size in _TIMES if value >= size), "")
    return text if text and parse_span(text) == value else format_span(round(value))


_TIMES = (("s", 1e9), ("ms", 1e6), ("us", 1e3))
KINDS: tuple[QuantityKind, ...] = (
    QuantityKind("", "", 1.0, _number, lambda value: f"{value:.10g}", is_whole=False),
    QuantityKind("_packets", "packets", 1.0, _packets, lambda value: f"{value:.0f}p"),
    QuantityKind("_percent", "%", 0.01, _percent, lambda value: f"{value * 100:.10g}%", is_whole=False),
    QuantityKind("_hz", "Hz", 1.0, _frequency, lambda value: f"{value:.10g}hz", is_whole=False),
    QuantityKind("_mbit", "Mbit/s", 1e6, parse_rate, lambda value: format_rate(round(value))),
    QuantityKind("_ms", "ms", 1e6, parse_span, lambda value: _span(round(value))),
    QuantityKind("_bytes", "bytes", 1.0, parse_bytes, lambda value: format_bytes(round(value))),
)


def read(texts: Iterable[str]) -> tuple[QuantityKind, list[float]] | None:
    """Return the kind of some texts and their values in its base units, if all are of one kind.

    >>> kind, values = read(["500us", "2ms"])
    >>> kind.unit, [value / kind.scale for value in values]
    ('_ms', [0.5, 2.0])
    >>> read(["5ms", "10mbit"]) is None
    True

    """
    known = list(texts)
    for kind in KINDS:
        try:
            return kind, [float(kind.parse(text)) for text in known]
        except ValueError:
            continue
    return None


def column(name: str, texts: Sequence[str]) -> tuple[str, list[float] | list[str]]:
    """Return the name of a column of such texts, which ends in its unit, and its values; texts remain texts.

    >>> column("rtt", ["10ms", "1s"]), column("load", ["1", "5"]), column("buffer", ["1bdp", "20p"])
    (('rtt_ms', [10.0, 1000.0]), ('load', [1.0, 5.0]), ('buffer', ['1bdp', '20p']))

    """
    found = read(texts)
    if found is None:
        return name, list(texts)
    kind, values = found
    ending = "" if name.endswith(kind.unit) else kind.unit
    return f"{name}{ending}", [value / kind.scale for value in values]
