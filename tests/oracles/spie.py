"""S-PIE from algorithm 2 and equations 3 to 9 of Zhu et al., Axioms 12(9):814 (2023), over ns-3.27's PIE.

Counts are exact (traces have few flows, the sketch many counters) or those of a narrow sketch of its own, in which
flows collide. Assumptions of `discipline/s_pie.rs`, each an option where the paper contradicts itself: equation 3 has
the current delay, or the old one; line 4 of algorithm 2 uses the delay of the last period, or that after the last
departure, by a departure rate that a calm period forgets, or keeps; a share above the threshold is too large
(`rule=text`) or one below it (`algorithm2`), an equal one optionally; packets are counted when accepted or when they
leave, by number or by size; counts are cleared at whole multiples of the period; the burst allowance holds back only
PIE's probability; with ECN, both rules mark up to a probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import pie
from sketches import Conservative, CountMin, CountSketch, Sketch
from workload import MILLISECOND, SECOND, Oracle, Packet


def printed(limit: int, qdelay_ref: int = 20 * MILLISECOND) -> pie.Options:
    """PIE's options as the preset `printed` has them."""
    return pie.Options(
        limit=limit,
        qdelay_ref=qdelay_ref,
        t_update=30 * MILLISECOND,
        max_burst=100 * MILLISECOND,
        dq_threshold=10_000,
        dq_weight=0.5,
    )


class Exact:
    """The common part of counters."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Reset all counters."""
        self.m: Counter[int] = Counter()

    def insert(self, flow: int, value: int) -> None:
        """Equation 1, with a counter for each flow."""
        self.m[flow] += value

    def query(self, flow: int) -> int:
        """Equation 2."""
        return self.m[flow]

    @property
    def m_count(self) -> int:
        """The total of all counts."""
        return self.m.total()

    def threshold(self) -> Fraction:
        """Equation 9: sum of m_i G_i over sum of m_i."""
        m_count = self.m_count
        return sum((m * Fraction(m, m_count) for m in self.m.values()), Fraction(0)) / (m_count or 1)


class Sketched:
    """The estimates of a sketch, which cannot list flows: the sum of equation 9 is updated as packets are counted.

    m more for a flow that had M, by the sketch, add (M + m)^2 - M^2 to the sum of squares.
    """

    def __init__(self, sketch: Sketch) -> None:
        self.sketch = sketch
        self.clear()

    def clear(self) -> None:
        """Reset all counters."""
        self.sketch.clear()
        self.m_count = self.squares = 0

    def insert(self, flow: int, value: int) -> None:
        """Equation 1."""
        before = self.sketch.query(flow)
        self.sketch.add(flow, value)
        self.m_count += value
        self.squares += (before + value) ** 2 - before**2

    def query(self, flow: int) -> int:
        """Equation 2."""
        return self.sketch.query(flow)

    def threshold(self) -> Fraction:
        """Equation 9, as a sum of squares over the square of the sum."""
        return Fraction(self.squares, self.m_count**2 or 1)


@dataclass
class Options:
    """PIE's, and those of the share test."""

    pie: pie.Options
    text: bool = True
    small_flows_use_p: bool = False
    guard: bool = True
    clear_period: int = SECOND
    equal_drops: bool = False
    old_delay: bool = False
    at_departure: bool = True
    above_threshold: bool = False
    keeps_rate: bool = False
    at_dequeue: bool = False
    by_size: bool = False
    sketch: Callable[[], Sketch] | None = None


class SPie(pie.Ns327):
    """One queue under S-PIE."""

    shows = ("dropped unfair",)

    def __init__(self, options: Options) -> None:
        super().__init__(options.pie)
        self.s = options
        self.keeps_rate = options.keeps_rate
        self.counts = Sketched(options.sketch()) if options.sketch else Exact()
        self.period = 0
        self.left_behind = 0.0

    def enqueue(self, packet: Packet, now: int) -> None:
        """Algorithm 2, with the clearing of algorithm 1."""
        if len(self.queue) + 1 > self.o.limit:
            self.log("dropped", packet.number, "overlimit")
            return
        self.clear_memory(now)
        reason = self.reason(packet)
        marked = reason and self.o.ecn and self.drop_prob <= self.o.mark_ecnth and self.log.mark(packet)
        if reason and not marked:
            self.log("dropped", packet.number, reason)
            return
        if not self.s.at_dequeue:
            self.insert(packet)
        self.admit(packet, dropped=False)

    def dequeue(self, now: int) -> Packet | None:
        """Section 3.2, "Dequeue"."""
        packet = super().dequeue(now)
        if packet is None:
            return None
        # Equation 4, while the rate is known.
        self.left_behind = self.bytes / self.avg_dq_rate if self.avg_dq_rate else 0.0
        if self.s.at_dequeue:
            self.clear_memory(now)
            self.insert(packet)
        return packet

    def insert(self, packet: Packet) -> None:
        """Equation 1."""
        self.counts.insert(packet.flow, packet.length if self.s.by_size else 1)

    def clear_memory(self, now: int) -> None:
        """Algorithm 1, line 4."""
        if now // self.s.clear_period > self.period:
            self.period = now // self.s.clear_period
            self.counts.clear()

    def calculate_drop_prob(self) -> None:
        """Algorithm 1, lines 1 and 2."""
        if not (self.s.above_threshold and self.bytes <= (self.o.dq_threshold or 0)):
            super().calculate_drop_prob()

    def step(self, delay: float) -> float:
        """Equation 3 as printed, if asked for."""
        if not self.s.old_delay:
            return super().step(delay)
        p = self.o.alpha * (self.qdelay_old - self.ref) + self.o.beta * (delay - self.qdelay_old)
        p = self.tuned(p)
        return min(p, 0.02) if self.drop_prob >= 0.1 else p

    def reason(self, packet: Packet) -> str | None:
        """The reason to drop the packet, if there is one."""
        if self.burst == "none" and self.burst_allowance == 0:
            self.burst = "protecting"
            self.burst_allowance = self.o.max_burst
        if self.s.guard and len(self.queue) <= 2:
            return None
        congested = self.del_cur() >= self.ref / 3
        if congested and self.unfair(packet):
            return "unfair"
        if congested and not self.s.small_flows_use_p:
            return None
        hit = self.burst_allowance == 0 and self.numbers.uniform() < self.drop_prob
        return "congestion" if hit else None

    def del_cur(self) -> float:
        """Algorithm 2, line 4: "obtained when the packets are out of the queue", or once per period."""
        return self.left_behind if self.s.at_departure else self.current_qdelay

    def unfair(self, packet: Packet) -> bool:
        """Equations 8 and 9: the flow's share compared with the packet-weighted mean share."""
        m_count, threshold = self.counts.m_count, self.counts.threshold()
        if m_count == 0:
            return False
        share = Fraction(self.counts.query(packet.flow), m_count)
        if share == threshold:
            return self.s.equal_drops
        return share > threshold if self.s.text else share < threshold

    def probes(self) -> dict[str, float]:
        """PIE's, the threshold and what is counted."""
        return {
            **super().probes(),
            "qdelay": self.del_cur(),
            "share_threshold": float(self.counts.threshold()),
            "counted": self.counts.m_count,
        }


def variant(
    ecn_threshold: float | None = None,
    target: int = 5,
    sketch: Callable[[], Sketch] | None = None,
    **assumptions: bool,
) -> SPie:
    """S-PIE at a target in milliseconds, with this sketch and these assumptions."""
    options = printed(limit=100, qdelay_ref=target * MILLISECOND)
    if ecn_threshold is not None:
        options = replace(options, ecn=True, mark_ecnth=ecn_threshold)
    return SPie(Options(options, sketch=sketch, **assumptions))  # type: ignore[arg-type]


CASES: dict[str, Callable[[], Oracle]] = {
    "s-pie limit 100p": lambda: SPie(Options(printed(limit=100))),
    "s-pie limit 100p target 5ms rule algorithm2 clear_period 300ms": lambda: SPie(
        Options(
            printed(limit=100, qdelay_ref=5 * MILLISECOND),
            text=False,
            clear_period=300 * MILLISECOND,
        )
    ),
    "s-pie limit 100p small_flows_use_p noguard": lambda: SPie(
        Options(printed(limit=100), small_flows_use_p=True, guard=False)
    ),
    "s-pie limit 100p target 5ms sketch conservative": variant,
    "s-pie limit 100p target 5ms sketch count_sketch depth 5": variant,
    "s-pie limit 100p target 5ms equal_share drop": lambda: variant(equal_drops=True),
    "s-pie limit 100p target 5ms equal_share drop rule algorithm2": lambda: variant(equal_drops=True, text=False),
    "s-pie limit 100p target 20ms alpha_delay old small_flows_use_p": lambda: variant(
        target=20, old_delay=True, small_flows_use_p=True
    ),
    "s-pie limit 100p target 20ms updates above_dq_threshold small_flows_use_p": lambda: variant(
        target=20, above_threshold=True, small_flows_use_p=True
    ),
    "s-pie limit 100p target 5ms count_at dequeue": lambda: variant(at_dequeue=True),
    "s-pie limit 100p target 5ms count_unit bytes": lambda: variant(by_size=True),
    "s-pie limit 100p target 5ms count_at dequeue count_unit bytes noguard": lambda: variant(
        at_dequeue=True, by_size=True, guard=False
    ),
    "s-pie limit 100p target 5ms ecn": lambda: variant(ecn_threshold=0.1),
    "s-pie limit 100p target 20ms ecn mark_threshold 0.5 small_flows_use_p": lambda: variant(
        ecn_threshold=0.5, target=20, small_flows_use_p=True
    ),
    "s-pie limit 100p target 5ms quiet_rate keep": lambda: variant(keeps_rate=True),
    "s-pie limit 100p target 20ms quiet_rate keep gate_delay tick small_flows_use_p": lambda: variant(
        target=20, keeps_rate=True, at_departure=False, small_flows_use_p=True
    ),
    "s-pie limit 100p gate_delay tick": lambda: variant(target=20, at_departure=False),
    "s-pie limit 100p target 5ms gate_delay tick": lambda: variant(at_departure=False),
    "s-pie limit 100p target 5ms gate_delay tick noguard rule algorithm2": lambda: variant(
        at_departure=False, guard=False, text=False
    ),
    "s-pie limit 100p target 20ms gate_delay tick alpha_delay old small_flows_use_p": lambda: variant(
        target=20, at_departure=False, old_delay=True, small_flows_use_p=True
    ),
}
# Rows so narrow that the twelve flows of the workloads collide.
NARROW = {
    "s-pie limit 100p target 5ms width 5 depth 1": lambda: variant(sketch=lambda: CountMin(5, 1)),
    "s-pie limit 100p target 5ms width 8 depth 4": lambda: variant(sketch=lambda: CountMin(8, 4)),
    "s-pie limit 100p target 5ms width 4 depth 3 gate_delay tick count_unit bytes": lambda: variant(
        sketch=lambda: CountMin(4, 3), at_departure=False, by_size=True
    ),
    "s-pie limit 100p target 5ms sketch conservative width 6 depth 2": lambda: variant(
        sketch=lambda: Conservative(6, 2)
    ),
    "s-pie limit 100p target 5ms sketch conservative width 4 depth 5 count_at dequeue": lambda: variant(
        sketch=lambda: Conservative(4, 5), at_dequeue=True
    ),
    "s-pie limit 100p target 5ms sketch count_sketch width 5 depth 3": lambda: variant(
        sketch=lambda: CountSketch(5, 3)
    ),
    "s-pie limit 100p target 5ms sketch count_sketch width 4 depth 8 rule algorithm2": lambda: variant(
        sketch=lambda: CountSketch(4, 8), text=False
    ),
}
CASES |= NARROW
