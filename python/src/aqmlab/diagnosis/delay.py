"""Round trips of one way: the base, and the queue in front of the bottleneck over time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aqmlab.diagnosis.recording import Recording, Whole

# An answer that comes after a pause of a larger share of its round trip may have waited for something to send.
LARGEST_PAUSE = 0.5
# Connections with less of the heaviest one's payload say nothing about the path under load.
LEAST_SHARE = 0.1
# Times at which two connections are compared, at least.
FEW_SAMPLES = 10
BIN_NS = 100_000_000
# Where half of the packets wait for less, there is no queue to speak of.
NO_QUEUE_NS = 1_000_000
# Delayed acknowledgments echo the first segment that they cover (RFC 7323 section 4.1), and so its wait for the second:
# matched segments are better where there are at least so many for an echo.
MATCHED = 0.25
# The shortest time of a delayed acknowledgment that is in use, less what clocks are wrong by (Linux, TCP_DELACK_MIN).
DELAYED_NS = 35_000_000
SINGLE_BYTES = 1460
PROMPT = 0.5


@dataclass(frozen=True)
class Delay:
    """What packets wait on their way, by when they passed a place next to the bottleneck.

    Attributes:
        base_ms: the round trip without a queue; None if a part of it is not seen.
        far_ms: the base of the part beyond the bottleneck, seen from the capture.
        is_beyond: whether the queue is beyond the capture in the direction of the data; else the capture is behind it.
        at: when, in nanoseconds; sorted.
        queue_ms: how much longer than the base.
        answered: when what answers them passed the capture, in nanoseconds, in the order of ``at``.
        openings: whether the base comes from connections that open, rather than from data alone.

    """

    base_ms: float | None
    far_ms: float
    is_beyond: bool
    at: Whole
    queue_ms: np.ndarray[tuple[int], np.dtype[np.float64]]
    answered: Whole
    openings: bool


@dataclass(frozen=True)
class _Part:
    """Round trips from the capture to one end and back, of one connection."""

    base_ns: int
    at: Whole
    time: Whole
    has_opening: bool


def measure(recording: Recording, carriers: Whole) -> Delay | None:
    """Return the delays of the data of some flows, or None if nothing answers them."""
    found = [(_part(recording, int(flow), is_data=True), _back(recording, int(flow))) for flow in carriers]
    parts = [(ahead, back) for ahead, back in found if ahead or back]
    if not parts:
        return None
    ahead, back = ([pair[side] for pair in parts] for side in (0, 1))
    is_beyond = _is_beyond(ahead, back)
    chosen = _with_common_base([one for one in (ahead if is_beyond else back) if one is not None])
    least = min(one.base_ns for one in chosen)
    other = [one.base_ns for one in (back if is_beyond else ahead) if one is not None]
    at = np.concatenate([one.at for one in chosen])
    queue = np.concatenate([one.time - one.base_ns for one in chosen])
    answered = at + np.concatenate([one.time for one in chosen])
    order = np.argsort(at, kind="stable")
    return Delay(
        base_ms=(least + min(other)) / 1e6 if other else None,
        far_ms=least / 1e6,
        is_beyond=is_beyond,
        at=at[order],
        queue_ms=queue[order] / 1e6,
        answered=answered[order],
        openings=any(one.has_opening for pair in parts for one in pair if one),
    )


def _is_beyond(ahead: list[_Part | None], back: list[_Part | None]) -> bool:
    """Whether the part in the direction of the data has the queue; without one, whether it is the longer part."""
    waits, bases = [], []
    for parts in (ahead, back):
        seen = [one for one in parts if one is not None]
        queue = np.concatenate([one.time - one.base_ns for one in seen]) if seen else np.zeros(1)
        waits.append(float(np.median(queue)) if seen else -1.0)
        bases.append(min((one.base_ns for one in seen), default=-1))
    compared = waits if max(waits) >= NO_QUEUE_NS else bases
    return compared[0] >= compared[1]


def _with_common_base(parts: list[_Part]) -> list[_Part]:
    """Give connections that began with a queue the base of one that did not: their round trips differ by a constant.

    What a queue adds at a time, it adds to all; so the difference to the connection with the lowest base, at the same
    times, is that of their bases.
    """
    first = min(parts, key=lambda one: one.base_ns)
    reference = _binned(first)
    found = []
    for one in parts:
        own = _binned(one)
        common = [time - reference[place] for place, time in own.items() if place in reference]
        base_ns = one.base_ns
        if one is not first and len(common) >= FEW_SAMPLES:
            base_ns = min(base_ns, max(first.base_ns + int(np.median(common)), 0))
        found.append(replace(one, base_ns=base_ns))
    return found


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


def _binned(part: _Part) -> dict[int, float]:
    """The median round trip in each tenth of a second."""
    order = np.argsort(part.at, kind="stable")
    places, starts = np.unique(part.at[order] // BIN_NS, return_index=True)
    return {
        int(place): float(np.median(times))
        for place, times in zip(places, np.split(part.time[order], starts[1:]), strict=True)
    }


def _back(recording: Recording, flow: int) -> _Part | None:
    """The part to the sender of the data and back: acknowledgments, which its data answer."""
    peer = int(recording.peers[flow])
    return None if peer < 0 else _part(recording, peer, is_data=False)


def _part(recording: Recording, flow: int, *, is_data: bool) -> _Part | None:
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
    if not used.any():
        return None
    at, time = trips["at"][used], trips["time"][used]
    return _Part(int(time.min()), at, time, bool((own & is_opening).any()))


__all__ = ["FEW_SAMPLES", "LEAST_SHARE", "Delay", "measure"]
