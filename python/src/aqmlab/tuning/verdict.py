"""The verdict: tuned settings against the default where nothing was chosen, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from aqmlab.results import Result
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Difference
from aqmlab.tuning.goal import DEFAULT, Bound, Goal
from aqmlab.tuning.search import best_of
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import about


@dataclass(frozen=True)
class Improvement:
    """A tuned setting against the default in one metric.

    Attributes:
        aqm: the setting.
        metric: the metric.
        default: the default's mean over the judging scenarios and their seeds.
        tuned: the setting's.
        difference: paired; its unit is the scenario, or the run where only one scenario judges.
        unit: ``scenarios`` or ``seeds``.

    """

    aqm: str
    metric: str
    default: float
    tuned: float
    difference: Difference
    unit: str

    @property
    def beats(self) -> bool:
        """Whether the setting is better, and not by chance."""
        return self.difference.is_distinguishable and self.difference.estimate.value < 0.0

    @property
    def words(self) -> str:
        """The verdict in words."""
        estimate, metric = self.difference.estimate, metrics.find(self.metric)
        over = f"over {estimate.n} unseen {self.unit}"
        if estimate.low is None or estimate.high is None:
            return f"{metric.phrase}: one run says nothing about chance ({_number(estimate.value)} {metric.unit})"
        size = f"{_number(abs(estimate.value))} {metric.unit}".rstrip()
        share = f", {abs(estimate.value / self.default):.0%}" if self.default else ""
        ends = f"({_number(estimate.low)} to {_number(estimate.high)}{share}, {over})"
        if self.beats:
            ends = f"({_number(-estimate.high)} to {_number(-estimate.low)}{share}, {over})"
            return f"beats the default by {size} of {metric.phrase} {ends}"
        if self.difference.is_distinguishable:
            return f"does not beat the default: {metric.phrase} is {size} higher {ends}"
        return f"does not beat the default: undecided in {metric.phrase} {ends}"


@dataclass(frozen=True)
class BoundCheck:
    """In how many of the judging scenarios a setting, and the default, keep a bound."""

    aqm: str
    bound: str
    met: int
    default: int
    of: int

    @property
    def words(self) -> str:
        """The same in words."""
        return f"keeps {self.bound} in {self.met} of {self.of} unseen scenarios (the default in {self.default})"


@dataclass(frozen=True)
class Judged:
    """The default or a tuned setting where nothing was chosen.

    Attributes:
        aqm: the setting.
        values: means of the metrics over the judging scenarios and their seeds.
        is_front: whether none of the others that were judged is as small in all that is minimised, and smaller in some.

    """

    aqm: str
    values: dict[str, float]
    is_front: bool


def judged(result: Result, goal: Goal, aqms: Sequence[str]) -> list[Judged]:
    """Return what these settings are worth where nothing was chosen.

    Raises:
        InputError: if a run has no value of a metric of the goal.

    """
    means = _means(result, goal.metrics)
    values = {aqm: {name: sum(own) / len(own) for name, own in means[aqm].items()} for aqm in aqms}
    front = best_of({aqm: tuple(own[name] for name in goal.minimise) for aqm, own in values.items()})
    return [Judged(aqm, own, aqm in front) for aqm, own in values.items()]


def judge(result: Result, goal: Goal, default: str, chosen: Sequence[str]) -> list[Improvement]:
    """Return the verdicts on all metrics of the goal, as one family of tests.

    Raises:
        InputError: if a run has no value of one.

    """
    means = _means(result, goal.metrics)
    found: list[Improvement] = []
    for aqm in chosen:
        for metric in goal.minimise:
            unit, own, other = "scenarios", means[aqm][metric], means[default][metric]
            if len(own) == 1:
                unit, own, other = "seeds", _runs(result, aqm, metric), _runs(result, default, metric)
            default_mean, tuned_mean = (sum(side) / len(side) for side in (other, own))
            found.append(Improvement(aqm, metric, default_mean, tuned_mean, statistics.paired(own, other), unit))
    corrected = statistics.family([one.difference for one in found])
    return [
        Improvement(one.aqm, one.metric, one.default, one.tuned, difference, one.unit)
        for one, difference in zip(found, corrected, strict=True)
    ]


def bound_checks(result: Result, goal: Goal, default: str, chosen: Sequence[str]) -> list[BoundCheck]:
    """Return in how many scenarios bounds are met."""
    means = _means(result, goal.metrics)

    def count(aqm: str, bound: Bound) -> int:
        name = default if bound.reference == DEFAULT else bound.reference
        others = means[name][bound.metric] if name else [None] * len(means[aqm][bound.metric])
        pairs = zip(means[aqm][bound.metric], others, strict=True)
        return sum(bound.missed(own, other) == 0.0 for own, other in pairs)

    return [
        BoundCheck(aqm, bound.text, count(aqm, bound), count(default, bound), len(result.points))
        for aqm in chosen
        for bound in goal.bounds
    ]


def _means(result: Result, names: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Return the mean over seeds of each metric in each scenario, by AQM."""
    for name in names:
        none = result.runs.filter(pl.col(name).is_null()) if name in result.runs.columns else result.runs
        for aqm, seed in none.select("aqm", "seed").iter_rows():
            raise about("judge", f"the run of '{aqm}' with seed {seed} has no '{name}': make the runs longer")
    means = result.runs.group_by("aqm", "point").agg(pl.col(*names).mean()).sort("point")
    return {aqm: {name: means.filter(pl.col("aqm") == aqm)[name].to_list() for name in names} for aqm in result.aqms}


def _runs(result: Result, aqm: str, metric: str) -> list[float]:
    values: list[float] = result.runs.filter(pl.col("aqm") == aqm).sort("seed")[metric].to_list()
    return values


def _number(value: float) -> str:
    return f"{'-' if value < 0 else ''}{metrics.number(abs(value))}"
