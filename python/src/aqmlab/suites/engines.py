"""Where the order of disciplines differs between the engines of a suite, by the intervals of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from aqmlab.results.ranking import Ranking, rankings
from aqmlab.suites.plan import OVER
from aqmlab.suites.run import Outcome, Part
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.names import engine_of, listed, on

# More reversals are counted.
MOST_NAMED = 6


@dataclass(frozen=True)
class Pair:
    """Two disciplines by a measure of a scenario, and which is distinguishably ahead in each engine, if one is."""

    section: str
    title: str
    point: str
    metric: str
    aqms: tuple[str, str]
    ahead: tuple[str, ...]

    @property
    def is_decided(self) -> bool:
        """Whether every engine distinguishes them."""
        return all(self.ahead)

    @property
    def is_reversed(self) -> bool:
        """Whether engines that tell them apart put them in different orders."""
        return len({one for one in self.ahead if one}) > 1


def pairs(outcome: Outcome) -> list[Pair]:
    """Return every two disciplines by what matters of every scenario; none unless there are several engines."""
    return [pair for part in outcome.parts for pair in _of_part(part, outcome.engines)] if outcome.engines else []


def headline(outcome: Outcome) -> list[str]:
    """Return in sentences where the order of disciplines differs between engines; none unless there are several."""
    found = pairs(outcome)
    if not found:
        return []
    engines = listed(outcome.engines)
    decided, reversals = [one for one in found if one.is_decided], [one for one in found if one.is_reversed]
    head = f"Of {len(found)} comparisons of two disciplines, {engines} both tell {len(decided)} apart"
    sentences = [
        f"{head}, and {f'reverse the order in {len(reversals)}' if reversals else 'agree on the order in all of them'}."
    ]
    alone = [
        f"{count} by {engine}"
        for number, engine in enumerate(outcome.engines)
        if (count := sum(bool(one.ahead[number]) and not one.is_decided for one in found))
    ]
    sentences += [f"One engine alone distinguishes others: {listed(alone)}."] if alone else []
    for one in reversals[:MOST_NAMED]:
        sides = [f"{ahead} in {engine}" for ahead, engine in zip(one.ahead, outcome.engines, strict=True)]
        place = f"{one.section} {one.title}{f' ({one.point})' if one.point else ''}"
        sentences.append(f"{place}, {metrics.find(one.metric).phrase}: {listed(sides)} is ahead of the other.")
    if len(reversals) > MOST_NAMED:
        sentences.append(f"And {len(reversals) - MOST_NAMED} more, which the tables show.")
    return sentences


def _of_part(part: Part, engines: Sequence[str]) -> Iterator[Pair]:
    result = part.result
    names = list(dict.fromkeys(engine_of(aqm)[0] for aqm in result.aqms))
    for metric in part.entry.matters:
        if OVER in metric or not metrics.find(metric).better:
            continue
        for number, point in enumerate(result.points):
            orders = [_order(part, number, [on(name, engine) for name in names], metric) for engine in engines]
            for one, other in combinations(names, 2):
                ahead = tuple(_ahead(order, one, other, engine) for order, engine in zip(orders, engines, strict=True))
                where = ", ".join(f"{key} {value}" for key, value in point.items())
                yield Pair(part.entry.section, part.entry.title, where, metric, (one, other), ahead)


def _order(part: Part, point: int, aqms: Sequence[str], metric: str) -> Ranking | None:
    known = [aqm for aqm in aqms if aqm in part.result.aqms]
    found = rankings(part.result.family, part.result.rows, [point], known, [metric]) if len(known) > 1 else []
    return found[0] if found else None


def _ahead(order: Ranking | None, one: str, other: str, engine: str) -> str:
    """Which of two is distinguishably ahead; empty if neither is."""
    labels = {on(name, engine): name for name in (one, other)}
    if order is None or not set(labels) <= set(order.aqms):
        return ""
    first, second = sorted(labels, key=order.aqms.index)
    return labels[first] if second in order.behind(first) else ""
