r"""Text from outside, as people see it: errors, tables, pages, figures. Data keeps the text itself.

A control character could change what a terminal shows or does, and one that turns the direction of writing what a name
looks like. Both are shown as Python would write them. Of a text too long to be read the middle is left out: a browser
takes minutes for a name of ten megabytes, and loses the layout of its page.
"""

from __future__ import annotations

import re
from typing import Any

# Control characters but tab and line feed, the controls of Unicode's bidirectional algorithm (UAX 9 section 2), other
# ends of lines, and the bytes of a file's name that are not text.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

# Of a longer text, this many characters are shown at its beginning, and a tenth of them at its end.
LONGEST = 20_000


def printable(text: str) -> str:
    r"""Return a text whose control characters are seen and do nothing, short enough to be read.

    >>> print(printable("a\x1b[31mb \u202ec"))
    a\x1b[31mb \u202ec
    >>> len(printable("x" * 10_000_000)) < 25_000
    True

    """
    if len(text) > 2 * LONGEST:
        end = LONGEST // 10
        text = f"{text[:LONGEST]} ... {len(text) - LONGEST - end} characters ... {text[-end:]}"
    return _CONTROLS.sub(_seen, text)


def all_printable(value: Any) -> Any:
    """Return plain data in which every text is `printable`."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {all_printable(name): all_printable(inner) for name, inner in value.items()}
        case list() | tuple():
            return [all_printable(inner) for inner in value]
    return value


def is_utf_8(text: str) -> bool:
    """Whether a text has no bytes of a file's name that are not text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escaped(json: str) -> str:
    """Return JSON that holds the same texts, with those characters escaped, as JSON has it for some of them only."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", json)


def _seen(found: re.Match[str]) -> str:
    code = ord(found[0])
    # Python's stand-in for a byte that is not UTF-8.
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    return f"\\x{byte:02x}" if byte < 0x100 else f"\\u{code:04x}"
