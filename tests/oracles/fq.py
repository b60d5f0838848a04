"""Linux's fq from tc-fq(8) and a description of what `sch_fq` does with forwarded packets.

A flow is new when it was never seen or rests; it is served before old ones of its band while it has credit, and turns
old when that is spent or when it is found empty. With a rate, a packet that spends the credit, or any packet at a low
rate, puts off the flow's next one by its time at that rate (a quantum's at least, a second at most), less what it left
late itself, up to half. Flows that wait for their time are on no list. Assumptions of `discipline/fq.rs`: one limit for
all bands, no collisions (65536 queues), no timer slack; lists are plain lists here, and who is due is searched for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from workload import MILLISECOND, SECOND, Oracle, Packet, Trace, marked_traffic


@dataclass
class Options:
    """Times in nanoseconds, sizes in bytes, rates in bit/s."""

    limit: int = 10_000
    flow_limit: int = 100
    quantum: int = 3028
    initial: int = 15_140
    rate: int | None = None
    low_rate: int = 550_000
    refill: int = 40 * MILLISECOND
    ce_threshold: int | None = None
    weights: tuple[int, int, int] = (589_824, 196_608, 65_536)


@dataclass
class FlowQueue:
    """A flow; `state` is one of rests, listed, throttled."""

    credit: int
    queue: deque[Packet] = field(default_factory=deque)
    band: int = 1
    state: str = "rests"
    rested: int | None = None
    next: int = 0


class Fq(Oracle):
    """Flows, bands, and those who wait for their time."""

    shows = ("marked",)

    @staticmethod
    def trace(seed: int) -> Trace:
        """Traffic with code points."""
        return marked_traffic(seed)

    def __init__(self, options: Options | None = None) -> None:
        super().__init__()
        self.o = options or Options()
        if self.o.ce_threshold is None:
            self.shows = ()
        self.flows: dict[int, FlowQueue] = {}
        self.lists: list[tuple[list[FlowQueue], list[FlowQueue]]] = [([], []) for _ in range(3)]
        self.share = list(self.o.weights)
        self.turn = 0
        self.throttled: list[FlowQueue] = []
        self.salted = False

    def enqueue(self, packet: Packet, now: int) -> None:
        """A packet arrives."""
        if not self.salted:
            self.numbers.used += 1  # the hash takes one number
            self.salted = True
        flow = self.flows.setdefault(packet.flow, FlowQueue(self.o.initial))
        if sum(len(one.queue) for one in self.flows.values()) >= self.o.limit or len(flow.queue) >= self.o.flow_limit:
            self.log("dropped", packet.number, "overlimit")
            return
        # tc-prio(8): bulk is the last band, minimal delay the first.
        flow.band = {2: 2, 3: 2, 4: 0, 5: 0}.get(packet.code_point % 8, 1)
        if flow.state == "rests":
            if flow.rested is not None and now - flow.rested > self.o.refill:
                flow.credit = max(flow.credit, self.o.quantum)
            flow.state = "listed"
            self.lists[flow.band][0].append(flow)
        flow.queue.append(packet)
        self.log("enqueued", packet.number)

    def to_old(self, flow: FlowQueue) -> None:
        """To the end of the old flows."""
        flow.state = "listed"
        self.lists[flow.band][1].append(flow)

    def choose(self) -> list[FlowQueue] | None:
        """The list to serve."""
        if not any(new or old for new, old in self.lists):
            for band, weight in enumerate(self.o.weights):
                self.share[band] = min(self.share[band] + weight, weight)
            return None
        while True:
            new, old = self.lists[self.turn]
            if self.share[self.turn] > 0 and (new or old):
                return new or old
            self.turn = (self.turn + 1) % 3
            weight = self.o.weights[self.turn]
            self.share[self.turn] = min(self.share[self.turn] + weight, weight)

    def dequeue(self, now: int) -> Packet | None:
        """The link is free."""
        while True:
            due = [flow for flow in self.throttled if flow.next <= now]
            if not due:
                break
            first = min(due, key=lambda flow: flow.next)
            self.throttled.remove(first)
            self.to_old(first)
        while (row := self.choose()) is not None:
            flow = row[0]
            if flow.credit <= 0:
                flow.credit += self.o.quantum
                self.to_old(row.pop(0))
            elif not flow.queue:
                row.pop(0)
                if row is self.lists[self.turn][0]:
                    self.to_old(flow)
                else:
                    flow.state, flow.rested = "rests", now
            elif max(flow.next, flow.queue[0].arrival) > now:
                self.throttled.append(row.pop(0))
                flow.state = "throttled"
            else:
                return self.send(flow, now)
        return None

    def send(self, flow: FlowQueue, now: int) -> Packet:
        """The flow's first packet leaves."""
        o = self.o
        packet = flow.queue.popleft()
        if o.ce_threshold is not None and now - max(flow.next, packet.arrival) > o.ce_threshold:
            self.log.mark(packet)
        flow.credit -= packet.length
        self.share[self.turn] -= packet.length
        if o.rate is None:
            return packet
        paid = packet.length
        if o.rate <= o.low_rate:
            flow.credit = 0
        elif flow.credit > 0:
            return packet
        else:
            paid = max(paid, o.quantum)
        gap = min(-(-paid * 8 * SECOND // o.rate), SECOND)
        if flow.next:
            gap -= min(gap // 2, now - flow.next)
        flow.next = now + gap
        return packet

    def probes(self) -> dict[str, float]:
        """Flows in rounds, and flows that wait for their time."""
        return {
            "active_flows": sum(len(new) + len(old) for new, old in self.lists),
            "throttled_flows": len(self.throttled),
        }


MBIT = 1_000_000
CASES: dict[str, Callable[[], Oracle]] = {
    "fq orphan_mask 65535": Fq,
    "fq orphan_mask 65535 limit 60p flow_limit 20p quantum 300b initial_quantum 1514b": lambda: Fq(
        Options(limit=60, flow_limit=20, quantum=300, initial=1514)
    ),
    "fq orphan_mask 65535 maxrate 1mbit initial_quantum 3028b refill_delay 5ms": lambda: Fq(
        Options(rate=MBIT, initial=3028, refill=5 * MILLISECOND)
    ),
    "fq orphan_mask 65535 maxrate 700kbit low_rate_threshold 1mbit ce_threshold 2ms"
    " weights 20000,20000,20000": lambda: Fq(
        Options(rate=700_000, low_rate=MBIT, ce_threshold=2 * MILLISECOND, weights=(20_000, 20_000, 20_000))
    ),
}
