"""AFD after Pan, Breslau, Prabhakar and Shenker (2003).

The shadow buffer is a list of flow table entries, and the flow table is a count of them. m_i is the count of the
packet's flow, its sample included; the packet is dropped with (1 - m_fair / m_i)+.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from choke import below
from sfb import spread
from workload import MILLISECOND, Oracle, Packet


@dataclass
class Options:
    """Times in nanoseconds, queues in packets."""

    limit: int = 1000
    target: int = 50
    a: float = 1.7
    b: float = 1.8
    period: int = 6_250_000
    shadow: int = 500
    s: int = 5
    flows: int = 4096


class Afd(Oracle):
    """One queue."""

    shows = ("dropped unfair",)

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.o = options
        self.queue: list[Packet] = []
        self.buffer: list[int] = []
        self.m_fair = float(options.shadow)
        self.q_old = 0
        self.next_update = options.period

    def advance(self, now: int) -> None:
        o = self.o
        while self.next_update <= now:
            q = len(self.queue)
            self.m_fair += o.a * (self.q_old - o.target) - o.b * (q - o.target)
            self.m_fair = min(max(self.m_fair, 0.0), float(o.shadow))
            self.q_old = q
            self.next_update += o.period

    def entry(self, packet: Packet) -> int:
        return spread(packet.flow) * self.o.flows >> 64

    def dropped_as(self, packet: Packet) -> str | None:
        if below(self.numbers, self.o.s) == 0:
            if len(self.buffer) == self.o.shadow:
                self.buffer[below(self.numbers, self.o.shadow)] = self.entry(packet)
            else:
                self.buffer.append(self.entry(packet))
        if len(self.queue) == self.o.limit:
            return "overlimit"
        m_i = self.buffer.count(self.entry(packet))
        d_i = max(0.0, 1 - self.m_fair / m_i) if m_i else 0.0
        return "unfair" if self.queue and self.numbers.uniform() < d_i else None

    def enqueue(self, packet: Packet, now: int) -> None:
        reason = self.dropped_as(packet)
        if reason:
            self.log("dropped", packet.number, reason)
        else:
            self.queue.append(packet)
            self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        return self.queue.pop(0) if self.queue else None

    def probes(self) -> dict[str, float]:
        return {"fair_count": self.m_fair, "largest_count": max(map(self.buffer.count, self.buffer), default=0)}


CASES: dict[str, Callable[[], Oracle]] = {
    "afd limit 150p target 20": lambda: Afd(Options(limit=150, target=20)),
    "afd limit 100p target 10 a 0.5 b 0.55 tupdate 20ms shadow 60 sample 2 flows 5": lambda: Afd(
        Options(limit=100, target=10, a=0.5, b=0.55, period=20 * MILLISECOND, shadow=60, s=2, flows=5)
    ),
}
