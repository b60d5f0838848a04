"""BLUE from figure 4 of Feng, Shin, Kandlur and Saha (2002).

Assumptions of `discipline/blue.rs`: the link is idle when it finds the queue empty; at a probability of zero an idle
link changes nothing, the time of the last update included; beyond `mark_threshold` nothing is marked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from workload import MILLISECOND, Oracle, Packet


@dataclass
class Options:
    """Times in nanoseconds."""

    limit: int = 1000
    threshold: int | None = None  # L; None: half of the limit
    d1: float = 0.0025
    d2: float = 0.00025
    freeze_time: int = 100 * MILLISECOND
    ecn: bool = False
    mark_threshold: float = 0.5


class Probability:
    """`pm` with its two events."""

    def __init__(self, d1: float, d2: float, freeze_time: int) -> None:
        self.d1, self.d2, self.freeze_time = d1, d2, freeze_time
        self.pm = 0.0
        self.last_update = 0

    def loss(self, now: int) -> None:
        """Upon packet loss (or Q_len > L) event."""
        if now - self.last_update > self.freeze_time:
            self.pm = min(self.pm + self.d1, 1.0)
            self.last_update = now

    def link_idle(self, now: int) -> None:
        """Upon link idle event."""
        if self.pm and now - self.last_update > self.freeze_time:
            self.pm = max(self.pm - self.d2, 0.0)
            self.last_update = now


class Blue(Oracle):
    """One queue under BLUE."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.o = options
        self.threshold = options.limit // 2 if options.threshold is None else options.threshold
        self.queue: deque[Packet] = deque()
        self.blue = Probability(options.d1, options.d2, options.freeze_time)

    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives."""
        full = len(self.queue) == self.o.limit
        if full or len(self.queue) > self.threshold:
            self.blue.loss(now)
        if full:
            self.log("dropped", packet.number, "overlimit")
            return
        pm = self.blue.pm
        if self.numbers.uniform() < pm:
            may_mark = self.o.ecn and pm <= self.o.mark_threshold
            if not (may_mark and self.log.mark(packet)):
                self.log("dropped", packet.number, "congestion")
                return
        self.queue.append(packet)
        self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        """The link is free."""
        if self.queue:
            return self.queue.popleft()
        self.blue.link_idle(now)
        return None

    def probes(self) -> dict[str, float]:
        """The probability."""
        return {"drop_probability": self.blue.pm}


CASES: dict[str, Callable[[], Oracle]] = {
    "blue limit 60p freeze_time 20ms": lambda: Blue(Options(limit=60, freeze_time=20 * MILLISECOND)),
    "blue limit 40p threshold 10p increment 0.02 decrement 0.002 freeze_time 10ms ecn": lambda: Blue(
        Options(limit=40, threshold=10, d1=0.02, d2=0.002, freeze_time=10 * MILLISECOND, ecn=True)
    ),
    "blue limit 30p threshold 30p increment 0.1 decrement 0.05 freeze_time 5ms ecn mark_threshold 0.2": lambda: Blue(
        Options(
            limit=30,
            threshold=30,
            d1=0.1,
            d2=0.05,
            freeze_time=5 * MILLISECOND,
            ecn=True,
            mark_threshold=0.2,
        )
    ),
}
