"""FQ-CoDel from sections 4.1 and 4.2 of RFC 8290, with a queue of its own for every flow.

The hash is not part of the oracle: traces have few flows, and the Rust discipline so many queues that no two flows
share one. Assumptions of `discipline/fq_codel.rs`: credits of zero are used up (the RFC says "negative" and explains it
as "at least a quantum"); a full queue drops half of the bytes of the flow with the most, not of its packets, as Linux
does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import codel
from workload import Oracle, Packet


@dataclass
class Options:
    """Sizes in bytes."""

    limit: int = 10_240
    quantum: int = 1514
    drop_batch: int = 64
    codel: codel.Options = field(default_factory=lambda: codel.Options(ecn=True))


class FlowQueue(Protocol):
    """The interface of a flow's queue, whatever its law."""

    queue: deque[Packet]

    @property
    def bytes(self) -> int:
        """Bytes that wait."""

    def push(self, packet: Packet) -> None:
        """Append a packet."""

    def pop(self) -> Packet | None:
        """Take the oldest packet, past the law."""


Q = TypeVar("Q", bound=FlowQueue)


class FlowQueues(Oracle, Generic[Q]):
    """Flow queues under DRR++ (RFC 8290 section 4), with a law on each that the subclass gives."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.o = options
        self.queues: dict[int, Q] = {}
        self.credits: dict[int, int] = {}
        self.new: list[int] = []
        self.old: list[int] = []

    @abstractmethod
    def new_queue(self) -> Q:
        """The queue of a flow that was not seen before."""

    @abstractmethod
    def serve(self, queue: Q, now: int) -> Packet | None:
        """Ask the law of a queue for a packet."""

    def overflowed(self, queue: Q, now: int) -> None:
        """The queue with the most bytes is about to lose a batch."""

    def enqueue(self, packet: Packet, now: int) -> None:
        """Section 4.1: classify, append, activate, and drop from the fattest queue beyond the limit."""
        if packet.flow not in self.queues:
            self.queues[packet.flow] = self.new_queue()
        queue = self.queues[packet.flow]
        queue.push(packet)
        if packet.flow not in self.new + self.old:
            self.new.append(packet.flow)
            self.credits[packet.flow] = self.o.quantum
        dropped: list[int] = []
        while sum(len(queue.queue) for queue in self.queues.values()) > self.o.limit:
            fattest = max(self.queues.values(), key=lambda queue: queue.bytes)
            self.overflowed(fattest, now)
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
        """Section 4.2: select a queue, ask its law, keep the lists."""
        while self.new or self.old:
            queues = self.new or self.old
            flow = queues[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.o.quantum
                self.old.append(queues.pop(0))
                continue
            packet = self.serve(self.queues[flow], now)
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


class FqCoDel(FlowQueues[codel.CoDelQueue]):
    """With CoDel on each."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(options or Options())
        self.maxpacket = codel.MaxPacket(self.o.codel.mtu)

    def new_queue(self) -> codel.CoDelQueue:
        return codel.CoDelQueue(self.o.codel, self.log, self.maxpacket)

    def serve(self, queue: codel.CoDelQueue, now: int) -> Packet | None:
        return queue.dequeue(now)


CASES: dict[str, Callable[[], Oracle]] = {
    "fq_codel flows 65536": lambda: FqCoDel(),
    "fq_codel flows 65536 limit 120p noecn": lambda: FqCoDel(Options(limit=120, codel=codel.Options())),
    "fq_codel flows 65536 limit 90p drop_batch 3 quantum 300b": lambda: FqCoDel(
        Options(limit=90, drop_batch=3, quantum=300)
    ),
}
