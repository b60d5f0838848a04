"""Values of the keys of a flow spec: parsed, checked and written as declared."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aqmlab.scenario import distributions
from aqmlab.scenario.distributions import NUMBERS, RATES, SIZES, TIMES
from aqmlab.scenario.kinds import Key
from aqmlab.vocabulary.errors import did_you_mean
from aqmlab.vocabulary.units import (
    Size,
    format_bytes,
    format_rate,
    format_span,
    parse_bytes,
    parse_fraction,
    parse_rate,
    parse_span,
    parse_whole,
)

# A larger bound only guards against overflow.
WITHOUT_BOUND = 1e15
_DRAWN = {"span": TIMES, "bytes": SIZES, "count": NUMBERS, "rate": RATES}


def _switch(text: str) -> bool:
    if text.lower() not in ("on", "off"):
        raise ValueError(f"'{text}' is neither 'on' nor 'off'")
    return text.lower() == "on"


_READ: dict[str, Callable[[str], Any]] = {
    "span": parse_span,
    "rate": parse_rate,
    "bytes": parse_bytes,
    "size": Size.parse,
    "fraction": parse_fraction,
    "count": parse_whole,
    "flag": _switch,
}
_WRITE: dict[str, Callable[[Any], str]] = {
    "span": lambda span: format_span(span) if span else "off",
    "rate": format_rate,
    "bytes": format_bytes,
    "fraction": lambda share: f"{share * 100:.10g}%",
    "flag": lambda on: "on" if on else "off",
}


def takes(key: Key) -> str:
    """The allowed notation, for messages and help."""
    match key.takes:
        case "drawn":
            return _DRAWN[key.unit].takes
        case "ascending":
            return "rates, ascending, with commas"
        case "range":
            return "a time, or 0..500ms (uniform)"
        case "name":
            return "a name"
        case "nodes":
            return "nodes, as s0 or s*|t1"
        case "capture":
            return "a capture (pcap, pcapng)"
    bounded = key.high < WITHOUT_BOUND
    match key.unit:
        case "span":
            return "a time" if key.low else "a time, or off"
        case "rate":
            return "a rate such as 3mbit"
        case "bytes":
            return f"{int(key.low)}b to {int(key.high)}b" if bounded else "bytes such as 1mb"
        case "size":
            return "20p or 64kb"
        case "fraction":
            return f"a share such as 60%, above 0 to {key.high:.0%}"
        case "count":
            return f"{int(key.low)} to {int(key.high)}"
        case "flag":
            return "on or off"
        case _:
            *rest, last = key.words
            return f"{', '.join(rest)} or {last}" if rest else last


def read(key: Key, text: str, folder: Path | None = None) -> Any:
    """Parse a value; files are looked for in `folder`.

    Raises:
        ValueError: naming the value, the problem and what is allowed.

    """
    match key.takes:
        case "drawn":
            return distributions.read(text, _DRAWN[key.unit], folder)
        case "ascending":
            return _ascending(text, _READ[key.unit])
        case "range":
            return _range(text)
        case "name":
            return _name(text)
        case "nodes":
            return text
        case "capture":
            return str((folder or Path()) / text)
    if key.unit == "choice":
        return _word(text, key.words)
    if key.unit == "span" and key.low == 0 and text.lower() == "off":
        return 0
    value = _READ[key.unit](text)
    if value == 0 and key.unit == "span" and key.low == 0:
        raise ValueError(f"'{text}' is zero: write 'off'")
    if key.unit != "flag":
        _check(key, text, value.count if isinstance(value, Size) else value)
    return value


def write(key: Key, value: Any) -> str:
    """Write a value; parsing it gives the same value."""
    match key.takes:
        case "drawn":
            return distributions.write(value, _DRAWN[key.unit])
        case "ascending":
            return ",".join(map(_WRITE[key.unit], value))
        case "range":
            low, high = value
            return format_span(low) if low == high else f"{format_span(low)}..{format_span(high)}"
    return _WRITE.get(key.unit, str)(value)


def resolved(key: Key, value: Any, packet_bytes: int) -> Any:
    """Return a value in the simulator's form: sizes are in bytes."""
    if isinstance(value, Size):
        return value.count * (packet_bytes if value.in_packets else 1)
    return list(value) if key.takes == "range" else value


def _check(key: Key, text: str, value: float) -> None:
    if value == 0 and key.low > 0 and key.unit in ("span", "rate", "size"):
        raise ValueError(f"'{text}' is zero")
    if not key.low <= value <= key.high:
        raise ValueError(f"'{text}' is out of range: allowed is {takes(key)}")


def _ascending(text: str, read: Callable[[str], int]) -> list[int]:
    values = [read(part.strip()) for part in text.split(",")]
    if 0 in values:
        raise ValueError(f"'{text}' holds a zero")
    if any(low >= high for low, high in itertools.pairwise(values)):
        raise ValueError(f"'{text}' does not ascend")
    return values


def _range(text: str) -> tuple[int, int]:
    if ".." in text:
        return distributions.bounds(text, parse_span)
    instant = parse_span(text)
    return instant, instant


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", text):
        raise ValueError(f"'{text}' is not a name: a letter, then letters, digits, '-' and '_'")
    return text


def _word(text: str, words: tuple[str, ...]) -> str:
    if text.lower() not in words:
        raise ValueError(f"'{text}' is not one of {', '.join(words)}{did_you_mean(text, words)}")
    return text.lower()
