"""Positions of texts on an axis: by size if all are quantities, else one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from aqmlab.units import parse_rate, parse_size, parse_span


def of(texts: Iterable[str]) -> dict[str, float]:
    """Return the position of each text.

    >>> of(["10mbit", "100mbit"]), of(["fifo", "codel"])
    ({'10mbit': 10000000.0, '100mbit': 100000000.0}, {'fifo': 0.0, 'codel': 1.0})

    """
    names = list(dict.fromkeys(texts))
    sizes = {name: _size(name) for name in names}
    known = {name: size for name, size in sizes.items() if size is not None and size > 0}
    return known if len(known) == len(names) else {name: float(place) for place, name in enumerate(names)}


def _size(text: str) -> float | None:
    for read in (float, parse_rate, parse_span, lambda text: parse_size(text)[0]):
        try:
            return float(read(text))
        except ValueError:
            continue
    return None
