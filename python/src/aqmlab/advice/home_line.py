"""The line of a home: its rates, and what its link layer adds to every packet."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aqmlab import _native
from aqmlab.vocabulary.errors import unknown
from aqmlab.vocabulary.units import parse_span


@dataclass(frozen=True)
class Layer:
    """A link layer: bytes around each IP packet, and the share of the sync rate that is left for them.

    ``cake`` and ``stab`` are the words of tc-cake(8) and tc-stab(8), ``sqm`` is that of OpenWrt's SQM.
    """

    name: str
    about: str
    overhead: int
    mpu: int
    payload: tuple[int, int]
    cake: str
    stab: str
    sqm: str
    source: str

    @staticmethod
    def of(given: dict[str, Any]) -> Layer:
        """Return it from plain data."""
        return Layer(**{**given, "payload": tuple(given["payload"])})

    def with_overhead(self, count: int) -> Layer:
        """Return it with other bytes around each IP packet than are usual.

        >>> layer("docsis").with_overhead(22).cake
        'overhead 22 mpu 64 noatm'

        """
        return Layer.of(json.loads(_native.advice_with_overhead(json.dumps(asdict(self)), count)))


_DECLARED = json.loads(_native.advice_layers())
LAYERS = {one["name"]: Layer.of(one) for one in _DECLARED["layers"]}
ALIASES: dict[str, str] = _DECLARED["aliases"]


def layer(name: str) -> Layer:
    """Return a link layer by its name or by another that is in use.

    Raises:
        InputError: with the names that are known.

    >>> layer("cable").name, layer("ptm").cake
    ('docsis', 'pppoe-ptm')

    """
    plain = name.strip().lower()
    plain = ALIASES.get(plain, plain)
    if plain not in LAYERS:
        raise unknown("link layer", name, [*LAYERS, *ALIASES])
    return LAYERS[plain]


@dataclass(frozen=True)
class Line:
    """A line: rates as the modem reports them (bit/s), or a recorded downlink with its mean rate; the modem's buffer.

    ``share`` of the rate is what a shaper is given; without it several are tried.
    """

    down_bps: int
    up_bps: int
    layer: Layer
    trace: str = ""
    rtt: str = "40ms"
    modem_buffer: str = ""
    share: float | None = None

    @cached_property
    def json(self) -> str:
        """It as plain data (JSON)."""
        plain = asdict(self)
        recorded, rtt = plain.pop("trace"), plain.pop("rtt")
        return json.dumps({**plain, "is_recorded": bool(recorded), "rtt_ns": parse_span(rtt)})

    @cached_property
    def _resolved(self) -> dict[str, Any]:
        return dict(json.loads(_native.advice_line(self.json)))

    @property
    def buffers(self) -> tuple[str, str]:
        """The modem's buffers, down and up, in tc's notation: as given, or typical ones."""
        down, up = self._resolved["buffers"]
        return down, up

    @property
    def carried(self) -> tuple[int, int]:
        """What is left of both rates without cells or code words."""
        down, up = self._resolved["carried"]
        return down, up

    @property
    def plan(self) -> Plan:
        """How it is asked about."""
        return Plan(**self._resolved["plan"])

    def shaped(self, share: float) -> tuple[int, int]:
        """The rates of a shaper with a share of the line's, in whole kbit/s."""
        return _native.advice_shaped(self.json, share)

    def __str__(self) -> str:
        """Describe it."""
        down, up = (f"{rate / 1e6:.4g} Mbit/s" for rate in (self.down_bps, self.up_bps))
        if self.trace:
            down = f"{Path(self.trace).name} ({down} on average)"
        return f"{down} down, {up} up, {self.layer.about}"


@dataclass(frozen=True)
class Plan:
    """How a line is asked about: the length of a run, and the runs of each setup.

    After ``quick_seeds`` of ``seeds`` runs the quick form stops where they decide. With ``only_usual`` only the setups
    are tried that routers come with.
    """

    duration_s: int
    seeds: int
    quick_seeds: int
    only_usual: bool
