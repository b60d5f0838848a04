"""PMQECN's queueing model and optimiser, against what is computed here from the paper alone."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections import deque

import numpy as np
import pytest

import aqmlab
from aqmlab.papers import pmqecn
from aqmlab.stats.student import quantile

# All of the hundred: AQMLAB_PMQECN=100.
INSTANCES = int(os.environ.get("AQMLAB_PMQECN", "12"))

Rates = np.ndarray


def _chain(rate: float, service: float, capacity: int) -> Rates:
    """Solve the balance equations of the Markov chain: a birth per arrival, a death per service."""
    states = capacity + 1
    balance = np.zeros((states + 1, states))
    for state in range(states):
        up, down = rate * (state < capacity), service * (state > 0)
        balance[state, state] -= up + down
        if up:
            balance[state + 1, state] += up
        if down:
            balance[state - 1, state] += down
    balance[states] = 1.0
    solution, *_ = np.linalg.lstsq(balance, np.append(np.zeros(states), 1.0), rcond=None)
    return solution


@pytest.mark.parametrize("capacity", [1, 2, 10, 64])
@pytest.mark.parametrize("load", [0.1, 0.5, 0.6065, 0.95, 1.0 - 1e-7, 1.0, 1.0 + 1e-7, 1.3, 5.0])
def a_queue_is_what_its_markov_chain_is(load: float, capacity: int) -> None:
    service = 400.0
    rate = load * service
    shares = _chain(rate, service, capacity)
    places = np.arange(capacity + 1)
    length, carried = float(shares @ places), rate * float(shares[:-1].sum())
    waiting = float(shares[1:] @ places[:-1])
    expected = pmqecn.Queue(
        empty=float(shares[0]),
        loss=float(shares[-1]),
        carried=carried,
        lost=rate * float(shares[-1]),
        length=length,
        waiting=waiting,
        delay=length / carried,
        wait=waiting / carried,
    )
    queue = pmqecn.queue(rate, service, capacity)
    for name in expected.__dataclass_fields__:
        assert getattr(queue, name) == pytest.approx(getattr(expected, name), rel=1e-6, abs=1e-9), name


def _simulated(load: float, capacity: int, seed: int, arrivals: int = 20_000) -> tuple[float, float, float]:
    """Play a queue packet by packet: the mean length that arrivals see, the mean delay, the share lost."""
    chance = random.Random(seed)
    now, free, lost, seen = 0.0, 0.0, 0, 0
    delays: list[float] = []
    leaving: deque[float] = deque()
    for _ in range(arrivals):
        now += chance.expovariate(load)
        while leaving and leaving[0] <= now:
            leaving.popleft()
        seen += len(leaving)
        if len(leaving) == capacity:
            lost += 1
            continue
        free = max(free, now) + chance.expovariate(1.0)
        leaving.append(free)
        delays.append(free - now)
    return seen / arrivals, sum(delays) / len(delays), lost / arrivals


@pytest.mark.parametrize("load", [0.95, 1.0, 1.4])
def a_queue_is_what_a_simulated_one_is_within_the_interval(load: float) -> None:
    capacity, runs = 16, 12
    measured = np.array([_simulated(load, capacity, seed) for seed in range(runs)])
    # Twelve runs, two-sided 99.9 %: of nine comparisons one in a hundred seeds would miss.
    half = quantile(0.999, runs - 1) * measured.std(axis=0, ddof=1) / runs**0.5
    queue = pmqecn.queue(load, 1.0, capacity)
    expected = np.array([queue.length, queue.delay, queue.loss])
    assert (np.abs(measured.mean(axis=0) - expected) <= half).all()
    assert (half < 0.25 * expected).all()


def _printed(rate: float, service: float, capacity: int) -> tuple[float, float, float]:
    """Equations 6 to 8 as they are printed: L_s, W_s, N_loss."""
    lam, mu, n = rate, service, capacity
    length = lam / (mu - lam) - (n + 1) * lam ** (n + 1) / (mu ** (n + 1) - lam ** (n + 1))
    delay = 1 / (mu - lam) - n * lam**n / (mu * (mu**n - lam**n))
    lost = lam ** (n + 1) * (mu - lam) / (mu ** (n + 1) - lam ** (n + 1))
    return length, delay, lost


@pytest.mark.parametrize("rate", [1.0, 40.0, 70.0, 95.0, 130.0])
def a_queue_is_what_the_paper_prints(rate: float) -> None:
    queue = pmqecn.queue(rate, 100.0, 64)
    assert (queue.length, queue.delay, queue.lost) == pytest.approx(_printed(rate, 100.0, 64), rel=1e-9)


def _cost(service: Rates, rates: Rates, waits: Rates, offered: float, objective: str) -> tuple[Rates, Rates]:
    """Equation 14 for rows of service and arrival rates, infinite where C1 is broken; and the queues.

    Sums over the 65 states, so that no special case is needed at rho = 1.
    """
    gamma, n, bandwidth = 1000.0, 64, 37_500.0
    powers = (rates / service)[..., None] ** np.arange(n + 1)
    shares = powers / powers.sum(-1, keepdims=True)
    length, loss = shares @ np.arange(n + 1), shares[..., -1]
    carried = rates * (1 - loss)
    delay = length / carried
    jitter = np.abs(waits - delay)
    queued = length.sum(-1)
    if objective == "printed":
        first, second = delay, np.stack([bandwidth - queued, jitter[..., 1], rates[..., 2] * loss[..., 2]], -1)
    else:
        rest = 1 - carried.sum(-1) / min(offered, gamma)
        first, second = delay * gamma / n, np.stack([rest, jitter[..., 1] * gamma / n, loss[..., 2]], -1)
    cost = (service / gamma * (first + second)).sum(-1)
    return np.where(queued <= n + 1e-9, cost, np.inf), queued


def _instance(seed: int) -> tuple[Rates, Rates]:
    """Rates that a port of 1000 packets per second can serve, and waits."""
    chance = random.Random(seed)
    shares = np.array([chance.uniform(0.05, 1) for _ in range(3)])
    load = chance.uniform(0.1, 0.93)
    return 1000 * load * shares / shares.sum(), np.array([10 ** chance.uniform(-3, -1) for _ in range(3)])


@pytest.mark.parametrize("objective", ["normalised", "printed"])
def the_optimum_is_within_one_percent_of_an_exhaustive_grids(objective: str) -> None:
    steps = np.linspace(1e-6, 1, 120)
    divisions = np.array([(a, b, 1 - a - b) for a in steps for b in steps if a + b < 1 - 1e-7])
    shares = np.array(list(itertools.product(np.linspace(0.01, 0.999, 28), repeat=3)))
    for seed in range(INSTANCES):
        rates, waits = _instance(seed)
        offered = rates.sum()
        best = pmqecn.solve(list(rates), list(waits), objective=objective)
        service = rates + (1000 - offered) * divisions
        first, _ = _cost(service, np.broadcast_to(rates, service.shape), waits, offered, objective)
        if best.infeasible:
            assert not np.isfinite(first).any(), seed
        else:
            assert best.cost[0] <= first.min() * 1.01, seed
        chosen = np.array(best.service)
        found, _ = _cost(chosen, rates, waits, offered, objective)
        assert not best.feasible or best.cost[0] == pytest.approx(float(found), rel=1e-9), seed
        admitted = shares * chosen
        admitted /= np.maximum(admitted.sum(-1, keepdims=True) / offered, 1)
        second, _ = _cost(np.broadcast_to(chosen, admitted.shape), admitted, waits, offered, objective)
        assert best.cost[1] <= second.min() * 1.01, seed
        found, queued = _cost(chosen, np.array(best.rates), waits, offered, objective)
        assert best.cost[1] == pytest.approx(float(found), rel=1e-9), seed
        assert queued <= 64 + 1e-9, seed


def a_solve_takes_less_than_a_fortieth_of_the_period() -> None:
    # Processor time of this process: others on the machine do not count.
    start = time.process_time()
    for seed in range(10):
        rates, waits = _instance(seed)
        pmqecn.solve(list(rates), list(waits))
    assert (time.process_time() - start) / 10 < 0.050


def the_same_seed_finds_the_same_to_the_last_bit() -> None:
    rates, waits = [120.0, 240.0, 360.0], [0.004, 0.012, 0.02]
    assert pmqecn.solve(rates, waits, seed=7) == pmqecn.solve(rates, waits, seed=7)
    assert pmqecn.solve(rates, waits, seed=7).cost == pytest.approx(pmqecn.solve(rates, waits, seed=8).cost, rel=1e-6)


@pytest.mark.parametrize("kind", ["voice", "file"])
def equal_classes_of_one_kind_get_the_same(kind: str) -> None:
    best = pmqecn.solve([220.0] * 3, [0.02] * 3, classes=[kind] * 3)
    assert best.service == pytest.approx([1000 / 3] * 3, rel=1e-3)


@pytest.mark.parametrize(
    ("classes", "normalised", "printed"),
    [
        (["voice"] * 3, [168, 296, 536], [100, 499, 401]),
        (["video"] * 3, [200, 300, 500], [200, 300, 500]),
        (["file"] * 3, [168, 296, 536], [168, 296, 536]),
        (["voice", "video", "file"], [167, 300, 533], [100, 201, 699]),
    ],
    ids=["voice", "video", "file", "combined"],
)
def each_objective_alone_and_all_together_divide_the_port_as_the_readme_says(
    classes: list[str], normalised: list[int], printed: list[int]
) -> None:
    for objective, expected in (("normalised", normalised), ("printed", printed)):
        best = pmqecn.solve([100, 200, 400], [0.01] * 3, classes=classes, objective=objective)
        assert best.feasible
        assert list(best.service) == pytest.approx(expected, abs=2.0)


def video_alone_does_not_care_how_far_below_the_measured_delay_it_comes() -> None:
    # Equation 12: W_s + |W - W_s| is W wherever W_s < W.
    rates, wait = [220.0] * 3, 0.02
    best = pmqecn.solve(rates, [wait] * 3, classes=["video"] * 3)
    assert best.cost[0] == pytest.approx(wait * 1000 / 64)
    assert all(pmqecn.queue(220, mu, 64).delay < wait for mu in best.service)


def a_video_class_that_waited_longer_asks_for_less_service() -> None:
    slow, fast = (pmqecn.solve([220.0] * 3, [0.02, wait, 0.02]).service[1] for wait in (0.05, 0.001))
    assert slow < fast


def printed_objectives_starve_the_first_class_and_normalised_ones_do_not() -> None:
    rates, waits = [200.0, 200.0, 200.0], [0.005] * 3
    printed, normalised = (pmqecn.solve(rates, waits, objective=kind) for kind in ("printed", "normalised"))
    assert printed.service[0] < 201
    assert pmqecn.queue(200, printed.service[0], 64).delay > 0.1
    assert normalised.service[0] > 300
    assert pmqecn.queue(200, normalised.service[0], 64).delay < 0.01


@pytest.mark.parametrize("objective", ["normalised", "printed"])
def the_largest_and_the_smallest_rates_have_an_answer(objective: str) -> None:
    for rates, service, waits in itertools.product([0.0, 1e-300, 1e15], [1e-9, 1e15], [0.0, 1e15]):
        best = pmqecn.solve([rates] * 3, [waits] * 3, service=service, objective=objective)
        numbers = [*best.service, *best.rates, *best.cost]
        assert all(0 <= number < float("inf") for number in numbers), (rates, service, waits, best)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rates": [1, 2]}, "2 rates, 3 waits, 3 classes (needed: one each for a class)"),
        ({"rates": [1, float("nan"), 3]}, "rates: NaN (allowed: 0 to 1e15)"),
        ({"waits": [1, -1, 3]}, "waits: -1 (allowed: 0 to 1e15)"),
        ({"service": 0}, "service: 0 (allowed: 1e-9 to 1e15)"),
        ({"service": 1e-10}, "service: 0.0000000001 (allowed: 1e-9 to 1e15)"),
        ({"rates": [1e16, 2, 3]}, "rates: 10000000000000000 (allowed: 0 to 1e15)"),
        ({"capacity": 0}, "capacity: 0 (allowed: 1 to 4294967295)"),
        ({"capacity": 1.5}, "capacity: 1.5 (allowed: 1 to 4294967295)"),
        ({"seed": -1}, "seed: -1 (allowed: 0 to 18446744073709551615)"),
        ({"links": 2**32}, "links: 4294967296 (allowed: 1 to 4294967295)"),
        ({"classes": ["voice", "vidoe", "file"]}, "unknown class 'vidoe' (known are voice, video, file)"),
        ({"objective": "raw"}, "unknown objective 'raw' (known are normalised, printed)"),
        ({"rates": [], "waits": [], "classes": []}, "rates: empty (needed: a rate for each class)"),
    ],
)
def what_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    arguments = {"rates": [1, 2, 3], "waits": [0, 0, 0]} | change
    with pytest.raises(aqmlab.InputError) as refused:
        pmqecn.solve(**arguments)  # type: ignore[arg-type]
    assert str(refused.value) == message
