"""prio, written from tc-prio(8): its table of types of service, and its default map from priorities to bands."""

from __future__ import annotations

from collections.abc import Callable

import classful
import codel
from workload import Oracle, Packet, Trace, marked_traffic

# tc-prio(8), table of types of service: Linux's priority of each, without the lowest bit, which ECN has now.
PRIORITY_OF_TOS = {0x00: 0, 0x04: 0, 0x08: 2, 0x0C: 2, 0x10: 6, 0x14: 6, 0x18: 4, 0x1C: 4}
# The same page, default of priomap.
PRIOMAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)


class Prio(classful.StrictPriority):
    """Strict priority among bands."""

    @staticmethod
    def trace(seed: int) -> Trace:
        return marked_traffic(seed)

    def __init__(
        self, bands: int, limit: int, priomap: tuple[int, ...] = PRIOMAP, child: codel.Options | None = None
    ) -> None:
        super().__init__(bands, limit, child)
        self.priomap = priomap

    def class_of(self, packet: Packet) -> int:
        return self.priomap[self.priority(packet)]

    def priority(self, packet: Packet) -> int:
        """Linux's priority of a packet that is forwarded."""
        return PRIORITY_OF_TOS[packet.code_point << 2 & 0x1C]

    def probes(self) -> dict[str, float]:
        return {name.replace("class_", "band_"): value for name, value in super().probes().items()}


class ByClass(Prio):
    """The priority is the class, as a socket may set it."""

    def priority(self, packet: Packet) -> int:
        return packet.traffic_class


CASES: dict[str, Callable[[], Oracle]] = {
    "prio limit 60p": lambda: Prio(3, 60),
    "prio limit 90p sharing complete": lambda: classful.complete(Prio(3, 90)),
    "prio bands 4 limit 60p priomap 3,3,0,3,1,3,2,3": lambda: Prio(4, 60, (3, 3, 0, 3, 1, 3, 2, *[3] * 9)),
    "prio bands 3 limit 200p child [codel ecn]": lambda: Prio(3, 200, child=codel.Options(ecn=True)),
    "prio limit 60p priority class": lambda: ByClass(3, 60),
}
