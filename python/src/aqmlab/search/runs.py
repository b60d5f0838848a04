"""The runs of a search: each is made once, and only the targets' measures of it are kept.

AQMs whose text holds none of the differing factors have the same runs in many settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aqmlab import scenario
from aqmlab.engine import Task
from aqmlab.experiment import code_version
from aqmlab.results import Result, measures
from aqmlab.results.frames import Frames, from_runs, of_metrics
from aqmlab.results.measures import Measure
from aqmlab.runs.runner import FinishedRun
from aqmlab.runs.watcher import Watcher
from aqmlab.scenario import Plan
from aqmlab.search.ledger import Ledger, Values
from aqmlab.search.noise import Noise
from aqmlab.search.plan import Search, Setting
from aqmlab.search.scores import Score, by_seed, score
from aqmlab.search.targets import Target


@dataclass(frozen=True)
class Need:
    """A run that a setting needs, and its measures."""

    task: Task
    aqm: str
    plan: Plan
    asked: tuple[Measure, ...]
    point: Mapping[str, str]


class Runs:
    """The runs of a search."""

    def __init__(self, search: Search, targets: Sequence[Target], folder: Path, watcher: Watcher) -> None:
        self._search, self._targets, self._watcher = search, targets, watcher
        self._asked = _asked(targets, search)
        self._kept = Ledger(folder, watcher)
        self._needs: dict[tuple[Setting, str, range], list[Need]] = {}

    def run_settings(self, settings: Iterable[Setting], seeds: range, jobs: int) -> None:
        """Make the missing runs of the settings with these seeds.

        Raises:
            InputError: if a scenario is wrong.
            CheckError: if a run broke one of its own checks.
            KeyboardInterrupt: if the user interrupted; finished runs are kept.

        """
        needs: dict[str, list[Need]] = {}
        for setting in settings:
            for name in self._asked:
                for need in self._of(setting, name, seeds):
                    # Scenarios may share a run, each with measures of its own.
                    needs.setdefault(need.task.key, []).append(need)
        missing = [found[0].task for found in needs.values() if not all(self._has(need) for need in found)]
        self._watcher.on_begin("searching")
        self._watcher.on_plan(len(missing), len(needs) - len(missing))

        def read(done: FinishedRun) -> Values:
            return {name: value for need in needs[done.run.key] for name, value in _values(done, need).items()}

        self._kept.make(missing, read, jobs, self._watcher.on_progress)

    def noise(self, settings: Sequence[Setting], seeds: range, jobs: int) -> dict[str, Noise]:
        """Make the missing runs of the settings with these seeds; return the noise in each target's quantities."""
        self.run_settings(settings, seeds, jobs)

        def values(setting: Setting, aqm: str, measure: Measure) -> Mapping[int, float]:
            return self.values(setting, seeds, aqm, measure)

        return {
            target.name: Noise(
                [{one.name: by_seed(setting, one, values) for one in target.quantities} for setting in settings]
            )
            for target in self._targets
        }

    def scores(
        self, settings: Sequence[Setting], seeds: range, jobs: int, noise: Mapping[str, Noise] | None
    ) -> dict[Setting, Score]:
        """Make the missing runs of the settings with these seeds; return the settings' scores."""

        def values(setting: Setting, aqm: str, measure: Measure) -> Mapping[int, float]:
            return self.values(setting, seeds, aqm, measure)

        self.run_settings(settings, seeds, jobs)
        return {setting: score(setting, self._targets, values, self._search.own, noise) for setting in settings}

    def values(self, setting: Setting, seeds: range, aqm: str, measure: Measure) -> Mapping[int, float]:
        """Return the values of a measure in the runs of a setting with these seeds, by seed."""
        if measure.scenario not in self._asked:
            return {}
        found = {
            need.task.seed: self._kept.values(need.task.key).get(_name(measure))
            for need in self._of(setting, measure.scenario, seeds)
            if need.aqm == aqm and _is_at(measure, need.point)
        }
        return {seed: value for seed, value in found.items() if value is not None}

    def first_seeds(self, wanted: str | None) -> range:
        """Return the seeds that settings are tried with: the user's, or the plan's."""
        name = next(iter(self._search.scenarios))
        _, plan = self._plans(self._search.base, name, wanted or str(self._search.seeds))[0]
        return range(plan.seeds[0], plan.seeds[-1] + 1)

    def _of(self, setting: Setting, name: str, seeds: range) -> list[Need]:
        place = (setting, name, seeds)
        if place not in self._needs:
            self._needs[place] = list(self._resolved(setting, name, seeds))
        return self._needs[place]

    def _plans(self, setting: Setting, name: str, seeds: str) -> list[tuple[Mapping[str, str], Plan]]:
        """Return the points of a scenario's sweep, each with its plan."""
        points = self._search.experiment(setting, name, {"seeds": seeds}).points
        return [(options.point, scenario.resolve(options)) for options in points]

    def _resolved(self, setting: Setting, name: str, seeds: range) -> Iterator[Need]:
        for point, plan in self._plans(setting, name, str(seeds[-1])):
            labels = {one.label: one for one in plan.contestants}
            for aqm, every in self._asked[name].items():
                # Points of a sweep that nothing is asked of are not run.
                asked = tuple(one for one in every if _is_at(one, point))
                label = measures.label_of(_result(plan, from_runs([])), aqm) if asked else None
                if label is None:
                    continue
                for seed in seeds:
                    key = plan.key(labels[label], seed, code_version())
                    task = Task(0, label, seed, key, plan.scenarios[label], plan.inputs, plan.files)
                    yield Need(task, aqm, plan, asked, point)

    def _has(self, need: Need) -> bool:
        return self._kept.has(need.task.key, [_name(measure) for measure in need.asked])


def _values(done: FinishedRun, need: Need) -> Values:
    """Return the measures of a run that a need asks for."""
    frames = from_runs if any(measure.is_series for measure in need.asked) else of_metrics
    result = _result(need.plan, frames([done]))
    return {_name(measure): measures.values(result, measure, need.aqm, 0).get(done.run.seed) for measure in need.asked}


def _asked(targets: Sequence[Target], search: Search) -> dict[str, dict[str, tuple[Measure, ...]]]:
    """Return the measures of each AQM in each scenario."""
    asked: dict[str, dict[str, dict[Measure, None]]] = {}
    quantities = [one for target in targets for one in target.quantities]
    for one in [*quantities, *(one.over for one in quantities if one.over)]:
        if one.measure.scenario in search.scenarios:
            asked.setdefault(one.measure.scenario, {}).setdefault(one.aqm, {})[one.measure] = None
    return {name: {aqm: tuple(one) for aqm, one in aqms.items()} for name, aqms in asked.items()}


def _is_at(measure: Measure, point: Mapping[str, str]) -> bool:
    """Whether a measure is taken at a point of a sweep."""
    return all(point.get(key) == value for key, value in measure.point)


def _name(measure: Measure) -> str:
    since, until = (f"{end:g}" if end is not None else "" for end in (measure.since_s, measure.until_s))
    return f"{measure.of}/{measure.over} {measure.how} {since}..{until}"


def _result(plan: Plan, frames: Frames) -> Result:
    return Result({"points": [{"point": {}, "scenario": plan.echo}]}, frames)
