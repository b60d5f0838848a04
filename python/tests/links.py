"""Links for tests."""

from __future__ import annotations

from typing import Any

from aqmlab.live.carrying import Link
from aqmlab.live.directions import lines

RATES = {"down": {"rate": "10mbit"}, "up": {"rate": "10mbit"}}


def link_of(aqm: str, own: dict[str, Any] | None = None, path: str = "", **shared: Any) -> Link:
    """Return a link of 10 Mbit/s with a round trip of 20 ms, by default."""
    return Link(*lines({"rtt": "20ms", "aqm": aqm, **shared}, own or RATES), path=path)
