"""A search conducted: what was tried, what comes closest, and what matters."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import runner
from aqmlab.experiment import Watcher
from aqmlab.search import design, sensitivity
from aqmlab.search.plan import Search, Setting
from aqmlab.search.runs import Runs
from aqmlab.search.scores import Score, score
from aqmlab.search.sensitivity import Effect, Level
from aqmlab.search.targets import Target


@dataclass(frozen=True)
class Outcome:
    """What came of a search.

    ``sample`` are the settings that were drawn from all combinations.
    """

    search: Search
    targets: Sequence[Target]
    scores: Mapping[Setting, Score]
    sample: Sequence[Setting]
    seeds: int

    @functools.cached_property
    def closest(self) -> list[Score]:
        """All settings, the closest to all numbers first."""
        return sorted(self.scores.values(), key=lambda one: one.distance)

    @functools.cached_property
    def closest_own(self) -> list[Score]:
        """All settings, the closest to the numbers of the search's own AQM first."""
        return sorted(self.scores.values(), key=lambda one: one.own)

    @property
    def presets(self) -> dict[str, Score]:
        """The settings that have a name."""
        return {name: self.scores[setting] for name, setting in self.search.presets.items()}

    @functools.cached_property
    def effects(self) -> list[Effect]:
        """What each factor moves, over all combinations."""
        return sensitivity.effects(self.search, self.targets, self._sampled)

    @functools.cached_property
    def around(self) -> list[Effect]:
        """What each factor moves with all others as in the base."""
        near = design.neighbours(self.search.factors, self.search.base)
        scores = [self.scores[setting] for setting in (self.search.base, *near)]
        return sensitivity.around(self.search, self.targets, scores)

    @functools.cached_property
    def levels(self) -> list[Level]:
        """What is seen at every level."""
        return sensitivity.levels(self.search, self.targets, self._sampled)

    @functools.cached_property
    def seed_noise(self) -> dict[str, float]:
        """What the seeds leave uncertain in a setting's value, by claim."""
        return sensitivity.seed_noise(self.search, self.targets, self._sampled)

    @property
    def _sampled(self) -> list[Score]:
        return [self.scores[setting] for setting in self.sample]

    def document(self) -> dict[str, Any]:
        """Return the search as plain data; all settings are in its CSV file."""
        return {
            "own": self.search.own,
            "settings": len(self.scores),
            "sample": len(self.sample),
            "seeds": self.seeds,
            "factors": {
                factor.name: {"says": factor.says, "levels": dict(factor.levels)} for factor in self.search.factors
            },
            "presets": {name: self._entry(one) for name, one in self.presets.items()},
            "closest": [self._entry(one) for one in self.closest[:10]],
            "closest_own": [self._entry(one) for one in self.closest_own[:10]],
            "effects": [_effect(one) for one in self.effects],
            "effects_around_base": [_effect(one) for one in self.around],
            "seed_noise": self.seed_noise,
            "levels": [
                {
                    "factor": one.factor,
                    "level": one.level,
                    "settings": one.settings,
                    "distance": one.distance,
                    "own_distance": one.own,
                    "holding": dict(one.holding),
                }
                for one in self.levels
            ],
        }

    def _entry(self, one: Score) -> dict[str, Any]:
        return {
            "setting": dict(zip([factor.name for factor in self.search.factors], one.setting, strict=True)),
            "distance": one.distance,
            "own_distance": one.own,
            "numbers_within_10_percent": one.near,
            "numbers": one.numbers,
            "claims": {name: grade.word for name, grade in one.grades.items()},
        }


def conduct(
    search: Search,
    targets: Sequence[Target],
    folder: Path,
    *,
    seeds: str | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Outcome:
    """Try settings, and then neighbours of the closest; runs are kept in the folder and not repeated.

    Raises:
        InputError: if a scenario is wrong.
        CheckError: if a run broke one of its own checks.
        KeyboardInterrupt: if the user stopped it.

    """
    runs = Runs(search, targets, folder, seeds)
    scores: dict[Setting, Score] = {}

    def attempt(settings: Sequence[Setting]) -> None:
        fresh = [setting for setting in dict.fromkeys(settings) if setting not in scores]
        runs.conduct(fresh, runner.default_jobs() if jobs is None else jobs, watcher or Watcher())
        scores.update({setting: score(setting, targets, runs.values, search.own) for setting in fresh})

    sample = list(dict.fromkeys(design.hypercube(search.factors, search.settings)))
    near = design.neighbours(search.factors, search.base)
    attempt([search.base, *search.presets.values(), *near, *sample])
    for aim in (_distance, _own):
        for _ in range(search.steps):
            best = min(scores.values(), key=aim)
            attempt(design.neighbours(search.factors, best.setting))
            if min(scores.values(), key=aim) is best:
                break
    return Outcome(search, targets, scores, sample, _seeds(runs, search, targets))


def _distance(one: Score) -> float:
    return one.distance


def _own(one: Score) -> float:
    return one.own


def _seeds(runs: Runs, search: Search, targets: Sequence[Target]) -> int:
    wanted = [one for target in targets for one in target.quantities]
    return max((len(runs.values(search.base, one.aqm, one.measure)) for one in wanted), default=0)


def _effect(one: Effect) -> dict[str, Any]:
    return {"factor": one.factor, "claim": one.claim, "size": one.size, "chance": one.chance, "seen": one.is_seen}
