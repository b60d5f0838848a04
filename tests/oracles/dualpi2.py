"""DualPI2 from the pseudocode of RFC 9332 appendix A: figures 2 to 5, 7 and 8.

Assumptions of `discipline/dualpi2`: likelihoods above one count as one; with `signals lot` (Linux) the trace's
random numbers decide, and none is drawn where the outcome is certain; weights by self-clocked tags given on arrival, in
1/65536 bytes; p' is not used while at most two full packets are queued, nor the ramp for a packet that leaves the L4S
queue empty (Linux: with it, `step_alone`); once k p' is 1, classic packets are dropped and L4S packets with the same
probability.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from workload import CE, ECT0, ECT1, MILLISECOND, SECOND, Oracle, Packet

MTU = 1514


@dataclass
class Options:
    """Times in nanoseconds."""

    limit: int = 10_000
    target: int = 15 * MILLISECOND
    tupdate: int = 15 * MILLISECOND
    alpha: float = 0.15
    beta: float = 3.0
    k: float = 2.0
    min_th: int = 800_000
    range: int = 400_000
    weights: tuple[int, int] = (90, 10)
    tshift: int | None = None
    lots: bool = False
    any_ect: bool = False
    step_alone: bool = False
    step_packets: int | None = None
    min_qlen: int = 0
    at_arrival: bool = False
    overflow: bool = False
    memlimit: int | None = None
    strict: int | None = None  # the queue that always goes first


class DualPi2(Oracle):
    """lq, cq and the base probability p'."""

    shows = ("dropped congestion", "marked")

    def __init__(self, options: Options | None = None) -> None:
        super().__init__()
        self.o = options or Options()
        self.lq: deque[Packet] = deque()
        self.cq: deque[Packet] = deque()
        self.p = 0.0
        self.prevq = 0.0
        self.due = self.o.tupdate
        self.tags: dict[int, int] = {}
        self.last = [0, 0]
        self.v = 0
        self.count = {"lq": 0.0, "cq": 0.0}
        self.found: dict[int, int] = {}

    def advance(self, now: int) -> None:
        """dualpi2_update, every Tupdate."""
        while self.due <= now:
            delays = [self.due - q[0].arrival for q in (self.lq, self.cq) if q]
            curq = max(delays, default=0) / SECOND
            change = self.o.alpha * (curq - self.o.target / SECOND) + self.o.beta * (curq - self.prevq)
            most = 1 / max(self.o.k, 1) if self.o.overflow else 1.0
            self.p = min(max(self.p + change, 0.0), most)
            self.prevq = curq
            self.due += self.o.tupdate

    def enqueue(self, packet: Packet, now: int) -> None:
        """dualpi2_enqueue: the classifier reads the ECN field alone."""
        if len(self.lq) + len(self.cq) + 1 > self.o.limit:
            self.log("dropped", packet.number, "overlimit")
            return
        if self.o.memlimit is not None and self.waiting() + packet.length > self.o.memlimit:
            self.log("dropped", packet.number, "overlimit")
            return
        queue = 0 if packet.ecn in (ECT1, CE) or (self.o.any_ect and packet.ecn == ECT0) else 1
        if self.o.at_arrival and not self.coupled(queue == 0, packet, 0.0):
            return
        if queue == 0:
            self.found[packet.number] = len(self.lq)
        (self.lq, self.cq)[queue].append(packet)
        self.last[queue] = max(self.last[queue], self.v) + packet.length * 65536 // self.o.weights[queue]
        self.tags[packet.number] = self.last[queue]
        self.log("enqueued", packet.number)

    def scheduler(self) -> deque[Packet] | None:
        """The queue to serve."""
        queues = [queue for queue in (self.lq, self.cq) if queue]
        if not queues:
            self.v, self.last = 0, [0, 0]
            return None
        if self.o.strict is not None:
            return (self.lq, self.cq)[self.o.strict] or queues[0]
        if self.o.tshift is None:
            return min(queues, key=lambda queue: self.tags[queue[0].number])
        shift = self.o.tshift
        return min(queues, key=lambda queue: queue[0].arrival - (shift if queue is self.lq else 0))

    def recur(self, q: str, likelihood: float) -> bool:
        """True with a certain likelihood."""
        if self.o.lots:
            if likelihood <= 0 or likelihood >= 1:
                return likelihood >= 1
            return self.numbers.uniform() < likelihood
        self.count[q] += min(likelihood, 1)
        if self.count[q] > 1:
            self.count[q] -= 1
            return True
        return False

    def laqm(self, packet: Packet, now: int) -> float:
        """The ramp, or the step, of the L4S queue for a packet that has left it."""
        if self.found.pop(packet.number) < self.o.min_qlen or not (self.lq or self.o.step_alone):
            return 0.0
        if self.o.step_packets is not None:
            return float(len(self.lq) > self.o.step_packets)
        delay = now - packet.arrival
        if delay <= self.o.min_th:
            return 0.0
        return 1.0 if delay >= self.o.min_th + self.o.range else (delay - self.o.min_th) / self.o.range

    def dequeue(self, now: int) -> Packet | None:
        """dualpi2_dequeue, with overload saturation."""
        while (queue := self.scheduler()) is not None:
            now_p = 0.0 if self.o.at_arrival else self.quiet_p()
            packet = queue.popleft()
            self.v = self.tags.pop(packet.number)
            is_l4s = queue is self.lq
            native = self.laqm(packet, now) if is_l4s else 0.0
            if self.coupled(is_l4s, packet, native, now_p):
                return packet
        return None

    def waiting(self) -> int:
        """Bytes in both queues."""
        return sum(packet.length for packet in (*self.lq, *self.cq))

    def quiet_p(self) -> float:
        """p', or nothing."""
        return self.p if self.waiting() > 2 * MTU else 0.0

    def coupled(self, is_l4s: bool, packet: Packet, native: float, p: float | None = None) -> bool:
        """Lines 5 to 13 of figure 7: whether the packet survives."""
        p = self.quiet_p() if p is None else p
        p_cl, p_c = self.o.k * p, p * p
        p_cmax = min(1 / self.o.k**2, 1) if self.o.k else 1
        if is_l4s:
            if p_cl >= 1 and not self.o.overflow and self.recur("lq", p_c):
                self.log("dropped", packet.number, "congestion")
                return False
            if self.recur("lq", max(native, p_cl)):
                self.log.mark(packet)
        elif self.recur("cq", p_c) and ((p_c >= p_cmax and not self.o.overflow) or not self.log.mark(packet)):
            self.log("dropped", packet.number, "congestion")
            return False
        return True

    def probes(self) -> dict[str, float]:
        """The state of the controller and both queues."""
        return {
            "base_probability": self.p,
            "qdelay": self.prevq,
            "l4s_backlog": len(self.lq),
            "classic_backlog": len(self.cq),
        }


CASES: dict[str, Callable[[], Oracle]] = {
    "dualpi2": DualPi2,
    "dualpi2 limit 120p classic_protection 50%": lambda: DualPi2(Options(limit=120, weights=(50, 50))),
    "dualpi2:linux": lambda: DualPi2(
        Options(
            tupdate=16 * MILLISECOND,
            alpha=41 / 256,
            beta=819 / 256,
            min_th=MILLISECOND,
            range=0,
            step_alone=True,
            lots=True,
        )
    ),
    "dualpi2 typical_rtt 20ms max_rtt 200ms limit 150p": lambda: DualPi2(
        Options(limit=150, target=20 * MILLISECOND, tupdate=20 * MILLISECOND, alpha=0.1 * 0.02 / 0.2**2, beta=0.3 / 0.2)
    ),
    "dualpi2 classic_protection 0 limit 120p": lambda: DualPi2(Options(limit=120, weights=(100, 1), strict=0)),
    "dualpi2 classic_protection 100% limit 120p": lambda: DualPi2(Options(limit=120, weights=(1, 100), strict=1)),
    "dualpi2 drop_enqueue step_thresh 3p limit 150p": lambda: DualPi2(
        Options(limit=150, at_arrival=True, step_packets=3)
    ),
    "dualpi2:linux drop_enqueue overflow min_qlen_step 4 memlimit 90kb": lambda: DualPi2(
        Options(
            tupdate=16 * MILLISECOND,
            alpha=41 / 256,
            beta=819 / 256,
            min_th=MILLISECOND,
            range=0,
            step_alone=True,
            lots=True,
            at_arrival=True,
            overflow=True,
            min_qlen=4,
            memlimit=90 * 1024,
        )
    ),
    "dualpi2 overflow coupling_factor 4 target 3ms beta 9 limit 60p": lambda: DualPi2(
        Options(limit=60, overflow=True, k=4.0, target=3 * MILLISECOND, beta=9.0)
    ),
    "dualpi2 any_ect": lambda: DualPi2(Options(any_ect=True)),
    "dualpi2 signals lot limit 90p": lambda: DualPi2(Options(limit=90, lots=True)),
    "dualpi2 coupling_factor 0.5 beta 9 target 3ms limit 150p": lambda: DualPi2(
        Options(k=0.5, beta=9.0, target=3 * MILLISECOND, limit=150)
    ),
    "dualpi2 scheduler tsfifo tshift 30ms target 5ms coupling_factor 1.5 step_thresh 20ms step_range 30ms": lambda: (
        DualPi2(
            Options(
                tshift=30 * MILLISECOND,
                target=5 * MILLISECOND,
                k=1.5,
                min_th=20 * MILLISECOND,
                range=30 * MILLISECOND,
            )
        )
    ),
}
