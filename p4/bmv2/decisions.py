"""Every decision of pmqecn.p4 beside the simulator's program on the same packets in the same order.

The switch's threads race, so the order is the switch's own: the validation's build (``TRACE``) numbers admissions and
departures, and each packet carries its numbers out. `replay` then puts the same sequence through the simulator's data
plane.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aqmlab import _native
from bmv2.frames import CE, ECT_0, ECT_1, NOT_ECT, Frame, Hop

# Strict-priority queues of a port, and packets that each holds.
BANDS, ROOM = 3, 64
# Places of a port's classes in the registers here and there.
QUEUES, CLASSES = 4, 3
# EF, AF31 and best effort: the simulator's classes go by code points, the switch's by addresses.
DSCP = (46, 26, 0)
# The simulator's arrays of registers, in their order.
ARRAYS = ("arrivals", "delay", "weight", "threshold", "rate", "best_rate", "waiting", "used")


@dataclass(frozen=True)
class Packet:
    """A packet that is sent; its number is its place among them."""

    gap: float
    """Seconds after the one before."""
    queue: int
    ecn: int
    hops: int | None
    """Hops that it carries already; ``None`` is no INT option."""


@dataclass(frozen=True)
class Departure:
    """What the switch says of a packet that left it."""

    admitted: int
    left: int
    band: int
    waiting: int
    ecn: int
    hops: tuple[Hop, ...] | None


@dataclass
class Comparison:
    """How many decisions were compared, of each kind, and what differs, one line each."""

    beside: str = "the simulator"
    compared: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    def check(self, kind: str, what: str, here: object, there: object) -> None:
        """Compare one decision: the switch's (``here``) with the other's."""
        self.compared[kind] += 1
        if here != there:
            self.differing[kind] += 1
            self.lines.append(f"{what}: {kind} is {here} in BMv2, {there} in {self.beside}")


class OrderError(Exception):
    """The switch's numbers are no order of what was sent: packets were lost where nobody counts them."""


def packets(count: int, seed: int, burst: int, pause: float) -> list[Packet]:
    """Return packets in bursts of up to ``burst``, with all code points of ECN and all shapes of the INT option."""
    source = random.Random(seed)
    made: list[Packet] = []
    while len(made) < count:
        # One class has most of a burst.
        favoured = source.randrange(CLASSES)
        for number in range(source.randint(1, burst)):
            queue = favoured if source.random() < 0.6 else source.randrange(CLASSES)
            ecn = source.choice((ECT_1, ECT_1, ECT_1, ECT_0, ECT_0, NOT_ECT, CE))
            hops = source.choice((None, 0, 0, 1, 2, 3))
            made.append(Packet(0.0 if number else pause * source.uniform(0.5, 1.5), queue, ecn, hops))
    return made[:count]


def departures(frames: Sequence[Frame]) -> dict[int, Departure]:
    """Return what left, by the number of the packet. Raises `OrderError` for a number that comes twice."""
    found: dict[int, Departure] = {}
    for frame in frames:
        if (trace := frame.trace) is None:
            continue
        if trace.number in found:
            raise OrderError(f"packet {trace.number} left twice")
        found[trace.number] = Departure(trace.admitted, trace.left, trace.band, trace.waiting, frame.ecn, frame.hops)
    return found


def order(sent: Sequence[Packet], left: Mapping[int, Departure], first: int, last: int) -> list[tuple[int, bool]]:
    """Return the sequence between two counts: the number of each packet, and whether it came in (or left).

    A count that no packet carries is the admission of one that found no room. Raises `OrderError`.
    """
    events: dict[int, tuple[int, bool]] = {}
    for number, departure in left.items():
        for count, comes in ((departure.admitted, True), (departure.left, False)):
            if count in events or not first <= count < last:
                raise OrderError(f"packet {number}: count {count} (allowed: each of {first} to {last - 1} once)")
            events[count] = (number, comes)
    dropped = [number for number in range(len(sent)) if number not in left]
    free = [count for count in range(first, last) if count not in events]
    if len(free) != len(dropped):
        raise OrderError(f"{len(dropped)} of {len(sent)} packets did not leave, but the switch dropped {len(free)}")
    events.update((count, (number, True)) for count, number in zip(free, dropped, strict=True))
    arrivals = [number for _, (number, comes) in sorted(events.items()) if comes]
    if arrivals != sorted(arrivals):
        raise OrderError("packets did not come in as they were sent")
    return [event for _, event in sorted(events.items())]


def replay(
    program: _native.DataPlane,
    port: int,
    sent: Sequence[Packet],
    sequence: Sequence[tuple[int, bool]],
    left: Mapping[int, Departure],
    messages: Mapping[int, Hop],
) -> Comparison:
    """Put a sequence through the simulator's program and compare each decision; the port begins empty."""
    found = Comparison()
    bands: dict[int, int] = {}
    held = [0] * BANDS
    for number, comes in sequence:
        packet, what = sent[number], f"packet {number}"
        if comes:
            band = program.arrive(port, DSCP[packet.queue], packet.ecn)
            assert band is not None
            has_room = held[band] < ROOM
            found.check("admission", what, number in left, has_room)
            if not has_room:
                program.drop(port, DSCP[packet.queue], packet.ecn, band)
                continue
            held[band] += 1
            bands[number] = band
            if number in left:
                found.check("band", what, left[number].band, band)
            continue
        band = bands.pop(number, None)
        if band is None:
            continue  # Its admission differs already.
        held[band] -= 1
        behind = sum(held)
        is_marked, notification, hop = program.leave(port, DSCP[packet.queue], packet.ecn, band, behind, 0)
        departure = left[number]
        waiting = program.registers()[ARRAYS.index("waiting")][port * CLASSES + packet.queue]
        found.check("virtual queue", what, departure.waiting, waiting)
        found.check("mark", what, departure.ecn, CE if is_marked else packet.ecn)
        message = messages.get(number)
        found.check("notification", what, message is not None, notification is not None)
        if message is not None and notification is not None:
            found.check("message", what, message, Hop(*notification))
        assert hop is not None
        found.check("hop", what, departure.hops, expected_hops(packet, Hop(hop[0], *hop[1])))
    return found


def expected_hops(packet: Packet, hop: Hop) -> tuple[Hop, ...] | None:
    """Return what a packet carries on, where the program says ``hop`` (README.md: differences)."""
    if packet.hops is None:
        return None
    before = carried(packet.hops)
    return before if len(before) == 3 or packet.ecn == CE else (hop, *before)


def carried(hops: int) -> tuple[Hop, ...]:
    """Return the hops that a packet carries as it is sent."""
    return tuple(Hop(100 + number, 200 + number, 300 + number) for number in range(hops))


def compare_registers(
    found: Comparison, port: int, here: Mapping[str, Sequence[int]], there: Sequence[Sequence[int]]
) -> None:
    """Compare what counts when the port is empty again: virtual queues, rounds, arrivals."""
    for name in ("arrivals", "waiting", "used"):
        bands = BANDS if name == "used" else 1
        for queue in range(CLASSES):
            for band in range(bands):
                mine = here[name][(port * QUEUES + queue) * bands + band]
                other = there[ARRAYS.index(name)][(port * CLASSES + queue) * bands + band]
                found.check("register", f"{name} of class {queue}, band {band}", mine, other)
