"""PI from equation 12 of Hollot et al. (2001), and PI2 from figure 9 of De Schepper et al. (2016).

Hollot: p(kT) = a (q(kT) - q_ref) - b (q((k-1)T) - q_ref) + p((k-1)T). Assumptions of the Rust files: beyond
`mark_threshold` nothing is marked; PI2's delay is that of the packet at the head; it gives no signal while at most
two full packets wait; once k p' is 1, scalable packets are marked, and dropped by the square as well.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from workload import CE, ECT1, MILLISECOND, SECOND, Oracle, Packet


@dataclass
class Options:
    """Times in nanoseconds, the target of PI in packets or bytes."""

    limit: int = 1000
    target: float = 200
    a: float = 1.822e-5
    b: float = 1.816e-5
    t: int = 6_250_000
    ecn: bool = False
    mark_threshold: float = 0.5
    mean_packet: int | None = None  # not None: count bytes


class Timed(Oracle):
    """A queue whose probability is updated every `t`."""

    def __init__(self, limit: int, t: int) -> None:
        super().__init__()
        self.limit, self.t = limit, t
        self.next_update = t
        self.queue: deque[Packet] = deque()
        self.p = 0.0

    @abstractmethod
    def update(self, now: int) -> None:
        """One period."""

    @abstractmethod
    def passes(self, packet: Packet) -> bool:
        """Whether the packet is not dropped."""

    def advance(self, now: int) -> None:
        """The timer."""
        while self.next_update <= now:
            self.update(self.next_update)
            self.next_update += self.t

    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives."""
        if len(self.queue) + 1 > self.limit:
            self.log("dropped", packet.number, "overlimit")
        elif self.passes(packet):
            self.queue.append(packet)
            self.log("enqueued", packet.number)
        else:
            self.log("dropped", packet.number, "congestion")

    def dequeue(self, now: int) -> Packet | None:
        """The link is free."""
        return self.queue.popleft() if self.queue else None


class Pi(Timed):
    """One queue under Hollot's controller."""

    def __init__(self, options: Options) -> None:
        super().__init__(options.limit, options.t)
        self.o = options
        self.q_old = 0.0

    def q(self) -> float:
        """The queue in packets."""
        if self.o.mean_packet is None:
            return len(self.queue)
        return sum(packet.length for packet in self.queue) / self.o.mean_packet

    def update(self, now: int) -> None:
        """Equation 12."""
        o, q = self.o, self.q()
        ref = o.target / (o.mean_packet or 1)
        self.p = min(max(o.a * (q - ref) - o.b * (self.q_old - ref) + self.p, 0.0), 1.0)
        self.q_old = q

    def passes(self, packet: Packet) -> bool:
        """Drops or marks with probability p."""
        if self.numbers.uniform() >= self.p:
            return True
        return self.o.ecn and self.p <= self.o.mark_threshold and self.log.mark(packet)

    def probes(self) -> dict[str, float]:
        """The probability, and the queue that it was computed from."""
        return {"drop_probability": self.p, "sampled_queue": self.q_old}


@dataclass
class Options2:
    """Times in nanoseconds, gains in 1/s."""

    limit: int = 1000
    target: int = 20 * MILLISECOND
    t: int = 32 * MILLISECOND
    alpha: float = 5 / 16
    beta: float = 50 / 16
    k: float = 2
    ecn: bool = False
    scalable: bool = True
    mark_threshold: float = 0.25
    mtu: int = 1514


class Pi2(Timed):
    """One queue under PI2."""

    def __init__(self, options: Options2) -> None:
        super().__init__(options.limit, options.t)
        self.o = options
        self.tau_old = 0.0

    def update(self, now: int) -> None:
        """Equation 4, in p' itself."""
        o = self.o
        tau = (now - self.queue[0].arrival) / SECOND if self.queue else 0.0
        self.p += o.alpha * (tau - o.target / SECOND) + o.beta * (tau - self.tau_old)
        self.p = min(max(self.p, 0.0), 1.0)
        self.tau_old = tau

    def passes(self, packet: Packet) -> bool:
        """Think once to mark, twice to drop."""
        o = self.o
        if not self.p or sum(waiting.length for waiting in self.queue) <= 2 * o.mtu:
            return True
        if o.ecn and o.scalable and packet.ecn in (ECT1, CE):
            if o.k * self.p < 1:
                if self.numbers.uniform() < o.k * self.p:
                    self.log.mark(packet)
                return True
            self.log.mark(packet)
        if self.numbers.uniform() >= self.p or self.numbers.uniform() >= self.p:
            return True
        return o.ecn and self.p**2 <= o.mark_threshold and self.log.mark(packet)

    def probes(self) -> dict[str, float]:
        """p', its square and the delay."""
        return {"base_probability": self.p, "drop_probability": self.p**2, "qdelay": self.tau_old}


CASES: dict[str, Callable[[], Oracle]] = {
    "pi limit 300p target 20p a 0.0002 b 0.00019": lambda: Pi(Options(limit=300, target=20, a=0.0002, b=0.00019)),
    "pi:ns2 limit 100p ecn a 0.003 b 0.0029 mark_threshold 0.2": lambda: Pi(
        Options(limit=100, target=50, a=0.003, b=0.0029, t=5_882_353, ecn=True, mark_threshold=0.2)
    ),
    "pi limit 200p target 20kb avpkt 800b a 0.001 b 0.0009 tupdate 10ms": lambda: Pi(
        Options(limit=200, target=20 * 1024, a=0.001, b=0.0009, t=10 * MILLISECOND, mean_packet=800)
    ),
    "pi2 limit 400p": lambda: Pi2(Options2(limit=400)),
    "pi2 limit 200p ecn": lambda: Pi2(Options2(limit=200, ecn=True)),
    "pi2 limit 200p target 5ms tupdate 10ms alpha 1 beta 6 coupling 1 ecn mark_threshold 0.05": lambda: Pi2(
        Options2(
            limit=200,
            target=5 * MILLISECOND,
            t=10 * MILLISECOND,
            alpha=1,
            beta=6,
            k=1,
            ecn=True,
            mark_threshold=0.05,
        )
    ),
    "pi2 limit 200p ecn noscalable": lambda: Pi2(Options2(limit=200, ecn=True, scalable=False)),
}
