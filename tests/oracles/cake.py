"""CAKE from tc-cake(8), "Piece of CAKE" (2018) and a description of what Linux `sch_cake` does, with the hash, so that
traces may fill its sets.

Assumptions of `discipline/cake.rs`: shares of a quantum are rounded down to 1/256 of a byte; a flow that finds its set
full shares its home queue, without taking it over, until that is empty; decaying queues are visited by number, one per
requested packet; an acknowledgment is redundant by its number alone; the estimate of autorate-ingress counts every
arrival and is used every 250 ms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import cobalt
from workload import MILLISECOND, SECOND, Log, Oracle, Packet, Trace, marked_traffic

MTU = 1514
EF, VA, LE, TOS4, TOS2 = 46, 44, 1, 4, 2


def cs(precedence: int) -> int:
    """Class selector (RFC 2474)."""
    return 8 * precedence


def af(*classes: int) -> set[int]:
    """Assured forwarding (RFC 2597): all three drop precedences."""
    return {8 * number + 2 * precedence for number in classes for precedence in (1, 2, 3)}


# The tins of each keyword except the default one; then that one, and the number of tins.
NAMED: dict[str, tuple[dict[int, set[int]], int, int]] = {
    "besteffort": ({}, 0, 1),
    "precedence": ({tin: set(range(8 * tin, 8 * tin + 8)) for tin in range(1, 8)}, 0, 8),
    "diffserv3": ({1: {cs(1), LE}, 2: {cs(7), cs(6), EF, VA, TOS4}}, 0, 3),
    "diffserv4": (
        {
            1: {cs(1), LE},
            2: af(4, 3, 2) | {cs(3), cs(2), TOS4},
            3: {cs(7), cs(6), EF, VA, cs(5), cs(4)},
        },
        0,
        4,
    ),
    "diffserv8": (
        {
            0: {LE},
            1: af(1) | {TOS2, cs(1)},
            3: af(4, 3) | {cs(3)},
            4: af(2) | {TOS4},
            5: {cs(2)},
            6: {EF, VA, cs(5), cs(4)},
            7: {cs(6), cs(7)},
        },
        2,
        8,
    ),
}
# Threshold as a fraction of the bandwidth, weight in a round.
FEW = {
    "besteffort": [(1, 1, 65535)],
    "diffserv3": [(1, 1, 1024), (1, 16, 64), (1, 4, 256)],
    "diffserv4": [(1, 1, 1024), (1, 16, 64), (1, 2, 512), (1, 4, 256)],
}
EIGHT = [(7**tin, 8**tin, weight) for tin, weight in enumerate((256, 224, 196, 171, 149, 130, 113, 98))]

# What identifies a queue, and whether sources and destinations share.
KEYS: dict[str, Callable[[Packet], int]] = {
    "srchost": lambda packet: packet.source,
    "dsthost": lambda packet: packet.destination,
    "hosts": lambda packet: packet.source * 2**32 + packet.destination,
}
SHARED = {"dual-srchost": (True, False), "dual-dsthost": (False, True), "triple-isolate": (True, True)}


@dataclass
class Options:
    """Times in nanoseconds, sizes in bytes, rates in bit/s."""

    tins: str = "diffserv3"
    isolation: str = "triple-isolate"
    bandwidth: int | None = None
    rtt: int = 100 * MILLISECOND
    limit: int = 10_240
    memory: int | None = None
    queues: int = 1024
    link_header: int = 0  # bytes of each packet that do not count
    overhead: int = 0
    mpu: int = 0
    cells: str = "noatm"
    acks: str = "no-ack-filter"
    autorate: bool = False
    ingress: bool = False


def duration(length: int, rate: int) -> int:
    """Time that bytes take, rounded up."""
    return -(-length * 8 * SECOND // rate)


def wire_bytes(length: int, o: Options) -> int:
    """Bytes on the bottleneck (cake's overhead compensation)."""
    length = max(max(length - o.link_header, 0) + o.overhead, o.mpu, 0)
    if o.cells == "atm":
        return (length + 47) // 48 * 53
    if o.cells == "ptm":
        return length + (length + 63) // 64
    return length


def spread(key: int) -> int:
    """SplitMix64's finalizer."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = ((key ^ (key >> shift)) * factor) % 2**64
    return key ^ (key >> 31)


def place(key: int, salt: int, records: int) -> tuple[int, int]:
    """Home and tag of a key."""
    hashed = spread(key ^ salt)
    return (hashed // 2**32 * records) // 2**32, hashed % 2**24


def slots(home: int) -> list[int]:
    """The records of a set, the home first."""
    first = home // 8 * 8
    return list(range(home, first + 8)) + list(range(first, home))


class Counted(deque[Packet]):
    """Packets whose bytes are counted as they come and go: they are asked for at every arrival."""

    bytes = 0

    def append(self, packet: Packet) -> None:
        """One that arrives."""
        super().append(packet)
        self.bytes += packet.length

    def popleft(self) -> Packet:
        """The first."""
        packet = super().popleft()
        self.bytes -= packet.length
        return packet

    def remove(self, packet: Packet) -> None:
        """One of them."""
        super().remove(packet)
        self.bytes -= packet.length


class Queue(cobalt.CobaltQueue):
    """A flow queue; `state` is one of idle, sparse, waiting, bulk, decaying."""

    def __init__(self, options: cobalt.Options, log: Log) -> None:
        super().__init__(options, log)
        self.queue: Counted = Counted()
        self.state = "idle"
        self.tag = 0
        self.deficit = 0
        self.hosts = [0, 0]
        self.shared = False

    @property
    def bytes(self) -> int:
        """Queued bytes."""
        return self.queue.bytes


@dataclass
class Host:
    """A source or a destination."""

    tag: int = 0
    bulk: int = 0


@dataclass
class Tin:
    """Its queues and its control."""

    control: cobalt.Options
    rate: int | None
    quantum: int
    weight: int
    log: Log
    queues: dict[int, Queue] = field(default_factory=dict)
    hosts: tuple[dict[int, Host], dict[int, Host]] = field(default_factory=lambda: ({}, {}))
    new: list[int] = field(default_factory=list)
    old: list[int] = field(default_factory=list)
    cursor: int = 0
    schedule: int = 0
    deficit: int = 0
    delay: int = 0
    drops: int = 0
    marks: int = 0

    def queue(self, number: int) -> Queue:
        """The queue of this number."""
        if number not in self.queues:
            self.queues[number] = Queue(self.control, self.log)
        return self.queues[number]

    def host(self, side: int, number: int) -> Host:
        """The host of this number."""
        return self.hosts[side].setdefault(number, Host())

    @property
    def packets(self) -> int:
        """Queued packets."""
        return sum(len(self.queues[number].queue) for number in self.new + self.old)

    @property
    def bytes(self) -> int:
        """Queued bytes."""
        return sum(self.queues[number].bytes for number in self.new + self.old)

    def states(self, *wanted: str) -> list[int]:
        """Numbers of the queues in one of these states."""
        return sorted(number for number, queue in self.queues.items() if queue.state in wanted)

    def count_bulk(self, queue: Queue, by: int) -> None:
        """A queue becomes bulk or ceases to be."""
        for side in (0, 1):
            self.host(side, queue.hosts[side]).bulk += by


class Estimator:
    """autorate-ingress: a window of arrivals ends with a gap above the average; its rate updates the peak."""

    def __init__(self) -> None:
        self.last = self.average_gap = self.start = self.bytes = self.peak = self.used = 0

    @staticmethod
    def ewma(average: int, sample: int) -> int:
        """A quarter of the sample upwards, a 256th downwards."""
        shift = 2 if sample > average else 8
        return average - (average >> shift) + (sample >> shift)

    def arrive(self, length: int, now: int) -> int | None:
        """The rate for the shaper, if it is to change."""
        self.bytes += length
        gap, self.last = min(now - self.last, SECOND), now
        self.average_gap = self.ewma(self.average_gap, gap)
        if gap > self.average_gap:
            self.peak = self.ewma(self.peak, self.bytes * SECOND // (now - self.start))
            self.start, self.bytes = now, 0
            if now - self.used > 250 * MILLISECOND:
                self.used = now
                return max(self.peak * 15 >> 4, 64) * 8
        return None


@dataclass
class Dropped:
    """A packet that the law dropped."""

    packet: Packet


class Cake(Oracle):
    """All of it."""

    @staticmethod
    def trace(seed: int) -> Trace:
        return marked_traffic(seed)

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.o = o = options
        self.shows = ("dropped congestion", "marked", *(["dropped redundant"] if o.acks != "no-ack-filter" else []))
        self.salt: int | None = None
        self.next = self.failsafe = 0
        self.turn = 0
        self.collisions = 0
        self.bandwidth = o.bandwidth
        self.estimator = Estimator()
        self.shares = FEW.get(o.tins, EIGHT)
        self.tins = [self.make_tin(*share) for share in self.shares]
        named, self.rest, count = NAMED[o.tins]
        assert count == len(self.tins)
        self.tin_of = {point: tin for tin, points in named.items() for point in points}

    def make_tin(self, numerator: int, denominator: int, weight: int) -> Tin:
        """Target and interval grow where a packet takes long; a quantum is a 4096th of a second's bytes."""
        o = self.o
        target, packet, rate, quantum = o.rtt // 20, 0, None, 1514
        if self.bandwidth is not None:
            rate = max(self.bandwidth * numerator // denominator, 512)
            packet = duration(MTU, rate)
            quantum = min(max(rate // 8 // 4096, 300), 1514)
        own = max(target, packet * 3 // 2)
        interval = max(o.rtt + own - target, 2 * own)
        control = cobalt.Options(target=own, interval=interval, mtu_guard=rate is not None, marks_last=True)
        return Tin(control, rate, quantum, weight, self.log)

    def change_rate(self, rate: int) -> None:
        """Give every tin its share, as at the start."""
        self.bandwidth = rate
        for tin, share in zip(self.tins, self.shares, strict=True):
            fresh = self.make_tin(*share)
            tin.control, tin.rate, tin.quantum = fresh.control, fresh.rate, fresh.quantum
            for queue in tin.queues.values():
                queue.o, queue.blue.freeze_time = fresh.control, fresh.control.target

    def shared(self) -> tuple[bool, bool]:
        """Whether flows of a source, and of a destination, share."""
        return SHARED.get(self.o.isolation, (False, False))

    def locate(self, tin: Tin, packet: Packet) -> int:
        """The queue of a packet."""
        assert self.salt is not None
        if self.o.isolation == "flowblind":
            home, tag = 0, 0
        else:
            key = KEYS.get(self.o.isolation, lambda packet: packet.flow)(packet)
            home, tag = place(key, self.salt, self.o.queues)
        candidates = slots(home)
        own = [number for number in candidates if tin.queue(number).tag == tag]
        idle = [number for number in candidates if tin.queue(number).state == "idle"]
        if own:
            number = own[0]
        elif idle and not tin.queue(home).shared:
            number = idle[0]
        else:
            self.collisions += 1
            tin.queue(home).shared = True
            return home
        queue = tin.queue(number)
        if queue.state == "idle":
            queue.tag = tag
            for side, host in enumerate((packet.source, packet.destination)):
                if self.shared()[side]:
                    queue.hosts[side] = self.locate_host(tin, side, host)
        return number

    def locate_host(self, tin: Tin, side: int, host: int) -> int:
        """The record of a host."""
        assert self.salt is not None
        home, tag = place(host, self.salt, self.o.queues)
        candidates = slots(home)
        own = [number for number in candidates if tin.host(side, number).tag == tag]
        idle = [number for number in candidates if not tin.host(side, number).bulk]
        number = (own + idle + [home])[0]
        tin.host(side, number).tag = tag
        return number

    def grant(self, tin: Tin, queue: Queue) -> int:
        """A quantum, divided by the bulk flows of the busier host, in 1/256 of a byte."""
        loads = [tin.host(side, queue.hosts[side]).bulk for side in (0, 1) if self.shared()[side]]
        return tin.quantum * 256 // max([1, *loads])

    def redundant(self, queue: Queue, packet: Packet) -> Packet | None:
        """The packet that the ACK filter drops for `packet`."""
        if self.o.acks == "no-ack-filter" or packet.ack is None:
            return None
        covered: list[Packet] = []
        for old in queue.queue:
            if old.flow != packet.flow or old.ack is None:
                continue
            if covered and (covered[0].flags ^ old.flags) & 0xC0:
                covered = []
            if 0 < (packet.ack - old.ack) % 2**32 < 2**31:
                covered.append(old)
            if len(covered) == 2:
                return covered[0]
        if self.o.acks == "ack-filter" or not covered:
            return None
        same = covered[0].flags == packet.flags
        return covered[0] if same and covered[0] is queue.queue[-1] else None

    def enqueue(self, packet: Packet, now: int) -> None:
        """Tin, queue, filter, lists, limits."""
        if self.salt is None:
            self.salt = self.numbers.numbers[self.numbers.used] * (2**64 - 1) // 2**64
            self.numbers.used += 1
        if not any(tin.packets for tin in self.tins) and self.next < now:
            self.next = self.failsafe = now
        tin = self.tins[self.tin_of.get(packet.code_point, self.rest)]
        if not tin.packets:
            tin.schedule = max(tin.schedule, now)
        number = self.locate(tin, packet)
        queue = tin.queue(number)
        gone = self.redundant(queue, packet)
        if gone is not None:
            queue.queue.remove(gone)
            tin.drops += 1
            if self.o.ingress:
                self.waste(tin, gone, now)
            self.log("dropped", gone.number, "redundant")
        queue.queue.append(packet)
        if queue.state in ("idle", "decaying"):
            queue.state = "sparse"
            queue.deficit = self.grant(tin, queue)
            tin.new.append(number)
        elif queue.state == "waiting":
            queue.state = "bulk"
            tin.count_bulk(queue, 1)
        if self.o.autorate:
            rate = self.estimator.arrive(packet.length, now)
            if rate is not None:
                self.change_rate(rate)
        if self.shrink(now, packet):
            self.log("enqueued", packet.number)

    def shrink(self, now: int, packet: Packet) -> bool:
        """Drops from the head of the fattest queue; whether `packet` stays."""
        memory = self.o.memory
        if memory is None:
            bandwidth = self.bandwidth
            memory = 2**64 if bandwidth is None else max(bandwidth * self.o.rtt // (8 * SECOND) * 4, 4 << 20)
        stays = True
        while sum(tin.packets for tin in self.tins) > self.o.limit or sum(tin.bytes for tin in self.tins) > memory:
            everyone = [(tin, number) for tin in self.tins for number in tin.new + tin.old]
            tin, number = max(everyone, key=lambda one: one[0].queue(one[1]).bytes)
            queue = tin.queue(number)
            queue.overflow(now)
            victim = queue.queue.popleft()
            tin.drops += 1
            if self.o.ingress:
                self.waste(tin, victim, now)
            self.log("dropped", victim.number, "overlimit")
            stays = stays and victim is not packet
        return stays

    def choose(self, now: int) -> Tin | None:
        """The tin that goes next."""
        active = [number for number, tin in enumerate(self.tins) if tin.new or tin.old]
        if not active:
            return None
        if self.bandwidth is not None:
            due = [number for number in active if self.tins[number].schedule <= now]
            if due:
                return self.tins[due[-1]]
            return self.tins[min(active, key=lambda number: (self.tins[number].schedule, -number))]
        while self.turn not in active or self.tins[self.turn].deficit < 0:
            tin = self.tins[self.turn]
            if tin.deficit <= 0:
                tin.deficit += tin.weight
            self.turn = (self.turn + 1) % len(self.tins)
        return self.tins[self.turn]

    def decay(self, tin: Tin, now: int) -> None:
        """The next decaying queue decays by a step."""
        numbers = tin.states("decaying")
        if not numbers:
            return
        number = next((number for number in numbers if number >= tin.cursor), numbers[0])
        tin.cursor = number + 1
        queue = tin.queue(number)
        queue.empty(now)
        if self.at_rest(queue, now):
            queue.state = "idle"

    @staticmethod
    def at_rest(queue: Queue, now: int) -> bool:
        """Whether the law has decayed."""
        return not queue.count and not queue.blue.pm and now >= queue.drop_next

    def dequeue(self, now: int) -> Packet | None:
        """Shaper, tin, queue, law."""
        decayed = False
        while any(tin.packets for tin in self.tins) and min(self.next, self.failsafe) <= now:
            tin = self.choose(now)
            assert tin is not None
            if not decayed:
                self.decay(tin, now)
                decayed = True
            packet = self.serve(tin, now)
            if packet is not None:
                return packet
        return None

    def serve(self, tin: Tin, now: int) -> Packet | None:
        """One turn of DRR++ in a tin."""
        turns = tin.new or tin.old
        while tin.queue(turns[0]).deficit <= 0:
            queue = tin.queue(turns[0])
            if queue.state == "sparse" and queue.queue:
                queue.state = "bulk"
                tin.count_bulk(queue, 1)
            elif queue.state == "sparse":
                queue.state = "waiting"
            queue.deficit += self.grant(tin, queue)
            tin.old.append(turns.pop(0))
            turns = tin.new or tin.old
        queue = tin.queue(turns[0])
        before = len(self.log.lines)
        packet = self.one(tin, queue, now) if self.o.ingress else queue.dequeue(now, self.numbers, tin.rate or 1)
        lines = self.log.lines[before:]
        tin.marks += sum(line.startswith("marked") for line in lines)
        tin.drops += sum(line.startswith("dropped") for line in lines)
        if isinstance(packet, Dropped):
            queue.deficit -= 256 * wire_bytes(packet.packet.length, self.o)
            self.waste(tin, packet.packet, now)
            return self.serve(tin, now) if tin.new or tin.old else None
        if packet is None:
            if queue.state == "bulk":
                tin.count_bulk(queue, -1)
            queue.state = "idle" if self.at_rest(queue, now) else "decaying"
            queue.shared = False
            turns.pop(0)
            return None
        length = wire_bytes(packet.length, self.o)
        queue.deficit -= 256 * length
        if tin.rate is None or self.bandwidth is None:
            tin.deficit -= length
        else:
            took = duration(length, tin.rate)
            tin.schedule = tin.schedule + took if tin.schedule < now else max(tin.schedule, now + took)
            span = duration(length, self.bandwidth)
            self.next += span
            self.failsafe += span + span // 2
        tin.delay += (now - packet.arrival) // 256 - tin.delay // 256
        return packet

    def one(self, tin: Tin, queue: Queue, now: int) -> Packet | Dropped | None:
        """Ingress mode: one packet of a queue; two of every bulk flow are never too many."""
        if not queue.queue:
            queue.empty(now)
            return None
        bulk = sum(one.state == "bulk" for one in tin.queues.values())
        drop = queue.judge(queue.queue[0], now, self.numbers, tin.rate or 1, max(4, 2 * bulk))
        packet = queue.queue.popleft()
        if not drop or not queue.queue:
            return packet
        self.log("dropped", packet.number, "congestion")
        return Dropped(packet)

    def waste(self, tin: Tin, packet: Packet, now: int) -> None:
        """Ingress mode: a packet that was dropped had come over the link."""
        length = wire_bytes(packet.length, self.o)
        if tin.rate is None or self.bandwidth is None:
            tin.deficit -= length
            return
        took = duration(length, tin.rate)
        tin.schedule = tin.schedule + took if tin.schedule < now else max(tin.schedule, now + took)
        self.next += duration(length, self.bandwidth)

    def probes(self) -> dict[str, float]:
        """Flows by state; delay, drops and marks by rank."""
        lower = {"diffserv3": {1}, "diffserv4": {1}, "diffserv8": {0, 1}}.get(self.o.tins, set())
        ranks: dict[str, list[Tin]] = {"background": [], "best_effort": [], "priority": []}
        for number, tin in enumerate(self.tins):
            rank = "background" if number in lower else "best_effort" if number == self.rest else "priority"
            ranks[rank].append(tin)

        def flows(*states: str) -> int:
            return sum(len(tin.states(*states)) for tin in self.tins)

        found = {
            "sparse_flows": flows("sparse", "waiting"),
            "bulk_flows": flows("bulk"),
            "decaying_flows": flows("decaying"),
            "collisions": self.collisions,
            "capacity_estimate": 8 * self.estimator.peak if self.o.autorate else 0,
        }
        values: dict[str, float] = {name: float(value) for name, value in found.items()}
        for rank, tins in ranks.items():
            values[f"{rank}_delay"] = max((tin.delay for tin in tins), default=0) / SECOND
        for rank, tins in ranks.items():
            values[f"{rank}_drops"] = sum(tin.drops for tin in tins)
        for rank, tins in ranks.items():
            values[f"{rank}_marks"] = sum(tin.marks for tin in tins)
        return values


MBIT = 1_000_000
CASES: dict[str, Callable[[], Oracle]] = {
    "cake": lambda: Cake(Options()),
    "cake besteffort flows limit 120p": lambda: Cake(Options(tins="besteffort", isolation="flows", limit=120)),
    "cake besteffort flowblind lan": lambda: Cake(Options(tins="besteffort", isolation="flowblind", rtt=MILLISECOND)),
    "cake besteffort hosts metro": lambda: Cake(Options(tins="besteffort", isolation="hosts", rtt=10 * MILLISECOND)),
    "cake besteffort dual-srchost bandwidth 4mbit": lambda: Cake(
        Options(tins="besteffort", isolation="dual-srchost", bandwidth=4 * MBIT)
    ),
    "cake precedence dual-dsthost regional": lambda: Cake(
        Options(tins="precedence", isolation="dual-dsthost", rtt=30 * MILLISECOND)
    ),
    "cake bandwidth 8mbit conservative ack-filter": lambda: Cake(
        Options(bandwidth=8 * MBIT, link_header=14, overhead=48, cells="atm", acks="ack-filter")
    ),
    "cake diffserv4 bandwidth 5mbit ethernet dsthost memlimit 60000b": lambda: Cake(
        Options(
            tins="diffserv4",
            isolation="dsthost",
            bandwidth=5 * MBIT,
            link_header=14,
            overhead=38,
            mpu=84,
            memory=60_000,
        )
    ),
    "cake diffserv8 pppoe-ptm ack-filter-aggressive rtt 20ms": lambda: Cake(
        Options(
            tins="diffserv8",
            rtt=20 * MILLISECOND,
            link_header=14,
            overhead=30,
            cells="ptm",
            acks="ack-filter-aggressive",
        )
    ),
    "cake diffserv8 bandwidth 8mbit srchost overhead -20b mpu 64b": lambda: Cake(
        Options(tins="diffserv8", isolation="srchost", bandwidth=8 * MBIT, link_header=14, overhead=-20, mpu=64)
    ),
    "cake bandwidth 5mbit ingress flows metro": lambda: Cake(
        Options(isolation="flows", bandwidth=5 * MBIT, ingress=True, rtt=10 * MILLISECOND)
    ),
    "cake unlimited ingress diffserv4 ack-filter ethernet ether-vlan via-ethernet limit 90p": lambda: Cake(
        Options(tins="diffserv4", ingress=True, acks="ack-filter", limit=90, link_header=14, overhead=42, mpu=84)
    ),
    "cake bandwidth 6mbit ingress limit 60p ack-filter-aggressive besteffort lan": lambda: Cake(
        Options(
            tins="besteffort",
            bandwidth=6 * MBIT,
            ingress=True,
            limit=60,
            acks="ack-filter-aggressive",
            rtt=MILLISECOND,
        )
    ),
    "cake autorate_ingress bandwidth 4mbit": lambda: Cake(Options(autorate=True, bandwidth=4 * MBIT)),
    "cake autorate_ingress diffserv4 flows metro": lambda: Cake(
        Options(tins="diffserv4", isolation="flows", autorate=True, rtt=10 * MILLISECOND)
    ),
    "cake besteffort queues 8 ack-filter": lambda: Cake(Options(tins="besteffort", queues=8, acks="ack-filter")),
    "cake diffserv3 queues 8 flows limit 40p bandwidth 4mbit": lambda: Cake(
        Options(isolation="flows", queues=8, limit=40, bandwidth=4 * MBIT)
    ),
}
