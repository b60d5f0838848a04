"""A trivial policy for the environment that decides about drops, compared with PIE.

    .venv/bin/python docs/examples/policy.py

The policy signals in proportion to how far the queue delay is above 15 ms. Both have the same reward and the same seeds.
"""

import numpy as np

from aqmlab.environments import DELAY_S, DropsEnv, ParametersEnv

LINK = {"rate": "10mbit", "rtt": "40ms", "flows": "4*cubic", "buffer": "200p", "duration": "20s"}
TARGET_S = 0.015


def proportional(seen):
    """Half a percent of signals for every 15 ms above the target."""
    waiting_s = float(seen[0]) * DELAY_S
    return np.array([np.clip(0.005 * (waiting_s / TARGET_S - 1), 0, 1)], np.float32)


def pie(seen):
    """PIE with its target of 15 ms: the environment changes nothing."""
    return np.zeros(1, np.float32)


def episode(env, policy, seed):
    """Return mean reward, mean queue delay (ms) and utilization of a run."""
    seen, _ = env.reset(seed=seed)
    rewards, steps, over = [], [], False
    while not over:
        seen, reward, _, over, info = env.step(policy(seen))
        rewards.append(reward)
        steps.append(info["step"])
    return np.mean(rewards), 1e3 * np.mean([s.sojourn_s for s in steps]), np.mean([s.utilization for s in steps])


if __name__ == "__main__":
    for name, env, policy in (
        ("proportional", DropsEnv(interval="15ms", **LINK), proportional),
        ("pie", ParametersEnv("pie target 15ms..16ms", interval="15ms", **LINK), pie),
    ):
        runs = np.array([episode(env, policy, seed) for seed in range(1, 11)])
        mean, half = runs.mean(axis=0), 2.262 * runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
        print(f"{name}: reward {mean[0]:.3f} ± {half[0]:.3f}, queue delay {mean[1]:.1f} ms, utilization {mean[2]:.3f}")
