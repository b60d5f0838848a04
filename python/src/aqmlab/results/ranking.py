"""The order of AQMs by a metric, in words: who is ahead of whom, by how much, and who cannot be told apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aqmlab.results.frames import Frames
from aqmlab.results.summary import Row, differences, in_unit
from aqmlab.stats.statistics import Difference
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.names import listed


@dataclass(frozen=True)
class Step:
    """A difference between two AQMs that separates a group from the next."""

    ahead: str
    behind: str
    difference: Difference


@dataclass(frozen=True)
class Ranking:
    """The AQMs of a scenario by a metric, the best (or else the lowest) first.

    ``groups`` are the largest groups of neighbours of which no two are distinguishable: an AQM alone is one, and
    groups may overlap. Each of ``steps`` separates a group from the next. It does not separate all of them: a noisy AQM
    may be indistinguishable from one of another group. ``pairs`` has the difference of each two that were compared.
    """

    point: int
    metric: str
    aqms: Sequence[str]
    groups: Sequence[Sequence[str]]
    steps: Sequence[Step]
    pairs: Mapping[tuple[str, str], Difference]

    def behind(self, aqm: str) -> list[str]:
        """Those that an AQM is distinguishably ahead of."""
        later = self.aqms[self.aqms.index(aqm) + 1 :]
        return [one for one in later if (aqm, one) in self.pairs and self.pairs[aqm, one].is_distinguishable]

    @property
    def best(self) -> list[str]:
        """The first, and all that are not distinguishable from it."""
        return [aqm for aqm in self.aqms if aqm not in self.behind(self.aqms[0])]

    @property
    def worst(self) -> list[str]:
        """The last, and all that are not distinguishable from it."""
        return [aqm for aqm in self.aqms if self.aqms[-1] not in self.behind(aqm)]

    def alike(self, aqms: Sequence[str]) -> str:
        """In which way some are alike: equal in every run or not distinguishable; empty if two of them differ."""
        found = [self.pairs.get(pair) for pair in itertools.combinations(aqms, 2)]
        if all(one is not None and one.is_zero for one in found):
            return "equal in every run"
        return "" if any(one is not None and one.is_distinguishable for one in found) else "not distinguishable"

    @property
    def words(self) -> str:
        """The order in words."""
        metric = metrics.find(self.metric)
        alike = [f"{listed(group)} are {self.alike(group)}" for group in self.groups if len(group) > 1]
        across = [f"{aqm} is not distinguishable from {listed(others)}" for aqm, others in self._across() if others]
        apart = []
        for step in self.steps:
            estimate = step.difference.estimate
            text = in_unit(metric, estimate.value, estimate.low, estimate.high)
            ends = sorted(abs(end) for end in (estimate.low, estimate.high) if end is not None)
            interval = ", ".join(text(end, bare=True) for end in ends)
            how = "higher" if metric.better == "higher" else "lower"
            apart.append(f"{step.ahead} is {how} than {step.behind} by {text(abs(estimate.value))} [{interval}]")
        return f"{metric.phrase}: {'; '.join([*alike, *across, *apart])}"

    def _across(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each AQM with those after it that share no group with it, and yet are not distinguishable from it."""
        for place, aqm in enumerate(self.aqms):
            known = {*self.behind(aqm), *(one for group in self.groups if aqm in group for one in group)}
            yield aqm, [one for one in self.aqms[place + 1 :] if one not in known]


def rankings(
    frames: Frames,
    rows: Sequence[Row],
    points: Sequence[int],
    aqms: Sequence[str],
    names: Sequence[str] = metrics.COMPARED,
) -> list[Ranking]:
    """Return the order of the AQMs of each scenario by each metric.

    All pairs are compared; Holm's correction covers those of a metric, in a sweep over all scenarios.
    """
    pairs = list(itertools.combinations(aqms, 2))
    found = differences(frames, points, pairs, names, lambda one: one.metric)
    compared = {(one.point, one.metric, one.reference, one.aqm): one.difference for one in found}
    means = {(row.point, row.metric, row.aqm): row.estimate.value for row in rows if row.estimate.n > 1}

    def ranking(point: int, name: str) -> Ranking | None:
        values = {aqm: means[point, name, aqm] for aqm in aqms if (point, name, aqm) in means}
        order = sorted(values, key=lambda aqm: values[aqm], reverse=metrics.find(name).better == "higher")

        def between(one: str, other: str) -> Difference | None:
            return compared.get((point, name, one, other)) or compared.get((point, name, other, one))

        return _ranking(point, name, order, between) if len(order) > 1 else None

    return [one for point in points for name in names if (one := ranking(point, name)) is not None]


def _ranking(
    point: int, metric: str, order: Sequence[str], between: Callable[[str, str], Difference | None]
) -> Ranking:
    def differ(one: int, other: int) -> bool:
        difference = between(order[one], order[other])
        return difference is not None and difference.is_distinguishable

    spans: list[tuple[int, int]] = []
    for end in range(len(order)):
        start = max((one + 1 for one in range(end) if differ(one, end)), default=0)
        start = max(start, spans[-1][0] if spans else 0)
        if spans and spans[-1][0] == start:
            spans.pop()
        spans.append((start, end))
    steps = []
    for (_, last), (first, end) in itertools.pairwise(spans):
        # The last of a group that the next one lacks differs from somebody in what the next one adds.
        behind = next(one for one in range(last + 1, end + 1) if differ(first - 1, one))
        difference = between(order[first - 1], order[behind])
        assert difference is not None
        steps.append(Step(order[first - 1], order[behind], difference))
    pairs = {pair: found for pair in itertools.combinations(order, 2) if (found := between(*pair)) is not None}
    return Ranking(point, metric, order, [order[start : end + 1] for start, end in spans], steps, pairs)


__all__ = ["Ranking", "Step", "rankings"]
