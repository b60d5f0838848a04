"""Which setup is best: what a household would notice of each, summed up; worse is what chance does not explain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import polars as pl

from aqmlab import _native
from aqmlab.advice.thresholds import FIGURES, NOTICEABLE_STEPS, Figure, Observation
from aqmlab.results import Result
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary.errors import about
from aqmlab.vocabulary.scopes import of_group

# Increase of the round-trip time when the line is fully used (ms), below which a line has a grade.
GRADES, WORST_GRADE = _native.advice_grades()
# Grades at which a line is no good.
POOR = ("D", WORST_GRADE)
# What the grade is made of.
PING = "ping_increase_ms"
# Shown, not judged: its likes, and what is carried in all.
RPM, GAME_MEDIAN, TOTAL = "rpm", "game_rtt_p50_ms", "goodput_mbit"


@dataclass(frozen=True)
class Ranked:
    """A setup: its grade, and how far it is behind.

    ``shortfalls`` are how far each figure is behind the best, in steps (`Figure.shortfall`), and ``behind`` is their
    sum with a step for each grade that is better elsewhere.
    """

    name: str
    grade: str
    shortfalls: dict[str, float]
    behind: float


@dataclass(frozen=True)
class Judged(Ranked):
    """A setup with its figures, and in which it is noticeably worse than the best (by what).

    ``unseen`` is the share of runs that have no value of a figure, since no page finished or the video never began.
    """

    values: dict[str, Estimate]
    worse: dict[str, float]
    unseen: dict[str, float]

    def shown(self, figure: Figure) -> str:
        """Return a figure as a table has it; a page load with ">" if no page finished in some run."""
        more = ">" if figure.name == "page_load_s" and self.unseen.get(figure.name) else ""
        return f"{more}{self.values[figure.name].value:.{figure.digits}f}"


R = TypeVar("R", bound=Ranked)


def shown(judged: Sequence[Judged]) -> list[Figure]:
    """Return the figures of a table: one that is zero in every setup, as stalls of a video often are, says nothing."""
    return [one for one in FIGURES if any(setup.values[one.name].value for setup in judged)]


@dataclass(frozen=True)
class Choice:
    """Every setup in order, the chosen one, and the one that would be next.

    Those ``alike`` differ from it by less than is noticeable in every figure, with 95 % confidence. Those ``tied`` have
    the same grade and are behind by at most a step more, but are not shown to be alike.
    """

    judged: tuple[Judged, ...]
    chosen: str
    runner_up: str
    alike: tuple[str, ...]
    tied: tuple[str, ...]

    def of(self, name: str) -> Judged:
        """Return a setup by its name."""
        return next(one for one in self.judged if one.name == name)


def grade(increase_ms: float) -> str:
    """Return the grade of an increase of the round-trip time.

    >>> grade(4.0), grade(150.0), grade(2000.0)
    ('A+', 'C', 'F')

    """
    return _native.advice_grade(increase_ms)


def judge(result: Result, minutes: float) -> Choice:
    """Judge the setups, which are the points of a result, the usual ones first.

    What each setup is behind the best in each figure is summed up, in steps of which one is noticeable, and a grade
    counts as a step; `best` says which is named.

    A setup is worse in a figure if its mean paired difference from the best setup is large enough to be noticeable and
    significant at 5 % after Holm's correction over the setups.

    Raises:
        InputError: if a setup has fewer than two finished runs.

    """
    samples = Samples.of(result, minutes)
    values = samples.values
    means = {name: {figure: statistics.mean(some) for figure, some in own.items()} for name, own in values.items()}
    shown = {
        name: _shown(some, result.histograms.filter(pl.col("point") == number))
        for number, (name, some) in enumerate(samples.runs.items())
    }
    worse = _worse([*values], values)
    judged = tuple(
        Judged(
            **vars(one),
            values=means[one.name] | shown[one.name],
            worse=worse[one.name],
            unseen=samples.unseen[one.name],
        )
        for one in ranked({name: {figure: mean.value for figure, mean in own.items()} for name, own in means.items()})
    )
    chosen = best(judged)
    others = [one for one in judged if one is not chosen]
    alike = tuple(
        one.name for one in others if one.grade == chosen.grade and _are_alike(values[one.name], values[chosen.name])
    )
    tied = tuple(
        one.name
        for one in others
        if one.name not in alike and one.grade == chosen.grade and abs(one.behind - chosen.behind) <= NOTICEABLE_STEPS
    )
    return Choice(judged, chosen.name, best(others).name, alike, tied)


@dataclass(frozen=True)
class Samples:
    """By setup, its runs and what each gave of every figure, and by how much its pings rose.

    ``unseen`` is as in `Judged`; in ``values`` something stands for what is unseen.
    """

    runs: dict[str, list[dict[str, Any]]]
    values: dict[str, dict[str, list[float]]]
    unseen: dict[str, dict[str, float]]

    @staticmethod
    def of(result: Result, minutes: float) -> Samples:
        """Read them from a result whose points are setups.

        Raises:
            InputError: if a setup has fewer than two finished runs.

        """
        runs = {
            point["setup"]: result.runs.filter(pl.col("point") == number).sort("seed").to_dicts()
            for number, point in enumerate(result.points)
        }
        if any(len(one) < 2 for one in runs.values()):
            raise about("seeds", "at least 2 finished runs of every setup are needed for an interval")
        values: dict[str, dict[str, list[float]]] = {name: {} for name in runs}
        unseen: dict[str, dict[str, float]] = {name: {} for name in runs}
        for name, some in runs.items():
            seen = [Observation.of(run, minutes) for run in some]
            for figure in FIGURES:
                found = [(one.values[figure.name], one.unseen[figure.name]) for one in seen]
                missing = sum(value is None for value, _ in found)
                if missing:
                    unseen[name][figure.name] = missing / len(found)
                values[name][figure.name] = [instead if value is None else value for value, instead in found]
            for beside in (PING, RPM):
                values[name][beside] = [one.beside[beside] for one in seen]
        return Samples(runs, values, unseen)


def ranked(means: Mapping[str, Mapping[str, float]]) -> list[Ranked]:
    """Return how far each setup is behind, by the means of its figures and of its pings."""
    plain = [{"name": name, "values": values} for name, values in means.items()]
    return [
        Ranked(**{**one, "shortfalls": {figure.name: one["shortfalls"][figure.name] for figure in FIGURES}})
        for one in json.loads(_native.advice_ranked(json.dumps(plain)))
    ]


def place(grade: str) -> int:
    """Return the place of a grade, 0 for the best."""
    return [*(one for _, one in GRADES), WORST_GRADE].index(grade)


def best(judged: Sequence[R]) -> R:
    """Return the setup to take.

    The best grade of the setups within a step of the least sum is kept. Of those with this grade or a better one, which
    are at most two steps behind the least sum (that annoys slightly), the best supported are kept (`support`), and of
    them those with the best grade. The usual one of them is chosen, unless another is noticeably closer, by more than a
    step: that with CAKE's ACK filter, which is tried only where a line is far slower up, and the first. A setup is out
    if one with a better grade has no greater sum: so none is chosen over one with a better grade that is not behind
    elsewhere by more than a step for each grade.
    """
    plain = [
        {"name": one.name, "grade": one.grade, "shortfalls": one.shortfalls, "behind": one.behind} for one in judged
    ]
    name = _native.advice_best(json.dumps(plain))
    return next(one for one in judged if one.name == name)


def _shown(runs: Sequence[Mapping[str, Any]], histograms: pl.DataFrame) -> dict[str, Estimate]:
    """What is shown of a setup and not judged."""
    medians = [
        _median_ms(histograms.filter(pl.col("name") == of_group(f"game_{direction}").metric("owd")))
        for direction in ("down", "up")
    ]
    return {
        # Of both directions together, which is near the median of their sum.
        GAME_MEDIAN: Estimate(sum(medians), None, None, len(runs)),
        TOTAL: statistics.mean([run[TOTAL] for run in runs]),
    }


def _median_ms(histogram: pl.DataFrame) -> float:
    """The median of a delay over all runs."""
    merged = histogram.group_by("value_ns").agg(pl.col("count").sum()).sort("value_ns")
    counts = merged["count"].to_numpy().astype(float).reshape(1, -1)
    return statistics.percentile(counts, merged["value_ns"].to_numpy() / 1e6, 0.5).value if counts.any() else np.nan


def _are_alike(some: Mapping[str, list[float]], chosen: Mapping[str, list[float]]) -> bool:
    """Whether the interval of every paired difference lies within what is not noticeable.

    It is Schuirmann's pair of one-sided tests ("A comparison of the two one-sided tests procedure", 1987) at 2.5 %.
    """
    for figure in FIGURES:
        difference = statistics.paired(some[figure.name], chosen[figure.name]).estimate
        if difference.low is None or difference.high is None:
            return False
        unnoticeable = figure.noticeable.of(statistics.mean(chosen[figure.name]).value)
        if max(-difference.low, difference.high) > unnoticeable:
            return False
    return True


def _worse(names: Sequence[str], values: Mapping[str, Mapping[str, list[float]]]) -> dict[str, dict[str, float]]:
    """In which figures each setup is noticeably worse than the best, and by how much."""
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for figure in FIGURES:
        means = {name: statistics.mean(values[name][figure.name]).value for name in names}
        ahead = max(names, key=lambda name: means[name] if figure.is_more_better else -means[name])
        others = [name for name in names if name != ahead]
        differences = [statistics.paired(values[name][figure.name], values[ahead][figure.name]) for name in others]
        for name, difference in zip(others, statistics.family(differences), strict=True):
            is_large = abs(difference.estimate.value) > figure.noticeable.of(means[ahead])
            if difference.is_distinguishable and is_large:
                found[name][figure.name] = difference.estimate.value
    return found
