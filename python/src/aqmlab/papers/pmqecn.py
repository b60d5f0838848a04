"""PMQECN's queueing model and optimiser (Liu et al. 2024, equations 1 to 14 and algorithm 2), without a switch.

The switch divides a port among classes of traffic. Each class is an M/M/1/N queue; what it asks for decides how its
share is judged: ``voice`` wants bandwidth and low delay, ``video`` low delay and jitter, ``file`` low delay and loss.
Rates are packets per second, times seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from aqmlab import _native
from aqmlab.vocabulary.errors import InputError

__all__ = ["Queue", "Solution", "queue", "solve"]

CLASSES = ("voice", "video", "file")


@dataclass(frozen=True)
class Queue:
    """An M/M/1/N queue in its steady state."""

    empty: float
    """P_0, the probability of no packets (equation 1)."""
    loss: float
    """P_N, the share of the arrivals that finds no room (equation 2)."""
    carried: float
    """lambda_e, packets per second that find room (equation 3)."""
    lost: float
    """N_loss, packets per second that do not (equation 8)."""
    length: float
    """L_s, packets, the one in service included (equation 6)."""
    waiting: float
    """L_q, packets without it (equation 6)."""
    delay: float
    """W_s, seconds in the queue, service included (equation 7)."""
    wait: float
    """W_q, seconds until service (equation 7)."""


@dataclass(frozen=True)
class Solution:
    """What the switch installs and reports to the senders."""

    service: tuple[float, ...]
    """mu*, packets per second of each class; they sum to the port's, and are its weights."""
    thresholds: tuple[int, ...]
    """K, packets beyond which each class is congested."""
    rates: tuple[float, ...]
    """lambda*, packets per second at which each class should arrive."""
    infeasible: str | None
    """Why there are no best service rates, which then are equal shares: ``overload`` (as much arrives as can be served)
    or ``capacity`` (the queues do not fit into the switch); ``None`` if there are."""
    cost: tuple[float, float]
    """Equation 14 at the service rates and at the arrival rates."""

    @property
    def feasible(self) -> bool:
        """Whether the service rates are the best ones, and no fallback."""
        return self.infeasible is None


def queue(rate: float, service: float, capacity: int) -> Queue:
    """Return the steady state of a queue where ``rate`` packets arrive and ``service`` could leave per second.

    ``capacity`` counts the packet in service. The forms hold at every load, at ``rate == service`` too.

    >>> from aqmlab.papers import pmqecn
    >>> queue = pmqecn.queue(rate=1000, service=1000, capacity=64)
    >>> queue.length, round(queue.loss, 4), queue.delay
    (32.0, 0.0154, 0.0325)

    Raises `InputError` for a rate that is negative or no number, and where nothing could be served or held.
    """
    return Queue(*_native.pmqecn_queue(rate, service, _whole("capacity", capacity)))


def solve(
    rates: Sequence[float],
    waits: Sequence[float],
    *,
    classes: Sequence[str] = CLASSES,
    service: float = 1000.0,
    capacity: int = 64,
    link: float = 12_500.0,
    links: int = 3,
    objective: str = "normalised",
    seed: int = 1,
) -> Solution:
    """Return how a port of ``service`` packets per second is best divided, and how fast each class should come.

    ``rates`` are packets per second that arrive of each class, ``waits`` the seconds that they spent in the switch,
    ``capacity`` packets fit into it, ``links`` links of ``link`` packets per second are connected to it.
    ``objective="normalised"`` makes objectives comparable; ``"printed"`` adds them as the paper prints them.

    >>> from aqmlab.papers import pmqecn
    >>> best = pmqecn.solve(rates=[100, 200, 400], waits=[0.01, 0.01, 0.01])
    >>> best.feasible, best.thresholds, [round(mu) for mu in best.service]
    (True, (11, 20, 35), [167, 300, 533])
    >>> pmqecn.solve([100, 200, 400], [0.01, 0.01, 0.01], objective="printed").thresholds  # the first class starves
    (7, 13, 45)
    >>> overloaded = pmqecn.solve(rates=[900, 300, 300], waits=[0.1, 0.1, 0.1])
    >>> overloaded.infeasible, overloaded.thresholds, sum(overloaded.rates) < 1000
    ('overload', (22, 22, 22), True)

    Raises `InputError` for rates, waits or capacities that cannot be, and for unknown classes or objectives.
    """
    if not len(rates) == len(waits) == len(classes):
        raise InputError(
            f"{len(rates)} rates, {len(waits)} waits, {len(classes)} classes (needed: one each for a class)"
        )
    measured = list(zip(classes, map(float, rates), map(float, waits), strict=True))
    counts = _whole("capacity", capacity), link, _whole("links", links)
    service_rates, thresholds, best, infeasible, cost = _native.pmqecn_solve(
        measured, service, *counts, objective, _whole("seed", seed, least=0, most=2**64 - 1)
    )
    return Solution(tuple(service_rates), tuple(thresholds), tuple(best), infeasible, (cost[0], cost[1]))


def _whole(name: str, number: int, *, least: int = 1, most: int = 2**32 - 1) -> int:
    """Return a whole number that the compiled part takes."""
    if not isinstance(number, SupportsIndex) or not least <= number.__index__() <= most:
        raise InputError(f"{name}: {number} (allowed: {least} to {most})")
    return number.__index__()
