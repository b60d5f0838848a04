"""The groups of flows of a resolved scenario, as a manifest has them: data, beside the text that people read.

A run of a program, or an import, has a text about its traffic and no groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

# The key of a scenario.
KEY: Final = "groups"


def data(name: str, kind: str, count: int, keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a group: its name in metrics, its kind, how many flows, and every key that has a value."""
    return {"name": name, "kind": kind, "count": count, "keys": dict(keys)}


def written(group: Mapping[str, Any]) -> str:
    """Return a group as a flow spec, with all its keys.

    >>> written(data("calls", "voip", 2, {"name": "calls", "rtt": "20ms"}))
    '2*voip:name=calls:rtt=20ms'

    """
    pairs = [f"{name}={value}" for name, value in group["keys"].items()]
    return ":".join([f"{group['count']}*{group['kind']}", *pairs])


def heads(scenario: Mapping[str, Any]) -> list[str]:
    """Return how many flows of which kind there are, or the text about them.

    >>> heads({"groups": [data("bulk", "cubic", 8, {})]}), heads({"flows": ["a browser"]})
    (['8*cubic'], ['a browser'])

    """
    return [f"{one['count']}*{one['kind']}" for one in scenario.get(KEY, ())] or list(scenario["flows"])


def without(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario as people read it: without keys of flows at their default."""
    return {name: value for name, value in scenario.items() if name != KEY}


def of_texts(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the groups that specs with all their keys stand for, as folders before 0.3 have them.

    >>> of_texts(["2*cubic:name=bulk:iw=10"])
    [{'name': 'bulk', 'kind': 'cubic', 'count': 2, 'keys': {'name': 'bulk', 'iw': '10'}}]

    """
    found = []
    for text in texts:
        head, *pairs = text.split(":")
        count, _, kind = head.partition("*")
        keys = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        if count.isdecimal() and kind:
            found.append(data(keys.get("name", kind), kind, int(count), keys))
    return found
