"""The order of AQMs by a metric: who is ahead of whom, and between which the data show no difference."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aqmlab.results.differences import Comparison
from aqmlab.results.marks import SAME, UNDECIDED, legend, mark_of
from aqmlab.results.summary import Row
from aqmlab.stats.statistics import Difference
from aqmlab.vocabulary import metrics

# What stands between two that are no different, in words.
SIGNS = f"{legend(SAME + UNDECIDED)}, = equal in every run"


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
        return [one for one in later if self._differ(aqm, one)]

    @property
    def best(self) -> list[str]:
        """The first group: no other AQM lies between them, and no two of them are distinguishable."""
        return list(self.groups[0])

    @property
    def is_decided(self) -> bool:
        """Whether any two are distinguishable."""
        return len(self.groups) > 1

    @property
    def words(self) -> str:
        """The order: ``<`` or ``>`` where two differ, ``≈`` if they are the same within 5 %, ``=`` if in every run.

        Two of which the runs do not decide have ``?`` between them.

        What does not follow from the neighbours is added: ``a ≈ b ≈ c; a < c``.
        """
        phrase = metrics.find(self.metric).phrase
        signs = [self._sign(one, other) for one, other in itertools.pairwise(self.aqms)]
        chain = self.aqms[0] + "".join(f" {sign} {aqm}" for sign, aqm in zip(signs, self.aqms[1:], strict=True))
        return "; ".join([f"{phrase}: {chain}", *self._exceptions(signs)])

    def _exceptions(self, signs: Sequence[str]) -> Iterator[str]:
        """Yield the pairs of AQMs that are no neighbours and whose relation is not what the neighbours' suggest."""
        for one, other in itertools.combinations(range(len(self.aqms)), 2):
            between = any(sign in "<>" for sign in signs[one:other])
            sign = self._sign(self.aqms[one], self.aqms[other])
            if other > one + 1 and (sign in "<>") != between:
                yield f"{self.aqms[one]} {sign} {self.aqms[other]}"

    def _sign(self, ahead: str, behind: str) -> str:
        if self._differ(ahead, behind):
            return ">" if metrics.find(self.metric).better == "higher" else "<"
        pair = self.pairs.get((ahead, behind))
        return "=" if pair is not None and pair.is_zero else mark_of(pair) or UNDECIDED

    def _differ(self, ahead: str, behind: str) -> bool:
        pair = self.pairs.get((ahead, behind))
        return pair is not None and pair.is_distinguishable


def rankings(
    family: Sequence[Comparison], rows: Sequence[Row], points: Sequence[int], aqms: Sequence[str], names: Sequence[str]
) -> list[Ranking]:
    """Return the order of AQMs in each scenario by each metric, from the differences of all pairs (`family`)."""
    compared = {(one.point, one.metric, one.reference, one.aqm): one.difference for one in family}
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


__all__ = ["SIGNS", "Ranking", "Step", "rankings"]
