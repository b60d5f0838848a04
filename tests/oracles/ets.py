"""ets, written from tc-ets(8): strict bands are tried first, and the others by deficit round robin."""

from __future__ import annotations

from collections.abc import Callable

import classful
import codel
import prio
from workload import Oracle, Packet, Trace, marked_traffic


class Ets(classful.DeficitRoundRobin):
    """The first bands are strict; those that share have a quantum."""

    @staticmethod
    def trace(seed: int) -> Trace:
        return marked_traffic(seed)

    def __init__(
        self,
        strict: int,
        quanta: tuple[int, ...],
        limit: int,
        priomap: tuple[int, ...] = (),
        child: codel.Options | None = None,
    ) -> None:
        super().__init__((0,) * strict + quanta, limit, child)
        self.strict = strict
        self.priomap = priomap

    def class_of(self, packet: Packet) -> int:
        last = len(self.children) - 1
        priority = self.priority(packet)
        if not self.priomap:
            return min(priority, last)
        return self.priomap[priority] if priority < len(self.priomap) else last

    def priority(self, packet: Packet) -> int:
        """The host's class."""
        return packet.traffic_class

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        if number >= self.strict:
            super().arrived(number, packet, was_empty)

    def choose(self, now: int) -> int | None:
        first = next((number for number in range(self.strict) if self.head(number, now)), None)
        return super().choose(now) if first is None else first

    def left(self, number: int, packet: Packet) -> None:
        if number >= self.strict:
            super().left(number, packet)

    def probes(self) -> dict[str, float]:
        return {name.replace("class_", "band_"): value for name, value in super().probes().items()}


class ByService(Ets):
    """The priority is Linux's of a forwarded packet."""

    def priority(self, packet: Packet) -> int:
        return prio.PRIORITY_OF_TOS[packet.code_point << 2 & 0x1C]


CASES: dict[str, Callable[[], Oracle]] = {
    "ets limit 60p": lambda: Ets(0, (1514,) * 8, 60),
    "ets bands 4 strict 1 quanta 3000b,1000b,500b limit 60p": lambda: Ets(1, (3000, 1000, 500), 60),
    "ets bands 3 strict 3 limit 60p priomap 2,0": lambda: Ets(3, (), 60, (2, 0)),
    "ets bands 4 strict 2 quanta 700b limit 90p sharing complete": lambda: classful.complete(Ets(2, (700, 700), 90)),
    "ets:linux bands 3 strict 1 priomap 1,1,2,1,1,1,0 limit 60p": lambda: ByService(
        1, (1514, 1514), 60, (1, 1, 2, 1, 1, 1, 0)
    ),
    "ets bands 3 strict 1 limit 200p child [codel ecn]": lambda: Ets(
        1, (1514, 1514), 200, child=codel.Options(ecn=True)
    ),
}
