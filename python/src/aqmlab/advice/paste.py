"""Lines to paste: tc's commands, and OpenWrt's SQM."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aqmlab import _native
from aqmlab.advice.home_line import Line
from aqmlab.advice.setups import Setup
from aqmlab.vocabulary.errors import InputError

# What Linux takes for a name, less what a shell or uci would read otherwise.
INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}")


def checked(interface: str) -> str:
    """Return the name of an interface, which is safe to paste; or nothing, for the line's own.

    Raises:
        InputError: if it is none.

    >>> checked("pppoe-wan")
    'pppoe-wan'

    """
    if interface and not INTERFACE.fullmatch(interface):
        raise InputError(f"{interface!r} is not a name: allowed are 1 to 15 letters, digits and _ . @ -, as eth0")
    return interface


@dataclass(frozen=True)
class Interfaces:
    """The interface that the lines are for.

    Attributes:
        linux: its name on Linux.
        openwrt: its name on OpenWrt.
        notice: what is wrong with it; empty if nothing is.

    """

    linux: str
    openwrt: str
    notice: str

    def __str__(self) -> str:
        """Describe it."""
        if self.linux == self.openwrt:
            return f"{self.linux} is the interface towards the modem"
        what = "the interface of PPPoE" if self.linux.startswith("ppp") else "the interface towards the modem"
        return f"{self.linux} is {what}; on OpenWrt it is {self.openwrt}"


def interfaces(line: Line, interface: str = "") -> Interfaces:
    """Return the interface of a line, or the one that is given.

    On a line with PPPoE it is PPP's: the device below sends frames in which CAKE finds no IP packets.

    >>> from aqmlab.advice import layer
    >>> print(interfaces(Line(50_000_000, 10_000_000, layer("vdsl"))))
    ppp0 is the interface of PPPoE; on OpenWrt it is pppoe-wan
    >>> print(interfaces(Line(50_000_000, 10_000_000, layer("docsis"))))
    eth0 is the interface towards the modem; on OpenWrt it is wan

    """
    linux, openwrt, notice = _native.advice_interfaces(line.json, checked(interface))
    return Interfaces(linux, openwrt, notice or "")


def tc(setup: Setup, line: Line, interface: str = "") -> list[str]:
    """Return the commands for both directions; none without a shaper."""
    return _native.advice_tc(setup.json, line.json, checked(interface))


def undo(setup: Setup, line: Line, interface: str = "") -> list[str]:
    """Return the commands that take tc's back; none without a shaper."""
    return _native.advice_undo(setup.json, line.json, checked(interface))


def has_script(setup: Setup) -> bool:
    """Return whether OpenWrt's SQM has a script for a setup."""
    return _native.advice_has_script(setup.json)


def sqm(setup: Setup, line: Line, interface: str = "") -> list[str]:
    """Return OpenWrt's commands; none where SQM has no script for the setup."""
    return _native.advice_sqm(setup.json, line.json, checked(interface))
