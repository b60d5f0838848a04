"""Lines to paste: tc's commands, and OpenWrt's SQM."""

from __future__ import annotations

import re

from aqmlab import _native
from aqmlab.advice.line import Line
from aqmlab.advice.ways import Way
from aqmlab.vocabulary.errors import InputError

# What Linux takes for a name, less what a shell or uci would read otherwise.
INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}")


def checked(interface: str) -> str:
    """Return the name of an interface, which is safe to paste.

    Raises:
        InputError: if it is none.

    >>> checked("pppoe-wan")
    'pppoe-wan'

    """
    if not INTERFACE.fullmatch(interface):
        raise InputError(f"{interface!r} is not a name: allowed are 1 to 15 letters, digits and _ . @ -, as eth0")
    return interface


def tc(way: Way, line: Line, interface: str = "eth0") -> list[str]:
    """Return the commands for both directions; none without a shaper."""
    return _native.advice_tc(way.json, line.json, checked(interface))


def undo(way: Way, interface: str = "eth0") -> list[str]:
    """Return the commands that take tc's back; none without a shaper."""
    return _native.advice_undo(way.json, checked(interface))


def has_script(way: Way) -> bool:
    """Return whether OpenWrt's SQM has a script for a way."""
    return _native.advice_has_script(way.json)


def sqm(way: Way, line: Line, interface: str = "eth0") -> list[str]:
    """Return OpenWrt's commands; none where SQM has no script for the way."""
    return _native.advice_sqm(way.json, line.json, checked(interface))
