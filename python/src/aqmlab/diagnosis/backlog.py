"""How much waits in the queue of one direction: packets and bytes, from what passes the capture and how long it waits.

A FIFO that counts packets is full at any number of milliseconds if small acknowledgments are among them; one on a link
of changing rate is full at any number, too. Both are full at one number of packets, or of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.diagnosis.delay import Delay
from aqmlab.diagnosis.load import Reals
from aqmlab.diagnosis.recording import Recording, Whole

IP_TCP_HEADERS = 52


@dataclass(frozen=True)
class Backlog:
    """What has come to the queue and what has left it.

    Attributes:
        came: when packets came, in nanoseconds; sorted.
        small: the share of packets without payload. Nothing shows whether a queue beyond the capture drops them.
        packets: how many packets wait at some times.
        bytes: how many IP bytes wait at some times.

    """

    came: Whole
    small: float
    packets: Callable[[Whole], Reals]
    bytes: Callable[[Whole], Reals]


def measure(recording: Recording, going: Whole, delay: Delay) -> Backlog:
    """Return the backlog of one direction, whose flows are ``going``; the capture has all of them."""
    packets = recording.packets
    own = np.isin(packets["flow"], going)
    passed, length = packets["time"][own], packets["length"][own]
    small = float((packets["payload"][own] <= 0).mean()) if len(passed) else 0.0
    if not delay.is_beyond:
        # Nothing overtakes.
        came = np.maximum.accumulate(passed - waits(delay, passed))
        return _backlog(small, came, [(came, length, 1), (passed, length, -1)])
    left = np.maximum.accumulate(passed + waits(delay, passed))
    # What is lost in the queue has passed the capture, and does not wait.
    lost = recording.losses
    beyond = np.isin(lost["flow"], going) & (lost["is_beyond"] == 1)
    order = np.argsort(lost["at"][beyond], kind="stable")
    at, size = lost["at"][beyond][order], lost["bytes"][beyond][order] + IP_TCP_HEADERS
    lost_left = np.maximum.accumulate(at + waits(delay, at))
    return _backlog(small, passed, [(passed, length, 1), (left, length, -1), (at, size, -1), (lost_left, size, 1)])


def waits(delay: Delay, passed: Whole) -> Whole:
    """Return how long packets wait that pass the capture at some times, in nanoseconds."""
    times = delay.at if delay.is_beyond else delay.answered
    return np.asarray(np.interp(passed, times, delay.steady_ms * 1e6), np.int64)


def _backlog(small: float, came: Whole, series: list[tuple[Whole, Whole, int]]) -> Backlog:
    """Sum series of times and sizes, each added or taken away."""

    def packets(at: Whole) -> Reals:
        return _sum([sign * np.searchsorted(times, at) for times, _, sign in series])

    sums = [(times, np.concatenate([[0], np.cumsum(sizes)]), sign) for times, sizes, sign in series]

    def size(at: Whole) -> Reals:
        return _sum([sign * total[np.searchsorted(times, at)] for times, total, sign in sums])

    return Backlog(came, small, packets, size)


def _sum(parts: Sequence[Whole]) -> Reals:
    return np.asarray(np.sum(parts, axis=0), np.float64)


__all__ = ["Backlog", "measure", "waits"]
