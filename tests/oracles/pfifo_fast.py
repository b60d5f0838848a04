"""pfifo_fast, written from tc-prio(8)'s table of types of service over three plain lists."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from workload import Oracle, Packet, Trace, marked_traffic

# tc-prio(8): the band of each type of service, without its lowest bit ("minimize monetary cost"), which ECN has now.
BAND_OF_TOS = {0x00: 1, 0x04: 1, 0x08: 2, 0x0C: 2, 0x10: 0, 0x14: 0, 0x18: 1, 0x1C: 1}


class PfifoFast(Oracle):
    """Three lists; the first that has something sends."""

    shows = ("dropped overlimit",)

    @staticmethod
    def trace(seed: int) -> Trace:
        return marked_traffic(seed)

    def __init__(self, limit: int, band_limit: int, *, pushout: bool = True) -> None:
        super().__init__()
        self.limit, self.band_limit, self.pushout = limit, band_limit, pushout
        self.bands: list[deque[Packet]] = [deque(), deque(), deque()]

    def enqueue(self, packet: Packet, now: int) -> None:
        band = self.bands[BAND_OF_TOS[packet.code_point << 2 & 0x1C]]
        if len(band) >= self.band_limit or not self.makes_room(band):
            self.log("dropped", packet.number, "overlimit")
            return
        band.append(packet)
        self.log("enqueued", packet.number)

    def makes_room(self, band: deque[Packet]) -> bool:
        """Whether a packet fits into all bands together, or the oldest of a longer band went for it."""
        if sum(map(len, self.bands)) < self.limit:
            return True
        longest = max((one for one in reversed(self.bands) if one is not band), key=len)
        if not self.pushout or len(longest) <= len(band) + 1:
            return False
        self.log("dropped", longest.popleft().number, "overlimit")
        return True

    def dequeue(self, now: int) -> Packet | None:
        return next((band.popleft() for band in self.bands if band), None)

    def probes(self) -> dict[str, float]:
        return {f"band_{number}": len(band) for number, band in enumerate(self.bands)}


CASES: dict[str, Callable[[], Oracle]] = {
    "pfifo_fast limit 120p band_limit 50p": lambda: PfifoFast(120, 50),
    "pfifo_fast limit 60p": lambda: PfifoFast(60, 60),
    "pfifo_fast:ns3 limit 60p": lambda: PfifoFast(60, 60, pushout=False),
}
