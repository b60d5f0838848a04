"""Schedulers by rank: PIFO (Sivaraman 2016), SP-PIFO (Gran Alcoz 2020, algorithm 1), AIFO (Yu 2021, algorithm 1).

Packets are kept in plain lists beside their ranks. STFQ is Sivaraman's figure 1: start = max(virtual_time,
last_finish), last_finish = start + length, virtual_time = the start of the packet that was sent last; a flow's finish
time counts packets that were queued.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sfb import spread
from workload import MILLISECOND, Oracle, Packet


@dataclass
class Rank:
    """A rank function with its state; `kind` as in the Rust parameter."""

    kind: str = "stfq"
    slack: tuple[int, ...] = (10,)
    flows: int = 1024
    virtual_time = 0

    def __post_init__(self) -> None:
        self.last_finish: dict[int, int] = {}

    def hash(self, packet: Packet) -> int:
        return spread(packet.flow) * self.flows >> 64

    def of(self, packet: Packet, now: int) -> int:
        if self.kind == "fifo":
            return now
        if self.kind == "priority":
            return packet.traffic_class
        if self.kind == "lstf":
            return now + self.slack[min(packet.traffic_class, len(self.slack) - 1)] * MILLISECOND
        return max(self.virtual_time, self.last_finish.get(self.hash(packet), 0))

    def queued(self, packet: Packet, rank: int) -> None:
        self.last_finish[self.hash(packet)] = rank + packet.length

    def evicted(self, packet: Packet, rank: int) -> None:
        """Give a flow its share back if its last packet gave way to another."""
        if self.last_finish.get(self.hash(packet)) == rank + packet.length:
            self.last_finish[self.hash(packet)] = rank

    def sent(self, rank: int) -> None:
        self.virtual_time = max(self.virtual_time, rank)


Ranked = tuple[int, Packet]


class Pifo(Oracle):
    """A list that is sorted whenever it is looked at; Python's sort keeps the order of equals."""

    shows = ("dropped overlimit",)

    def __init__(self, rank: Rank, limit: int, in_bytes: bool = False) -> None:
        super().__init__()
        self.rank, self.limit, self.in_bytes = rank, limit, in_bytes
        self.queue: list[Ranked] = []

    def too_much(self, queue: list[Ranked]) -> bool:
        return sum(packet.length if self.in_bytes else 1 for _, packet in queue) > self.limit

    def enqueue(self, packet: Packet, now: int) -> None:
        rank = self.rank.of(packet, now)
        self.queue = sorted([*self.queue, (rank, packet)], key=lambda entry: entry[0])
        kept = True
        while self.too_much(self.queue):
            last, victim = self.queue.pop()
            self.log("dropped", victim.number, "overlimit")
            if victim is packet:
                kept = False
            else:
                self.rank.evicted(victim, last)
        if kept:
            self.rank.queued(packet, rank)
            self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        if not self.queue:
            return None
        rank, packet = self.queue.pop(0)
        self.rank.sent(rank)
        return packet

    def probes(self) -> dict[str, float]:
        return {"largest_rank": self.queue[-1][0] if self.queue else 0}


class SpPifo(Oracle):
    """Queues from the highest priority to the lowest, and their bounds."""

    shows = ("dropped overlimit",)

    def __init__(self, rank: Rank, limit: int, queues: int = 8, queue_limit: int | None = None) -> None:
        super().__init__()
        self.rank, self.limit = rank, limit
        self.queue_limit = limit if queue_limit is None else queue_limit
        self.queues: list[list[Ranked]] = [[] for _ in range(queues)]
        self.bound = [0] * queues

    def enqueue(self, packet: Packet, now: int) -> None:
        r = self.rank.of(packet, now)
        i = len(self.queues) - 1
        while i > 0 and r < self.bound[i]:
            i -= 1
        behind = [queue for queue in self.queues[i + 1 :] if queue]
        full = sum(map(len, self.queues)) == self.limit
        if len(self.queues[i]) == self.queue_limit or (full and not behind):
            self.log("dropped", packet.number, "overlimit")
            return
        if full:
            last, victim = behind[-1].pop()
            self.rank.evicted(victim, last)
            self.log("dropped", victim.number, "overlimit")
        self.queues[i].append((r, packet))
        self.rank.queued(packet, r)
        self.log("enqueued", packet.number)
        cost = self.bound[0] - r
        if i == 0 and cost > 0:
            self.bound = [bound - cost for bound in self.bound]
        self.bound[i] = r

    def dequeue(self, now: int) -> Packet | None:
        for queue in self.queues:
            if queue:
                r, packet = queue.pop(0)
                self.rank.sent(r)
                return packet
        return None

    def probes(self) -> dict[str, float]:
        return {
            "busy_queues": sum(map(bool, self.queues)),
            "last_bound": self.bound[-1],
        }


class Aifo(Oracle):
    """One list, and the ranks of sampled arrivals."""

    def __init__(self, rank: Rank, limit: int, k: str = "0.1", window: int = 20, sample: int = 15) -> None:
        super().__init__()
        self.rank, self.limit, self.k = rank, limit, Fraction(k)
        self.size, self.sample = window, sample
        self.window: list[int] = []
        self.arrivals = 0
        self.queue: list[Ranked] = []
        self.quantile = Fraction(0)

    def enqueue(self, packet: Packet, now: int) -> None:
        c, most = len(self.queue), self.limit
        rank = self.rank.of(packet, now)
        smaller = sum(other < rank for other in self.window)
        self.quantile = Fraction(smaller, len(self.window)) if self.window else Fraction(0)
        if self.arrivals % self.sample == 0:
            self.window = [*self.window, rank][-self.size :]
        self.arrivals += 1
        if c == most:
            self.log("dropped", packet.number, "overlimit")
        elif c <= self.k * most or self.quantile <= Fraction(most - c, most) / (1 - self.k):
            self.queue.append((rank, packet))
            self.rank.queued(packet, rank)
            self.log("enqueued", packet.number)
        else:
            self.log("dropped", packet.number, "congestion")

    def dequeue(self, now: int) -> Packet | None:
        if not self.queue:
            return None
        rank, packet = self.queue.pop(0)
        self.rank.sent(rank)
        return packet

    def probes(self) -> dict[str, float]:
        return {"last_quantile": float(self.quantile)}


CASES: dict[str, Callable[[], Oracle]] = {
    "pifo limit 60p": lambda: Pifo(Rank(), 60),
    "pifo limit 40kb flows 3": lambda: Pifo(Rank(flows=3), 40 * 1024, in_bytes=True),
    "pifo:fifo limit 50p": lambda: Pifo(Rank("fifo"), 50),
    "pifo:priority limit 50p": lambda: Pifo(Rank("priority"), 50),
    "pifo:lstf limit 50p": lambda: Pifo(Rank("lstf", (10, 50, 200)), 50),
    "sp_pifo limit 60p": lambda: SpPifo(Rank(), 60),
    "sp_pifo limit 80p queue_limit 10p": lambda: SpPifo(Rank(), 80, queue_limit=10),
    "sp_pifo:priority limit 50p queues 3": lambda: SpPifo(Rank("priority"), 50, 3),
    "sp_pifo:lstf limit 70p queues 2 queue_limit 40p": lambda: SpPifo(Rank("lstf", (10, 50, 200)), 70, 2, 40),
    "aifo limit 100p": lambda: Aifo(Rank(), 100),
    "aifo:sigcomm21": lambda: Aifo(Rank(), 20),
    "aifo limit 64p headroom 0.25 window 16 sample 1 rank priority": lambda: Aifo(
        Rank("priority"), 64, "0.25", window=16, sample=1
    ),
}
