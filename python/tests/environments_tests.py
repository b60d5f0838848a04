"""The environments of gymnasium; left out without it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from aqmlab import InputError

pytest.importorskip("gymnasium", reason="gymnasium is not installed: the extra gym")

from gymnasium.utils.env_checker import check_env

from aqmlab.environments import DropsEnv, ParametersEnv, Step, reward

LINK: dict[str, Any] = {"rate": "10mbit", "rtt": "40ms", "flows": "4*cubic", "duration": "5s", "buffer": "200p"}
ENVIRONMENTS: dict[str, Any] = {
    "parameters": lambda: ParametersEnv("pie target 5ms..40ms alpha 0.05..0.5", **LINK),
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
        seen, pay, _, truncated, told = env.step(policy(seen))
        paid.append(pay)
        steps.append(told["step"])
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


def wrong_arguments_are_refused_in_one_line() -> None:
    for make, says in [
        (lambda: ParametersEnv("pie", **LINK), "has no range"),
        (lambda: ParametersEnv("pie target 1ms..9ms", interval="0s", **LINK), "interval: '0s' is out of range"),
        (lambda: ParametersEnv("drr child [codel target 1ms..9ms]", **LINK), "parameters of children"),
        (lambda: DropsEnv(rate="fast", rtt="1ms"), "rate: "),
        (lambda: DropsEnv(**LINK, seeds=3), "seeds: not an option of an environment"),
        (lambda: DropsEnv(**LINK).step([0.0]), "call reset first"),
        (lambda: _started(DropsEnv(**LINK)).step([float("nan")]), "the action [nan] is not finite"),
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
