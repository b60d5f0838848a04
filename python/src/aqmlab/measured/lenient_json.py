r"""JSON as programs that measure write it: with `nan`, with a key twice, or one document a line.

iperf3's C library prints what is not a number as `nan` or `-nan`; `--json-stream` writes events
(`{"event": "interval", "data": ...}`); before version 3.11 both sums of `--bidir` have the same key.
"""

from __future__ import annotations

import json
import re
from typing import Any

from aqmlab.measured.builder import FormatError

# What iperf3 calls the sums of what the server sends in a test of both directions, from version 3.11 on.
REVERSE = "_bidir_reverse"
_SUMS = frozenset({"sum", "sum_sent", "sum_received"})
# Set in the result of a stream of events that has no end.
CUT = "cut off"
# Strings stay as they are, and one without an end is a string to the end: no place of the text is read twice. The C
# libraries of Linux, BSD and macOS print the first form, older ones of Windows the second.
_STRING_OR_NUMBER = re.compile(
    r'"(?:[^"\\]|\\.?)*+(?:"|\Z)'
    r"|(?P<sign>-?)(?:(?P<nan>nan(?:\([a-z0-9_]{0,40}\))?|1\.#[a-z]{3,4})|(?P<inf>inf(?:inity)?))(?=[\s,}\]])",
    re.IGNORECASE | re.DOTALL,
)
_EVENTS = frozenset({"start", "end", "error", "server_output_json", "server_output_text"})
_SPACE = re.compile(r"[\ufeff \t\r\n]*")


def parse(content: bytes) -> Any:
    """Return the document of a file, or the result that a stream of iperf3's events holds.

    Raises:
        ValueError: if it is neither.
        FormatError: if it holds several results.

    """
    text = content.decode(json.detect_encoding(content))
    try:
        parsed = json.loads(text, object_pairs_hook=_table)
    except ValueError:
        return _stream(_STRING_OR_NUMBER.sub(_as_json, text))
    return _stream(text) if _is_event(parsed) else parsed


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        # A client prints what it sends first and a server what it receives, which is the same direction.
        table[key + REVERSE if key in _SUMS and key in table else key] = value
    return table


def _as_json(found: re.Match[str]) -> str:
    if found["nan"]:
        return "NaN"
    return f"{found['sign']}Infinity" if found["inf"] else found[0]


def _stream(text: str) -> Any:
    """Read one document after the other: events, or the only one."""
    decoder = json.JSONDecoder(object_pairs_hook=_table)
    result: dict[str, Any] = {"start": {}, "intervals": [], "end": {}, CUT: True}
    whole: list[Any] = []
    starts = 0
    place = _after_space(text, 0)
    while place < len(text) or not (starts or whole):
        try:
            document, place = decoder.raw_decode(text, place)
        except ValueError:
            if starts:
                return result
            raise
        place = _after_space(text, place)
        if not _is_event(document):
            whole.append(document)
        elif document["event"] == "interval":
            result["intervals"].append(document["data"])
        elif document["event"] in _EVENTS:
            result[document["event"]] = document["data"]
            starts += document["event"] == "start"
        if max(starts, len(whole)) > 1:
            raise FormatError("holds several results: put each into a file of its own")
    if whole:
        # `--json-stream-full-output` ends with everything in one document.
        return whole[0]
    if result["end"]:
        del result[CUT]
    return result


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _is_event(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("event"), str) and "data" in document


__all__ = ["CUT", "REVERSE", "parse"]
