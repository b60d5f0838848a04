"""S-PIE from algorithm 2 and equations 3 to 9 of Zhu et al., Axioms 12(9):814 (2023), over PIE as ns-3.27
has it.

Counts are exact: traces have few flows, the sketch many counters. Readings of `discipline/s_pie.rs`: the
current delay in equation 3; a share above the threshold is too large (`rule=text`) or one below it
(`algorithm2`), an equal one never; accepted packets are counted; counting starts anew at whole multiples of
the period; the burst allowance holds back PIE's probability only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import pie
from workload import MILLISECOND, SECOND, Packet


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


@dataclass
class Options:
    """PIE's, and those of the share test."""

    pie: pie.Options
    text: bool = True
    small_flows_use_p: bool = False
    guard: bool = True
    clear_period: int = SECOND


class SPie(pie.Ns327):
    """One queue under S-PIE."""

    def __init__(self, options: Options) -> None:
        super().__init__(options.pie)
        self.s = options
        self.m: Counter[int] = Counter()
        self.period = 0

    def enqueue(self, packet: Packet, now: int) -> None:
        """Algorithm 2, with the clearing of algorithm 1."""
        if now // self.s.clear_period > self.period:
            self.period = now // self.s.clear_period
            self.m.clear()
        if len(self.queue) + 1 > self.o.limit:
            self.log("dropped", packet.number, "overlimit")
            return
        reason = self.reason(packet)
        if reason:
            self.log("dropped", packet.number, reason)
            return
        self.m[packet.flow] += 1
        self.admit(packet, dropped=False)

    def reason(self, packet: Packet) -> str | None:
        """Why the packet is dropped, if it is."""
        if self.burst == "none" and self.burst_allowance == 0:
            self.burst = "protecting"
            self.burst_allowance = self.o.max_burst
        if self.s.guard and len(self.queue) <= 2:
            return None
        congested = self.current_qdelay >= self.ref / 3
        if congested and self.unfair(packet):
            return "unfair"
        if congested and not self.s.small_flows_use_p:
            return None
        hit = self.burst_allowance == 0 and self.numbers.uniform() < self.drop_prob
        return "congestion" if hit else None

    def unfair(self, packet: Packet) -> bool:
        """Equations 8 and 9: the flow's share against the packet-weighted mean share."""
        m_count = self.m.total()
        if m_count == 0:
            return False
        share = Fraction(self.m[packet.flow], m_count)
        return share > self.threshold() if self.s.text else share < self.threshold()

    def threshold(self) -> Fraction:
        """Equation 9: sum of m_i G_i over sum of m_i."""
        m_count = self.m.total()
        if m_count == 0:
            return Fraction(0)
        return sum((m * Fraction(m, m_count) for m in self.m.values()), Fraction(0)) / m_count

    def probes(self) -> dict[str, float]:
        """PIE's, the threshold and what is counted."""
        return {
            **super().probes(),
            "share_threshold": float(self.threshold()),
            "counted": self.m.total(),
        }
