"""Where Jain's index says something: among flows that want the same.

A call beside a download has less goodput because it wants less, and the index of both would call that unfair; that of
one flow is 1. The metric over all flows stays in the runs; what is shown is the index of flows of which each takes what
it gets, or which all offer the same rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aqmlab.results import groups
from aqmlab.scenario.kinds import KINDS
from aqmlab.vocabulary.metrics import split
from aqmlab.vocabulary.scopes import Scope, of_group

INDEX = "jain_index"
# What flows want that have no end and no rate of their own: all that there is.
ALL = "all"


def wanted(group: Mapping[str, Any]) -> str:
    """Return what each flow of a resolved group wants; nothing if that differs, changes or ends.

    >>> wanted({"kind": "cubic", "keys": {"iw": "10"}}), wanted({"kind": "cbr", "keys": {"rate": "1mbit"}})
    ('all', '1mbit')
    >>> wanted({"kind": "cubic", "keys": {"size": "1mb"}}), wanted({"kind": "web", "keys": {}})
    ('', '')

    """
    kind = KINDS.get(group["kind"])
    keys: Mapping[str, str] = group["keys"]
    if kind is None or keys.get("size"):
        return ""
    if kind.form == "bulk":
        return keys.get("window", ALL)
    return keys.get("rate", "") if kind.name == "cbr" else ""


def is_shown(scenario: Mapping[str, Any], metric: str) -> bool:
    """Return whether a metric of a resolved scenario is shown: all are, but Jain's index where it says nothing.

    >>> bulk = {"name": "bulk", "kind": "cubic", "count": 5, "keys": {}}
    >>> mix = {"groups": [bulk, {"name": "call", "kind": "voip", "count": 1, "keys": {}}], "capture": []}
    >>> [is_shown(mix, name) for name in ("jain_index", "class.bulk.jain_index", "class.call.jain_index", "loss_ratio")]
    [False, True, False, True]
    >>> is_shown({"groups": [{**bulk, "count": 1}], "capture": []}, "jain_index")
    False

    """
    prefix, name = split(metric)
    if name != INDEX:
        return True
    found = list(scenario.get(groups.KEY, ()))
    if scope := Scope.of_prefix(prefix):
        found = [group for group in found if scope == of_group(group["name"])]
    elif scenario["capture"]:
        # What recorded flows want is not known.
        return False
    return sum(group["count"] for group in found) > 1 and len({*map(wanted, found)}) == 1 and bool(wanted(found[0]))


__all__ = ["is_shown", "wanted"]
