"""All settings of a result in words, defaults included: for the terminal and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aqmlab.scenario import OPTIONS

if TYPE_CHECKING:
    from aqmlab.results.result import Result


@dataclass(frozen=True)
class Setting:
    """A setting; the note gives the rule behind its value, or says that it is a default."""

    name: str
    value: str
    note: str


def settings(result: Result) -> list[Setting]:
    """Return the settings of a result, in the order of the options; a swept one has all its values."""
    scenario = result.scenarios[0]
    swept = set(result.points[0])
    found = []
    for option in OPTIONS:
        # An older folder lacks newer options.
        value = scenario.get(option.name)
        if option.name == "aqm" or (value in (None, []) and option.name not in swept):
            continue
        name = option.name.replace("_", " ")
        if option.name in swept:
            values = dict.fromkeys(point[option.name] for point in result.points)
            found.append(Setting(name, ", ".join(values), "swept"))
            continue
        rule = scenario["rules"].get(option.name, "as given")
        is_default = option.name in scenario["defaults"]
        note = rule if rule != "as given" else "default" if is_default else ""
        # A sweep may change what follows from it: the buffer with the round-trip time.
        every = list(dict.fromkeys(_value(option.name, one.get(option.name)) for one in result.scenarios))
        if len(every) > 1 and "link" in swept:
            own = [
                (point["link"], _value(option.name, one.get(option.name)))
                for point, one in zip(result.points, result.scenarios, strict=True)
                if one.get(option.name) is not None
            ]
            found.append(
                Setting(name, "; ".join(dict.fromkeys(f"{link}: {text}" for link, text in own)), "of each link")
            )
            continue
        if len(every) > 1:
            given = ", ".join(result.manifest["points"][0].get("options", {}).get("given", {}).get(option.name, ()))
            found.append(
                Setting(name, given if "$" in given else f"{every[0]} to {every[-1]}", "differs over the sweep")
            )
            continue
        if option.name == "buffer" and is_default and all(_is_own(entry, every[0]) for entry in scenario["aqm"]):
            note = "not used: each AQM has a limit of its own"
        if option.name == "warmup" and "warmup_s" in result.runs.columns:
            shortest, longest = result.warmups_s()
            note = f"the runs are measured from {shortest:g} s to {longest:g} s on"
        found.append(Setting(name, every[0], note))
        if option.name == "link_trace":
            found.append(Setting("mean rate of the trace", scenario["link_trace_mean_rate"], ""))
        if option.name == "capture":
            found.append(Setting("in the capture", "; ".join(scenario["capture_figures"]), ""))
    # What runs of a live link have in addition.
    found += [Setting(name, value, "live") for name, value in scenario.get("live", {}).items()]
    return found


def aqms(result: Result) -> list[Setting]:
    """Return the AQMs as they ran; of what a sweep varies, the first and the last."""
    found = []
    for entries in zip(*(one["aqm"] for one in result.scenarios), strict=True):
        specs = list(dict.fromkeys(str(entry["spec"]) for entry in entries))
        differs = "differs over the sweep" if len(specs) > 1 else ""
        found.append(Setting("aqm", " to ".join(dict.fromkeys((specs[0], specs[-1]))), differs))
    return found


def _is_own(aqm: Mapping[str, Any], buffer: str) -> bool:
    """Whether an AQM has a limit that is not the scenario's buffer."""
    return bool(aqm["params"].get("limit", buffer) != buffer)


def _value(name: str, value: object) -> str:
    if isinstance(value, list):
        if name == "seeds":
            return f"{value[0]} to {value[-1]}" if len(value) > 1 else str(value[0])
        return ", ".join(map(str, value))
    return str(value)
