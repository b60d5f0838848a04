"""FQ-PIE: the flow queues of RFC 8290 as in `fq_codel.py`, with PIE (`pie.py`, appendix A of RFC 8033) on each.

Assumptions of `discipline/fq_pie.rs`: a full queue drops the arriving packet and tells the flow's PIE (Linux); all
flows are updated by one clock; a flow without packets, delay and probability loses what it had accumulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import fq_codel
import pie
from workload import MILLISECOND, SECOND, Oracle, Packet


@dataclass
class Options(fq_codel.Options):
    """As for FQ-CoDel, and PIE's."""

    arriving: bool = True  # a full queue drops the arriving packet, else (ns-3) a batch of the fattest flow

    pie: pie.Options = field(default_factory=lambda: pie.Options(activate=False))


class FlowQueue(pie.Pie):
    """PIE with the calls of a flow queue. The limit is not its own."""

    def __init__(self, owner: FqPie) -> None:
        super().__init__(owner.pie_options)
        self.log, self.numbers = owner.log, owner.numbers
        self.awake = True

    def calculate_drop_prob(self) -> None:
        """A flow's delays are in whole nanoseconds, in 32 bits."""
        super().calculate_drop_prob()
        delay = min(int(self.current_qdelay * SECOND + 0.5), 2**32 - 1)
        self.current_qdelay = self.qdelay_old = delay / SECOND

    def forget(self) -> None:
        """Reset of a flow at rest, its departure rate included."""
        if not self.queue and self.drop_prob == self.current_qdelay == self.qdelay_old == 0:
            self.accu_prob = self.avg_dq_time = 0.0
            self.in_measurement = False
            self.awake = False

    def push(self, packet: Packet) -> None:
        """Append a packet."""
        self.enqueue(packet, packet.arrival)

    def pop(self) -> Packet | None:
        """Take the oldest packet, past the law."""
        if not self.queue:
            return None
        self.bytes -= self.queue[0].length
        return self.queue.popleft()


class FqPie(fq_codel.FlowQueues[FlowQueue]):
    """With PIE on each."""

    def __init__(self, options: Options | None = None) -> None:
        self.pie_options = (options or Options()).pie
        super().__init__(options or Options())
        self.salted = False
        self.next_update = self.pie_options.t_update

    def new_queue(self) -> FlowQueue:
        return FlowQueue(self)

    def serve(self, queue: FlowQueue, now: int) -> Packet | None:
        return queue.dequeue(now)

    def enqueue(self, packet: Packet, now: int) -> None:
        """A full queue drops the arriving packet, not one of the longest queue."""
        if not self.salted:
            self.numbers.used += 1  # the hash takes one number
            self.salted = True
        queue = self.queues.setdefault(packet.flow, self.new_queue())
        queue.awake = True
        if self.o.arriving and sum(len(one.queue) for one in self.queues.values()) + 1 > self.o.limit:
            queue.accu_prob = 0.0
            self.log("dropped", packet.number, "overlimit")
            return
        waiting = len(queue.queue)
        queue.enqueue(packet, now)
        if len(queue.queue) > waiting and packet.flow not in self.new + self.old:
            self.new.append(packet.flow)
            self.credits[packet.flow] = self.o.quantum
        if sum(len(one.queue) for one in self.queues.values()) > self.o.limit:
            arrival = self.log.lines.pop()  # "enqueued", which comes after the drops
            if packet not in self.drop_batch():
                self.log.lines.append(arrival)

    def drop_batch(self) -> list[Packet]:
        """As ns-3's `FqPieDrop()`: half of the fattest flow, or a batch."""
        fattest = max(self.queues.values(), key=lambda one: one.bytes)
        threshold = fattest.bytes // 2
        gone: list[Packet] = []
        while len(gone) < self.o.drop_batch and sum(one.length for one in gone) < threshold:
            victim = fattest.pop()
            assert victim
            gone.append(victim)
            self.log("dropped", victim.number, "overlimit")
        return gone

    def advance(self, now: int) -> None:
        """One clock for all flows."""
        while self.next_update <= now:
            for queue in self.queues.values():
                queue.calculate_drop_prob()
                queue.forget()
            self.next_update += self.pie_options.t_update

    def probes(self) -> dict[str, float]:
        """Flows on the lists, those with a state, and the largest probability."""
        largest = max((queue.drop_prob for queue in self.queues.values()), default=0.0)
        return {
            "active_flows": len(self.new) + len(self.old),
            "awake_flows": sum(queue.awake for queue in self.queues.values()),
            "drop_probability_max": largest,
        }


def _pie(**options: object) -> pie.Options:
    return pie.Options(activate=False, **options)  # type: ignore[arg-type]


CASES: dict[str, Callable[[], Oracle]] = {
    "fq_pie:ns3 flows 65536 limit 60p max_burst 0s": lambda: FqPie(
        Options(limit=60, arriving=False, pie=_pie(ecn=True, max_burst=0, derandomize=False))
    ),
    "fq_pie flows 65536": FqPie,
    "fq_pie flows 65536 limit 120p ecn ecn_prob 90% max_burst 30ms": lambda: FqPie(
        Options(limit=120, pie=_pie(ecn=True, mark_ecnth=0.9, max_burst=30 * MILLISECOND))
    ),
    "fq_pie flows 65536 dq_rate_estimator dq_threshold 3000b max_burst 0s": lambda: FqPie(
        Options(pie=_pie(dq_threshold=3000, max_burst=0))
    ),
    "fq_pie flows 65536 target 5ms tupdate 5ms noderandomize nocap bytemode quantum 300b max_burst 0s": lambda: FqPie(
        Options(
            quantum=300,
            pie=_pie(
                qdelay_ref=5 * MILLISECOND,
                t_update=5 * MILLISECOND,
                max_burst=0,
                derandomize=False,
                cap=False,
                bytemode=True,
            ),
        )
    ),
}
