"""Clocks of hosts, from TCP timestamps (RFC 7323): they separate what a packet waits in each direction.

A round trip holds the queues of both directions. A timestamp says when a packet was sent, on a clock of unknown offset:
how much longer it takes to the capture than at best is the queue of its direction alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from aqmlab.diagnosis.recording import Columns, Recording, Whole

# Ticks per second that hosts use. RFC 7323 section 5.4 allows 1 ms to 1 s; finer ones are internal to data centres.
RATES_HZ = (10.0, 100.0, 250.0, 1000.0, 1_000_000.0)
# A queue that grows meanwhile lengthens the time in which ticks are counted.
NEAR = 1.25
# Packets and time from which on ticks can be counted.
ENOUGH_PACKETS, ENOUGH_NS = 20, 1_000_000_000


@dataclass(frozen=True)
class Clocks:
    """What timestamps say of each packet.

    Attributes:
        sent: when it was sent, in nanoseconds of the capture, later by the shortest time to the capture of its flow.
        tick_ns: of each flow, how fine its clock is; 0 without timestamps.

    """

    sent: Whole
    tick_ns: Whole

    def known(self, flow: int) -> bool:
        """Return whether a flow has a clock."""
        return bool(self.tick_ns[flow] > 0)


def clocks(recording: Recording) -> Clocks:
    """Return the clocks of all flows."""
    packets = recording.packets
    sent, ticks = packets["time"].copy(), np.zeros(len(recording.peers), np.int64)
    order = np.argsort(packets["flow"], kind="stable")
    bounds = np.searchsorted(packets["flow"][order], np.arange(len(recording.peers) + 1))
    for flow, (begin, end) in enumerate(pairwise(bounds)):
        own = order[begin:end]
        own = own[packets["stamp"][own] >= 0]
        found = _clock(packets, own)
        if found is not None:
            sent[own], ticks[flow] = found
    return Clocks(sent, ticks)


def _clock(packets: Columns, own: Whole) -> tuple[Whole, int] | None:
    """Return when packets of one flow were sent, and how fine its clock is."""
    if len(own) < ENOUGH_PACKETS:
        return None
    time, stamp = packets["time"][own], packets["stamp"][own]
    # Numbers of 32 bits that begin again at zero.
    steps = np.diff(stamp).astype(np.int64)
    steps = (steps + (1 << 31)) % (1 << 32) - (1 << 31)
    count = np.concatenate([[0], np.cumsum(steps)])
    spent = int(time[-1] - time[0])
    if spent < ENOUGH_NS or count[-1] <= 0:
        return None
    rate = float(count[-1]) * 1e9 / spent
    nearest = min(RATES_HZ, key=lambda one: abs(np.log(one / rate)))
    if not 1 / NEAR <= rate / nearest <= NEAR:
        return None
    tick = int(1e9 / nearest)
    clock = count * tick
    return np.maximum(clock + int((time - clock).min()), 0), tick


__all__ = ["Clocks", "clocks"]
