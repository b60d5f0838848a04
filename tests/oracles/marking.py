"""Marking by thresholds: DCTCP's step (RFC 8257), the ramp of DCQCN (Zhu 2015, figure 5), TCN (Bai 2016).

Assumptions of the Rust files: a queue is compared without the arriving packet; a packet that cannot be marked is
dropped, or passed on if `unmarkable` says so; one that would leave the queue empty is never dropped at departure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from workload import MILLISECOND, Oracle, Packet


class Marking(Oracle):
    """A queue with a limit, whose law says which packets to hit on arrival and which on departure."""

    def __init__(self, limit: int, unmarkable_passes: bool = False) -> None:
        super().__init__()
        self.limit, self.passes = limit, unmarkable_passes
        self.shows = ("marked", "dropped overlimit" if unmarkable_passes else "dropped congestion")
        self.queue: deque[Packet] = deque()

    def survives(self, packet: Packet, hit: bool) -> bool:
        """Gives the signal, if there is one."""
        if not hit or self.log.mark(packet) or self.passes:
            return True
        self.log("dropped", packet.number, "congestion")
        return False

    def enqueue(self, packet: Packet, now: int) -> None:
        if len(self.queue) >= self.limit:
            self.log("dropped", packet.number, "overlimit")
        elif self.survives(packet, self.hit_on_arrival()):
            self.queue.append(packet)
            self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        while self.queue:
            packet = self.queue.popleft()
            last = not self.queue  # signalled with if possible, but never dropped
            hit = self.hit_on_departure(now - packet.arrival)
            if last and hit:
                self.log.mark(packet)
            if last or self.survives(packet, hit):
                return packet
        return None

    def hit_on_arrival(self) -> bool:
        """Whether the queue as it stands asks for a signal."""
        return False

    def hit_on_departure(self, sojourn: int) -> bool:
        """Whether the time that a packet waited asks for a signal."""
        return False


class Step(Marking):
    """Mark if the queue is longer than K packets, or bytes."""

    def __init__(self, limit: int, k: int, by_bytes: bool = False, unmarkable_passes: bool = False) -> None:
        super().__init__(limit, unmarkable_passes)
        self.k, self.by_bytes = k, by_bytes

    def hit_on_arrival(self) -> bool:
        size = sum(packet.length for packet in self.queue) if self.by_bytes else len(self.queue)
        return size > self.k

    def probes(self) -> dict[str, float]:
        """Whether a packet would be hit now."""
        return {"above": self.hit_on_arrival()}


class Ramp(Marking):
    """No mark to Kmin, a straight line to Pmax at Kmax, then always."""

    def __init__(self, limit: int, kmin: int, kmax: int, pmax: float, by_bytes: bool = False) -> None:
        super().__init__(limit)
        self.kmin, self.kmax, self.pmax, self.by_bytes = kmin, kmax, pmax, by_bytes

    def probability(self) -> float:
        """Figure 5."""
        size = sum(packet.length for packet in self.queue) if self.by_bytes else len(self.queue)
        if size > self.kmax:
            return 1.0
        return self.pmax * max(size - self.kmin, 0) / (self.kmax - self.kmin)

    def hit_on_arrival(self) -> bool:
        probability = self.probability()
        if probability in (0.0, 1.0):
            return probability == 1.0  # no random number is needed
        return self.numbers.uniform() < probability

    def probes(self) -> dict[str, float]:
        """The probability of this instant."""
        return {"mark_probability": self.probability()}


class Tcn(Marking):
    """Mark on departure if the packet waited longer than T."""

    def __init__(self, limit: int, threshold: int, unmarkable_passes: bool = False) -> None:
        super().__init__(limit, unmarkable_passes)
        self.threshold = threshold
        self.last = 0

    def hit_on_departure(self, sojourn: int) -> bool:
        self.last = sojourn
        return sojourn > self.threshold

    def probes(self) -> dict[str, float]:
        """How long the last packet waited."""
        return {"sojourn": self.last / 1e9}


CASES: dict[str, Callable[[], Oracle]] = {
    "dctcp_step limit 100p": lambda: Step(100, 20),
    "dctcp_step limit 100p threshold 8kb": lambda: Step(100, 8 * 1024, by_bytes=True),
    "dctcp_step limit 40p threshold 30p unmarkable pass": lambda: Step(40, 30, unmarkable_passes=True),
    "ecn_ramp:steep limit 100p": lambda: Ramp(100, 5, 15, 0.1),
    "ecn_ramp limit 100p kmax 60kb pmax 0.3": lambda: Ramp(100, 5 * 1024, 60 * 1024, 0.3, by_bytes=True),
    "tcn limit 100p threshold 5ms": lambda: Tcn(100, 5 * MILLISECOND),
    "tcn limit 100p threshold 20ms unmarkable pass": lambda: Tcn(100, 20 * MILLISECOND, unmarkable_passes=True),
}
