"""The losses of one direction: how many, and how long the queue was when they happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from aqmlab.diagnosis.backlog import Backlog, waits
from aqmlab.diagnosis.delay import Delay
from aqmlab.diagnosis.load import Reals
from aqmlab.diagnosis.recording import Recording, Whole

Pattern: TypeAlias = Literal["none", "tail drop", "AQM", "policer", "not from the queue", "cannot tell"]
# What comes again sooner than after this share of the round trip was out of order, or sent again without need.
REORDERED = 0.9
SOONEST_MS = 3.0
NEAR = 2


@dataclass(frozen=True)
class Losses:
    """What was lost in one direction.

    Attributes:
        packets: how many.
        ratio: of those that were sent.
        episodes: how often, a round trip apart.
        queue_ms: how long the queue was at each episode, the median of its losses.
        queue_packets: how many packets it had then.
        queue_bytes: how many IP bytes.
        elsewhere: how many were lost on the other side of the capture than where the queue is.

    """

    packets: int
    ratio: float
    episodes: int
    queue_ms: Reals
    queue_packets: Reals
    queue_bytes: Reals
    elsewhere: int


def measure(recording: Recording, carriers: Whole, delay: Delay | None, backlog: Backlog | None) -> Losses:
    """Return the losses of some flows."""
    losses, packets = recording.losses, recording.packets
    own = np.isin(losses["flow"], carriers)
    far_ms = delay.far_ms if delay else SOONEST_MS
    is_late = losses["mended"] >= max(REORDERED * far_ms, SOONEST_MS) * 1e6
    is_beyond = losses["is_beyond"] == 1
    is_here = is_beyond if delay is None or delay.is_beyond else ~is_beyond
    here, other = own & is_late & is_here, own & is_late & ~is_here
    of_data = np.isin(packets["flow"], carriers) & (packets["payload"] > 0)
    segment = min(float(packets["payload"][of_data].mean()), 1460.0) if of_data.any() else 1460.0

    def count(chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
        return int(np.ceil(losses["bytes"][chosen] / segment).sum())

    at = np.sort(losses["at"][here])
    apart = max((delay.base_ms or delay.far_ms) if delay else 0.0, 10.0) * 1e6
    episode = np.cumsum(np.diff(at, prepend=at[:1]) > apart)

    def by_episode(values: Reals) -> Reals:
        return np.array([np.median(values[episode == one]) for one in np.unique(episode)]) if len(values) else values

    waiting = none = np.zeros(0)
    size = none
    if delay is not None and backlog is not None and len(delay.at):
        # Behind the queue, a loss is seen when the packet behind it has left.
        came = at if delay.is_beyond else at - waits(delay, at)
        waiting, size = backlog.packets(came), backlog.bytes(came)
    sent = float(packets["payload"][of_data].sum()) / segment
    lost = count(here)
    return Losses(
        packets=lost,
        ratio=lost / max(sent, float(lost), 1.0),
        episodes=len(np.unique(episode)),
        queue_ms=by_episode(_queue_at(at, delay)),
        queue_packets=by_episode(waiting),
        queue_bytes=by_episode(size),
        elsewhere=count(other),
    )


def _queue_at(at: Whole, delay: Delay | None) -> Reals:
    """How long the queue was: as the packets next to those lost have found it."""
    if delay is None or not len(delay.at) or not len(at):
        return np.zeros(0)
    # Beyond the capture, packets are known by when they pass it; before it, by when they arrive from the queue.
    passed = delay.at if delay.is_beyond else delay.answered
    order = np.argsort(passed, kind="stable")
    place = np.searchsorted(passed[order], at)
    near = np.stack([np.clip(place + shift, 0, len(passed) - 1) for shift in range(-NEAR, NEAR)])
    return np.asarray(np.median(delay.queue_ms[order][near], axis=0))


__all__ = ["Losses", "Pattern", "measure"]
