"""FQ-COBALT: the flow queues of RFC 8290 as in `fq_codel.py`, with COBALT on each.

The flow with the most bytes is notified of an overflow once for each batch that it loses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import cobalt
import fq_codel
from workload import Oracle, Packet


@dataclass
class Options(fq_codel.Options):
    """As for FQ-CoDel, and COBALT's."""

    cobalt: cobalt.Options = field(default_factory=cobalt.Options)


class FlowQueue(cobalt.CobaltQueue):
    """COBALT with the calls of a flow queue."""

    def __init__(self, owner: FqCobalt) -> None:
        super().__init__(owner.cobalt_options, owner.log)
        self.owner = owner

    @property
    def bytes(self) -> int:
        """Bytes that wait."""
        return sum(packet.length for packet in self.queue)

    def push(self, packet: Packet) -> None:
        """Append a packet."""
        self.queue.append(packet)

    def pop(self) -> Packet | None:
        """Take the oldest packet, past the law."""
        return self.queue.popleft() if self.queue else None


class FqCobalt(fq_codel.FlowQueues[FlowQueue]):
    """With COBALT on each."""

    def __init__(self, options: Options | None = None) -> None:
        self.cobalt_options = (options or Options()).cobalt
        super().__init__(options or Options())
        self.salted = False

    def new_queue(self) -> FlowQueue:
        return FlowQueue(self)

    def serve(self, queue: FlowQueue, now: int) -> Packet | None:
        return queue.dequeue(now, self.numbers, self.rate)

    def overflowed(self, queue: FlowQueue, now: int) -> None:
        queue.overflow(now)

    def enqueue(self, packet: Packet, now: int) -> None:
        if not self.salted:
            self.numbers.used += 1  # the hash takes one number
            self.salted = True
        super().enqueue(packet, now)


CASES: dict[str, Callable[[], Oracle]] = {
    "fq_cobalt flows 65536": FqCobalt,
    "fq_cobalt flows 65536 limit 120p increment 0.1 decrement 0.02 ecn": lambda: FqCobalt(
        Options(limit=120, cobalt=cobalt.Options(increment=0.1, decrement=0.02))
    ),
    "fq_cobalt:ns3 flows 65536 limit 90p drop_batch 3 quantum 300b noecn": lambda: FqCobalt(
        Options(limit=90, drop_batch=3, quantum=300, cobalt=cobalt.ns3(cobalt.Options(ecn=False)))
    ),
}
