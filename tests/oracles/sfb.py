"""SFB from figure 6 of Feng, Kandlur, Saha and Shin (2001), with the differences of Linux `sch_sfb`.

For each level i: if B[i][h_i].qlen is at least bin_size, p_m += d1; if it is zero, p_m -= d2. A packet is dropped
(marked) with the minimum of its bins' p_m; at 1 its flow is rate-limited. Linux: other steps up and down, a hard limit
for the smallest bin, drops above 1/2, a token bucket for the rate, two hashes of which the second is warmed up by flows
at 1. Bins hold lists of packets here, so that counts for a new hash come from the queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from choke import below
from workload import MILLISECOND, SECOND, Oracle, Packet

MASK = 2**64 - 1


def spread(key: int) -> int:
    """The finalizer of SplitMix64."""
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & MASK
    key = (key ^ key >> 27) * 0x94D049BB133111EB & MASK
    return key ^ key >> 31


@dataclass
class Options:
    """Times in nanoseconds."""

    limit: int = 1000
    levels: int = 8
    bins: int = 16
    bin_size: int = 20
    most: int = 25
    d1: float = 0.0005
    d2: float = 0.00005
    penalty_rate: int = 10
    penalty_burst: int = 20
    rehash: int = 600 * SECOND
    warm_up: int = 60 * SECOND
    ecn: bool = True


class Hash:
    """One hash with the probabilities of its bins."""

    def __init__(self, options: Options, salt: int) -> None:
        self.o, self.salt = options, salt
        self.pm: dict[tuple[int, int], float] = {}

    def bins(self, flow: int) -> list[tuple[int, int]]:
        """Level and bin, by a byte of the hash each."""
        octets = spread(flow ^ self.salt).to_bytes(8, "little")
        return [(level, octets[level] * self.o.bins // 256) for level in range(self.o.levels)]

    def arrive(self, flow: int, queue: deque[Packet]) -> tuple[float, int]:
        """Move the probabilities; the smallest one, and the smallest number of packets."""
        waiting = [self.bins(packet.flow) for packet in queue]
        found = []
        for level, which in self.bins(flow):
            qlen = sum(bins[level][1] == which for bins in waiting)
            pm = self.pm.get((level, which), 0.0)
            if qlen == 0:
                pm = max(pm - self.o.d2, 0.0)
            elif qlen >= self.o.bin_size:
                pm = min(pm + self.o.d1, 1.0)
            self.pm[level, which] = pm
            found.append((pm, qlen))
        return min(pm for pm, _ in found), min(qlen for _, qlen in found)


class Sfb(Oracle):
    """One queue under SFB."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.o = options
        self.queue: deque[Packet] = deque()
        self.now_used: Hash | None = None
        self.warming: Hash | None = None
        self.hashed_at = 0
        self.tokens = Fraction(options.penalty_burst)
        self.tokens_at = 0

    def renew(self, now: int) -> Hash:
        """The hash in use."""
        o = self.o
        if self.now_used is None:
            self.now_used, self.hashed_at = Hash(o, below(self.numbers, MASK)), now
            return self.now_used
        if o.rehash == 0:
            return self.now_used
        age = now - self.hashed_at
        if self.warming is None and age > o.rehash - o.warm_up:
            self.warming = Hash(o, below(self.numbers, MASK))
        if age > o.rehash and self.warming is not None:
            self.now_used, self.warming, self.hashed_at = self.warming, None, now
        return self.now_used

    def penalised(self, now: int) -> bool:
        """A token bucket."""
        earned = Fraction((now - self.tokens_at) * self.o.penalty_rate, SECOND)
        self.tokens = min(self.tokens + earned, Fraction(self.o.penalty_burst))
        self.tokens_at = now
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False

    def reason(self, packet: Packet, now: int) -> str | None:
        """The reason to drop the packet."""
        o = self.o
        if len(self.queue) == o.limit:
            return "overlimit"
        pm, qlen = self.renew(now).arrive(packet.flow, self.queue)
        if qlen >= o.most:
            return "unfair"
        if pm >= 1:
            if self.warming is not None:
                self.warming.arrive(packet.flow, self.queue)
            return "unfair" if self.penalised(now) else None
        r = self.numbers.uniform()
        if r >= pm:
            return None
        if pm > 0.5 and r < 2 * (pm - 0.5):
            return "congestion"
        return None if o.ecn and self.log.mark(packet) else "congestion"

    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives."""
        reason = self.reason(packet, now)
        if reason:
            self.log("dropped", packet.number, reason)
        else:
            self.queue.append(packet)
            self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        """The link is free."""
        return self.queue.popleft() if self.queue else None

    def probes(self) -> dict[str, float]:
        """The highest probability."""
        return {"highest_probability": max(self.now_used.pm.values(), default=0.0) if self.now_used else 0.0}


CASES: dict[str, Callable[[], Oracle]] = {
    "sfb limit 80p target 5 max 30 increment 0.02 decrement 0.002 ecn": lambda: Sfb(
        Options(limit=80, bin_size=5, most=30, d1=0.02, d2=0.002)
    ),
    "sfb limit 60p levels 3 bins 7 target 4 max 12 increment 0.05 decrement 0.01 penalty_rate 40"
    " penalty_burst 5 rehash 500ms db 200ms noecn": lambda: Sfb(
        Options(
            limit=60,
            levels=3,
            bins=7,
            bin_size=4,
            most=12,
            d1=0.05,
            d2=0.01,
            penalty_rate=40,
            penalty_burst=5,
            rehash=500 * MILLISECOND,
            warm_up=200 * MILLISECOND,
            ecn=False,
        )
    ),
    "sfb:feng2001 limit 100p target 8 max 40 increment 0.1 decrement 0.05 rehash 1s db 1s ecn": lambda: Sfb(
        Options(
            limit=100,
            levels=2,
            bins=23,
            bin_size=8,
            most=40,
            d1=0.1,
            d2=0.05,
            rehash=SECOND,
            warm_up=SECOND,
        )
    ),
    "sfb limit 60p target 4 max 12 increment 0.05 decrement 0.01 rehash 300ms": lambda: Sfb(
        Options(limit=60, bin_size=4, most=12, d1=0.05, d2=0.01, rehash=300 * MILLISECOND)
    ),
    "sfb limit 60p target 4 max 12 increment 0.05 decrement 0.01 rehash 0s": lambda: Sfb(
        Options(limit=60, bin_size=4, most=12, d1=0.05, d2=0.01, rehash=0)
    ),
}
