"""The outcome of a search: the settings tried, the closest ones, and the effects of factors.

Among many settings of equal quality, the closest is the one with the luckiest seeds. So the closest few are run again
with fresh seeds, which did not select them, and those runs are reported.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from aqmlab.files import machine
from aqmlab.runs.watcher import Watcher
from aqmlab.search import design, noise, sensitivity
from aqmlab.search.plan import Search, Setting
from aqmlab.search.runs import Runs
from aqmlab.search.scores import Score
from aqmlab.search.sensitivity import Effect, Level
from aqmlab.search.space import Space
from aqmlab.search.targets import Target
from aqmlab.vocabulary.units import check_whole

# Figures of a score whose best setting is reported.
RECORDS = ("near", "holding", "reproduced")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search.

    Attributes:
        scores: every setting, with the seeds that select the closest.
        fresh: the presets and the closest few, with fresh seeds.
        sample: the settings drawn from all combinations.
        seeds: runs per setting and AQM; ``fresh_seeds`` is the same for ``fresh``.

    """

    search: Search
    targets: Sequence[Target]
    scores: Mapping[Setting, Score]
    fresh: Mapping[Setting, Score]
    sample: Sequence[Setting]
    seeds: int
    fresh_seeds: int

    @property
    def is_by_runs(self) -> bool:
        """Whether each setting is judged by its own runs, not by their means and the noise of the seeds."""
        return self.seeds >= noise.ENOUGH

    @functools.cached_property
    def closest(self) -> list[Score]:
        """All settings, the closest to all numbers first."""
        return sorted(self.scores.values(), key=lambda one: one.distance)

    @functools.cached_property
    def closest_own(self) -> list[Score]:
        """All settings, the closest to the numbers of the search's own AQM first."""
        return sorted(self.scores.values(), key=lambda one: one.own)

    def record(self, figure: str) -> Score:
        """The setting in which one of the ``RECORDS`` is highest."""
        return max(self.closest, key=attrgetter(figure))

    @property
    def presets(self) -> dict[str, Score]:
        """The settings with a name."""
        return {name: self.scores[setting] for name, setting in self.search.presets.items()}

    @functools.cached_property
    def effects(self) -> list[Effect]:
        """The effect of each factor, over all combinations."""
        return sensitivity.effects(self.search, self.targets, self._sampled)

    @functools.cached_property
    def around(self) -> list[Effect]:
        """The effect of each factor, with all others as in the base."""
        near = design.neighbours(self.search.factors, self.search.base)
        scores = [self.scores[setting] for setting in (self.search.base, *near)]
        return sensitivity.around(self.search, self.targets, scores)

    @functools.cached_property
    def levels(self) -> list[Level]:
        """The results at every level."""
        return sensitivity.levels(self.search, self.targets, self._sampled)

    @functools.cached_property
    def seed_noise(self) -> dict[str, float]:
        """The standard error of a setting's value due to the seeds, by claim."""
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
            "fresh_seeds": self.fresh_seeds,
            "factors": {factor.name: {"says": factor.says, "levels": factor.shown} for factor in self.search.factors},
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
        again = self.fresh.get(one.setting)
        return {
            "setting": dict(zip([factor.name for factor in self.search.factors], one.setting, strict=True)),
            **_nearness(one),
            "fresh": None if again is None else _nearness(again),
        }


def run_search(space: Space, *, jobs: int | None = None, watcher: Watcher | None = None) -> Outcome:
    """Try neighbours of the base and of the closest settings of a space; runs are kept beside its own and reused.

    Raises:
        InputError: if a scenario is wrong.
        CheckError: if a run broke one of its own checks.
        KeyboardInterrupt: if the user interrupted.

    """
    search, targets, first = space.search, space.targets, space.numbers
    runs = Runs(search, targets, space.folder, watcher or Watcher())
    cores = machine.cores() if jobs is None else check_whole("jobs", jobs, 1)
    scores = {**space.scores}

    def attempt(settings: Sequence[Setting]) -> None:
        missing = [setting for setting in settings if setting not in scores]
        scores.update(runs.scores(missing, first, cores, space.noise))

    attempt(design.neighbours(search.factors, search.base))
    for aim in (_distance, _own):
        for _ in range(search.steps):
            best = min(scores.values(), key=aim)
            attempt(design.neighbours(search.factors, best.setting))
            if min(scores.values(), key=aim) is best:
                break
    # What was judged by runs of its own is judged by no fewer fresh ones.
    least = noise.ENOUGH if space.noise is None else 1
    again = range(first.stop, first.stop + max(search.fresh_seeds, least))
    fresh = runs.scores(_chosen(search, scores), again, cores, space.noise)
    return Outcome(search, targets, scores, fresh, space.sample, space.seeds, len(again))


def _chosen(search: Search, scores: Mapping[Setting, Score]) -> list[Setting]:
    """Return the settings that are reported one by one: they are run again."""
    by_distance = sorted(scores.values(), key=_distance)
    by_own = sorted(scores.values(), key=_own)
    records = [max(by_distance, key=attrgetter(figure)) for figure in RECORDS]
    chosen = [*by_distance[: search.best], *by_own[: search.best], *records]
    return list(dict.fromkeys([*search.presets.values(), *(one.setting for one in chosen)]))


def _distance(one: Score) -> float:
    return one.distance


def _own(one: Score) -> float:
    return one.own


def _nearness(one: Score) -> dict[str, Any]:
    return {
        "distance": one.distance,
        "own_distance": one.own,
        "numbers_within_10_percent": one.near,
        "numbers": one.numbers,
        "claims": {name: grade.word for name, grade in one.grades.items()},
    }


def _effect(one: Effect) -> dict[str, Any]:
    return {"factor": one.factor, "claim": one.claim, "size": one.size, "chance": one.chance, "seen": one.is_seen}
