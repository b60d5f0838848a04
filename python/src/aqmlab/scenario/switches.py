"""Options of the switches of a topology: shared buffer, priority flow control, a program."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aqmlab import _native
from aqmlab.vocabulary.errors import InputError, unknown
from aqmlab.vocabulary.units import parse_bytes, parse_whole

# The keys of a generator, as in ``star:buffer=9mb:xoff=96kb:priorities=3``, and in [switch] of a file.
BUFFER_KEYS = {"buffer": "", "alpha": "1", "reserve": "0b"}
PFC_KEYS = {"xoff": "", "xon": "", "headroom": "auto", "priorities": "0", "quanta": "65535"}
# A program stands for itself: ``program=dscp codepoints 46,26 int``.
PROGRAM = "program"
KEYS = {**BUFFER_KEYS, **PFC_KEYS, PROGRAM: ""}

PRIORITIES = 8
LONGEST_PAUSE = 65535
# IEEE 802.1Qbb has no default; two full packets keep XON and XOFF apart.
XON_BELOW_XOFF_BYTES = 3 * 1024


def options(values: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the options of a switch in the simulator's form; ``None`` if none is given.

    Args:
        values: the user's values of [`KEYS`][aqmlab.scenario.switches.KEYS], as text.

    Raises:
        InputError: naming key, value and what is allowed.

    >>> options({"buffer": "9mb"})["buffer"]
    {'size_bytes': 9437184, 'alpha': 1.0, 'reserve_bytes': 0}

    """
    if not values:
        return None
    texts = {**KEYS, **values}
    for key, leader, keys in (("buffer", "buffer", BUFFER_KEYS), ("xoff", "xoff", PFC_KEYS)):
        alone = [name for name in keys if name in values and key not in values]
        if alone:
            raise InputError(f"{alone[0]}: needs {leader} beside it")
    buffer = {
        "size_bytes": _bytes("buffer", texts["buffer"], least=1),
        "alpha": _alpha(texts["alpha"]),
        "reserve_bytes": _bytes("reserve", texts["reserve"]),
    }
    return {
        **({"buffer": buffer} if "buffer" in values else {}),
        **({"pfc": _pfc(texts)} if "xoff" in values else {}),
        **({PROGRAM: _program(texts[PROGRAM])} if PROGRAM in values else {}),
    }


def from_table(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the entries of a file's ``[switch]`` as text, the keys of its ``pfc`` beside the others.

    Raises:
        InputError: for an unknown key, or a value that is neither text, a number nor (priorities) a list of them.

    """
    known = [*BUFFER_KEYS, "pfc", PROGRAM]
    pfc = table.get("pfc", {})
    if not isinstance(pfc, dict):
        raise InputError(f"pfc: '{pfc}' is not a table such as {{ xoff = \"96kb\" }}")
    for entries, keys, what in ((table, known, "key"), (pfc, PFC_KEYS, "key of pfc")):
        for key in entries:
            if key not in keys:
                raise InputError(unknown(what, key, keys))
    if "pfc" in table and "xoff" not in pfc:
        raise InputError("pfc: xoff is missing")
    return {key: _text(key, value) for key, value in (*table.items(), *pfc.items()) if key != "pfc"}


def _text(key: str, value: Any) -> str:
    entries = value if isinstance(value, list) else [value]
    if (isinstance(value, list) and key != "priorities") or any(
        isinstance(entry, bool) or not isinstance(entry, str | int | float) for entry in entries
    ):
        raise InputError(f"{key}: '{value}' is not one value")
    return "|".join(str(entry) for entry in entries)


def _program(text: str) -> str:
    try:
        return _native.parse_program(text)
    except _native.InputError as error:
        raise InputError(f"{PROGRAM}: {error}") from None


def _pfc(texts: Mapping[str, str]) -> dict[str, Any]:
    xoff = _bytes("xoff", texts["xoff"], least=1)
    xon = _bytes("xon", texts["xon"]) if texts["xon"] else max(xoff - XON_BELOW_XOFF_BYTES, 0)
    if xon > xoff:
        raise InputError(f"xon: '{texts['xon']}' is more than xoff, {texts['xoff']}")
    headroom = texts["headroom"]
    return {
        "priorities": _priorities(texts["priorities"]),
        "xoff_bytes": xoff,
        "xon_bytes": xon,
        "headroom_bytes": None if headroom == "auto" else _bytes("headroom", headroom),
        "quanta": _whole("quanta", texts["quanta"], 1, LONGEST_PAUSE),
    }


def _bytes(key: str, text: str, least: int = 0) -> int:
    if not text:
        return 0
    try:
        count = parse_bytes(text)
    except ValueError as error:
        raise InputError(f"{key}: {error}") from None
    if count < least:
        raise InputError(f"{key}: '{text}' is out of range: allowed is {least}b or more")
    return count


def _alpha(text: str) -> float:
    try:
        alpha = float(text)
    except ValueError:
        raise InputError(f"alpha: '{text}' is not a number") from None
    if not 0 < alpha < math.inf:
        raise InputError(f"alpha: '{text}' is out of range: allowed is a number above zero")
    return alpha


def _priorities(text: str) -> list[int]:
    return sorted({_whole("priorities", part, 0, PRIORITIES - 1) for part in text.split("|")})


def _whole(key: str, text: str, least: int, most: int) -> int:
    try:
        return parse_whole(text, least, most)
    except ValueError as error:
        raise InputError(f"{key}: {error}") from None
