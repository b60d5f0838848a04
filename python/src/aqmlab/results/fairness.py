"""Where Jain's index says something: among flows that want the same.

A call beside a download has less goodput because it wants less, and the index of both would call that unfair; that of
one flow is 1. The metric over all flows stays in the runs; what is shown is the index of flows of which each takes what
it gets, or which all offer the same rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aqmlab.scenario.kinds import KINDS
from aqmlab.vocabulary.metrics import split

INDEX = "jain_index"
# What flows want that have no end and no rate of their own: all that there is.
ALL = "all"


def wanted(spec: str) -> str:
    """Return what each flow of a resolved spec wants; nothing if that differs, changes or ends.

    >>> wanted("5*cubic:iw=10"), wanted("2*cbr:transport=udp:rate=1mbit"), wanted("2*cubic:size=1mb"), wanted("1*web")
    ('all', '1mbit', '', '')

    """
    head, *pairs = spec.split(":")
    kind = KINDS.get(head.rpartition("*")[2])
    keys = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    if kind is None or keys.get("size"):
        return ""
    if kind.form == "bulk":
        return keys.get("window", ALL)
    return keys.get("rate", "") if kind.name == "cbr" else ""


def is_shown(scenario: Mapping[str, Any], metric: str) -> bool:
    """Return whether a metric of a resolved scenario is shown: all are, but Jain's index where it says nothing.

    >>> mix = {"flows": ["5*cubic:name=bulk", "1*voip:name=call"], "capture": []}
    >>> [is_shown(mix, name) for name in ("jain_index", "class.bulk.jain_index", "class.call.jain_index", "loss_ratio")]
    [False, True, False, True]
    >>> is_shown({"flows": ["1*cubic:name=bulk"], "capture": []}, "jain_index")
    False

    """
    prefix, name = split(metric)
    if name != INDEX:
        return True
    specs = list(scenario["flows"])
    if prefix:
        group = prefix.removeprefix("class.").removesuffix(".")
        specs = [spec for spec in specs if f":name={group}:" in f"{spec}:"]
    elif scenario["capture"]:
        # What recorded flows want is not known.
        return False
    return sum(map(_count, specs)) > 1 and len({wanted(spec) for spec in specs}) == 1 and bool(wanted(specs[0]))


def _count(spec: str) -> int:
    """How many flows a resolved spec stands for."""
    count, star, _ = spec.partition("*")
    return int(count) if star else 1


__all__ = ["is_shown", "wanted"]
