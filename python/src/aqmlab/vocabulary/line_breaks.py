"""Where no line ends: between a number and its unit, or the number that follows it."""

from __future__ import annotations

import re

_TOGETHER = re.compile(
    "\u00a0"
    r"|(?<=\d) (?=(?:%|[munµ]?s|[kMGT]?bit(?:/s)?|[kMGT]?i?B|bytes|packets|times|seeds|points)(?![\w-]))"
    r"|(?<=\d) (?=(?:→|->) [\d-])|(?<= →) (?=[\d-])|(?<= ->) (?=[\d-])|(?<=[▲▼◆±]) (?=[\d+-])"
)


def together(text: str, blank: str = "\u00a0") -> str:
    """Return a text with another blank wherever no line is to end; a no-break space unless given.

    >>> together("30 ms -> 9 ms", "_")
    '30_ms ->_9_ms'

    """
    return _TOGETHER.sub(blank, text)


__all__ = ["together"]
