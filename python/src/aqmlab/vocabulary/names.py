"""Names, as they are compared and as a sentence lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The engines, by what a user calls them.
ENGINES = ("native", "linux")
# A name in front of a discipline: neither a path nor a parameter has these characters alone before an equals sign.
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._:+-]{0,39})=(.+)")

# A parameter with the name of a swept value, or such a preset.
_SWEPT = re.compile(r"(?: [^\s\[\]]+ |:)[^\s\[\]:]*\$[^\s\[\]]*")


def engine_of(text: str) -> tuple[str, str]:
    """Split a discipline from the engine that it is to run in, as ``pie on linux``; none is named by an empty text.

    >>> engine_of("pie target 5ms on linux"), engine_of("pie derandomize on")
    (('pie target 5ms', 'linux'), ('pie derandomize on', ''))

    """
    discipline, found, engine = text.rpartition(" on ")
    return (discipline.rstrip(), engine) if found and engine in ENGINES else (text, "")


def name_of(text: str) -> tuple[str, str]:
    """Split the name that a user gives a discipline from it, as ``Mine=codel target 10ms``; empty without one.

    >>> name_of("Mine=codel target 10ms"), name_of("python:mine.py:Mine"), name_of("Two words = pie on linux")
    (('Mine', 'codel target 10ms'), ('', 'python:mine.py:Mine'), ('Two words', 'pie on linux'))

    """
    found = _NAMED.fullmatch(text.strip())
    return (found[1].strip(), found[2].strip()) if found else ("", text)


def without_swept(labels: Sequence[str]) -> list[str]:
    """Return labels without the parameters and presets that a sweep varies, if that leaves each a name of its own.

    >>> without_swept(["codel target $t", "pie:$preset", "drr child [codel target $t limit 10p]"])
    ['codel', 'pie', 'drr child [codel limit 10p]']
    >>> without_swept(["codel target $a", "codel target $b", "$aqm"])
    ['codel target a', 'codel target b', 'aqm']

    """
    short = [_SWEPT.sub("", label) for label in labels]
    return [
        one if "$" not in one and short.count(one) == 1 else label.replace("$", "")
        for one, label in zip(short, labels, strict=True)
    ]


def on(text: str, engine: str) -> str:
    """Return a discipline in an engine, unless it names one itself.

    >>> on("pie", "linux"), on("pie on native", "linux")
    ('pie on linux', 'pie on native')

    """
    return text if engine_of(text)[1] else f"{text} on {engine}"


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
