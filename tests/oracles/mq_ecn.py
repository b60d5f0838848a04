"""MQ-ECN of the authors' code: DRR, and a threshold per queue from the duration of a round.

K_i = min(quantum_i / (T_round C), 1) K_port. A queue gives a sample of T_round when it has used up its quantum (now -
start) or becomes empty (now + transmission - start); idle time reduces T_round once per slot of 1500 bytes. Assumptions
of `discipline/mq_ecn.rs`: a queue's part in a round starts when it becomes active or its last turn ended; it is
compared without the arriving packet; an empty queue never gives a mark.
"""

from __future__ import annotations

from collections.abc import Callable

from classful import DeficitRoundRobin, complete
from workload import SECOND, Oracle, Packet


class MqEcn(DeficitRoundRobin):
    """DRR over plain queues, with samples of T_round."""

    def __init__(
        self,
        quanta: tuple[int, ...] = (1500,) * 4,
        limit: int = 1000,
        k_port: int = 65 * 1500,
        alpha: float = 0.75,
        unmarkable_passes: bool = False,
    ) -> None:
        super().__init__(quanta, limit)
        self.k_port, self.alpha, self.passes = k_port, alpha, unmarkable_passes
        self.shows = ("marked", "dropped overlimit" if unmarkable_passes else "dropped congestion")
        self.t_round = 0.0
        self.start = [0] * len(quanta)
        self.idle_since = 0
        self.now = 0

    def transmission(self, length: int) -> int:
        """Nanoseconds on the link, rounded up."""
        return -(-length * 8 * SECOND // self.rate)

    def sample(self, number: int, now: int) -> None:
        """One more round is over for a queue."""
        self.t_round = self.alpha * self.t_round + (1 - self.alpha) * (now - self.start[number]) / SECOND
        self.start[number] = now

    def k(self, number: int) -> float:
        """The threshold of a queue in bytes."""
        if self.t_round == 0:
            return self.k_port
        return min(self.quanta[number] * 8 / (self.t_round * self.rate), 1) * self.k_port

    def enqueue(self, packet: Packet, now: int) -> None:
        number = min(packet.traffic_class, len(self.quanta) - 1)
        if not self.makes_room(number, now):
            self.log("dropped", packet.number, "overlimit")
            return
        sizes = [self.size(n) for n in range(len(self.quanta))]
        if sum(sizes) == 0:
            slots = max(now - self.idle_since, 0) // self.transmission(1500)
            self.t_round *= self.alpha**slots
            self.idle_since = now
        waiting = sum(p.length for p in self.children[number].queue)
        if head := self.heads[number]:
            waiting += head.length
        if sizes[number] == 0:
            self.start[number] = now
        elif waiting > self.k(number) and not self.log.mark(packet) and not self.passes:
            self.log("dropped", packet.number, "congestion")
            return
        self.children[number].push(packet)
        self.log("enqueued", packet.number)
        self.arrived(number, packet, sizes[number] == 0)

    def victim(self, number: int, now: int) -> Packet | None:
        """Take the oldest packet: these classes have no children that a head waits outside of."""
        head, self.heads[number] = self.head(number, now), None
        return head

    def dequeue(self, now: int) -> Packet | None:
        self.now = now
        return super().dequeue(now)

    def turn_over(self, number: int) -> None:
        self.sample(number, self.now)

    def left(self, number: int, packet: Packet) -> None:
        end = self.now + self.transmission(packet.length)
        if self.size(number) == 0:
            self.sample(number, end)
            if not any(self.size(n) for n in range(len(self.quanta))):
                self.idle_since = end
        super().left(number, packet)

    def probes(self) -> dict[str, float]:
        """The estimate, and the queues that take part."""
        return {"round_time": self.t_round, "busy_classes": super().probes()["busy_classes"]}


CASES: dict[str, Callable[[], Oracle]] = {
    "mq_ecn limit 200p threshold 20kb": lambda: MqEcn(limit=200, k_port=20 * 1024),
    "mq_ecn limit 200p quantum 3000b,500b,1500b,800b threshold 30kb unmarkable pass": lambda: MqEcn(
        (3000, 500, 1500, 800), 200, 30 * 1024, unmarkable_passes=True
    ),
    "mq_ecn:linux limit 300p weight 0.9 classes 2": lambda: complete(MqEcn((1500, 1500), 300, 32 * 1024, 0.9)),
    "mq_ecn limit 40p unmarkable pass": lambda: MqEcn(limit=40, unmarkable_passes=True),
    "mq_ecn:ns2 limit 40p unmarkable pass": lambda: complete(MqEcn(limit=40, unmarkable_passes=True)),
}
