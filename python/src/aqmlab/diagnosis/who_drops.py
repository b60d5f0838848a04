"""Who drops or marks: a full buffer, an AQM, a policer, or something other than a queue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aqmlab.diagnosis.backlog import Backlog
from aqmlab.diagnosis.delay import Delay
from aqmlab.diagnosis.finding import Confidence
from aqmlab.diagnosis.load import Load, Reals
from aqmlab.diagnosis.losses import Losses, Pattern

FEW = 5
# Episodes of loss that are farther apart than a round trip; fewer say little of a pattern.
FEW_EPISODES = 3
# Tail drop happens with the queue at its longest: at least so many episodes see the same length (by so much), and
# hardly any time a longer one. The rest is what was sent again without need.
ALIKE, FULL = 0.95, 0.8
MOST_ALIKE, LEAST_ALIKE, LONGER = 0.5, 3, 0.85
TOP = 0.8
# A policer drops where nothing waits, not even for so many packets.
POLICED_PACKETS, POLICED_MS = 4.0, 2.0
# The longest queue is taken at this quantile, so that a few late answers do not count.
LONGEST = 0.995
USUAL = 0.95
# How fine a measure must be, as a share of the longest queue.
FINE = 0.12
# An AQM drops with a queue that is clearly shorter than the longest, in most episodes.
SHORT, MOSTLY = 0.7, 0.6
# Episodes at one of the longest queues, by so many packets, that are no chance; short queues are alike anyway.
PILED, PILED_SHARE, SAME, LONG, LEAST_LONG = 4, 0.1, 0.5, 0.75, 16.0
# Where more of the packets are acknowledgments, their losses beyond the capture, which nothing shows, count.
MANY_SMALL = 0.3


@dataclass(frozen=True)
class Verdict:
    """Who drops: what that rests on, how sure it is, and the units in which the queue was full."""

    pattern: Pattern
    why: str
    confidence: Confidence
    full: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Measure:
    """The queue at each episode and at all times, in one unit, and how fine it is."""

    name: str
    seen: Reals
    usual: float
    longest: float
    fine: float

    @property
    def top(self) -> float:
        return float(np.quantile(self.seen, TOP))

    @property
    def is_clear(self) -> bool:
        """Whether it is fine enough to tell lengths apart."""
        return self.fine <= FINE * max(self.top, self.longest)

    @property
    def is_top(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which episodes saw the longest, but for a few that saw a longer one by chance."""
        return np.asarray(np.abs(self.seen - self.top) <= max((1.0 - ALIKE) * self.top, self.fine))

    @property
    def at_the_top(self) -> Reals:
        """The queue at these."""
        return self.seen[self.is_top]

    @property
    def is_full(self) -> bool:
        """Whether most episodes came with one length, and hardly any time has seen a longer one."""
        alike = self.at_the_top
        middle = float(np.median(alike)) if len(alike) else 0.0
        # Nothing drops while the queue is longer: an AQM with a steady load drops at one length, too, but not at first.
        is_longest = max(self.seen.max(), self.longest) <= middle / LONGER + self.fine
        return self.is_usual and is_longest and self.usual <= middle / FULL

    @property
    def is_usual(self) -> bool:
        """Whether most episodes came with one length."""
        least = min(LEAST_ALIKE, max(len(self.seen) - 1, 2))
        return len(self.at_the_top) >= max(MOST_ALIKE * len(self.seen), least)

    @property
    def is_piled(self) -> bool:
        """Whether several episodes came with the same long queue, to the packet, as where a buffer ends."""
        if self.name != "packets":
            return False
        long = np.sort(self.seen[self.seen >= max(np.quantile(self.seen, LONG), LEAST_LONG)])
        same = np.searchsorted(long, long + SAME, side="right") - np.searchsorted(long, long - SAME)
        return len(long) > 0 and int(same.max()) >= max(PILED, PILED_SHARE * len(self.seen))

    @property
    def is_short(self) -> bool:
        """Whether most episodes came with a queue clearly shorter than the longest."""
        return float((self.seen <= SHORT * self.longest).mean()) >= MOSTLY


def longest_ms(delay: Delay) -> float:
    """Return the longest queue that was seen, but for a few late answers."""
    return float(np.quantile(delay.steady_ms, LONGEST))


def at_the_top(
    losses: Losses, delay: Delay, load: Load, backlog: Backlog, unit: str
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which episodes saw the queue full, in a unit: ms, packets or bytes."""
    return next(one for one in _measures(losses, delay, load, backlog) if one.name == unit).is_top


def _measures(losses: Losses, delay: Delay, load: Load, backlog: Backlog) -> list[_Measure]:
    def one(name: str, seen: Reals, always: Reals, fine: float) -> _Measure:
        usual, longest = (float(value) for value in np.quantile(always, [USUAL, LONGEST]))
        return _Measure(name, seen, usual, longest, fine)

    tick_packets = delay.tick_ms / load.packet_ms
    packets = one("packets", losses.queue_packets, backlog.packets(backlog.came), max(1.5, tick_packets))
    size = one("bytes", losses.queue_bytes, backlog.bytes(backlog.came), max(1.5, tick_packets) * load.packet_bytes)
    return [one("ms", losses.queue_ms, delay.steady_ms, max(load.packet_ms, delay.tick_ms)), packets, size]


def who_drops(
    losses: Losses, delay: Delay | None, load: Load, backlog: Backlog | None, marks: int, *, is_mixed: bool
) -> Verdict:
    """Return who seems to drop or mark. ``is_mixed``: what was measured contains the queue of the other direction."""
    if marks >= FEW:
        return Verdict("AQM", f"{marks} packets were marked instead of dropped (ECN)", _many(marks, 2 * FEW))
    if is_mixed:
        why = "round trips hold the queues of both directions, and no timestamps (RFC 7323) separate them"
        return Verdict("cannot tell", why, "cannot tell")
    if losses.packets < FEW and losses.elsewhere >= FEW:
        why = f"{losses.elsewhere} packets were lost on the side of the capture on which no queue is seen"
        return Verdict("cannot tell", why, "cannot tell")
    if losses.packets < FEW:
        found = f"{losses.packets} packets were lost" if losses.packets else "nothing was lost"
        if delay is not None and load.rate.is_known:
            return Verdict("none", f"{found}, although packets waited", "medium")
        return Verdict("cannot tell", f"{found}, and the line was never full", "cannot tell")
    if delay is None or backlog is None or not len(losses.queue_ms):
        why = f"{losses.packets} packets were lost, but nothing tells how long the queue was"
        return Verdict("cannot tell", why, "cannot tell")
    return _by_queue(losses, delay, load, backlog)


def _by_queue(losses: Losses, delay: Delay, load: Load, backlog: Backlog) -> Verdict:
    measures = _measures(losses, delay, load, backlog)
    time = measures[0]
    middle = float(np.median(time.seen))
    says = (
        f"the queue was {middle:.1f} ms long at half of the episodes of loss, and "
        f"{time.usual:.1f} ms at 95 % of all times"
    )
    # Where the rate varies, so does what waits for something else: Wi-Fi.
    is_steady = load.rate.confidence in ("high", "medium")
    many = _many(losses.episodes, 3 * FEW_EPISODES) if is_steady else "medium"
    least = max(POLICED_PACKETS * load.packet_ms, POLICED_MS)
    if 2.0 * delay.tick_ms > max(least, time.usual):
        why = f"the clocks of the hosts count {delay.tick_ms:.0f} ms, which is too coarse for this queue: {says}"
        return Verdict("cannot tell", why, "cannot tell")
    if time.usual < least:
        if not delay.sees_both:
            why = f"{losses.packets} packets were lost, but the capture shows one part of the path alone"
            return Verdict("cannot tell", why, "cannot tell")
        if load.seconds.confidence == "medium":
            return Verdict("policer", f"packets were lost while nothing waited, at a steady rate: {says}", many)
        # A policer with a deep bucket lets other rates pass in each second.
        why = f"packets were lost while nothing waited, at any rate: {says}"
        return Verdict("not from the queue", why, "medium")
    if losses.episodes < FEW_EPISODES and len(time.at_the_top) < 2:
        why = f"{losses.packets} packets were lost, but in only {losses.episodes} episodes"
        return Verdict("cannot tell", why, "cannot tell")
    is_hidden = delay.is_beyond and backlog.small > MANY_SMALL
    full = [one for one in (measures[:1] if is_hidden else measures) if one.is_clear and one.is_full]
    if full:
        at = "" if time in full else f", at {np.median(full[0].at_the_top):.0f} {full[0].name}"
        units = tuple(one.name for one in full)
        # With other shares of acknowledgments it would be full at another time.
        many = "medium" if is_hidden else many
        return Verdict("tail drop", f"packets were lost when the queue was full{at}: {says}", many, units)
    if is_hidden:
        why = f"acknowledgments share the queue, and nothing shows which of them were lost: {says}"
        return Verdict("cannot tell", why, "cannot tell")
    if all(one.is_clear and one.is_short and not one.is_usual and not one.is_piled for one in measures):
        return Verdict("AQM", f"packets were lost with queues of any length: {says}", many)
    return Verdict("cannot tell", f"losses came neither with a full queue nor with any: {says}", "cannot tell")


def _many(count: int, enough: int) -> Confidence:
    return "high" if count >= enough else "medium"


__all__ = ["FEW_EPISODES", "MANY_SMALL", "Verdict", "at_the_top", "longest_ms", "who_drops"]
