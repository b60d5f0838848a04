"""The setups of a line: the modem as it is, and what a router or a modem may do instead."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from aqmlab import _native
from aqmlab.advice.home_line import Line

AS_IT_IS = "as it is"
# What a shaper usually has of the rate.
USUAL_SHARE, _ = _native.advice_usual()


@dataclass(frozen=True)
class Setup:
    """A setup of a line.

    ``down`` and ``up`` are the disciplines of the router's shaper with their arguments as tc has them; without a shaper
    (``share`` 0) they are empty, and ``modem`` may be another discipline for the modem's uplink. ``sets`` is what it
    sets in the scenario of a household, in base units.
    """

    name: str
    about: str
    down: str = ""
    up: str = ""
    share: float = 0.0
    modem: str = ""
    sets: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def is_shaped(self) -> bool:
        """Whether the router shapes."""
        return self.share > 0

    @cached_property
    def json(self) -> str:
        """It as plain data (JSON)."""
        plain = asdict(self)
        plain.pop("sets")
        return json.dumps(plain)


def support(name: str) -> int:
    """Return how well a setup is supported, by its name: the less, the better.

    >>> [support(name) for name in (AS_IT_IS, "cake at 80%", "fq_codel", "fq_pie")]
    [0, 1, 2, 3]

    """
    return _native.advice_support(name)


def target(rate_bps: int, rtt_us: int = 0) -> str:
    """CoDel's target and interval as sqm-scripts set them on slow lines: 1.5 packets, and as much more interval.

    >>> target(950_000), target(15_200_000, 600_000)
    ('target 19452us interval 114452us', 'target 30000us interval 600000us')

    """
    return _native.advice_target(rate_bps, rtt_us)


def setups(line: Line, only_usual: bool = False) -> list[Setup]:
    """Return the setups for a line, the usual ones first; ``only_usual`` leaves out what few routers come with."""
    return [Setup(**one["setup"], sets=one["sets"]) for one in json.loads(_native.advice_setups(line.json, only_usual))]
