"""The assumption space: how often each target is met in it, and which factors matter.

A paper leaves values open. Its verdict under one choice of them says nothing of the others, so a balanced sample of all
combinations is run, and each target judged in each of them: by the runs of that setting alone, as a claim is, or by
their means and the noise of the seeds where they are few (`aqmlab.search.noise`). Where that hides the answer a
configuration is open: it counts, and neither holds nor refutes.

What matters is found by an analysis of variance of "it holds": the share of its variance that lies between the levels
of a factor, less what chance alone puts there (epsilon squared, Kelley 1935). That is more the more levels there are,
so that by the plain share a factor with many would mostly be the strongest. A factor counts if its share is larger than
that of the largest factor in 95 % of random assignments of the outcomes to the settings, so that among many factors
chance names one in 5 % of cases.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.files import machine
from aqmlab.runs.watcher import Watcher
from aqmlab.search import design
from aqmlab.search import noise as repeated
from aqmlab.search.noise import Noise
from aqmlab.search.plan import Search, Setting
from aqmlab.search.runs import Runs
from aqmlab.search.scores import Score
from aqmlab.search.targets import Grade, Target
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Reals
from aqmlab.vocabulary.units import check_whole

# A fixed seed: the shuffling is the same every time.
SEED = 7567
SHUFFLES = 400
CONFIDENCE = 0.95
MOST_DECIDING = 3
# More changes at once than this say nothing about any of them.
MOST_CHANGES = 2


@dataclass(frozen=True)
class Cell:
    """A setting and the grade of a target in it; ``presets`` are its names, and ``sampled`` whether it counts."""

    setting: Setting
    grade: Grade
    presets: tuple[str, ...]
    sampled: bool

    @property
    def is_decided(self) -> bool:
        """Whether it holds there, or does not, beyond the noise of the seeds."""
        return self.grade.is_judged and self.grade.is_decided


@dataclass(frozen=True)
class Deciding:
    """A factor, and the share of the variance of "it holds" that lies between its levels, beyond chance's.

    ``is_seen`` says whether it is beyond chance.
    """

    factor: str
    share: float
    is_seen: bool = True


@dataclass(frozen=True)
class Flip:
    """Changes to a preset that flip its verdict on a target, pairs of factor and level, and the grade there."""

    preset: str
    changes: tuple[tuple[str, str], ...]
    grade: Grade


def flipped(flips: Iterable[Flip]) -> str:
    """Return the single choices that flip a target, each with the presets in which it does."""
    presets: dict[tuple[str, str], list[str]] = {}
    for one in flips:
        if len(one.changes) == 1:
            presets.setdefault(one.changes[0], []).append(one.preset)
    levels: dict[tuple[str, str], list[str]] = {}
    for (factor, level), names in presets.items():
        levels.setdefault((factor, ", ".join(names)), []).append(level)
    return "; ".join(f"{factor} {' or '.join(several)} ({names})" for (factor, names), several in levels.items())


@dataclass(frozen=True)
class Reach:
    """How far a target reaches in the space.

    Attributes:
        target: its name.
        cells: every setting that was tried.
        holding: sampled settings in which it holds.
        tested: sampled settings in which it can be judged.
        undecided: those of them in which the noise of the seeds hides the answer.
        low, high: the 95 % interval of the share in which it holds, in the whole space (Wilson 1927).
        strongest: the strongest factors, the strongest first.
        flips: what flips it, by preset: every single choice that does; where none does, the fewest together.

    """

    target: str
    cells: tuple[Cell, ...]
    holding: int
    tested: int
    undecided: int
    low: float
    high: float
    strongest: tuple[Deciding, ...]
    flips: tuple[Flip, ...]

    @property
    def deciding(self) -> tuple[Deciding, ...]:
        """The factors that decide: those beyond chance."""
        return tuple(one for one in self.strongest if one.is_seen)

    @property
    def share(self) -> float | None:
        """The share of the settings in which it holds."""
        return self.holding / self.tested if self.tested else None

    @property
    def sentence(self) -> str:
        """The conclusion in a sentence."""
        sampled = sum(cell.sampled for cell in self.cells)
        if not self.tested:
            return f"Testable in none of {sampled} configurations."
        held = f"Holds in {self.holding} of {self.tested} configurations ({self.holding / self.tested:.0%}"
        held += f"; {self.low:.0%} to {self.high:.0%} of all, 95 %)"
        if self.undecided:
            held += f", open by the noise of the seeds in {self.undecided}"
        untested = sampled - self.tested
        if untested:
            held += f"; {untested} more {'has' if untested == 1 else 'have'} nothing to test"
        return f"{held}; {self._most()}{self._flipped()}."

    def _most(self) -> str:
        if self.undecided == self.tested:
            return "more seeds would be needed"
        if self.holding in (0, self.tested - self.undecided):
            does = "does" if self.holding == 0 else "does not"
            others = [name for cell in self.cells if self._is_other(cell) for name in cell.presets]
            if others:
                return f"but it {does} in {' and '.join(others)}"
            return "no single choice flips it" if not self.flips else "but single choices flip a preset"
        if not self.deciding:
            return "no factor alone matters beyond chance"
        factors = [f"{one.factor} ({one.share:.0%} of the variance)" for one in self.deciding]
        return f"most sensitive to {', '.join(factors)}"

    def _is_other(self, cell: Cell) -> bool:
        """Whether it is judged otherwise than all sampled ones."""
        return cell.is_decided and cell.grade.holds == (self.holding == 0)

    def _flipped(self) -> str:
        if not self.flips:
            return ""
        found = []
        for preset in dict.fromkeys(one.preset for one in self.flips):
            first, *others = (one for one in self.flips if one.preset == preset)
            choices = ", ".join(f"{factor} {level}" for factor, level in first.changes)
            more = f" (and {len(others)} other choice{'s' * (len(others) > 1)})" if others else ""
            found.append(f'{preset} becomes "{first.grade.shown}" with {choices}{more}')
        return f"; {'; '.join(found)}"

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "claim": self.target,
            "holding": self.holding,
            "tested": self.tested,
            "undecided": self.undecided,
            "share": self.share,
            "ci95_low": self.low,
            "ci95_high": self.high,
            "strongest": [{"factor": one.factor, "share": one.share, "decides": one.is_seen} for one in self.strongest],
            "flips": [{"preset": one.preset, "changes": dict(one.changes), "to": one.grade.word} for one in self.flips],
            "says": self.sentence,
        }


@dataclass(frozen=True)
class Space:
    """The assumption space as sampled.

    Attributes:
        scores: every setting that was tried.
        sample: those of them that were drawn from all combinations.
        numbers: the seeds of each setting.
        noise: by target: by how much these make its quantities differ; absent where they are enough by themselves.
        folder: where runs are kept.

    """

    search: Search
    targets: Sequence[Target]
    scores: Mapping[Setting, Score]
    sample: Sequence[Setting]
    numbers: range
    noise: Mapping[str, Noise] | None
    folder: Path

    @property
    def seeds(self) -> int:
        """Runs per setting and AQM."""
        return len(self.numbers)

    @functools.cached_property
    def reaches(self) -> dict[str, Reach]:
        """How far each target reaches, by its name."""
        return {target.name: self._reach(target.name) for target in self.targets}

    def words(self, setting: Setting) -> str:
        """Describe a setting: each factor and its level."""
        return ", ".join(f"{factor.name} {level}" for factor, level in zip(self.search.factors, setting, strict=True))

    def document(self) -> dict[str, Any]:
        """Return the space as plain data."""
        return {
            "configurations": len(self.sample),
            "seeds": self.seeds,
            "factors": {factor.name: {"says": factor.says, "levels": factor.shown} for factor in self.search.factors},
            "claims": [one.document() for one in self.reaches.values()],
        }

    def _reach(self, name: str) -> Reach:
        sampled = {*self.sample}
        named: dict[Setting, tuple[str, ...]] = {}
        for preset, setting in self.search.presets.items():
            named[setting] = (*named.get(setting, ()), preset)
        cells = tuple(
            Cell(setting, one.grades[name], named.get(setting, ()), setting in sampled)
            for setting, one in self.scores.items()
        )
        tested = [cell for cell in cells if cell.sampled and cell.grade.is_judged]
        decided = [cell for cell in tested if cell.is_decided]
        holding, undecided = sum(cell.grade.holds for cell in decided), len(tested) - len(decided)
        low, high = statistics.share(holding, len(tested))
        strongest, flips = self._strongest(decided), self._flips(cells)
        return Reach(name, cells, holding, len(tested), undecided, low, high, strongest, flips)

    def _strongest(self, cells: Sequence[Cell]) -> tuple[Deciding, ...]:
        """Return the factors with the largest shares of the variance, among configurations that are decided."""
        held = np.array([float(cell.grade.holds) for cell in cells])
        if not cells or held.min() == held.max():
            return ()
        groups = [
            np.array([[float(cell.setting[place] == level) for level in factor.levels] for cell in cells])
            for place, factor in enumerate(self.search.factors)
        ]
        dealt = np.random.default_rng(SEED).permuted(np.tile(held, (SHUFFLES, 1)), axis=1)
        chance = float(np.quantile(np.max([_between(group, dealt) for group in groups], axis=0), CONFIDENCE))
        shares = [float(_between(group, held[None, :])[0]) for group in groups]
        found = [
            Deciding(factor.name, max(share, 0.0), share > chance)
            for factor, share in zip(self.search.factors, shares, strict=True)
        ]
        return tuple(sorted(found, key=lambda one: -one.share)[:MOST_DECIDING])

    def _flips(self, cells: Sequence[Cell]) -> tuple[Flip, ...]:
        """Return, for each preset, all single changes that flip it, or the fewest together, if few do."""
        found = []
        for preset, setting in self.search.presets.items():
            own = next(cell for cell in cells if cell.setting == setting)
            others = [
                (self._changes(setting, cell.setting), cell.grade)
                for cell in cells
                if cell.is_decided and cell.grade.holds != own.grade.holds
            ]
            fewest = min(others, key=lambda one: len(one[0]), default=None)
            if own.is_decided and fewest and len(fewest[0]) <= MOST_CHANGES:
                single = [one for one in others if len(one[0]) == 1]
                found += [Flip(preset, *one) for one in single or [fewest]]
        return tuple(found)

    def _changes(self, here: Setting, there: Setting) -> tuple[tuple[str, str], ...]:
        pairs = zip(self.search.factors, here, there, strict=True)
        return tuple((factor.name, level) for factor, own, level in pairs if level != own)


def explore(
    search: Search,
    targets: Sequence[Target],
    folder: Path,
    *,
    around: bool,
    seeds: str | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Space:
    """Try a balanced sample of the space, the presets and, if asked for, the neighbours of those that the plan names.

    Runs are kept in the folder and reused.

    Raises:
        InputError: if a scenario is wrong.
        CheckError: if a run broke one of its own checks.
        KeyboardInterrupt: if the user interrupted.

    """
    runs = Runs(search, targets, folder, watcher or Watcher())
    numbers = runs.first_seeds(seeds)
    sample = list(dict.fromkeys(_sample(search)))
    named = [search.base, *search.presets.values()]
    near = [one for setting in search.around for one in design.neighbours(search.factors, setting)] if around else []
    settings = list(dict.fromkeys([*named, *sample, *near]))
    cores = machine.cores() if jobs is None else check_whole("jobs", jobs, 1)
    again = range(numbers.start, max(numbers.stop, numbers.start + repeated.RUNS))
    noise = None if len(numbers) >= repeated.ENOUGH else runs.noise(sample[: repeated.REPEATED], again, cores)
    scores = runs.scores(settings, numbers, cores, noise)
    return Space(search, targets, scores, sample, numbers, noise, folder)


def _sample(search: Search) -> list[Setting]:
    """Return sampled settings; what only presets choose stays at the base."""
    drawn = design.sample([factor for factor in search.factors if factor.is_sampled], search.settings)
    found = []
    for levels in map(iter, drawn):
        pairs = zip(search.factors, search.base, strict=True)
        found.append(tuple(next(levels) if factor.is_sampled else usual for factor, usual in pairs))
    return found


def _between(group: Reals, outcomes: Reals) -> Reals:
    """Return the share of each row's variance that lies between the levels, beyond chance's (epsilon squared).

    Without a level that comes twice nothing is known: zero.
    """
    there = group[:, group.any(axis=0)]
    count, levels = there.shape
    if count == levels:
        return np.zeros(len(outcomes))
    centred = outcomes - outcomes.mean(axis=1, keepdims=True)
    sums = centred @ there
    shares: Reals = (sums**2 / there.sum(axis=0)).sum(axis=1) / (centred**2).sum(axis=1)
    beyond: Reals = 1.0 - (1.0 - shares) * (count - 1) / (count - levels)
    return beyond
