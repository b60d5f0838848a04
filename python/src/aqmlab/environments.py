"""Environments for learning (gymnasium): a discipline's parameters, or its decision about drops, chosen while it runs.

Both are runs of the simulator, in the scenario of the usual options (``rate``, ``rtt``, ``flows``, ``buffer``,
``duration``). An episode is one run; the seed of `reset` decides everything in it.

    env = ParametersEnv("pie target 5ms..40ms", interval="100ms", rate="10mbit", rtt="40ms", flows="4*cubic")
    env = DropsEnv(interval="15ms", rate="10mbit", rtt="40ms", flows="4*cubic")
    env = DropsEnv(interval=None, ...)  # a step for every packet that arrives

Any thread may use one, a single one at a time. A copy, also by pickle, is a new environment with the same arguments, as
gymnasium has it; it does not take an episode along.

It needs gymnasium: ``pip install 'aqmlab[gym]'``.
"""

from __future__ import annotations

import reprlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from aqmlab import _native, scenario
from aqmlab.tuning.space import Space
from aqmlab.vocabulary.errors import InputError, about
from aqmlab.vocabulary.extras import missing
from aqmlab.vocabulary.units import parse_span

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.utils import EzPickle
except ImportError:
    raise missing("environments need gymnasium", "gym") from None

Observation: TypeAlias = npt.NDArray[np.float32]

# What is seen is in these units, and cut off at so many of them.
DELAY_S = 0.02
MOST = 100.0
# A queue delay of this costs as much as an idle link.
COST_S = 0.1


@dataclass(frozen=True)
class Step:
    """What happened in a step.

    Attributes:
        seconds: how long it took; may be zero where a step is a packet.
        waiting_s: time that the backlog needs at the link's rate, at its end.
        sojourn_s: mean time in the queue of the packets that left; that of the step before if none did.
        utilization: share of the capacity that was used.
        arrivals: packets that came.
        signals: packets that the law dropped or marked.
        overflows: packets that found the queue full.

    """

    seconds: float
    waiting_s: float
    sojourn_s: float
    utilization: float
    arrivals: int
    signals: int
    overflows: int


def reward(step: Step) -> float:
    """Return the utilization, less a tenth of it for every 10 ms that packets waited."""
    return min(step.utilization, 1.0) - step.sojourn_s / COST_S


class _QueueEnv(gymnasium.Env[Observation, Any], EzPickle, ABC):
    """A run whose discipline gets an action before each step.

    What is seen: backlog and sojourn time (in units of 20 ms), utilization, and arrivals, signals and overflows per
    full packet that the link could have sent (per packet, where a step is one).
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        aqm: str,
        action_space: spaces.Space[Any],
        interval: str | None,
        pay: Callable[[Step], float],
        options: dict[str, Any],
    ) -> None:
        self.observation_space = spaces.Box(0.0, MOST, (6,), np.float32)
        self.action_space = action_space
        if not callable(pay):
            raise about("pay", f"is {reprlib.repr(pay)} (allowed: a function of a Step)")
        self._pay = pay
        self._interval_ns = None if interval is None else _interval(interval)
        for name in ("aqm", "seeds", "first_seed"):
            if name in options:
                raise about(name, "not an option of an environment (reset has the seed)")
        plan = scenario.resolve(scenario.from_values({**options, "aqm": aqm, "seeds": 1}))
        (self._scenario,) = (one.json for one in plan.scenarios.values())
        self._inputs, self._rate_bps = plan.inputs, plan.rate_bps
        self._stepper: _native.Stepper | None = None
        self._before: tuple[int, ...] = ()
        self._sojourn_s = 0.0
        self._in_use = threading.Lock()
        self._try()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run.

        Raises:
            InputError: if it cannot begin, or the environment is in use.

        """
        with self._used("reset"):
            super().reset(seed=seed, options=options)
            run_seed = int(self.np_random.integers(1, 2**31))
            self._stepper = _native.Stepper(self._scenario, self._inputs, run_seed)
            self._before = self._stepper.step([], 0)
            self._sojourn_s = 0.0
            return self._seen(self._happened(self._before)), {}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Tell the discipline, and go on to the end of the interval or to the next arrival.

        Raises:
            InputError: for an action that is not in the space, a reward that is no number, without an episode, or if
                the environment is in use.

        """
        with self._used("step"):
            if self._stepper is None:
                raise about("step", "call reset first")
            if self._stepper.is_over:
                raise about("step", "the episode is over: call reset")
            after = self._stepper.step(self._settings(self._checked(action)), self._interval_ns)
            step = self._happened(after)
            self._before = after
            return self._seen(step), self._paid(step), False, self._stepper.is_over, {"step": step}

    def close(self) -> None:
        """End the episode, and give its memory back; `reset` begins another."""
        with self._used("close"):
            self._stepper = None

    @property
    @abstractmethod
    def _allowed(self) -> str:
        """What an action is, in words."""

    @abstractmethod
    def _settings(self, action: npt.NDArray[Any]) -> list[tuple[str, str]]:
        """Return what an action sets of the discipline: names and values."""

    def _try(self) -> None:
        """Give a run both ends of every range: what no episode could set is refused before the first."""
        stepper = _native.Stepper(self._scenario, self._inputs, 1)
        for share in (0, 1):
            try:
                stepper.step(self._settings(np.full(self.action_space.shape or (), share)), 0)
            except InputError as error:
                raise about("aqm", f"the first queue in 'measure' cannot be set while it runs: {error}") from None

    @contextmanager
    def _used(self, what: str) -> Iterator[None]:
        if not self._in_use.acquire(blocking=False):
            raise about(what, "another call is in this environment: one at a time, whatever the thread")
        try:
            yield
        finally:
            self._in_use.release()

    def _checked(self, action: Any) -> npt.NDArray[Any]:
        is_choice = isinstance(self.action_space, spaces.Discrete)
        try:
            given = np.asarray(action)
        except ValueError:
            # Lists of different lengths.
            given = np.array(None)
        is_number = given.dtype.kind in ("biu" if is_choice else "fiu") and given.shape == self.action_space.shape
        # One that is not a number is in no range.
        if not is_number or not ((given >= 0) & (given <= 1)).all():
            raise about("step", f"the action is {reprlib.repr(action)} (allowed: {self._allowed})")
        return given

    def _paid(self, step: Step) -> float:
        paid = self._pay(step)
        given = np.asarray(paid)
        if given.shape != () or given.dtype.kind not in "biuf" or not np.isfinite(given):
            raise about("pay", f"returned {reprlib.repr(paid)} (allowed: a finite number)")
        return float(given)

    def _happened(self, after: tuple[int, ...]) -> Step:
        now, _, waiting, arrived, left, left_bytes, signals, overflows, marked, sojourn_ns = after
        then = self._before
        seconds, departures = (now - then[0]) / 1e9, left - then[4]
        if departures:
            self._sojourn_s = (sojourn_ns - then[9]) / departures / 1e9
        capacity = self._rate_bps / 8 * seconds
        return Step(
            seconds,
            waiting * 8 / self._rate_bps,
            self._sojourn_s,
            (left_bytes - then[5]) / capacity if capacity else 0.0,
            arrived - then[3],
            signals + marked - then[6] - then[8],
            overflows - then[7],
        )

    def _seen(self, step: Step) -> Observation:
        packets = max(step.seconds * self._rate_bps / 8 / 1514, 1.0)
        seen = (
            step.waiting_s / DELAY_S,
            step.sojourn_s / DELAY_S,
            step.utilization,
            step.arrivals / packets,
            step.signals / packets,
            step.overflows / packets,
        )
        return np.minimum(np.array(seen, np.float32), np.float32(MOST))


class ParametersEnv(_QueueEnv):
    """Chooses a discipline's parameters at the start of every interval.

    An action has a number from 0 to 1 for each range of ``aqm``, as in `aqmlab.tune`.

    Args:
        aqm: a discipline with ranges, as ``"pie target 5ms..40ms"``.
        interval: time between two choices.
        pay: the reward of a step.
        options: those of `aqmlab.compare`.

    Raises:
        InputError: naming what is wrong.

    """

    def __init__(
        self, aqm: str, interval: str = "100ms", pay: Callable[[Step], float] = reward, **options: Any
    ) -> None:
        EzPickle.__init__(self, aqm, interval, pay, **options)
        self._space = Space.parse(_text("aqm", aqm))
        for one in self._space.dimensions:
            if " " in one.name or "[" in aqm:
                raise about("aqm", f"'{aqm}': parameters of children cannot change while it runs")
        shares = spaces.Box(0.0, 1.0, (len(self._space.dimensions),), np.float32)
        super().__init__(self._space.default, shares, interval, pay, options)

    @property
    def _allowed(self) -> str:
        return f"a list of a number from 0 to 1 for each of {', '.join(one.name for one in self._space.dimensions)}"

    def _settings(self, action: npt.NDArray[Any]) -> list[tuple[str, str]]:
        shares = zip(self._space.dimensions, action, strict=True)
        return [(one.name, one.at(float(share))) for one, share in shares]


class DropsEnv(_QueueEnv):
    """Decides about drops (marks, where the packet is ECN-capable) of a queue with a limit.

    With an interval an action is the probability of a signal in it, one number; without, a step ends with the arrival
    of a packet, and an action is whether the next one is dropped: 0 or 1.

    Args:
        interval: time between two choices; ``None``: a choice for every packet.
        pay: the reward of a step.
        options: those of `aqmlab.compare`.

    Raises:
        InputError: naming what is wrong.

    """

    def __init__(self, interval: str | None = "15ms", pay: Callable[[Step], float] = reward, **options: Any) -> None:
        EzPickle.__init__(self, interval, pay, **options)
        share = spaces.Box(0.0, 1.0, (1,), np.float32)
        super().__init__("commanded", spaces.Discrete(2) if interval is None else share, interval, pay, options)

    @property
    def _allowed(self) -> str:
        return "0 or 1" if self._interval_ns is None else "a list of one number from 0 to 1"

    def _settings(self, action: npt.NDArray[Any]) -> list[tuple[str, str]]:
        return [("probability", f"{float(action.item()):.9f}")]


def _interval(given: Any) -> int:
    text = _text("interval", given)
    try:
        span_ns = parse_span(text)
    except InputError as error:
        raise about("interval", f"{error}") from None
    if span_ns <= 0:
        raise about("interval", f"'{text}' is out of range: allowed is a time above zero")
    return span_ns


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise about(name, f"is {reprlib.repr(given)} (allowed: text)")
    return given
