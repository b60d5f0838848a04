"""RED from figure 2 of Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance"
(1993).

With the gentle curve of Floyd (2000): between max_th and twice max_th the probability rises from max_p to 1. `wait`
spaces drops as in section 7 of the paper with uniform random variables, in the form of ns-2. Assumptions of
`discipline/red.rs`: a full queue is tested after the average was updated and before the thresholds. `idle` chooses what
ages the average of an empty queue: figure 2, or what ns-3's `RedQueueDisc` or Linux's `sch_red` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log

from workload import SECOND, Oracle, Packet


@dataclass
class Options:
    """In packets, or in bytes with `by_bytes`."""

    limit: int = 1000
    minth: float = 200
    maxth: float = 600
    maxp: float = 0.1
    wq: float = 0.002
    gentle: bool = True
    ecn: bool = False
    harddrop: bool = True
    wait: bool = False
    by_bytes: bool = False
    limit_in_bytes: bool = False
    scaled: bool = True  # with by_bytes: by the packet's length
    average_packet: int = 1000
    bandwidth: int | None = None  # None: the link's
    idle: str = "floyd"  # or "ns3", "linux"
    square: bool = False  # NLRED (Zhou 2006): 1.5 maxp ((avg - minth) / (maxth - minth))^2


class Red(Oracle):
    """One queue under RED."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.queue: deque[Packet] = deque()
        self.avg = 0.0
        self.count = -1
        self.q_time = 0
        self.found_empty: int | None = None  # when the link asked in vain, until the next arrival
        self.pb = 0.0

    def backlog(self) -> int:
        """q in the unit of the thresholds."""
        return sum(packet.length for packet in self.queue) if self.options.by_bytes else len(self.queue)

    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives: calculate the new average, then mark or drop with probability pa."""
        self.average(self.backlog(), now)
        self.averaged(now)
        self.admit(packet)

    def average(self, q: int, now: int) -> None:
        """Calculate the new average queue size."""
        o = self.options
        found_empty, self.found_empty = self.found_empty, None
        # A slot is rounded up to nanoseconds.
        slot = -(-o.average_packet * 8 * SECOND // (o.bandwidth or self.rate))
        if o.idle == "floyd" and not q:
            # f(time - q_time), "a linear function of the time": small packets that could have been sent.
            self.avg = (1 - o.wq) ** ((now - self.q_time) / slot) * self.avg
        elif o.idle == "ns3" and found_empty is not None:
            self.avg = (1 - o.wq) ** ((now - found_empty) // slot + 1) * self.avg + o.wq * q
        elif o.idle == "linux" and found_empty is not None:
            self.avg = damped(self.avg, (now - found_empty) // 1000, o.wq, slot)
        else:
            self.avg = (1 - o.wq) * self.avg + o.wq * q

    def averaged(self, now: int) -> None:
        """There is a new average; adaptive REDs look at it."""

    def admit(self, packet: Packet) -> None:
        """Drops, marks or enqueues by the average."""
        o = self.options
        arriving = packet.length if o.limit_in_bytes else 1
        if (self.backlog() if o.limit_in_bytes else len(self.queue)) + arriving > o.limit:
            self.log("dropped", packet.number, "overlimit")
            return
        if self.avg < o.minth:
            self.count = -1
            self.pb = 0.0
        elif self.avg < o.maxth or (o.gentle and self.avg < 2 * o.maxth):
            if self.lot_falls(packet) and not (o.ecn and self.log.mark(packet)):
                self.log("dropped", packet.number, "congestion")
                return
        else:
            self.count = 0
            self.pb = 1.0
            if o.harddrop or not (o.ecn and self.log.mark(packet)):
                self.log("dropped", packet.number, "congestion")
                return
        self.queue.append(packet)
        self.log("enqueued", packet.number)

    def lot_falls(self, packet: Packet) -> bool:
        """Whether the packet is hit; counts the packets between two hits."""
        o = self.options
        self.count += 1
        end = min(1.5 * o.maxp, 1) if o.square else o.maxp
        if self.avg < o.maxth:
            share = (self.avg - o.minth) / (o.maxth - o.minth)
            pb = end * (share**2 if o.square else share)
        else:
            pb = end + (1 - end) * (self.avg - o.maxth) / o.maxth
        if o.by_bytes and o.scaled:
            pb = pb * packet.length / o.average_packet
        self.pb = pb
        if not o.wait:
            pa = pb / (1 - self.count * pb) if self.count * pb < 1 else 1.0
        elif self.count * pb < 1:
            pa = 0.0
        else:
            pa = pb / (2 - self.count * pb) if self.count * pb < 2 else 1.0
        if self.numbers.uniform() < pa:
            self.count = 0
            return True
        return False

    def dequeue(self, now: int) -> Packet | None:
        """The link is free; when the queue becomes empty, q_time is the time."""
        if not self.queue:
            if self.found_empty is None or self.options.idle == "ns3":
                self.found_empty = now
            return None
        packet = self.queue.popleft()
        if not self.queue:
            self.q_time = now
        return packet

    def probes(self) -> dict[str, float]:
        """The average, and the probability before it is spread."""
        return {"average_queue": self.avg, "drop_probability": self.pb}


def tc(limit: int, average_packet: int = 1000, *, by_bytes: bool = False) -> Options:
    """What tc gives the kernel for `red limit LIMIT`: a quarter, a third of that, and a weight for a burst."""
    high = limit // 4
    low = high // 3
    unit = average_packet if by_bytes else 1
    burst = (2 * low + high) // (3 * unit)
    # W with burst + 1 - min/avpkt < (1 - (1 - W)^burst) / W.
    weight = next(w for w in (2.0**-n for n in range(1, 32)) if burst + 1 - low / unit <= (1 - (1 - w) ** burst) / w)
    return Options(
        limit=limit,
        minth=low,
        maxth=high,
        maxp=0.02,
        wq=weight,
        gentle=False,
        harddrop=False,
        by_bytes=by_bytes,
        limit_in_bytes=by_bytes,
        scaled=False,
        average_packet=average_packet,
        idle="linux",
    )


def damped(average: float, idle: int, weight: float, slot: int) -> float:
    """The average after `idle` microseconds, by the 256 entries that tc gives the kernel: halvings after i cells.

    A packet's time is in tc's ticks of 64 ns, which the kernel takes for microseconds.
    """
    rate = -log(1 - weight) / ceil(slot / 64)
    cell = next(2**power for power in range(32) if 31 / rate / 2**power < 512)
    table = [min(int(i * cell * rate), 31) for i in range(255)] + [31]
    idle = min(idle, 255 * cell)
    if halvings := table[idle // cell]:
        return average / 2**halvings
    return max(average - average * idle / cell, average / 2)


CASES: dict[str, Callable[[], Oracle]] = {
    "red limit 100p w 0.02": lambda: Red(Options(limit=100, minth=20, maxth=60, wq=0.02)),
    "red limit 100p w 0.02 nogentle ecn": lambda: Red(
        Options(limit=100, minth=20, maxth=60, wq=0.02, gentle=False, ecn=True)
    ),
    "red limit 200p min 5p max 15p w 0.01 ecn noharddrop": lambda: Red(
        Options(limit=200, minth=5, maxth=15, wq=0.01, ecn=True, harddrop=False)
    ),
    "red limit 300p min 10kb max 40kb w 0.01 avpkt 800b probability 0.2": lambda: Red(
        Options(
            limit=300,
            minth=10 * 1024,
            maxth=40 * 1024,
            wq=0.01,
            maxp=0.2,
            by_bytes=True,
            average_packet=800,
        )
    ),
    "red limit 60p min 2p max 6p w 0.1 nogentle": lambda: Red(
        Options(limit=60, minth=2, maxth=6, wq=0.1, gentle=False)
    ),
    "red limit 60p min 4p max 4p w 1 nogentle ecn noharddrop": lambda: Red(
        Options(limit=60, minth=4, maxth=4, wq=1, gentle=False, ecn=True, harddrop=False)
    ),
    "red limit 60p min 6p max 6p w 0.1 ecn": lambda: Red(Options(limit=60, minth=6, maxth=6, wq=0.1, ecn=True)),
    "red:ns3 limit 60p": lambda: Red(
        Options(limit=60, minth=5, maxth=15, maxp=0.02, wait=True, average_packet=500, idle="ns3")
    ),
    "red:ns3 limit 60p min 2p max 6p w 0.1 nogentle": lambda: Red(
        Options(
            limit=60,
            minth=2,
            maxth=6,
            maxp=0.02,
            wq=0.1,
            gentle=False,
            wait=True,
            average_packet=500,
            idle="ns3",
        )
    ),
    "red:linux limit 60p min 2p max 6p w 0.1": lambda: Red(
        Options(limit=60, minth=2, maxth=6, maxp=0.02, wq=0.1, gentle=False, harddrop=False, idle="linux")
    ),
    "red:linux limit 60p": lambda: Red(tc(60)),
    "red:linux limit 60000b avpkt 500b ecn": lambda: Red(replace(tc(60_000, 500, by_bytes=True), ecn=True)),
    "red:linux limit 60p min 4p max 30p bandwidth 5mbit ecn": lambda: Red(
        Options(
            limit=60,
            minth=4,
            maxth=30,
            maxp=0.02,
            wq=1 / 32,
            gentle=False,
            harddrop=False,
            ecn=True,
            bandwidth=5_000_000,
            idle="linux",
        )
    ),
}
