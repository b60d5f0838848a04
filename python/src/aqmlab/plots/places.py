"""Positions of texts on an axis: by size if all are quantities, else one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from aqmlab import quantities


def of(texts: Iterable[str]) -> dict[str, float]:
    """Return the position of each text.

    >>> of(["10mbit", "100mbit"]), of(["fifo", "codel"])
    ({'10mbit': 10000000.0, '100mbit': 100000000.0}, {'fifo': 0.0, 'codel': 1.0})

    """
    names = list(dict.fromkeys(texts))
    found = quantities.read(names)
    sizes = found[1] if found and min(found[1]) > 0.0 else range(len(names))
    return {name: float(size) for name, size in zip(names, sizes, strict=True)}
