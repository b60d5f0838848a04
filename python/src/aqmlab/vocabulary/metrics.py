"""The metrics: name, unit, display, and how each is aggregated over seeds.

Each is declared once, in `metrics/registry.rs` of the simulator; nothing here names one.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any

from aqmlab import _native


@dataclass(frozen=True)
class Metric:
    """A metric: its measurement and its display.

    ``better`` is higher, lower or nothing; ``histogram`` and ``quantile`` define a percentile over all seeds. A share
    is a part of the whole, shown in percent. ``observer`` is what measures it where every run does not.
    """

    name: str
    label: str
    unit: str
    decimals: int
    better: str = ""
    histogram: str = ""
    quantile: float = 0.0
    about: str = ""
    is_share: bool = False
    observer: str = ""

    @property
    def title(self) -> str:
        """The label with its unit; that of a share is ``share``, which figures show in percent."""
        unit = "share" if self.is_share else self.unit
        return f"{self.label} ({unit})" if unit else self.label

    @property
    def aim(self) -> str:
        """The title, and the better direction."""
        aim = f"{self.label}, {self.better} is better" if self.better else self.label
        return replace(self, label=aim).title

    @property
    def phrase(self) -> str:
        """The label within a sentence."""
        is_name = self.label[:2].isupper() or self.label.startswith("Jain ")
        return self.label if is_name else f"{self.label[0].lower()}{self.label[1:]}"

    @property
    def is_percentile(self) -> bool:
        """Whether the metric is a percentile, which is never averaged."""
        return bool(self.histogram)


@dataclass(frozen=True)
class Observer:
    """What measures more than every run does, where a scenario asks for it (``observe``)."""

    name: str
    summary: str
    reference: str
    metrics: tuple[str, ...]


def _declared(one: dict[str, Any]) -> Metric:
    shown = {key: one[key] for key in ("name", "label", "unit", "decimals", "better")}
    about = {"about": one["meaning"], "is_share": one["share"], "observer": _OBSERVED.get(one["name"], "")}
    return Metric(**shown, histogram=one["histogram"], quantile=one["quantile"], **about)


_DECLARED = json.loads(_native.metrics())
OBSERVERS = {one["name"]: Observer(**{**one, "metrics": tuple(one["metrics"])}) for one in _DECLARED["observers"]}
_OBSERVED = {metric: one.name for one in OBSERVERS.values() for metric in one.metrics}
METRICS: tuple[Metric, ...] = tuple(map(_declared, _DECLARED["metrics"]))
# Metrics that `compare` tests for differences between AQMs: means over a run, never percentiles.
COMPARED: tuple[str, ...] = tuple(one["name"] for one in _DECLARED["metrics"] if one["compared"])
# Percentiles over flows, and not over packets: the column, and above what and up to what size of flow.
OF_FLOWS: dict[str, tuple[str, float, float]] = {
    one["name"]: (one["column"], one["above"], math.inf if one["up_to"] is None else one["up_to"])
    for one in _DECLARED["flows"]
}
_SERIES = {one["name"]: Metric(**one, decimals=0) for one in _DECLARED["series"]}
_BY_NAME = {metric.name: metric for metric in METRICS}
_ORDER = {metric.name: number for number, metric in enumerate(METRICS)}
# The word before the name of a part, by its family.
_PREPOSITIONS = {family["name"]: family["preposition"] for family in _DECLARED["families"]}
_PARTS = "|".join(rf"{family['name']}\.{'.' if family['dotted'] else '[^.]'}+\." for family in _DECLARED["families"])
_NAME = re.compile(f"({_PARTS})(.+)")


def find(name: str) -> Metric:
    """Return the metric of this name, prefixes included; an unknown one has its name as label."""
    prefix, plain = split(name)
    known = _BY_NAME.get(plain)
    if known is None:
        return Metric(name, name, "", 4)
    if not prefix:
        return known
    family, _, part = prefix.partition(".")
    histogram = f"{prefix}{known.histogram}" if known.histogram else ""
    label = f"{known.label} {_PREPOSITIONS[family]} {part.removesuffix('.')}"
    return replace(known, name=name, label=label, histogram=histogram)


def series_title(name: str) -> str:
    """Return the label of a column of the time series with its unit.

    >>> series_title("queue_packets"), series_title("class.cubic.goodput_mbit")
    ('Queue (packets)', 'Goodput of cubic (Mbit/s)')

    """
    return _SERIES.get(name, find(name)).title


def split(name: str) -> tuple[str, str]:
    """Split a name into the prefix of its group or port and the plain name.

    >>> split("class.cubic.goodput_mbit"), split("loss_ratio")
    (('class.cubic.', 'goodput_mbit'), ('', 'loss_ratio'))
    >>> split("port.leaf0->h0.1.qdelay_mean_ms")
    ('port.leaf0->h0.1.', 'qdelay_mean_ms')

    """
    match = _NAME.fullmatch(name)
    return (match.group(1), match.group(2)) if match else ("", name)


def is_metric(name: str) -> bool:
    """Whether there is a metric of this name, prefixes included.

    >>> is_metric("class.cubic.goodput_mbit"), is_metric("rtt_ms")
    (True, False)

    """
    return split(name)[1] in _BY_NAME


def ordered(names: set[str]) -> list[str]:
    """Return names in the order of the table, then by name; groups come after the whole."""

    def rank(name: str) -> tuple[str, int, str]:
        prefix, plain = split(name)
        return (prefix, _ORDER.get(plain, len(_ORDER)), plain)

    return sorted(names, key=rank)


def number(value: float) -> str:
    """Write a number with at least three significant digits, without exponent.

    >>> number(0.85712), number(81.3), number(11400.0)
    ('0.857', '81.3', '11400')

    """
    if value == 0.0:
        return "0"
    digits = 0
    while abs(value) * 10.0**digits < 99.95 and digits < 6:
        digits += 1
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits > 3 else text
