"""Classful schedulers, written from the papers over a plain list of queues.

Children are queues without a law or CoDel. DRR follows the pseudocode of Shreedhar and Varghese 1996 with its
ActiveList; fair queueing tags every packet on arrival, like Golestani 1994, in exact fractions. Where a scheduler needs
the length of a head, the packet has been taken from its child, as in Linux.

A full buffer loses a packet of the longest class (Suter et al. 1999: longest queue drop, from its front), unless the
class of the arriving packet would be as long with it; the head that waits outside goes last.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import codel
from workload import Log, Oracle, Packet


class Plain:
    """A child without a law; the limit of all classes is the only one."""

    def __init__(self) -> None:
        self.queue: deque[Packet] = deque()

    def push(self, packet: Packet) -> None:
        self.queue.append(packet)

    def dequeue(self, now: int) -> Packet | None:
        return self.queue.popleft() if self.queue else None


Child = Plain | codel.CoDelQueue


class Classful(Oracle):
    """Classes with a child each, one limit in packets, and `choose`, which each scheduler defines."""

    # Whether a longer class gives way to an arriving packet.
    pushout = True

    def __init__(self, classes: int = 4, limit: int = 1000, child: codel.Options | None = None) -> None:
        super().__init__()
        self.limit = limit
        self.shows = ("dropped overlimit",) if child is None else ("dropped congestion",)
        make: Callable[[Log], Child] = (
            (lambda log: Plain())
            if child is None
            else (lambda log: codel.CoDelQueue(child, log, codel.MaxPacket(child.mtu)))
        )
        self.children = [make(self.log) for _ in range(classes)]
        self.heads: list[Packet | None] = [None] * classes

    def size(self, number: int) -> int:
        return len(self.children[number].queue) + (self.heads[number] is not None)

    def head(self, number: int, now: int) -> Packet | None:
        if self.heads[number] is None:
            self.heads[number] = self.children[number].dequeue(now)
        return self.heads[number]

    def enqueue(self, packet: Packet, now: int) -> None:
        number = self.class_of(packet)
        if not self.makes_room(number, now):
            self.log("dropped", packet.number, "overlimit")
            return
        was_empty = self.size(number) == 0
        self.children[number].push(packet)
        self.log("enqueued", packet.number)
        self.arrived(number, packet, was_empty)

    def class_of(self, packet: Packet) -> int:
        """The class that the host gave it, or the last."""
        return min(packet.traffic_class, len(self.children) - 1)

    def makes_room(self, number: int, now: int) -> bool:
        """Whether a packet of a class fits, or others went for it."""
        classes = range(len(self.children))
        while sum(map(self.size, classes)) >= self.limit:
            most, longest = max((self.size(n), n) for n in classes if n != number) if len(classes) > 1 else (0, 0)
            if not self.pushout or most <= self.size(number) + 1:
                return False
            victim = self.victim(longest, now)
            if victim is not None:
                self.pushed_out(longest, victim)
                self.log("dropped", victim.number, "overlimit")
        return True

    def dequeue(self, now: int) -> Packet | None:
        number = self.choose(now)
        if number is None:
            return None
        packet, self.heads[number] = self.heads[number], None
        assert packet is not None
        self.left(number, packet)
        return packet

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        """A packet joined a class."""

    def left(self, number: int, packet: Packet) -> None:
        """A packet was sent."""

    def victim(self, number: int, now: int) -> Packet | None:
        """Take a packet of a class that gives way; the head that waits outside goes last."""
        victim = self.children[number].dequeue(now)
        if victim is None:
            victim, self.heads[number] = self.heads[number], None
        return victim

    def pushed_out(self, number: int, packet: Packet) -> None:
        """A packet of a class gave way to one of another."""

    @abstractmethod
    def choose(self, now: int) -> int | None:
        """The class that sends; its head has been asked for."""

    def probes(self) -> dict[str, float]:
        """Classes with packets, then what the children report."""
        values: dict[str, float] = {"busy_classes": sum(self.size(n) > 0 for n in range(len(self.children)))}
        for number, child in enumerate(self.children):
            if isinstance(child, codel.CoDelQueue):
                values[f"class_{number}.count"] = child.count
                values[f"class_{number}.dropping"] = child.dropping
        return values


class StrictPriority(Classful):
    """The first class that has something."""

    def choose(self, now: int) -> int | None:
        return next((number for number in range(len(self.children)) if self.head(number, now)), None)


class RoundRobin(Classful):
    """A wheel on which every class has as many places in a row as its weight."""

    def __init__(self, weights: tuple[int, ...], limit: int = 1000, child: codel.Options | None = None) -> None:
        super().__init__(len(weights), limit, child)
        self.wheel = deque(number for number, weight in enumerate(weights) for _ in range(weight))

    def choose(self, now: int) -> int | None:
        for _ in range(len(self.wheel)):
            if self.head(self.wheel[0], now):
                return self.wheel[0]
            self.wheel.rotate(-1)
        while self.wheel[-1] == self.wheel[0]:
            self.wheel.rotate(1)  # no class has packets: the last turn is over, after a full round
        return None

    def left(self, number: int, packet: Packet) -> None:
        self.wheel.rotate(-1)


class DeficitRoundRobin(Classful):
    """Shreedhar and Varghese 1996, figure 4: Enqueuing and Dequeuing modules, one packet per call."""

    def __init__(self, quanta: tuple[int, ...], limit: int = 1000, child: codel.Options | None = None) -> None:
        super().__init__(len(quanta), limit, child)
        self.quanta = quanta
        self.deficit = [0] * len(quanta)
        self.active_list: list[int] = []
        self.in_turn = False

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        if number not in self.active_list:
            self.active_list.append(number)
            self.deficit[number] = 0

    def choose(self, now: int) -> int | None:
        while self.active_list:
            number = self.active_list[0]
            head = self.head(number, now)
            if head is None:
                self.active_list.pop(0)
                self.in_turn = False
                continue
            if not self.in_turn:
                self.deficit[number] += self.quanta[number]
                self.in_turn = True
            if head.length <= self.deficit[number]:
                return number
            self.active_list.append(self.active_list.pop(0))
            self.in_turn = False
            self.turn_over(number)
        return None

    def turn_over(self, number: int) -> None:
        """A class used up its quantum."""

    def left(self, number: int, packet: Packet) -> None:
        self.deficit[number] -= packet.length
        if self.size(number) == 0:
            self.active_list.remove(number)
            self.in_turn = False


class FairQueueing(Classful):
    """Golestani 1994: F = max(F of the previous packet, v) + L / r on arrival, v the tag of the packet in service."""

    def __init__(self, weights: tuple[int, ...], limit: int = 1000) -> None:
        super().__init__(len(weights), limit)
        self.weights = weights
        self.tags: dict[int, Fraction] = {}
        self.last = [Fraction(0)] * len(weights)
        self.v = Fraction(0)

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        self.last[number] = max(self.last[number], self.v) + Fraction(packet.length, self.weights[number])
        self.tags[packet.number] = self.last[number]

    def choose(self, now: int) -> int | None:
        waiting = [(self.tags[head.number], n) for n in range(len(self.weights)) if (head := self.head(n, now))]
        if not waiting:
            self.v = Fraction(0)
            self.last = [Fraction(0)] * len(self.weights)
            return None
        return min(waiting)[1]

    def left(self, number: int, packet: Packet) -> None:
        self.v = self.tags.pop(packet.number)

    def pushed_out(self, number: int, packet: Packet) -> None:
        """Later packets of the class come as much earlier as this one would have taken."""
        saved = Fraction(packet.length, self.weights[number])
        self.last[number] -= saved
        for later in self.children[number].queue:
            self.tags[later.number] -= saved


@cache
def slot_size(max_packet: int, weight: int) -> int:
    """The smallest power of two that the virtual time of a largest packet fits into."""
    sigma = 1
    while sigma < Fraction(max_packet << 20, weight):
        sigma *= 2
    return sigma


class QuickFair(Classful):
    """Checconi, Rizzo and Valente 2013 by their definitions: eligible and ready groups are computed again each time.

    Virtual time counts in 2^-20 bytes of weight one. A group is all classes with one slot size; it starts with the
    earliest slot of its classes and finishes two slots later.
    """

    def __init__(
        self, weights: tuple[int, ...], max_packets: tuple[int, ...], limit: int, child: codel.Options | None = None
    ) -> None:
        super().__init__(len(weights), limit, child)
        self.weights, self.max_packets = weights, list(max_packets)
        self.v = 0
        self.s = [0] * len(weights)
        self.f = [0] * len(weights)
        self.active: list[int] = []  # within a slot in order of arrival

    def sigma(self, number: int) -> int:
        return slot_size(self.max_packets[number], self.weights[number])

    def slot(self, number: int, time: int) -> int:
        return time - time % self.sigma(number)

    def groups(self) -> dict[int, int]:
        """Slot size and start of every group with packets."""
        return {
            self.sigma(n): min(self.slot(m, self.s[m]) for m in self.active if self.sigma(m) == self.sigma(n))
            for n in self.active
        }

    def ready(self) -> dict[int, int]:
        """Slot size and finish time of the groups that are eligible and not blocked by one of larger slots."""
        found: dict[int, int] = {}
        for sigma, start in sorted(self.groups().items(), reverse=True):
            finish = start + 2 * sigma
            if start <= self.v and all(other >= finish for other in found.values()):
                found[sigma] = finish
        return found

    def catch_up(self) -> None:
        """Virtual time advances if no group is eligible."""
        if self.active and not self.ready():
            self.v = max(self.v, min(self.groups().values()))

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        if number not in self.active:
            self.join(number)

    def join(self, number: int) -> None:
        later = [finish for sigma, finish in sorted(self.ready().items()) if sigma >= self.sigma(number)]
        if self.f[number] > self.v:
            self.s[number] = self.f[number]
        elif later and self.slot(number, self.f[number]) > later[0]:
            self.s[number] = later[0]
        else:
            self.s[number] = self.v
        self.active.append(number)
        self.catch_up()

    def choose(self, now: int) -> int | None:
        while self.active:
            sigma = min(self.ready())
            members = [n for n in self.active if self.sigma(n) == sigma]
            number = min(members, key=lambda n: self.slot(n, self.s[n]))
            head = self.head(number, now)
            if head is not None and head.length <= self.max_packets[number]:
                return number
            self.active.remove(number)
            self.catch_up()
            if head is not None:
                self.max_packets[number] = head.length
                self.join(number)
        return None

    def left(self, number: int, packet: Packet) -> None:
        self.f[number] = self.s[number] + (packet.length << 20) // self.weights[number]
        self.s[number] = self.f[number]
        self.v += (packet.length << 20) // sum(self.weights)
        self.active.remove(number)
        if self.size(number):
            self.active.append(number)
        self.catch_up()


def complete(classful: Classful) -> Classful:
    """The same with a buffer that is full for all classes or for none."""
    classful.pushout = False
    return classful


CASES: dict[str, Callable[[], Oracle]] = {
    "sp limit 300p": lambda: StrictPriority(limit=300),
    "sp limit 60p sharing complete": lambda: complete(StrictPriority(limit=60)),
    "sp:linux limit 7p": lambda: StrictPriority(3, limit=7),
    "drr limit 80p sharing complete": lambda: complete(DeficitRoundRobin((1514,) * 4, 80)),
    "sp classes 3 limit 200p child [codel ecn]": lambda: StrictPriority(3, 200, codel.Options(ecn=True)),
    "rr limit 100p": lambda: RoundRobin((1, 1, 1, 1), 100),
    "wrr limit 100p weight 4,1,2": lambda: RoundRobin((4, 1, 2, 2), 100),
    "wrr limit 200p weight 3,1 classes 2 child [codel]": lambda: RoundRobin((3, 1), 200, codel.Options()),
    "drr limit 100p": lambda: DeficitRoundRobin((1514,) * 4, 100),
    "drr limit 100p quantum 500b,3000b,100b": lambda: DeficitRoundRobin((500, 3000, 100, 100), 100),
    "drr limit 200p quantum 700b child [codel ecn]": lambda: DeficitRoundRobin(
        (700,) * 4, 200, codel.Options(ecn=True)
    ),
    "wfq limit 100p": lambda: FairQueueing((1, 1, 1, 1), 100),
    "wfq limit 150p weight 8,4,2,1": lambda: FairQueueing((8, 4, 2, 1), 150),
    "qfq limit 100p": lambda: QuickFair((1,) * 4, (1514,) * 4, 100),
    "qfq limit 150p weight 8,4,2,1": lambda: QuickFair((8, 4, 2, 1), (1514,) * 4, 150),
    "qfq limit 150p weight 3,100,7,1 maxpkt 1514b,1514b,600b,1514b": lambda: QuickFair(
        (3, 100, 7, 1), (1514, 1514, 600, 1514), 150
    ),
    "qfq limit 200p weight 1,5 maxpkt 64b child [codel ecn]": lambda: QuickFair(
        (1, 5, 5, 5), (64,) * 4, 200, codel.Options(ecn=True)
    ),
}
