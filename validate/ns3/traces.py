"""Traces for `qdiscs.py`: arrivals, dequeue opportunities and random numbers, from seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from cases import RATE

# isort: split
import workload
from workload import CE, ECT0, ECT1, NOT_ECT, SECOND, Step

SECONDS = 6


def smooth(chance: random.Random, gap: float) -> Iterator[float]:
    """Slightly more than the link carries, evenly."""
    while True:
        yield gap / 1.05 * chance.uniform(0.9, 1.1)


def overload(chance: random.Random, gap: float) -> Iterator[float]:
    """Poisson, one and a half times what the link carries."""
    while True:
        yield chance.expovariate(1.5 / gap)


def bursty(chance: random.Random, gap: float) -> Iterator[float]:
    """Trains of up to 80 packets back to back, on average what the link carries."""
    while True:
        length = chance.randrange(1, 81)
        for _ in range(length - 1):
            yield gap / 20
        yield chance.expovariate(1 / (length * gap * 0.95))


def on_off(chance: random.Random, gap: float) -> Iterator[float]:
    """Overload for about 300 ms, then silence for as long."""
    while True:
        end = chance.expovariate(1 / (0.3 * SECOND))
        while end > 0:
            step = chance.expovariate(2 / gap)
            end -= step
            yield step
        yield chance.expovariate(1 / (0.3 * SECOND))


def phases(chance: random.Random, gap: float) -> Iterator[float]:
    """Loads of all kinds, each for a while."""
    while True:
        load = chance.choice([0.2, 0.8, 1.0, 1.1, 1.3, 2.0, 6.0])
        end = chance.uniform(0.05, 0.2 if load > 3 else 1.2) * SECOND
        while end > 0:
            step = chance.expovariate(load / gap)
            end -= step
            yield step


TRAFFIC = (smooth, overload, bursty, on_off, phases)
CODE_POINTS = ((NOT_ECT,), (NOT_ECT, ECT0), (NOT_ECT, ECT1, ECT0, CE))


@cache
def trace(kind: int, seed: int) -> tuple[Step, ...]:
    """Arrivals, dequeue opportunities and random numbers; no two at the same time, and none when PIE's timer is due."""
    chance = random.Random(f"{TRAFFIC[kind].__name__} {seed}")
    gap = workload.MEAN_SIZE * 8 / RATE * SECOND
    code_points = CODE_POINTS[(kind + seed) % len(CODE_POINTS)]
    flows = chance.choice([1, 3, 12])
    steps: list[tuple[int, str, tuple[int, ...]]] = []
    now, gaps = 0.0, TRAFFIC[kind](chance, gap)
    while now < SECONDS * SECOND:
        now += next(gaps)
        flow = 0 if chance.random() < 0.3 else chance.randrange(flows)
        packet = (flow, chance.choice(workload.SIZES) - chance.randrange(24), chance.choice(code_points))
        steps.append((10 * int(now / 10) + 4, "arrive", packet))
    now = 0.0
    while now < (SECONDS + 1) * SECOND:
        now += gap * chance.uniform(0.6, 1.4)
        steps.append((10 * int(now / 10) + 7, "serve", ()))
    steps.sort(key=lambda step: step[0])
    played: list[Step] = []
    for number, (at, op, words) in enumerate(steps):
        played.append(Step("random", at, tuple(chance.getrandbits(64) for _ in range(3))))
        played.append(Step(op, at, (number, *words) if op == "arrive" else ()))
        if number % 20 == 0:
            played.append(Step("probe", at))
    return tuple(played)
