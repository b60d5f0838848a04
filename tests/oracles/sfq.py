"""SFQ as McKenney (1990) describes it and tc-sfq(8) parametrises it, over plain lists.

Flows are hashed to `divisor` queues, at most `flows` of which hold packets. Queues take turns; one that has used up its
allotment gets a quantum and goes to the end. When full, it drops from the longest queue. With the first arrival after
`perturb` the hash changes, and all queued packets are sorted again. With RED (tc-sfq(8), redflowlimit) each queue has
an average of its own, which begins anew with it; an arrival at one that holds packets is judged by figure 2 of Floyd
and Jacobson 1993.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from choke import below
from sfb import MASK, spread
from workload import MILLISECOND, Oracle, Packet


@dataclass
class Options:
    """Times in nanoseconds; the limit in packets, or in bytes."""

    limit: int = 127
    limit_bytes: int | None = None
    depth: int = 127
    flows: int = 128
    divisor: int = 1024
    quantum: int = 1514
    perturb: int = 0
    headdrop: bool = False
    red: Red | None = None


@dataclass
class Red:
    """In bytes."""

    minth: float
    maxth: float
    maxp: float
    wq: float
    ecn: bool = False
    harddrop: bool = False


@dataclass
class Average:
    """What RED knows of a queue."""

    avg: float = 0.0
    count: int = -1


class Sfq(Oracle):
    """A dictionary of lists, in the order of their turns."""

    shows = ("dropped overlimit",)

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.o = options
        self.queues: dict[int, list[Packet]] = {}
        self.allot: dict[int, int] = {}
        self.salt: int | None = None
        self.hashed_at = 0
        self.averages: dict[int, Average] = {}
        if options.red:
            drops = not options.red.ecn or options.red.harddrop
            self.shows = ("dropped congestion",) if drops else ("dropped overlimit",)

    def queue_of(self, packet: Packet) -> int:
        assert self.salt is not None
        return spread(packet.flow ^ self.salt) * self.o.divisor >> 64

    def perturb(self, now: int) -> None:
        if self.salt is None:
            self.salt, self.hashed_at = below(self.numbers, MASK), now
        elif self.o.perturb and now >= self.hashed_at + self.o.perturb:
            self.salt, self.hashed_at = below(self.numbers, MASK), now
            # Linux goes through the queues by their number.
            waiting = [packet for number in sorted(self.queues) for packet in self.queues[number]]
            self.queues.clear()
            for packet in waiting:
                if self.full(self.queue_of(packet)):
                    self.log("dropped", packet.number, "overlimit")
                else:
                    self.join(packet, sampled=True)

    def full(self, number: int) -> bool:
        if number in self.queues:
            return len(self.queues[number]) >= self.o.depth
        return len(self.queues) >= self.o.flows

    def join(self, packet: Packet, *, sampled: bool = False) -> None:
        number = self.queue_of(packet)
        if number not in self.queues:
            self.queues[number] = []
            self.allot[number] = self.o.quantum
            self.averages[number] = Average()
        if sampled and self.o.red:
            self.sample(number, self.o.red)
        self.queues[number].append(packet)

    def sample(self, number: int, red: Red) -> Average:
        average = self.averages[number]
        held = sum(packet.length for packet in self.queues[number])
        average.avg = (1 - red.wq) * average.avg + red.wq * held
        return average

    def red_drops(self, number: int, packet: Packet, red: Red) -> bool:
        """Whether RED drops a packet; it may mark the oldest in its place, or the packet."""
        average = self.sample(number, red)
        if average.avg < red.minth:
            average.count = -1
            return False
        marks = red.ecn
        if average.avg >= red.maxth:
            average.count = 0
            marks = red.ecn and not red.harddrop
        else:
            average.count += 1
            pb = red.maxp * (average.avg - red.minth) / (red.maxth - red.minth)
            pa = pb / (1 - average.count * pb) if average.count * pb < 1 else 1.0
            if self.numbers.uniform() >= pa:
                return False
            average.count = 0
        if not marks:
            return True
        if self.o.headdrop and self.log.mark(self.queues[number][0]):
            return False
        return not self.log.mark(packet)

    def too_much(self) -> bool:
        waiting = [packet for queue in self.queues.values() for packet in queue]
        if self.o.limit_bytes is not None:
            return sum(packet.length for packet in waiting) > self.o.limit_bytes
        return len(waiting) > self.o.limit

    def size(self, number: int) -> int:
        queue = self.queues[number]
        return len(queue) if self.o.limit_bytes is None else sum(packet.length for packet in queue)

    def give(self, number: int) -> Packet:
        victim = self.queues[number].pop(0 if self.o.headdrop else -1)
        if not self.queues[number]:
            del self.queues[number]
        self.log("dropped", victim.number, "overlimit")
        return victim

    def enqueue(self, packet: Packet, now: int) -> None:
        self.perturb(now)
        number = self.queue_of(packet)
        reason = ""
        if self.o.red and number in self.queues and self.red_drops(number, packet, self.o.red):
            reason = "congestion"
        elif self.full(number):
            reason = "overlimit"
        if reason:
            if number not in self.queues or not self.o.headdrop:
                self.log("dropped", packet.number, reason)
                return
            self.log("dropped", self.queues[number].pop(0).number, reason)
            self.queues[number].append(packet)
        else:
            self.join(packet)
        gone = []
        while self.too_much():
            longest = max(map(self.size, self.queues))
            gone.append(self.give(next(n for n in self.queues if self.size(n) == longest)))
        if packet not in gone:
            self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        while self.queues:
            number = next(iter(self.queues))
            if self.allot[number] > 0:
                packet = self.queues[number].pop(0)
                self.allot[number] -= packet.length
                if not self.queues[number]:
                    del self.queues[number]
                return packet
            self.allot[number] += self.o.quantum
            self.queues[number] = self.queues.pop(number)
        return None

    def probes(self) -> dict[str, float]:
        return {
            "active_flows": len(self.queues),
            "longest_queue": max(map(len, self.queues.values()), default=0),
        }


CASES: dict[str, Callable[[], Oracle]] = {
    "sfq": lambda: Sfq(Options()),
    "sfq limit 40p divisor 8 quantum 500b": lambda: Sfq(Options(limit=40, divisor=8, quantum=500)),
    "sfq limit 60p depth 12 flows 5 perturb 100ms": lambda: Sfq(
        Options(limit=60, depth=12, flows=5, perturb=100 * MILLISECOND)
    ),
    "sfq limit 60p depth 9 divisor 6 perturb 50ms headdrop": lambda: Sfq(
        Options(limit=60, depth=9, divisor=6, perturb=50 * MILLISECOND, headdrop=True)
    ),
    "sfq limit 60p divisor 4 redflowlimit 60kb min 3kb max 9kb probability 0.2 w 0.25": lambda: Sfq(
        Options(limit=60, divisor=4, red=Red(3 * 1024, 9 * 1024, 0.2, 0.25))
    ),
    "sfq limit 60p divisor 4 redflowlimit 60kb min 3kb max 9kb w 0.25 ecn": lambda: Sfq(
        Options(limit=60, divisor=4, red=Red(3 * 1024, 9 * 1024, 0.02, 0.25, ecn=True))
    ),
    "sfq limit 60p divisor 4 headdrop perturb 50ms redflowlimit 60kb min 3kb max 9kb w 0.25 harddrop ecn": lambda: Sfq(
        Options(
            limit=60,
            divisor=4,
            perturb=50 * MILLISECOND,
            headdrop=True,
            red=Red(3 * 1024, 9 * 1024, 0.02, 0.25, ecn=True, harddrop=True),
        )
    ),
    "sfq limit 30kb divisor 16 headdrop": lambda: Sfq(Options(limit_bytes=30 * 1024, divisor=16, headdrop=True)),
}
