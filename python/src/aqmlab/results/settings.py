"""Every setting that was in force, in words: for the terminal and the report alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.scenario import OPTIONS

if TYPE_CHECKING:
    from aqmlab.results.model import Result


@dataclass(frozen=True)
class Setting:
    """A setting; the note says by which rule it came about, or that nobody chose it."""

    name: str
    value: str
    note: str


def settings(result: Result) -> list[Setting]:
    """Return the settings of a result, in the order of the options; what a sweep varies has all its values."""
    scenario = result.scenarios[0]
    swept = set(result.points[0])
    found = []
    for option in OPTIONS:
        # A folder that was written before there was an option has none.
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
        found.append(Setting(name, _value(option.name, value), note))
        if option.name == "link_trace":
            found.append(Setting("mean rate of the trace", scenario["link_trace_mean_rate"], ""))
        if option.name == "capture":
            found.append(Setting("in the capture", "; ".join(scenario["capture_figures"]), ""))
    return found


def _value(name: str, value: object) -> str:
    if isinstance(value, list):
        if name == "seeds":
            return f"{value[0]} to {value[-1]}" if len(value) > 1 else str(value[0])
        # Blanks let a long flow spec break into lines; it reads back with colons.
        texts = [str(entry).replace(":", " ") if name == "flows" else str(entry) for entry in value]
        return ", ".join(texts)
    return str(value)
