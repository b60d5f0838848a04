"""Delays of one direction: the round trip without a queue, and the queue in front of the bottleneck over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.diagnosis.clocks import Clocks
from aqmlab.diagnosis.recording import Recording, Whole

# An answer that comes after a pause of a larger share of its round trip may have waited for something to send.
LARGEST_PAUSE = 0.5
# Connections with less of the heaviest one's payload say nothing about the path under load.
LEAST_SHARE = 0.1
# Times at which two connections are compared, at least.
FEW_SAMPLES = 10
SAME_TIME_NS = 20_000_000
# By how much a connection's shortest one-way delay must be longer than another's to hold a queue: a share of what that
# one's delays differ by, and a time.
CLEAR_SHARE, CLEAR_NS = 0.15, 2_000_000
# Where half of the packets wait for less, there is no queue to speak of.
NO_QUEUE_NS = 1_000_000
# Delayed acknowledgments echo the first segment that they cover (RFC 7323 section 4.1), and so its wait for the second:
# matched segments are better where there are at least so many for an echo.
MATCHED = 0.25
# The shortest time of a delayed acknowledgment that is in use, less what clocks are wrong by (Linux, TCP_DELACK_MIN).
DELAYED_NS = 35_000_000
SINGLE_BYTES = 1460
PROMPT = 0.5
# The shortest round trip holds a queue if one-way delays say that it could be shorter by so much, and so many ticks.
HELD_SHARE, HELD_TICKS = 0.05, 2
# Where one part is seen more seldom by this factor, it is not seen.
BOTH_SHARE = 0.02
# Answers in a row, of which the median counts.
MIDDLE = 5
# By which share of it a round trip must wait longer than one direction alone, to hold a queue of the other.
DIFFERENT = 0.25


@dataclass(frozen=True)
class Delay:
    """How long packets wait, by when they passed a place next to the bottleneck.

    Attributes:
        base_ms: the round trip without a queue; None if a part of it is not seen.
        far_ms: the base of the part beyond the bottleneck, seen from the capture.
        is_beyond: whether the queue is beyond the capture in the direction of the data; else the capture is behind it.
        at: when, in nanoseconds; sorted.
        queue_ms: how much longer than at best.
        answered: when what answers them passed the capture, in nanoseconds, in the order of ``at``; of one-way delays,
            when it would have passed without a queue of the other direction.
        openings: whether the base comes from connections that open, rather than from data alone.
        is_one_way: whether ``queue_ms`` is of this direction alone; else it may hold that of the other direction.
        tick_ms: how fine the clocks are by which it was measured.
        is_held: whether the shortest round trip of both directions together still held a queue.
        sees_both: whether the capture shows the parts to both ends.
        supports: how many round trips were about as short as the shortest.

    """

    base_ms: float | None
    far_ms: float
    is_beyond: bool
    at: Whole
    queue_ms: np.ndarray[tuple[int], np.dtype[np.float64]]
    answered: Whole
    openings: bool
    is_one_way: bool
    tick_ms: float
    is_held: bool
    sees_both: bool
    supports: int

    @property
    def steady_ms(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The queue without what one answer alone says: the median of five in a row."""
        if len(self.queue_ms) < MIDDLE:
            return self.queue_ms
        padded = np.pad(self.queue_ms, MIDDLE // 2, mode="edge")
        return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, MIDDLE), axis=1))


@dataclass(frozen=True)
class _Part:
    """Times from the capture to one end and back, or one direction alone, of one connection."""

    base_ns: int
    at: Whole
    time: Whole
    answered: Whole
    has_opening: bool
    tick_ns: int = 0


def measure(recording: Recording, carriers: Whole, clocks: Clocks, others: Whole) -> Delay | None:
    """Return the delays of the data of some flows, or None if nothing answers them.

    ``others`` are the flows of data of the other direction: their queue is in round trips, and what they tell of the
    path to the same host counts, too.
    """
    found = [(_part(recording, int(flow), True), _back(recording, int(flow))) for flow in carriers]
    pairs = [pair for pair in found if any(pair)]
    if not pairs:
        return None
    trips = [[part for part in side if part] for side in zip(*pairs, strict=True)]
    alone = [
        [part for part in (one(recording, int(flow), clocks) for flow in carriers) if part]
        for one in (_one_way_ahead, _one_way_behind)
    ]
    # Clocks say of each side what the round trip says of both together.
    is_one_way = all(len(own) == len(carriers) for own in alone) and (
        len(others) > 0 or _differ([part for side in trips for part in side], [part for side in alone for part in side])
    )
    ahead, back = alone if is_one_way else trips
    is_beyond = _is_beyond(ahead, back)
    chosen = ahead if is_beyond else back
    at, queue, answered = _in_order(_aligned(chosen) if is_one_way else _with_common_base(chosen))
    tick = max((one.tick_ns for one in chosen), default=0)
    loops = _loops(recording, carriers, others)
    parts = [[part for part in (_part(recording, *one) for one in loop) if part] for loop in loops]
    near, far = parts if is_beyond else parts[::-1]
    least, rest = (min((one.base_ns for one in side), default=None) for side in (near, far))
    base = least + rest if least is not None and rest is not None else None
    apart = _base_by_clocks(recording, loops, clocks) if is_one_way else None
    is_held = base is not None and apart is not None and apart + HELD_TICKS * tick < (1.0 - HELD_SHARE) * base
    return Delay(
        base_ms=None if base is None else (apart + tick / 2 if is_held and apart is not None else base) / 1e6,
        far_ms=(least if least is not None else rest or 0) / 1e6,
        is_beyond=is_beyond,
        at=at,
        queue_ms=queue / 1e6,
        answered=answered,
        openings=any(one.has_opening for side in parts for one in side),
        is_one_way=is_one_way,
        tick_ms=tick / 1e6,
        is_held=is_held,
        sees_both=_sees_both(ahead, back),
        supports=_supports(near),
    )


def same_hosts(recording: Recording, carriers: Whole, others: Whole) -> Whole:
    """Return those of some flows whose hosts are those of a carrier."""
    source, destination = recording.flows["source"], recording.flows["destination"]
    known = {(source[flow], destination[flow]) for flow in carriers}
    return np.array([flow for flow in others if (destination[flow], source[flow]) in known], np.int64)


def _loops(recording: Recording, carriers: Whole, others: Whole) -> list[list[tuple[int, bool]]]:
    """Return the flows whose round trips are those from the capture to each end, and whether they are of data."""
    shared, peers = same_hosts(recording, carriers, others), recording.peers
    ahead = [(int(flow), True) for flow in carriers] + [(int(peers[flow]), False) for flow in shared]
    back = [(int(peers[flow]), False) for flow in carriers] + [(int(flow), True) for flow in shared]
    return [[one for one in loop if one[0] >= 0] for loop in (ahead, back)]


def _in_order(parts: Sequence[_Part]) -> tuple[Whole, np.ndarray[tuple[int], np.dtype[np.float64]], Whole]:
    at = np.concatenate([one.at for one in parts])
    queue = np.concatenate([one.time - one.base_ns for one in parts]).astype(np.float64)
    answered = np.concatenate([one.answered for one in parts])
    order = np.argsort(at, kind="stable")
    return at[order], queue[order], answered[order]


def _is_beyond(ahead: Sequence[_Part], back: Sequence[_Part]) -> bool:
    """Whether the part in the direction of the data has the queue; without one, whether it is the longer part."""
    waits, bases = [], []
    for seen in (ahead, back):
        queue = np.concatenate([one.time - one.base_ns for one in seen]) if seen else np.zeros(1)
        waits.append(float(np.median(queue)) if seen else -1.0)
        bases.append(min((one.base_ns for one in seen), default=-1))
    compared = waits if max(waits) >= NO_QUEUE_NS else bases
    return compared[0] >= compared[1]


def _with_common_base(parts: Sequence[_Part]) -> list[_Part]:
    """Give connections that began with a queue the base of one that did not: their round trips differ by a constant.

    What a queue adds at a time, it adds to all; so the difference to the connection with the lowest base, at the same
    times, is that of their bases.
    """
    first = min(parts, key=lambda one: one.base_ns)
    found = []
    for one in parts:
        apart = None if one is first else _difference(one, first)
        base_ns = one.base_ns if apart is None else min(one.base_ns, max(first.base_ns + apart, 0))
        found.append(_based(one, base_ns))
    return found


def _aligned(parts: Sequence[_Part]) -> list[_Part]:
    """Give one-way delays, whose clocks have offsets of their own, a common zero.

    The connection whose delays differ most has seen the shortest queue. Another one whose own shortest is clearly
    longer began with a queue.
    """
    spans = [float(np.quantile(one.time, 0.95)) - one.base_ns for one in parts]
    place = int(np.argmax(spans))
    first, clear = parts[place], max(CLEAR_SHARE * spans[place], CLEAR_NS + HELD_TICKS * parts[place].tick_ns)
    found = []
    for one in parts:
        apart = None if one is first else _difference(one, first)
        common = one.base_ns if apart is None else first.base_ns + apart
        found.append(_based(one, common if one.base_ns - common > clear else one.base_ns))
    return found


def _based(part: _Part, base_ns: int) -> _Part:
    return _Part(base_ns, part.at, part.time, part.answered, part.has_opening, part.tick_ns)


def _difference(one: _Part, other: _Part) -> int | None:
    """By how much one connection's times are longer than another's at the same times, if there are enough."""
    order = np.argsort(other.at, kind="stable")
    at, time = other.at[order], other.time[order]
    place = np.clip(np.searchsorted(at, one.at), 1, max(len(at) - 1, 1))
    if len(at) < FEW_SAMPLES:
        return None
    nearer = place - (one.at - at[place - 1] < at[place] - one.at)
    common = np.abs(at[nearer] - one.at) <= SAME_TIME_NS
    return int(np.median(one.time[common] - time[nearer][common])) if common.sum() >= FEW_SAMPLES else None


def _is_delayed(
    recording: Recording, flow: int, used: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether an acknowledgment of one segment alone came after a pause: it may have waited for a second one."""
    trips, reports = recording.round_trips, recording.deliveries
    own = reports["flow"] == recording.peers[flow]
    found = np.zeros(len(used), bool)
    if own.any():
        at, count = reports["at"][own], reports["bytes"][own]
        answered = trips["at"][used] + trips["time"][used]
        place = np.clip(np.searchsorted(at, answered), 0, len(at) - 1)
        is_single = (at[place] == answered) & (count[place] <= SINGLE_BYTES)
        found[np.flatnonzero(used)] = is_single & (trips["pause"][used] >= DELAYED_NS)
    return found


def _back(recording: Recording, flow: int) -> _Part | None:
    """The part to the sender of the data and back: acknowledgments, which its data answer."""
    peer = int(recording.peers[flow])
    return None if peer < 0 else _part(recording, peer, False)


def _part(recording: Recording, flow: int, is_data: bool) -> _Part | None:
    trips = recording.round_trips
    used = _used(recording, flow, is_data=is_data)
    if not used.any():
        return None
    at, time = trips["at"][used], trips["time"][used]
    return _Part(int(time.min()), at, time, at + time, _has_opening(recording, flow))


def _has_opening(recording: Recording, flow: int) -> bool:
    trips = recording.round_trips
    return bool(((trips["flow"] == flow) & (trips["is_opening"] == 1)).any())


def _used(recording: Recording, flow: int, *, is_data: bool) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which round trips of a flow tell the time to its answer."""
    trips = recording.round_trips
    own = trips["flow"] == flow
    is_opening = trips["is_opening"] == 1
    is_steady = trips["pause"] <= LARGEST_PAUSE * trips["time"]
    # Data are answered at once; acknowledgments when there is something to send, so that their answers must be many.
    used = own & (is_opening | ((trips["is_data"] == 1) if is_data else is_steady & (trips["is_echo"] == 1)))
    if is_data:
        matched = used & (trips["is_echo"] == 0)
        used = matched | (used & is_opening) if matched.sum() >= MATCHED * used.sum() else used
        prompt = used & ~_is_delayed(recording, flow, used)
        used = prompt if prompt.sum() >= PROMPT * used.sum() else used
    return np.asarray(used)


def _one_way_ahead(recording: Recording, flow: int, clocks: Clocks) -> _Part | None:
    """The path from the capture to the receiver alone: until the acknowledgment was sent, by its timestamp."""
    peer = int(recording.peers[flow])
    if peer < 0 or not clocks.known(peer):
        return None
    trips = recording.round_trips
    used = _used(recording, flow, is_data=True)
    used &= recording.packets["stamp"][trips["answered_by"]] >= 0
    if not used.any():
        return None
    at, answered = trips["at"][used], clocks.sent[trips["answered_by"][used]]
    time = answered - at
    return _Part(int(time.min()), at, time, answered, _has_opening(recording, flow), int(clocks.tick_ns[peer]))


def _one_way_behind(recording: Recording, flow: int, clocks: Clocks) -> _Part | None:
    """The path from the sender to the capture alone: since the packet was sent, by its timestamp."""
    if not clocks.known(flow):
        return None
    packets = recording.packets
    used = (packets["flow"] == flow) & (packets["stamp"] >= 0)
    at = packets["time"][used]
    return _Part(0, at, at - clocks.sent[used], at, _has_opening(recording, flow), int(clocks.tick_ns[flow]))


def _differ(trips: Sequence[_Part], alone: Sequence[_Part]) -> bool:
    """Whether round trips wait clearly longer than one direction: in the queue of acknowledgments in the other one."""
    around, one_way = (max(float(np.median(part.time)) - part.base_ns for part in parts) for parts in (trips, alone))
    return around - one_way > max(DIFFERENT * around, NO_QUEUE_NS + HELD_TICKS * max(part.tick_ns for part in alone))


def _sees_both(ahead: Sequence[_Part], back: Sequence[_Part]) -> bool:
    """Whether both parts were seen while the connections ran, rather than when they opened."""
    counts = [sum(len(one.at) for one in side) for side in (ahead, back)]
    return min(counts) >= BOTH_SHARE * max(counts)


def _supports(parts: Sequence[_Part]) -> int:
    """Count the times that are about the shortest of their connection, of the connection with the shortest."""
    if not parts:
        return 0
    one = min(parts, key=lambda part: part.base_ns)
    return int((one.time <= one.base_ns + max(HELD_SHARE * one.base_ns, NO_QUEUE_NS)).sum())


def _base_by_clocks(recording: Recording, loops: Sequence[Sequence[tuple[int, bool]]], clocks: Clocks) -> int | None:
    """The round trip of both parts, each direction at its shortest: until the answer would have come at best."""
    total, trips = 0, recording.round_trips
    for loop in loops:
        least = []
        for flow, is_data in loop:
            used = _used(recording, flow, is_data=is_data)
            least.append(clocks.sent[trips["answered_by"][used]] - trips["at"][used])
        times = np.concatenate(least) if least else np.zeros(0, np.int64)
        if not len(times):
            return None
        total += max(int(times.min()), 0)
    return total


__all__ = ["FEW_SAMPLES", "LEAST_SHARE", "Delay", "measure", "same_hosts"]
