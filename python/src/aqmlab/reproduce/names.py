"""What AQMs are called where there is little room."""

from __future__ import annotations

from aqmlab.results import Result


def short_names(result: Result) -> list[str]:
    """Return the AQMs by their disciplines, and in full where a discipline is there several times."""
    entries = result.scenarios[0]["aqm"]
    names = [str(entry["name"]).replace("_", "-") for entry in entries]
    return [name if names.count(name) == 1 else str(entry["label"]) for name, entry in zip(names, entries, strict=True)]
