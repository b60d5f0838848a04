"""Trials: settings of an AQM measured on the training scenarios, each run made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aqmlab import scenario
from aqmlab.engine import Task
from aqmlab.experiment import code_version
from aqmlab.runs.runner import FinishedRun, Progress
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Options, cost
from aqmlab.search.ledger import Ledger, Values
from aqmlab.tuning.goal import DEFAULT, Goal
from aqmlab.tuning.scenarios import FIRST_TRAINING_SEED, under
from aqmlab.vocabulary.errors import InputError


@dataclass(frozen=True)
class Trial:
    """A setting that was tried.

    Attributes:
        aqm: the setting.
        values: means of the metrics over scenarios and seeds.
        missed: sum over bounds and scenarios of the shares by which bounds are missed.

    """

    aqm: str
    values: dict[str, float]
    missed: float


class Trials:
    """Measures settings on scenarios with seeds that are the same for all of them."""

    def __init__(
        self,
        goal: Goal,
        default: str,
        points: Sequence[Options],
        seeds: int,
        folder: Path | None,
        jobs: int,
        watcher: Watcher,
    ) -> None:
        self._goal, self._default, self._points, self._jobs = goal, default, points, jobs
        self._seeds = range(FIRST_TRAINING_SEED, FIRST_TRAINING_SEED + seeds)
        self._ledger = Ledger(folder, watcher)
        self._measured: dict[str, Trial | None] = {}
        # The means that bounds refer to, scenario by scenario.
        self._others: dict[str, list[dict[str, float]]] = {}
        self._watcher, self._expected = watcher, 0
        self._made, self._made_s = 0, 0.0
        self._run_s = 0.0

    def check(self, settings: int, jobs: int, *, no_size_check: bool) -> None:
        """Refuse more runs than are made without asking; ``settings`` is how many will be measured.

        Raises:
            InputError: with the estimate and the limit, or if a scenario is wrong.

        """
        plans = [scenario.resolve(under(point, [self._default, *self._goal.references])) for point in self._points]
        if not no_size_check:
            first = [plan.costs[0][1] for plan in plans]
            cost.check([(settings * len(self._seeds), replace(one, kept_bytes=0.0)) for one in first], jobs)

    def expect(self, settings: int) -> None:
        """Tell how many settings will be measured at most."""
        self._expected = (settings + 1 + len(self._goal.references)) * len(self._points) * len(self._seeds)
        self._watcher.on_begin("tuning")
        self._watcher.on_plan(self._expected, 0)

    def measure(self, aqms: Sequence[str]) -> list[Trial | None]:
        """Measure settings; nothing for one whose parameters contradict each other.

        Raises:
            InputError: if a scenario is wrong, or no run has a metric.
            CheckError: if a run broke one of its own checks.
            KeyboardInterrupt: if the user interrupted; finished runs are kept.

        """
        new = [aqm for aqm in dict.fromkeys(aqms) if aqm not in self._measured]
        if new:
            if not self._others:
                named = {DEFAULT: self._default, **{name: name for name in self._goal.references}}
                others = {name: self._tasks(aqm) for name, aqm in named.items()}
                self._run(list(others.values()))
                self._others = {name: self._means(named[name], own) for name, own in others.items()}
            tasks = {aqm: self._allowed(aqm) for aqm in new}
            self._run([own for own in tasks.values() if own])
            for aqm, own in tasks.items():
                self._measured[aqm] = self._trial(aqm, own) if own else None
        return [self._measured[aqm] for aqm in aqms]

    def _allowed(self, aqm: str) -> list[list[Task]]:
        try:
            return self._tasks(aqm)
        except InputError:
            # The default was resolved in all scenarios: what is wrong is a relation between parameters.
            return []

    def _tasks(self, aqm: str) -> list[list[Task]]:
        """Return the runs of a setting, scenario by scenario."""
        found = []
        for point in self._points:
            plan = scenario.resolve(under(point, [aqm]))
            (contestant,) = plan.contestants
            tasks = [(seed, plan.key(contestant, seed, code_version())) for seed in self._seeds]
            found.append([Task(0, aqm, seed, key, plan.scenarios[aqm], plan.inputs) for seed, key in tasks])
        return found

    def _run(self, settings: Sequence[Sequence[Sequence[Task]]]) -> None:
        names = self._goal.metrics
        every = [task for points in settings for tasks in points for task in tasks]
        missing = list({task.key: task for task in every if not self._ledger.has(task.key, names)}.values())
        self._ledger.make(missing, self._read, self._jobs, self._moved)
        self._made += len(every)
        self._made_s += sum(task.scenario.duration_ns for task in every) / 1e9
        self._run_s = self._made_s / max(self._made, 1)
        self._moved(Progress(0, 0, 0.0, 0.0))

    def _moved(self, one: Progress) -> None:
        finished, simulated_s = self._made + one.finished, self._made_s + one.simulated_s
        total_s = (self._run_s or one.total_s / max(one.total, 1)) * self._expected
        self._watcher.on_progress(Progress(finished, self._expected, simulated_s, total_s))

    def _read(self, done: FinishedRun) -> Values:
        return {name: done.report.metrics.get(name) for name in self._goal.metrics}

    def _trial(self, aqm: str, tasks: Sequence[Sequence[Task]]) -> Trial:
        found = self._means(aqm, tasks)
        missed = 0.0
        for bound in self._goal.bounds:
            for place, own in enumerate(found):
                reference = self._others[bound.reference][place][bound.metric] if bound.reference else None
                missed += bound.missed(own[bound.metric], reference)
        values = {name: sum(one[name] for one in found) / len(found) for name in self._goal.metrics}
        return Trial(aqm, values, missed)

    def _means(self, aqm: str, tasks: Sequence[Sequence[Task]]) -> list[dict[str, float]]:
        """Return the means of each scenario."""
        means = []
        for own in tasks:
            runs = [self._ledger.values(task.key) for task in own]
            row = {}
            for name in self._goal.metrics:
                values = [value for run in runs if (value := run[name]) is not None]
                if not values:
                    raise InputError(f"minimise, keep: a run of {aqm} has no '{name}'")
                row[name] = sum(values) / len(values)
            means.append(row)
        return means
