"""The environments of gymnasium; left out without it."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aqmlab import InputError

pytest.importorskip("gymnasium", reason="gymnasium is not installed: the extra gym")

from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from aqmlab.environments import DropsEnv, ParametersEnv, Step, reward

LINK: dict[str, Any] = {"rate": "10mbit", "rtt": "40ms", "flows": "4*cubic", "duration": "5s", "buffer": "200p"}
ENVIRONMENTS: dict[str, Any] = {
    "parameters": lambda: ParametersEnv("pie target 5ms..40ms alpha 0.05hz..0.5hz", **LINK),
    "drops": lambda: DropsEnv(**LINK),
    "drops by packet": lambda: DropsEnv(interval=None, **LINK),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def gymnasiums_own_check_passes(name: str) -> None:
    check_env(ENVIRONMENTS[name](), skip_render_check=True)


def _episode(env: Any, policy: Any, seed: int) -> tuple[list[float], list[Step]]:
    seen, _ = env.reset(seed=seed)
    paid, steps = [], []
    while True:
        seen, pay, _, truncated, info = env.step(policy(seen))
        paid.append(pay)
        steps.append(info["step"])
        if truncated:
            return paid, steps


@pytest.mark.parametrize("name", ENVIRONMENTS)
def an_episode_is_the_same_with_the_same_seed_and_differs_with_another(name: str) -> None:
    env = ENVIRONMENTS[name]()
    env.action_space.seed(1)
    action = env.action_space.sample() * 0
    runs = [_episode(env, lambda seen: action, seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    steps = runs[0][1]
    assert sum(one.seconds for one in steps) == pytest.approx(5.0)
    if name != "drops by packet":
        assert len(steps) == {"parameters": 50, "drops": 334}[name]


def what_is_chosen_takes_effect() -> None:
    env = ParametersEnv("pie target 5ms..100ms", **LINK)
    low, high = (np.mean([one.sojourn_s for one in _episode(env, lambda _, x=x: [x], 1)[1]]) for x in (0.0, 1.0))
    assert low < 0.6 * high
    for env, all_ in ((DropsEnv(**LINK), np.ones(1)), (DropsEnv(interval=None, **LINK), 1)):
        _, steps = _episode(env, lambda _, all_=all_: all_, 1)
        assert sum(one.signals for one in steps) == sum(one.arrivals for one in steps) > 0
        _, steps = _episode(env, lambda _, all_=all_: all_ * 0, 1)
        assert sum(one.signals for one in steps) == 0 < sum(one.overflows for one in steps)


def a_step_for_every_packet_has_one_arrival_each() -> None:
    _, steps = _episode(DropsEnv(interval=None, **LINK), lambda seen: 0, 1)
    assert {one.arrivals for one in steps[:-1]} == {1}


def the_reward_is_as_it_says() -> None:
    assert reward(Step(0.1, 0.0, 0.01, 0.9, 0, 0, 0)) == pytest.approx(0.8)


def _started(env: Any) -> Any:
    env.reset(seed=1)
    return env


def _over(env: Any) -> Any:
    assert _started(env).step([0.0])[3]
    return env


def _closed(env: Any) -> Any:
    _started(env).close()
    env.close()
    return env


def wrong_arguments_are_refused_in_one_line() -> None:
    for make, says in [
        (lambda: ParametersEnv("pie", **LINK), "has no range"),
        (lambda: ParametersEnv("pie target 1ms..9ms", interval="0s", **LINK), "interval: '0s' is out of range"),
        (lambda: ParametersEnv("drr child [codel target 1ms..9ms]", **LINK), "parameters of children"),
        (lambda: DropsEnv(rate="fast", rtt="1ms"), "rate: "),
        (lambda: DropsEnv(measure="back", **LINK), "the first queue in 'measure' cannot be set while it runs: "),
        (lambda: ParametersEnv("fq_codel flows 64..4096", **LINK), "'flows': '64' cannot change while packets may"),
        (lambda: DropsEnv(**LINK, seeds=3), "seeds: not an option of an environment"),
        (lambda: DropsEnv(**LINK).step([0.0]), "call reset first"),
        (lambda: DropsEnv(5, **LINK), "interval: is 5 (allowed: text)"),
        (lambda: DropsEnv("soon", **LINK), "interval: 'soon' is not a time"),
        (lambda: ParametersEnv(5, **LINK), "aqm: is 5 (allowed: text)"),
        (lambda: DropsEnv(pay=5, **LINK), "pay: is 5 (allowed: a function of a Step)"),
        (lambda: _closed(DropsEnv(**LINK)).step([0.0]), "call reset first"),
        (lambda: _over(DropsEnv("5s", **LINK)).step([0.0]), "the episode is over"),
    ]:
        with pytest.raises(InputError) as refused:
            make()
        assert says in str(refused.value)


def a_hundred_thousand_steps_take_seconds() -> None:
    env = DropsEnv(interval=None, **{**LINK, "duration": "600s", "series": "groups"})
    env.reset(seed=1)
    before = time.process_time()
    for _ in range(20_000):
        env.step(0)
    # About .2 s on an idle machine.
    assert time.process_time() - before < 4.0


NUMBER = "(allowed: a list of one number from 0 to 1)"
CHOICE = "(allowed: 0 or 1)"
EACH = "(allowed: a list of a number from 0 to 1 for each of target, alpha)"


@pytest.mark.parametrize(
    ("name", "actions", "says"),
    [
        ("drops", [2, 0.5, [2.0], [-1.0], [1.1], [], [0.5, 0.5], [[0.5]], [[1], [1, 2]], {}, None], NUMBER),
        ("drops", [[math.nan], [math.inf], ["0.5"], "0.5", [None], [1j], [10**400], object()], NUMBER),
        ("drops by packet", [2, -1, 0.5, 1.0, math.nan, [1], [], "1", None, 10**400, np.array([1])], CHOICE),
        ("parameters", [[0.5], [0.5] * 3, [0.5, -1.0], [0.5, math.nan], 0.5, np.full((2, 1), 0.5)], EACH),
    ],
)
def an_action_that_is_not_in_the_space_is_refused(name: str, actions: list[Any], says: str) -> None:
    env = _started(ENVIRONMENTS[name]())
    for action in actions:
        with pytest.raises(InputError) as refused:
            env.step(action)
        assert str(refused.value).startswith("step: the action is ")
        assert str(refused.value).endswith(says)
    # The episode goes on as if nothing had been asked.
    env.action_space.seed(1)
    action = env.action_space.sample()
    assert env.step(action)[1] == _started(ENVIRONMENTS[name]()).step(action)[1]


def actions_in_the_space_may_come_in_any_form() -> None:
    for name, actions in [
        ("drops", [[0], (0.25,), np.array([1.0]), np.array([0.5], np.float32), np.array([1])]),
        ("drops by packet", [0, True, np.int64(1), np.array(0), np.uint8(1)]),
        ("parameters", [[0, 1], np.zeros(2)]),
    ]:
        env = _started(ENVIRONMENTS[name]())
        for action in actions:
            env.step(action)


@pytest.mark.parametrize("paid", [math.nan, math.inf, "1", None, [1.0], np.ones(1), 1j])
def a_reward_is_a_finite_number(paid: Any) -> None:
    env = _started(DropsEnv(pay=lambda step: paid, **LINK))
    with pytest.raises(InputError, match=r"pay: returned .* \(allowed: a finite number\)"):
        env.step([0.5])
    for number in (1, np.float32(1.0), True, np.array(1.0)):
        assert _started(DropsEnv(pay=lambda step, number=number: number, **LINK)).step([0.5])[1] == 1.0


def a_closed_environment_can_be_reset() -> None:
    assert _started(_closed(DropsEnv(**LINK))).step([0.5])[1] == _started(DropsEnv(**LINK)).step([0.5])[1]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def any_thread_may_use_one_and_let_it_go(name: str) -> None:
    env = ENVIRONMENTS[name]()
    env.action_space.seed(1)
    action = env.action_space.sample()
    alone = _episode(env, lambda seen: action, 1)[0][:20]
    held = [env]
    del env
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        one.submit(held[0].reset, seed=1).result()
        paid = [pool.submit(held[0].step, action).result()[1] for pool in [one, other] * 10]
        assert paid == alone[: len(paid)]
        # The last reference goes in a thread that has not made it.
        one.submit(held.clear).result()


def two_threads_at_once_are_refused_in_one_sentence() -> None:
    inside, refused = threading.Event(), threading.Event()

    def slow(step: Step) -> float:
        inside.set()
        assert refused.wait(60)
        return reward(step)

    env = _started(DropsEnv(pay=slow, **LINK))
    with ThreadPoolExecutor(1) as pool:
        stepping = pool.submit(env.step, [0.5])
        assert inside.wait(60)
        for use in (lambda: env.step([0.5]), lambda: env.reset(seed=2), env.close):
            with pytest.raises(
                InputError, match="another call is in this environment: one at a time, whatever the thread"
            ):
                use()
        refused.set()
        assert stepping.result()[1] == _started(DropsEnv(**LINK)).step([0.5])[1]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("name", ENVIRONMENTS)
def a_copy_is_a_new_environment(name: str, copied: Callable[[Any], Any]) -> None:
    env = _started(ENVIRONMENTS[name]())
    env.action_space.seed(1)
    action = env.action_space.sample()
    first, twin = env.step(action), copied(env)
    with pytest.raises(InputError, match="call reset first"):
        twin.step(action)
    assert _started(twin).step(action)[1] == first[1]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("vector", [SyncVectorEnv, AsyncVectorEnv])
def vectors_of_them_behave_as_one(vector: Any) -> None:
    env = vector([ENVIRONMENTS["drops"]] * 2)
    try:
        env.reset(seed=[1, 2])
        paid = [env.step(np.full((2, 1), 0.2, np.float32))[1] for _ in range(5)]
    finally:
        env.close()
    alone = [_episode(ENVIRONMENTS["drops"](), lambda seen: [np.float32(0.2)], seed)[0][:5] for seed in (1, 2)]
    assert np.array(paid).T.tolist() == alone


LAW = """
import aqmlab
class Mine(aqmlab.AQM):
    params = {"target": "5ms 1ms..1s"}
    arrived = 0
    def enqueue(self, packet, now):
        self.arrived += 1
        if self.arrived == 500:
            raise SystemExit(0)
        self.queue.append(packet)
"""


def a_discipline_in_python_that_fails_ends_the_episode(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LAW)
    env = _started(ParametersEnv(f"python:{tmp_path}/mine.py:Mine target 5ms..40ms", **LINK))
    with pytest.raises(InputError, match=r"SystemExit: 0 \(.*mine.py, line 9, in enqueue\)"):
        _episode(env, lambda seen: [0.5], 1)
    with pytest.raises(InputError, match="the episode is over: call reset"):
        env.step([0.5])
    _started(env).step([0.5])
