"""CoDel, line by line from the pseudocode of RFC 8289 section 5.

Where the RFC leaves something open, the assumption is that of `discipline/codel.rs`, given as an option:
`maxpacket` is the largest packet accepted so far or a constant; with ECN the packet that would be dropped
is marked and sent (RFC 8290 section 4.2 describes this); `newton` replaces the square root by one Newton
step in 16 bits, as Linux does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from workload import MILLISECOND, Log, Oracle, Packet


@dataclass
class Options:
    limit: int = 1000
    target: int = 5 * MILLISECOND
    interval: int = 100 * MILLISECOND
    ecn: bool = False
    ce_threshold: int | None = None
    newton: bool = False
    mtu: int | None = None  # None: maxpacket follows the largest packet seen


class MaxPacket:
    """`maxpacket`, which the queues of FQ-CoDel share."""

    def __init__(self, mtu: int | None) -> None:
        self.follow = mtu is None
        self.bytes = mtu or 0

    def see(self, packet: Packet) -> None:
        """Follows the largest packet, unless it is a constant."""
        if self.follow:
            self.bytes = max(self.bytes, packet.length)


class CoDelQueue:
    """`codel_queue_t`: section 5.2 onwards, names as there."""

    def __init__(self, options: Options, log: Log, maxpacket: MaxPacket) -> None:
        self.options, self.log, self.maxpacket = options, log, maxpacket
        self.queue: deque[Packet] = deque()
        self.bytes = 0
        self.first_above_time = 0
        self.drop_next = 0
        self.count = 0
        self.lastcount = 0
        self.dropping = False
        self.inverse_root = 0xFFFF  # of count, in 1/65536; newton only

    def push(self, packet: Packet) -> None:
        self.maxpacket.see(packet)
        self.bytes += packet.length
        self.queue.append(packet)

    def pop(self) -> Packet | None:
        """The oldest packet, past the law."""
        if not self.queue:
            return None
        packet = self.queue.popleft()
        self.bytes -= packet.length
        return packet

    def control_law(self, t: int, count: int) -> int:
        interval = self.options.interval
        if self.options.newton:
            return t + (interval * (self.inverse_root << 16) >> 32)
        return t + int(interval / sqrt(count))

    def newton_step(self) -> None:
        """x <- x (3 - count x^2) / 2, x a fraction of 32 bits of which 16 are kept."""
        x = self.inverse_root << 16
        square = x * x >> 32
        bracket = max((3 << 32) - self.count * square, 0) >> 2
        self.inverse_root = (bracket * x >> 31) >> 16

    def dodequeue(self, now: int) -> tuple[Packet | None, bool]:
        packet = self.pop()
        if packet is None:
            self.first_above_time = 0
            return None, False
        ok_to_drop = False
        sojourn_time = now - packet.arrival
        if sojourn_time < self.options.target or self.bytes <= self.maxpacket.bytes:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + self.options.interval
        elif now >= self.first_above_time:
            ok_to_drop = True
        return packet, ok_to_drop

    def drop(self, packet: Packet | None) -> None:
        assert packet is not None
        self.log("dropped", packet.number, "congestion")

    def mark(self, packet: Packet | None) -> bool:
        return self.options.ecn and packet is not None and self.log.mark(packet)

    def dequeue(self, now: int) -> Packet | None:
        packet, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                marked = self.mark(packet)
                if not marked:
                    self.drop(packet)
                self.count += 1
                self.newton_step()
                if marked:
                    self.drop_next = self.control_law(self.drop_next, self.count)
                    break
                packet, ok_to_drop = self.dodequeue(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next, self.count)
        elif ok_to_drop:
            if not self.mark(packet):
                self.drop(packet)
                packet, ok_to_drop = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < 16 * self.options.interval:
                self.count = delta
                self.newton_step()
            else:
                self.inverse_root = 0xFFFF
            self.drop_next = self.control_law(now, self.count)
            self.lastcount = self.count
        threshold = self.options.ce_threshold
        if packet is not None and threshold is not None and now - packet.arrival > threshold:
            self.log.mark(packet)
        return packet


class CoDel(Oracle):
    """One CoDel queue with a limit in packets; the law ignores its overflow drops (section 5.4)."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__()
        self.options = options or Options()
        self.codel = CoDelQueue(self.options, self.log, MaxPacket(self.options.mtu))

    def enqueue(self, packet: Packet, now: int) -> None:
        if len(self.codel.queue) + 1 > self.options.limit:
            self.log("dropped", packet.number, "overlimit")
            return
        self.codel.push(packet)
        self.log("enqueued", packet.number)

    def dequeue(self, now: int) -> Packet | None:
        return self.codel.dequeue(now)

    def probes(self) -> dict[str, float]:
        return {"count": self.codel.count, "dropping": self.codel.dropping}


CASES: dict[str, Callable[[], Oracle]] = {
    "codel": lambda: CoDel(),
    "codel ecn": lambda: CoDel(Options(ecn=True)),
    "codel limit 60p target 2ms interval 20ms": lambda: CoDel(
        Options(limit=60, target=2 * MILLISECOND, interval=20 * MILLISECOND)
    ),
    "codel ecn ce_threshold 30ms": lambda: CoDel(Options(ecn=True, ce_threshold=30 * MILLISECOND)),
    "codel:linux": lambda: CoDel(Options(newton=True, mtu=1514)),
    "codel:linux ecn interval 30ms": lambda: CoDel(Options(newton=True, mtu=1514, ecn=True, interval=30 * MILLISECOND)),
}
