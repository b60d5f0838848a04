"""Airtime fairness, written from what mac80211 and the paper say, over the classes of `classful`.

`ieee80211_next_txq()` of Linux 6.1: the first station of the list is passed over if its deficit is below zero; then it
gets its weight of 256 us, and goes to the tail. `ieee80211_schedule_txq()` puts a station that had nothing at the
head, `ieee80211_return_txq()` takes it off when it has nothing left. The paper (USENIX ATC 2017, algorithm 3) has two
lists as FQ-CoDel, and passes over a station that has nothing left. Airtime comes off when a transmission has ended.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import codel
from classful import Classful
from workload import MILLISECOND, Oracle, Packet, Step, Trace, random_traffic

MICROSECOND = 1000


class Stations(Classful):
    """Stations with a child each; rules differ in who is asked next."""

    def __init__(self, stations: int = 4, limit: int = 8192, child: codel.Options | None = None) -> None:
        super().__init__(stations, limit, child)
        self.waiting: list[int] = []

    @staticmethod
    def trace(seed: int) -> Trace:
        return shared_medium(seed)

    def class_of(self, packet: Packet) -> int:
        return min(packet.station, len(self.children) - 1)

    def makes_room(self, number: int, now: int) -> bool:
        """Linux drops from the longest: here of the station that would be the longest with the packet."""
        while sum(map(self.size, range(len(self.children)))) >= self.limit:
            others = [(self.size(n), n) for n in range(len(self.children)) if n != number]
            most, longest = max(others, default=(0, 0))
            if most <= self.size(number) + 1:
                longest = number
            victim = self.victim(longest, now) if self.size(longest) else None
            if victim is None:
                return False
            self.log("dropped", victim.number, "overlimit")
        return True

    def dequeue_for(self, station: int, now: int) -> Packet | None:
        number = min(station, len(self.children) - 1)
        head = self.head(number, now)
        # The last class has the packets of all higher stations.
        if head is None or head.station != station:
            return None
        packet, self.heads[number] = self.heads[number], None
        assert packet is not None
        self.left(number, packet)
        return packet

    def probes(self) -> dict[str, float]:
        values = {name.replace("class_", "station_"): value for name, value in super().probes().items()}
        return {**values, "slow_stations": 0.0}


class Linux(Stations):
    """mac80211's deficits."""

    def __init__(
        self,
        stations: int = 4,
        limit: int = 8192,
        child: codel.Options | None = None,
        weight: int = 256 * MICROSECOND,
        counts_received: bool = True,
    ) -> None:
        super().__init__(stations, limit, child)
        self.weight, self.counts_received = weight, counts_received
        self.deficit = [weight] * stations

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        if number not in self.waiting:
            self.waiting.insert(0, number)

    def choose(self, now: int) -> int | None:
        while self.waiting:
            number = self.waiting[0]
            if self.deficit[number] < 0:
                self.deficit[number] += self.weight
                self.waiting.append(self.waiting.pop(0))
            elif self.head(number, now) is not None:
                return number
            else:
                self.waiting.pop(0)
        return None

    def left(self, number: int, packet: Packet) -> None:
        if self.size(number) == 0 and number in self.waiting:
            self.waiting.remove(number)

    def sent(self, station: int, airtime: int, received: bool) -> None:
        if not received or self.counts_received:
            self.deficit[min(station, len(self.deficit) - 1)] -= airtime


class Tail(Linux):
    """Linux without the advantage of those that had nothing."""

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        if number not in self.waiting:
            self.waiting.append(number)

    def left(self, number: int, packet: Packet) -> None:
        """It is taken off when its turn comes."""


class Paper(Linux):
    """Algorithm 3: new stations first, for one quantum."""

    def __init__(self, stations: int = 4, limit: int = 8192, child: codel.Options | None = None) -> None:
        super().__init__(stations, limit, child, weight=300 * MICROSECOND)
        self.new: list[int] = []

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        if number not in self.new and number not in self.waiting:
            self.new.append(number)

    def choose(self, now: int) -> int | None:
        while self.new or self.waiting:
            from_new = bool(self.new)
            stations = self.new if from_new else self.waiting
            number = stations[0]
            if self.deficit[number] <= 0:
                self.deficit[number] += self.weight
                self.waiting.append(stations.pop(0))
            elif self.head(number, now) is not None:
                return number
            else:
                stations.pop(0)
                if from_new:
                    self.waiting.append(number)
        return None

    def left(self, number: int, packet: Packet) -> None:
        """It is taken off when its turn comes."""


class Rounds(Stations):
    """Each in turn."""

    def __init__(self, stations: int = 4, limit: int = 8192, child: codel.Options | None = None) -> None:
        super().__init__(stations, limit, child)
        self.turn_is_over = False

    def arrived(self, number: int, packet: Packet, was_empty: bool) -> None:
        if number not in self.waiting:
            self.waiting.append(number)

    def choose(self, now: int) -> int | None:
        if self.turn_is_over and self.waiting:
            self.waiting.append(self.waiting.pop(0))
        self.turn_is_over = False
        while self.waiting:
            if self.head(self.waiting[0], now) is not None:
                self.turn_is_over = True
                return self.waiting[0]
            self.waiting.pop(0)
        return None


@cache
def shared_medium(seed: int) -> Trace:
    """Random traffic whose link asks for a station's packets at times, and reports what transmissions took."""
    trace, chance = random_traffic(seed), random.Random(seed)
    steps = []
    for step in trace.steps:
        if step.op == "serve" and chance.random() < 0.3:
            step = Step("serve_for", step.now, (chance.randrange(4),))
        steps.append(step)
        if step.op != "probe" and chance.random() < 0.3:
            station = chance.randrange(4)
            # The higher the number, the slower.
            airtime = chance.randrange(20, 400 << station) * MICROSECOND
            steps.append(Step("sent", step.now, (station, airtime, int(chance.random() < 0.2))))
    return Trace(trace.rate, steps, trace.numbers)


class OneQueue(codel.CoDel):
    """CoDel in one queue for all stations: a driver that fills aggregates from it waits behind the head."""

    @staticmethod
    def trace(seed: int) -> Trace:
        return shared_medium(seed)


CODEL = codel.Options(target=20 * MILLISECOND)

CASES: dict[str, Callable[[], Oracle]] = {
    "airtime_fq stations 4 child [fifo] limit 60p": lambda: Linux(limit=60),
    "airtime_fq stations 3 child [fifo] limit 200p quantum 1ms noreceived": lambda: Linux(
        3, 200, weight=1000 * MICROSECOND, counts_received=False
    ),
    "airtime_fq stations 4 child [fifo] limit 60p sparse off": lambda: Tail(limit=60),
    "airtime_fq:atc17 stations 4 child [fifo] limit 60p": lambda: Paper(limit=60),
    "airtime_fq:round_robin stations 4 child [fifo] limit 60p": lambda: Rounds(limit=60),
    "airtime_fq stations 4 child [codel target 20ms]": lambda: Linux(child=CODEL),
    "airtime_fq:atc17 stations 4 child [codel target 20ms]": lambda: Paper(child=CODEL),
    "codel limit 210p": lambda: OneQueue(codel.Options(limit=210)),
}
