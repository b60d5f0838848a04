"""Texts as quantities of any kind (`aqm_scenario::sweep::quantity`): columns of swept values, and places on an axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aqmlab import _native


@dataclass(frozen=True)
class QuantityKind:
    """A kind of quantity.

    Attributes:
        unit: ending of a column of such values; nothing for plain numbers.
        axis: the unit as written on an axis.
        scale: base units in one of the column's unit.

    """

    unit: str
    axis: str
    scale: float


def read(texts: Iterable[str]) -> tuple[QuantityKind, list[float]] | None:
    """Return the kind of some texts and their values in its base units, if all are of one kind.

    >>> kind, values = read(["500us", "2ms"])
    >>> kind.unit, [value / kind.scale for value in values]
    ('_ms', [0.5, 2.0])
    >>> read(["5ms", "10mbit"]) is None
    True

    """
    found = _native.read_quantities(list(texts))
    if found is None:
        return None
    ending, axis, scale, values = found
    return QuantityKind(ending, axis, scale), values


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
