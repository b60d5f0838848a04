"""The line of a home: its rates, and what its link layer adds to every packet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from aqmlab.vocabulary.errors import unknown


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

    def carried(self, rate_bps: int) -> int:
        """What is left of a sync rate without cells or code words."""
        kept, of = self.payload
        return rate_bps * kept // of

    def with_overhead(self, count: int) -> Layer:
        """Return it with other bytes around each IP packet than are usual.

        >>> layer("docsis").with_overhead(22).cake
        'overhead 22 mpu 64 noatm'

        """
        if count == self.overhead:
            return self
        cells = {"adsl": "atm", "vdsl": "ptm"}.get(self.name, "noatm")
        return replace(
            self,
            overhead=count,
            cake=f"overhead {count} mpu {self.mpu} {cells}",
            stab=self.stab or "ethernet",
            sqm="ethernet" if self.sqm == "none" else self.sqm,
            source="--overhead",
        )


LAYERS = {
    one.name: one
    for one in (
        Layer(
            "adsl",
            "ADSL with PPPoE: ATM cells of 53 bytes carry 48",
            40,
            0,
            (48, 53),
            "pppoe-llcsnap",
            "atm",
            "atm",
            "tc-cake(8): pppoe-llcsnap is overhead 40 atm",
        ),
        Layer(
            "vdsl",
            "VDSL2 with PPPoE: PTM sends 65 bytes for 64",
            30,
            0,
            (64, 65),
            "pppoe-ptm",
            "ethernet",
            "ethernet",
            "tc-cake(8): pppoe-ptm is overhead 30 ptm; the rates of tc-stab(8) and SQM are reduced by 64/65 instead",
        ),
        Layer(
            "docsis",
            "cable: the modem's shaper counts Ethernet frames without preamble",
            18,
            64,
            (1, 1),
            "docsis",
            "ethernet",
            "ethernet",
            "tc-cake(8): docsis is overhead 18 mpu 64 noatm",
        ),
        Layer(
            "ethernet",
            "fibre or Ethernet: frames with preamble, check sequence and gap",
            38,
            84,
            (1, 1),
            "ethernet",
            "ethernet",
            "ethernet",
            "tc-cake(8): ethernet is overhead 38 mpu 84 noatm",
        ),
        Layer(
            "lte",
            "a mobile link: what the modem adds is in its rate",
            0,
            0,
            (1, 1),
            "raw",
            "",
            "none",
            "tc-cake(8): raw counts packets as they are",
        ),
    )
}
ALIASES = {"ptm": "vdsl", "vdsl2": "vdsl", "adsl2": "adsl", "atm": "adsl", "cable": "docsis", "fibre": "ethernet"}
ALIASES |= {"fiber": "ethernet", "mobile": "lte"}


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
    """A line: rates as the modem reports them (bit/s), or a recorded way down with its mean rate; the modem's buffer.

    ``share`` of the rate is what a shaper is given; without it several are tried.
    """

    down_bps: int
    up_bps: int
    layer: Layer
    trace: str = ""
    rtt: str = "40ms"
    modem_buffer: str = ""
    share: float | None = None

    @property
    def buffers(self) -> tuple[str, str]:
        """The modem's buffers: as given, or 256 KB, and 100 ms of a fast line (Kreibich et al., IMC 2010)."""
        if self.modem_buffer:
            return self.modem_buffer, self.modem_buffer
        down, up = (f"{max(256 * 1024, rate // 80)}b" for rate in (self.down_bps, self.up_bps))
        return down, up

    def shaped(self, share: float) -> tuple[int, int]:
        """The rates of a shaper with a share of the line's, in whole kbit/s."""
        down, up = (max(int(rate * share) // 1000, 1) * 1000 for rate in (self.down_bps, self.up_bps))
        return down, up

    def __str__(self) -> str:
        """Describe it."""
        down, up = (f"{rate / 1e6:.4g} Mbit/s" for rate in (self.down_bps, self.up_bps))
        if self.trace:
            down = f"{Path(self.trace).name} ({down} on average)"
        return f"{down} down, {up} up, {self.layer.about}"
