"""Positions of texts on an axis: by size if all are quantities, else one after the other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import pairwise

from aqmlab.vocabulary import quantities, units


def of(texts: Iterable[str]) -> dict[str, float]:
    """Return the position of each text.

    >>> of(["10mbit", "100mbit"]), of(["fifo", "codel"])
    ({'10mbit': 10000000.0, '100mbit': 100000000.0}, {'fifo': 0.0, 'codel': 1.0})

    """
    names = list(dict.fromkeys(texts))
    found = quantities.read(names)
    sizes = found[1] if found and min(found[1]) > 0.0 else range(len(names))
    return {name: float(size) for name, size in zip(names, sizes, strict=True)}


def are_even_by_ratio(positions: Iterable[float]) -> bool:
    """Whether positions are spread more evenly over an axis by their ratios than by their differences.

    >>> are_even_by_ratio([10.0, 40.0, 160.0]), are_even_by_ratio([1.0, 5.75, 10.5, 15.25, 20.0])
    (True, False)

    """
    ranked = sorted(positions)
    if len(ranked) < 3 or ranked[0] <= 0.0:
        return False
    gaps = [(high - low) / (ranked[-1] - ranked[0]) for low, high in pairwise(ranked)]
    ratios = [math.log(high / low) / math.log(ranked[-1] / ranked[0]) for low, high in pairwise(ranked)]
    return min(ratios) > min(gaps)


def names(texts: Iterable[str]) -> dict[str, str]:
    """Return how a figure writes each text.

    tc's kb has 1024 bytes: where some are no round number of them, all are written in decimal units.

    >>> names(["12500b", "3125kb"]), names(["64kb", "128kb"])
    ({'12500b': '12.5 kB', '3125kb': '3.2 MB'}, {'64kb': '64kb', '128kb': '128kb'})

    """
    known = list(texts)
    found = quantities.read(known)
    if found is None or found[0].axis != "bytes" or not any(re.fullmatch("[0-9]{4,}b", text) for text in known):
        return {text: text for text in known}
    return {text: _bytes(size) for text, size in zip(known, found[1], strict=True)}


def _bytes(size: float) -> str:
    unit, factor, _ = units.readable("bytes", size)
    return f"{size * factor:.3g} {unit}"
