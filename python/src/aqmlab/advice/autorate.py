"""Settings of cake-autorate, a program that changes the rate of CAKE's shapers as a varying line's rate changes."""

from __future__ import annotations

from aqmlab.advice import paste
from aqmlab.advice.home_line import Line

# Lines whose rate changes by the second.
VARYING = ("lte", "starlink")
# Of the rate that a speed test or a contract says: sqm-autorate starts at 60 % and never goes below 20 %.
LEAST, START = 0.2, 0.6
# Of a mean rate: cake-autorate's own settings (defaults.sh) are 5, 20 and 80 Mbit/s.
LEAST_OF_MEAN, MOST_OF_MEAN = 0.25, 4.0
# Linux cuts the name of SQM's device, `ifb4` and that of the interface, to so many letters.
LONGEST_NAME = 15
# Where cake-autorate installs itself on a router with OpenWrt: no path of this machine.
FILE = "/root/cake-autorate/config.primary.sh"


def varies(line: Line) -> bool:
    """Return whether the rate of a line changes all the time."""
    return bool(line.trace) or line.layer.name in VARYING


def settings(line: Line, interface: str = "") -> list[str]:
    """Return the lines of cake-autorate's configuration for a line, in kbit/s; none where the rate does not change.

    >>> from aqmlab.advice import layer
    >>> settings(Line(100_000_000, 10_000_000, layer("starlink")))[4:7]
    ['min_dl_shaper_rate_kbps=20000', 'base_dl_shaper_rate_kbps=60000', 'max_dl_shaper_rate_kbps=100000']
    >>> settings(Line(100_000_000, 10_000_000, layer("vdsl")))
    []

    """
    if not varies(line):
        return []
    name = paste.interfaces(line, interface).openwrt
    found = [
        f"dl_if={f'ifb4{name}'[:LONGEST_NAME]}",
        f"ul_if={name}",
        "adjust_dl_shaper_rate=1",
        "adjust_ul_shaper_rate=1",
    ]
    parts = (LEAST_OF_MEAN, 1.0, MOST_OF_MEAN) if line.trace else (LEAST, START, 1.0)
    for direction, rate_bps in (("dl", line.down_bps), ("ul", line.up_bps)):
        for which, part in zip(("min", "base", "max"), parts, strict=True):
            found.append(f"{which}_{direction}_shaper_rate_kbps={round(rate_bps * part / 1000)}")
    return found


__all__ = ["FILE", "settings", "varies"]
