"""Names, as they are compared and as a sentence lists them."""

from __future__ import annotations

from collections.abc import Sequence


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
