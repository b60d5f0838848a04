"""The losses of one way: how many, how long the queue was when they happened, and what that says of who drops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from aqmlab.diagnosis.delay import Delay
from aqmlab.diagnosis.load import Load, Reals
from aqmlab.diagnosis.recording import Recording, Whole

Pattern: TypeAlias = Literal["none", "tail drop", "AQM", "policer", "not from the queue", "cannot tell"]
# What comes again sooner than after this share of the round trip was out of order, or sent again without need.
REORDERED = 0.9
SOONEST_MS = 3.0
FEW = 5
# Episodes of loss that are farther apart than a round trip; fewer say little of a pattern.
FEW_EPISODES = 3
# Tail drop happens with the queue at its longest: at least so many episodes see the same length (by so much), and
# hardly any time a longer one. The rest is what was sent again without need.
ALIKE, FULL = 0.95, 0.8
MOST_ALIKE = 0.5
# A policer drops where nothing waits, not even for so many packets.
POLICED_PACKETS, POLICED_MS = 4.0, 2.0
# The longest queue is taken at this quantile, so that a few late answers do not count.
LONGEST = 0.995
USUAL = 0.95
# A link that has a queue for less of the time is not what limits.
SELDOM = 0.3
NEAR = 2


@dataclass(frozen=True)
class Losses:
    """What was lost on one way.

    Attributes:
        packets: how many.
        ratio: of those that were sent.
        episodes: how often, a round trip apart.
        queue_ms: how long the queue was at each episode, the median of its losses.
        elsewhere: how many were lost on the other side of the capture than where the queue is.

    """

    packets: int
    ratio: float
    episodes: int
    queue_ms: Reals
    elsewhere: int


def measure(recording: Recording, carriers: Whole, delay: Delay | None) -> Losses:
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
    queue = _queue_at(at, delay)
    by_episode = np.array([np.median(queue[episode == one]) for one in np.unique(episode)]) if len(queue) else queue
    sent = float(packets["payload"][of_data].sum()) / segment
    lost = count(here)
    episodes = len(np.unique(episode))
    return Losses(lost, lost / max(sent, float(lost), 1.0), episodes, by_episode, count(other))


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


def longest_ms(delay: Delay) -> float:
    """Return the longest queue that was seen, but for a few late answers."""
    return float(np.quantile(delay.queue_ms, LONGEST))


def at_the_top(losses: Losses, load: Load) -> Reals:
    """Return the queues at those episodes that saw the longest, but for a few that saw a longer one by chance.

    Those of one length differ by a packet.
    """
    top = float(np.quantile(losses.queue_ms, 0.8))
    return losses.queue_ms[np.abs(losses.queue_ms - top) <= max((1.0 - ALIKE) * top, load.packet_ms)]


def pattern(losses: Losses, delay: Delay | None, load: Load, marks: int) -> tuple[Pattern, str]:
    """Return who seems to drop or mark, and why."""
    if marks >= FEW:
        return "AQM", f"{marks} packets were marked instead of dropped (ECN)"
    if losses.packets < FEW:
        found = f"{losses.packets} packets were lost" if losses.packets else "nothing was lost"
        if delay is not None and load.rate.is_told:
            return "none", f"{found}, although packets waited"
        return "cannot tell", f"{found}, and the line was never full"
    if delay is None or not len(losses.queue_ms):
        return "cannot tell", f"{losses.packets} packets were lost, but nothing tells how long the queue was"
    seen, usual = losses.queue_ms, float(np.quantile(delay.queue_ms, USUAL))
    middle = float(np.median(seen))
    says = (
        f"the queue was {middle:.1f} ms long at half of the episodes of loss, and {usual:.1f} ms at 95 % of all times"
    )
    if usual < max(POLICED_PACKETS * load.packet_ms, POLICED_MS):
        if load.seconds.confidence == "medium":
            return "policer", f"packets were lost while nothing waited, at a steady rate: {says}"
        return "not from the queue", f"packets were lost while nothing waited, at any rate: {says}"
    full = at_the_top(losses, load)
    if losses.episodes < FEW_EPISODES and len(full) < 2:
        return "cannot tell", f"{losses.packets} packets were lost, but in only {losses.episodes} episodes"
    if len(full) >= MOST_ALIKE * losses.episodes and usual <= float(np.median(full)) / FULL:
        return "tail drop", f"packets were lost when the queue was full: {says}"
    if load.busy_s < SELDOM * len(load.is_busy) * load.window_ns / 1e9 and middle <= np.median(delay.queue_ms):
        return "not from the queue", f"losses came with any queue: {says}"
    return "AQM", f"packets were lost with queues of any length: {says}"


__all__ = ["Losses", "Pattern", "at_the_top", "longest_ms", "measure", "pattern"]
