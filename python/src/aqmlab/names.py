"""Short names of AQMs, where space is limited."""

from __future__ import annotations

import re

from aqmlab.results import Result


def plain(name: str) -> str:
    """Return the form of a name in which names are compared: hyphens for underscores, lower case.

    >>> plain("FQ_CoDel")
    'fq-codel'

    """
    return name.replace("_", "-").lower()


def short_names(result: Result) -> dict[str, str]:
    """Return the AQMs' labels by their short names.

    The short name is the discipline's, or if several AQMs share it, the label without swept values.
    """
    entries = result.scenarios[0]["aqm"]
    labels = [str(entry["label"]) for entry in entries]
    names = [plain(str(entry["name"])) for entry in entries]
    fixed = [re.sub(r" \S+ \$\w+", "", label) for label in labels]
    for candidates in (names, fixed):
        if len(set(candidates)) == len(labels):
            return dict(zip(candidates, labels, strict=True))
    return {name if names.count(name) == 1 else label: label for name, label in zip(names, labels, strict=True)}
