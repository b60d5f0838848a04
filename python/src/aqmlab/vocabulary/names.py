"""Names of AQMs: in lists, and short where space is limited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aqmlab.results import Result


def plain(name: str) -> str:
    """Return the form of a name in which names are compared: hyphens for underscores, lower case.

    >>> plain("FQ_CoDel")
    'fq-codel'

    """
    return name.replace("_", "-").lower()


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> listed(["fifo", "codel", "pie"])
    'fifo, codel and pie'

    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def short_names(result: Result) -> dict[str, str]:
    """Return the AQMs' labels by their short names.

    The short name is the discipline's; where one is there several times, with its preset, or else the label without
    what a sweep varies.
    """
    entries = result.scenarios[0]["aqm"]
    labels = [str(entry["label"]) for entry in entries]
    names = [plain(str(entry["name"])) for entry in entries]
    presets = [plain(label.split()[0]) for label in labels]
    fixed = [re.sub(r" \S+ \$\w+", "", label) for label in labels]
    found = {}
    for label, *candidates in zip(labels, names, presets, fixed, strict=True):
        unique = (one for one, all_ in zip(candidates, (names, presets, fixed), strict=True) if all_.count(one) == 1)
        found[next(unique, label)] = label
    return found


def swept_names(result: Result) -> dict[str, str]:
    """Return what to call each AQM in a figure, by its label: its short name if a sweep varies a parameter of it."""
    short = {label: name for name, label in short_names(result).items()}
    return {label: short[label] if "$" in label else label for label in result.aqms}
