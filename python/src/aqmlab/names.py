"""What AQMs are called where there is little room."""

from __future__ import annotations

import re

from aqmlab.results import Result


def plain(name: str) -> str:
    """Return a name as it is compared: underscores and hyphens are one and the same.

    >>> plain("FQ_CoDel")
    'fq-codel'

    """
    return name.replace("_", "-").lower()


def short_names(result: Result) -> dict[str, str]:
    """Return the AQMs' labels by their short names.

    The short name is the discipline's; where one is there several times, the label without what a sweep varies.
    """
    entries = result.scenarios[0]["aqm"]
    labels = [str(entry["label"]) for entry in entries]
    names = [plain(str(entry["name"])) for entry in entries]
    fixed = [re.sub(r" \S+ \$\w+", "", label) for label in labels]
    for candidates in (names, fixed):
        if len(set(candidates)) == len(labels):
            return dict(zip(candidates, labels, strict=True))
    return {name if names.count(name) == 1 else label: label for name, label in zip(names, labels, strict=True)}
