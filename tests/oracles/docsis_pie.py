"""DOCSIS-PIE, from the pseudocode of RFC 8034 appendix A (as CableLabs' docsis-ns3 has it), names as there.

Assumptions of `discipline/docsis_pie.rs`: departures use up the tokens of the sustained rate; the buffer's third is
counted in the unit of the limit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from workload import MILLISECOND, SECOND, Oracle, Packet

NOBURST, FIRST_BURST, PROTECT_BURST = "no burst", "first burst", "protect burst"
STEPS = {1e-6: 2048, 1e-5: 512, 1e-4: 128, 1e-3: 32, 1e-2: 8, 1e-1: 2, 1: 0.5, 10: 0.125, float("inf"): 0.03125}


@dataclass
class Options:
    """Times in nanoseconds, rates in bit/s, sizes in bytes unless noted."""

    limit: int = 1000  # packets
    latency_target: int = 10 * MILLISECOND
    interval: int = 16 * MILLISECOND
    a: float = 0.25
    b: float = 2.5
    max_burst: int = 142 * MILLISECOND
    msr: int | None = None  # None: the link's rate
    peak_rate: int | None = None  # None: msr
    max_traffic_burst: int = 3044


class DocsisPie(Oracle):
    """The upstream queue of a cable modem."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__()
        self.o = options or Options()
        self.target = self.o.latency_target / SECOND
        self.queue: deque[Packet] = deque()
        self.drop_prob = self.accu_prob = self.qdelay_old = 0.0
        self.burst_allowance = self.burst_reset = 0
        self.burst_state = NOBURST
        self.next_update = self.o.interval
        self.credit = float(self.o.max_traffic_burst)
        self.credit_at = 0

    @property
    def byte_length(self) -> int:
        """Bytes that wait."""
        return sum(packet.length for packet in self.queue)

    @property
    def msr(self) -> float:
        """Sustained rate in byte/s."""
        return (self.rate if self.o.msr is None else self.o.msr) / 8

    @property
    def peak_rate(self) -> float:
        """Peak rate in byte/s."""
        return self.msr if self.o.peak_rate is None else self.o.peak_rate / 8

    def msrtokens(self, now: int) -> float:
        """Bytes of credit now."""
        self.credit = min(self.o.max_traffic_burst, self.credit + self.msr * ((now - self.credit_at) / SECOND))
        self.credit_at = now
        return self.credit

    def enqueue(self, packet: Packet, now: int) -> None:
        if len(self.queue) >= self.o.limit:
            self.log("dropped", packet.number, "overlimit")
            self.accu_prob = 0.0
        elif self.drop_early(packet):
            self.log("dropped", packet.number, "congestion")
        else:
            self.queue.append(packet)
            self.log("enqueued", packet.number)

    def drop_early(self, packet: Packet) -> bool:
        """Whether the law drops an arriving packet."""
        if self.burst_allowance > 0:
            return False
        if self.drop_prob == 0:
            self.accu_prob = 0.0
        if self.burst_state == NOBURST:
            if len(self.queue) < self.o.limit / 3:
                return False
            self.burst_state = FIRST_BURST
        p1 = min(self.drop_prob * packet.length / 1024, 0.85)
        self.accu_prob += p1
        if self.qdelay_old < 0.5 * self.target and self.drop_prob < 0.2:
            return False
        if self.byte_length <= 2 * 1024:
            return False
        if self.accu_prob < 0.85:
            return False
        if self.accu_prob < 8.5 and self.numbers.uniform() > p1:
            return False
        self.accu_prob = 0.0
        if self.burst_state == FIRST_BURST:
            self.burst_state = PROTECT_BURST
            self.burst_allowance = self.o.max_burst
        return True

    def dequeue(self, now: int) -> Packet | None:
        if not self.queue:
            return None
        packet = self.queue.popleft()
        self.credit = max(0.0, self.msrtokens(now) - packet.length)
        return packet

    def advance(self, now: int) -> None:
        while self.next_update <= now:
            self.calculate_drop_prob(self.next_update)
            self.next_update += self.o.interval

    def calculate_drop_prob(self, now: int) -> None:
        """Background update, every interval."""
        tokens = self.msrtokens(now)
        if self.byte_length <= tokens:
            qdelay = self.byte_length / self.peak_rate
        else:
            qdelay = (self.byte_length - tokens) / self.msr + tokens / self.peak_rate
        if self.burst_allowance > 0:
            self.drop_prob = 0.0
            self.burst_allowance = max(0, self.burst_allowance - self.o.interval)
        else:
            p = self.o.a * (qdelay - self.target) + self.o.b * (qdelay - self.qdelay_old)
            p /= next(step for bound, step in STEPS.items() if self.drop_prob < bound)
            if self.drop_prob >= 0.1 and p > 0.02:
                p = 0.02
            self.drop_prob += p
            if qdelay < 0.005 and self.qdelay_old < 0.005:
                self.drop_prob *= 0.98
            elif qdelay > 0.2:
                self.drop_prob += 0.02
            self.drop_prob = min(max(0.0, self.drop_prob), 0.85 * 1024 / 64)
        quiet = max(qdelay, self.qdelay_old) < 0.5 * self.target and self.drop_prob == 0 and self.burst_allowance == 0
        if self.burst_state == PROTECT_BURST and quiet:
            self.burst_state, self.burst_reset = FIRST_BURST, 0
        elif self.burst_state == FIRST_BURST:
            self.burst_reset = self.burst_reset + self.o.interval if quiet else 0
            if self.burst_reset > SECOND:
                self.burst_state, self.burst_reset = NOBURST, 0
        self.qdelay_old = qdelay

    def probes(self) -> dict[str, float]:
        return {
            "drop_probability": self.drop_prob,
            "qdelay": self.qdelay_old,
            "burst_allowance": self.burst_allowance / SECOND,
        }


CASES: dict[str, Callable[[], Oracle]] = {
    "docsis_pie limit 60p": lambda: DocsisPie(Options(limit=60)),
    "docsis_pie limit 90p target 4ms tupdate 7ms max_burst 0ms peak_rate 30mbit traffic_burst 20000b": lambda: (
        DocsisPie(
            Options(
                limit=90,
                latency_target=4 * MILLISECOND,
                interval=7 * MILLISECOND,
                max_burst=0,
                peak_rate=30_000_000,
                max_traffic_burst=20_000,
            )
        )
    ),
    "docsis_pie limit 150p rate 7mbit alpha 0.5hz beta 1.5hz max_burst 30ms": lambda: DocsisPie(
        Options(limit=150, msr=7_000_000, a=0.5, b=1.5, max_burst=30 * MILLISECOND)
    ),
}
