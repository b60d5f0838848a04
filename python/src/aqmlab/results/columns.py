"""The units of columns: of a metric as declared, of any other by the ending of its name."""

from __future__ import annotations

from collections.abc import Iterable

from aqmlab.vocabulary import metrics

_ENDINGS = {
    "_ns": "ns",
    "_ms": "ms",
    "_s": "s",
    "_mbit": "Mbit/s",
    "_kbit": "kbit/s",
    "_bytes": "bytes",
    "_packets": "packets",
    "_percent": "%",
}


def units(names: Iterable[str]) -> dict[str, str]:
    """Return the units of those columns that have one.

    >>> units(["seed", "rtt_ms", "class.cubic.goodput_mbit", "marks", "jain_index"])
    {'rtt_ms': 'ms', 'class.cubic.goodput_mbit': 'Mbit/s', 'marks': 'packets'}

    """
    found = {}
    for name in names:
        unit = metrics.find(name).unit if metrics.is_metric(name) else ""
        unit = unit or next((unit for ending, unit in _ENDINGS.items() if name.endswith(ending)), "")
        if unit:
            found[name] = unit
    return found


__all__ = ["units"]
