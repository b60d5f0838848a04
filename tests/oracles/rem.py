"""REM from equations 1 and 2 of Athuraliya, Low, Li and Yin (2001).

p_l(t+1) = [p_l(t) + gamma (alpha (b_l(t) - b*) + x_l(t) - c_l)]+, marking probability 1 - phi^(-p_l). Assumptions of
`discipline/rem.rs`: x counts the arrivals of the last period, including dropped packets; beyond `mark_threshold`
nothing is marked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pi
from workload import MILLISECOND, SECOND, Oracle, Packet


@dataclass
class Options:
    """Times in nanoseconds, the target in packets or bytes."""

    limit: int = 1000
    target: float = 20
    gamma: float = 0.001
    alpha: float = 0.1
    phi: float = 1.001
    t: int = 2 * MILLISECOND
    mean_packet: int = 1000
    by_bytes: bool = False
    bandwidth: int | None = None  # None: the link's
    ecn: bool = False
    mark_threshold: float = 0.5


class Rem(pi.Timed):
    """One queue under REM."""

    def __init__(self, options: Options) -> None:
        super().__init__(options.limit, options.t)
        self.o = options
        self.price = 0.0
        self.arrived: list[int] = []

    def size(self, lengths: list[int]) -> float:
        """Packets of these lengths, in packets."""
        return sum(lengths) / self.o.mean_packet if self.o.by_bytes else len(lengths)

    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives."""
        self.arrived.append(packet.length)
        super().enqueue(packet, now)

    def update(self, now: int) -> None:
        """Equations 1 and 2."""
        o = self.o
        c = (o.bandwidth or self.rate) / (8 * o.mean_packet) * o.t / SECOND
        target = o.target / o.mean_packet if o.by_bytes else o.target
        b = self.size([packet.length for packet in self.queue])
        self.price = max(self.price + o.gamma * (o.alpha * (b - target) + self.size(self.arrived) - c), 0.0)
        self.arrived = []
        self.p = 1 - o.phi**-self.price

    def passes(self, packet: Packet) -> bool:
        """Drops or marks with the probability."""
        if self.numbers.uniform() >= self.p:
            return True
        return self.o.ecn and self.p <= self.o.mark_threshold and self.log.mark(packet)

    def probes(self) -> dict[str, float]:
        """Probability and price."""
        return {"drop_probability": self.p, "price": self.price}


CASES: dict[str, Callable[[], Oracle]] = {
    "rem limit 200p phi 1.5": lambda: Rem(Options(limit=200, phi=1.5)),
    "rem limit 200p target 10p gamma 0.01 alpha 0.3 phi 1.1 tupdate 7ms ecn mark_threshold 0.1": lambda: Rem(
        Options(
            limit=200,
            target=10,
            gamma=0.01,
            alpha=0.3,
            phi=1.1,
            t=7 * MILLISECOND,
            ecn=True,
            mark_threshold=0.1,
        )
    ),
    "rem limit 300p target 16kb avpkt 800b gamma 0.02 phi 1.2 bandwidth 3mbit": lambda: Rem(
        Options(
            limit=300,
            target=16 * 1024,
            gamma=0.02,
            phi=1.2,
            mean_packet=800,
            by_bytes=True,
            bandwidth=3_000_000,
        )
    ),
}
