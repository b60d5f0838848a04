"""A recorded link in the guest: the rates that HTB gets one after another, so that packets leave as the trace says.

HTB lets a packet go when the time of the one before is over, and counts that time by the rate at which that one went.
Of the opportunities of one millisecond all but the last are followed by another shortly after; the last packet gets a
rate by which its time ends at the next opportunity. That is exact where full packets wait. Several small ones share an
opportunity by their bytes. One that finds nobody waiting goes at once, not at the next opportunity: so the rate changes
between them too, such that the packet after it goes near the next opportunity, and those behind ever nearer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from aqmlab.engine.linux.tc import FULL_BYTES

Array = np.ndarray[Any, np.dtype[Any]]

OPPORTUNITY_BYTES = 1500
MS_NS = 1_000_000
# The opportunities of a millisecond follow each other within half of it; a rate is set before the packet goes.
SPREAD_NS = MS_NS // 2
AHEAD_NS = MS_NS // 4
# Of an opportunity, how near to it a packet is taken as its own.
NEAR_NS = MS_NS // 40
# After an outage the error of rounding is large, since a rate is a whole number of bytes a second. Then more bytes are
# counted for each packet.
LONG_NS = 100 * MS_NS
MORE_BYTES = 60_000
# As `struct change` in guest/pace.c.
CHANGE = np.dtype([("at", "u8"), ("bytes_per_second", "u4"), ("more", "u4")])


def opportunities_ns(round_ms: Array, until_ns: int) -> Array:
    """Return when the opportunities of a trace that repeats are, and the first one after a time.

    >>> opportunities_ns(np.array([0, 2, 3]), 6 * MS_NS).tolist()
    [0, 2000000, 3000000, 3000000, 5000000, 6000000, 6000000, 8000000]

    """
    period = int(round_ms[-1])
    rounds = until_ns // (period * MS_NS) + 2
    every = (np.arange(rounds)[:, None] * period + round_ms[None, :]).ravel() * MS_NS
    found: Array = every[: np.searchsorted(every, until_ns, side="right") + 1]
    return found


def changes(opportunities: Array) -> Array:
    """Return the rates of HTB and when each begins, until the last opportunity.

    >>> found = changes(opportunities_ns(np.array([1, 1, 4]), 3 * MS_NS))
    >>> found["at"][:3].tolist(), found["bytes_per_second"][:3].tolist()
    ([0, 750000, 1225000], [1514000, 6056000, 550545])

    """
    times, counts = np.unique(opportunities, return_counts=True)
    found: list[tuple[int, int, int]] = []
    if times[0] > 0:
        found.append((0, *_rate(int(times[0]))))
    for at, following, count in zip(times[:-1].tolist(), times[1:].tolist(), counts.tolist(), strict=False):
        between = SPREAD_NS // count
        last, near = at + (count - 1) * between, min(between // 2, NEAR_NS)
        begins = at - AHEAD_NS
        if count > 1:
            found.append((max(begins, 0), *_rate(between)))
            begins = last - near
        found.append((max(begins, 0), *_rate(following - last)))
        found += [(begins, *_rate(following - middle)) for begins, middle in _later(last, near, following - AHEAD_NS)]
    return np.array(found, dtype=CHANGE)


def _later(last: int, near: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield when rates begin that are for packets after an opportunity, and about when those go."""
    step = near
    while last + step < until:
        # By whole milliseconds a packet is rather late than early.
        middle = step + step // 2 if step < SPREAD_NS else step
        yield last + step, last + min(middle, until - last)
        step += min(step, MS_NS)


def _rate(span_ns: int) -> tuple[int, int]:
    """The rate by which a full packet takes so long, bytes a second, and the bytes that are counted beside its own."""
    more = MORE_BYTES if span_ns > LONG_NS else 0
    return round((FULL_BYTES + more) * 1e9 / span_ns), more


def rate_bps(opportunities: Array, since_ns: int, until_ns: int) -> float:
    """Return the capacity between two times, in bits of IP packets a second."""
    inside = ((opportunities >= since_ns) & (opportunities < until_ns)).sum()
    return float(inside * OPPORTUNITY_BYTES * 8e9 / (until_ns - since_ns))
