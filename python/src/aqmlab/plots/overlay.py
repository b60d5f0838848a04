"""Several results in one figure: each is named by what differs between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.results import groups
from aqmlab.scenario.options import OPTIONS

if TYPE_CHECKING:
    from aqmlab.results import Result

# What differs between runs of one result, or only in what is recorded of them.
OF_RUNS = ("aqm", "seeds", "first_seed", "series", "observe", "measure")
# Settings that tell results apart, in the order of a name.
SETTINGS = tuple(one.name for one in OPTIONS if one.name not in OF_RUNS)
# What a result of one of these engines is called beside one of another.
CALLED = {"live": "live", "measured": "measured"}


def names(results: Sequence[Result]) -> list[str]:
    """Return a name for each result: as many of the settings that differ as are needed, or else its folder.

    Beside a live result each says first what it is.
    """
    scenarios = [result.scenarios[0] for result in results]
    swept = {name for result in results for name in result.points[0]}
    kinds = [CALLED.get(result.manifest["engine"], "simulated") for result in results]
    found = kinds if len(set(kinds)) > 1 and "live" in kinds else [""] * len(results)
    for name in SETTINGS:
        if len(set(found)) < len(found) and name not in swept and _differs(name, scenarios):
            found = [f"{one} {text(name, scenario)}".strip() for one, scenario in zip(found, scenarios, strict=True)]
    folders = [result.folder.name if result.folder else result.title for result in results]
    return [
        name if name and found.count(name) == 1 else f"{name} {folder}".strip()
        for name, folder in zip(found, folders, strict=True)
    ]


def text(name: str, scenario: Mapping[str, Any]) -> str:
    """Return a setting in few letters."""
    value = scenario.get(name)
    if name == "flows":
        return "+".join(groups.heads(scenario))
    if name in ("capture", "link_trace"):
        paths = [value] if isinstance(value, str) else value or ()
        return "+".join(str(path).rpartition("/")[2] for path in paths)
    return str(value).rpartition(" ")[2] if value is not None else ""


def _differs(name: str, scenarios: Sequence[Mapping[str, Any]]) -> bool:
    if len({str(scenario.get(name)) for scenario in scenarios}) == 1:
        return False
    # What follows from another setting by the same rule, as the buffer from the rate, is not named again.
    rules = {_rule(name, scenario) for scenario in scenarios}
    return len(rules) > 1 or rules == {""}


def _rule(name: str, scenario: Mapping[str, Any]) -> str:
    rule = str(scenario.get("rules", {}).get(name, ""))
    return "" if rule == "as given" else rule.partition(" at ")[0]


__all__ = ["names", "text"]
