"""COBALT from a description of what Linux `sch_cake` does with a packet at the head of a queue.

Before a packet is judged, a signal is "due" if there is a count and `drop_next` has come.

1. A packet is late if it waited longer than the target and than `floor`. Late: enter dropping state if not
   in it (which puts `drop_next` one spacing ahead, without taking back that a signal is due), and count at
   least one. Not late: leave dropping state.
2. Due and in dropping state: mark or drop, count one more, `drop_next` one spacing on. Due and not in it: count
   one less and `drop_next` one spacing on, until no longer due.
3. BLUE: where there is a threshold of the delay (ns-3's BlueThreshold) and the packet waited longer, its probability
   rises as at an overflow. Unless dropped already, drop with its probability.
4. With no count left, `drop_next` is an interval from now. Else, if `drop_next` had passed (after step 2 where
   it moved it, before step 1 where not) and the packet is not dropped, it is now.

The last packet of a queue is judged, but neither dropped nor, unless CAKE has the queue, marked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

import blue
from workload import MILLISECOND, SECOND, Log, Numbers, Oracle, Packet


@dataclass
class Options:
    """Times in nanoseconds."""

    limit: int = 1000
    target: int = 5 * MILLISECOND
    interval: int = 100 * MILLISECOND
    ecn: bool = True
    increment: float = 1 / 256
    decrement: float = 1 / 4096
    mtu_guard: bool = True
    marks_last: bool = False
    mtu: int = 1514
    blue_threshold: int | None = None
    spare_last: bool = True


class CobaltQueue:
    """One queue and its state."""

    def __init__(self, options: Options, log: Log) -> None:
        self.o, self.log = options, log
        self.queue: deque[Packet] = deque()
        self.blue = blue.Probability(options.increment, options.decrement, options.target)
        self.count = 0
        self.drop_next = 0
        self.dropping = False

    def spacing(self) -> int:
        """Time between signals at this count; zero is like one."""
        return int(self.o.interval / sqrt(max(self.count, 1)))

    def step(self, by: int) -> None:
        """Counts, and puts the next signal one spacing on."""
        self.count += by
        self.drop_next += self.spacing()

    def overflow(self, now: int) -> None:
        """No room for a packet."""
        self.blue.loss(now)
        self.dropping = True
        self.drop_next = now
        self.count = self.count or 1

    def empty(self, now: int) -> None:
        """The link finds the queue empty."""
        self.blue.link_idle(now)
        self.dropping = False
        if self.count and now >= self.drop_next:
            self.step(-1)

    def dequeue(self, now: int, numbers: Numbers, rate: int) -> Packet | None:
        """The next packet that is not dropped."""
        while self.queue:
            drop = self.judge(self.queue[0], now, numbers, rate)
            packet = self.queue.popleft()
            if not drop or (self.o.spare_last and not self.queue):
                return packet
            self.log("dropped", packet.number, "congestion")
        self.empty(now)
        return None

    def judge(self, packet: Packet, now: int, numbers: Numbers, rate: int, packets: int = 4) -> bool:
        """Steps 1 to 4 above."""
        floor = -(-packets * self.o.mtu * 8 * SECOND // rate) if self.o.mtu_guard else 0
        due = self.count > 0 and now >= self.drop_next
        passed = now > self.drop_next
        if now - packet.arrival > max(self.o.target, floor):
            if not self.dropping:
                self.dropping = True
                self.drop_next = now + self.spacing()
            self.count = max(self.count, 1)
        else:
            self.dropping = False
        drop = False
        if due and self.dropping:
            may_mark = len(self.queue) > 1 or self.o.marks_last or not self.o.spare_last
            drop = not (self.o.ecn and may_mark and self.log.mark(packet))
            self.step(1)
            passed = now > self.drop_next
        elif due:
            while self.count > 0 and now >= self.drop_next:
                self.step(-1)
            passed = now > self.drop_next
        if self.o.blue_threshold is not None and now - packet.arrival > self.o.blue_threshold:
            self.blue.loss(now)
        if not drop and self.blue.pm:
            drop = numbers.uniform() < self.blue.pm
        if not self.count:
            self.drop_next = now + self.o.interval
        elif passed and not drop:
            self.drop_next = now
        return drop


class Cobalt(Oracle):
    """One queue under COBALT."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__()
        self.o = options or Options()
        self.cobalt = CobaltQueue(self.o, self.log)

    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives."""
        if len(self.cobalt.queue) == self.o.limit:
            self.cobalt.overflow(now)
            self.log("dropped", packet.number, "overlimit")
            return
        self.cobalt.queue.append(packet)
        self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        """The link is free."""
        return self.cobalt.dequeue(now, self.numbers, self.rate)

    def probes(self) -> dict[str, float]:
        """CoDel's count and state, BLUE's probability."""
        c = self.cobalt
        return {"count": c.count, "dropping": c.dropping, "drop_probability": c.blue.pm}


def ns3(options: Options) -> Options:
    """With what sets ns-3's `CobaltQueueDisc` apart from CAKE."""
    return replace(options, mtu_guard=False, spare_last=False, blue_threshold=400 * MILLISECOND)


CASES: dict[str, Callable[[], Oracle]] = {
    "cobalt:ns3 limit 200p increment 0.08 decrement 0.04 blue_threshold 40ms nospare_last": lambda: Cobalt(
        Options(
            limit=200,
            spare_last=False,
            ecn=False,
            mtu_guard=False,
            increment=0.08,
            decrement=0.04,
            blue_threshold=40 * MILLISECOND,
        )
    ),
    "cobalt limit 200p": lambda: Cobalt(Options(limit=200)),
    "cobalt limit 60p ecn increment 0.05 decrement 0.02": lambda: Cobalt(
        Options(limit=60, increment=0.05, decrement=0.02)
    ),
    "cobalt:ns3 limit 100p target 20ms interval 50ms": lambda: Cobalt(
        ns3(Options(limit=100, target=20 * MILLISECOND, interval=50 * MILLISECOND, ecn=False))
    ),
    "cobalt:ns3 limit 300p target 1ms interval 10ms ecn": lambda: Cobalt(
        ns3(Options(limit=300, target=MILLISECOND, interval=10 * MILLISECOND))
    ),
}
