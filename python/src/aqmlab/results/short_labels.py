"""Labels as figures and terminals write them: a long one is shortened to what sets it apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A label of more letters takes too much room.
LONGEST = 22
# What of a label that stays too long is left at its end.
_TAIL = 7


def short_labels(labels: Sequence[str]) -> dict[str, str]:
    """Return each label as it is written where room is limited.

    Where one is long, the parameters that all labels of its discipline share are left out; a discipline that is there
    once keeps its name alone. What is still too long loses its middle. No two are written alike.

    >>> short_labels(["fifo", "pie target 20ms tupdate 16ms ecn", "pie target 15ms tupdate 16ms ecn"])
    ... # doctest: +NORMALIZE_WHITESPACE
    {'fifo': 'fifo', 'pie target 20ms tupdate 16ms ecn': 'pie target 20ms',
    'pie target 15ms tupdate 16ms ecn': 'pie target 15ms'}

    >>> short_labels(["codel target 10ms", "red"])
    {'codel target 10ms': 'codel target 10ms', 'red': 'red'}

    """
    if all(len(label) <= LONGEST for label in labels):
        return {label: label for label in labels}
    parts = {label: _parts(label) for label in labels}
    found: dict[str, str] = {}
    for label, (name, params) in parts.items():
        others = [other for text, (called, other) in parts.items() if called == name and text != label]
        own = [param for param in params if not others or not all(param in other for other in others)]
        text = " ".join([name, *(own if others else ())])
        if len(text) > LONGEST:
            text = f"{text[: LONGEST - _TAIL - 1].rstrip()}…{text[-_TAIL:].lstrip()}"
        found[label] = label if len(label) <= LONGEST else text
    for place, label in enumerate(labels):
        alike = [other for other in labels[:place] if found[other] == found[label]]
        if alike:
            found[label] = f"{found[label]} ({len(alike) + 1})"
    return found if len(set(found.values())) == len(found) else {label: label for label in labels}


def _parts(label: str) -> tuple[str, list[str]]:
    """Return the name of a label, without the folders of a file, and its parameters, each with its value.

    >>> _parts("python:work/mine.py:Mine target 20ms ecn limit 100p")
    ('mine.py:Mine', ['target 20ms', 'ecn', 'limit 100p'])

    """
    name, *words = label.split() or [label]
    params: list[str] = []
    for word in words:
        # A value begins with a digit; what is a word of its own, as `ecn`, is a parameter without one.
        if params and re.match(r"[\d.$+-]", word) and " " not in params[-1]:
            params[-1] += f" {word}"
        else:
            params.append(word)
    return (name.rpartition("/")[2] if "/" in name else name), params


__all__ = ["LONGEST", "short_labels"]
