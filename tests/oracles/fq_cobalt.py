"""FQ-COBALT: the flow queues of RFC 8290 as in `fq_codel.py`, with COBALT on each.

The fattest flow is told of an overflow once for each batch that it loses.
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


class FqCobalt(Oracle):
    """Flow queues under DRR++ with COBALT on each."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__()
        self.o = options or Options()
        self.cobalt_options = self.o.cobalt
        self.queues: dict[int, FlowQueue] = {}
        self.credits: dict[int, int] = {}
        self.new: list[int] = []
        self.old: list[int] = []
        self.salted = False

    def enqueue(self, packet: Packet, now: int) -> None:
        """Section 4.1."""
        if not self.salted:
            self.numbers.used += 1  # the hash takes one number
            self.salted = True
        queue = self.queues.setdefault(packet.flow, FlowQueue(self))
        queue.push(packet)
        if packet.flow not in self.new + self.old:
            self.new.append(packet.flow)
            self.credits[packet.flow] = self.o.quantum
        dropped: list[int] = []
        while sum(len(queue.queue) for queue in self.queues.values()) > self.o.limit:
            fattest = max(self.queues.values(), key=lambda queue: queue.bytes)
            fattest.overflow(now)
            half = fattest.bytes // 2
            for _ in range(self.o.drop_batch):
                victim = fattest.pop()
                if victim is None:
                    break
                dropped.append(victim.number)
                self.log("dropped", victim.number, "overlimit")
                if fattest.bytes <= half:
                    break
        if packet.number not in dropped:
            self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        """Section 4.2."""
        while self.new or self.old:
            queues = self.new or self.old
            flow = queues[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.o.quantum
                self.old.append(queues.pop(0))
                continue
            packet = self.queues[flow].dequeue(now, self.numbers, self.rate)
            if packet is not None:
                self.credits[flow] -= packet.length
                return packet
            queues.pop(0)
            if queues is self.new:
                self.old.append(flow)
        return None

    def probes(self) -> dict[str, float]:
        """Flows on one of the lists."""
        return {"active_flows": len(self.new) + len(self.old)}


CASES: dict[str, Callable[[], Oracle]] = {
    "fq_cobalt flows 65536": FqCobalt,
    "fq_cobalt flows 65536 limit 120p increment 0.1 decrement 0.02 ecn": lambda: FqCobalt(
        Options(limit=120, cobalt=cobalt.Options(increment=0.1, decrement=0.02))
    ),
    "fq_cobalt:ns3 flows 65536 limit 90p drop_batch 3 quantum 300b noecn": lambda: FqCobalt(
        Options(limit=90, drop_batch=3, quantum=300, cobalt=cobalt.Options(ecn=False, mtu_guard=False))
    ),
}
