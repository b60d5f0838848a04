"""A card for each control of a suite: what differs beyond chance from a known control in each scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aqmlab.results.differences import in_unit
from aqmlab.stats.statistics import Difference
from aqmlab.suites.plan import OVER
from aqmlab.suites.run import Outcome, Part
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.metrics import Metric

# RFC 9438: on the standards track, and what most hosts send with.
KNOWN = "cubic"


@dataclass(frozen=True)
class Finding:
    """A measure of a scenario's setting: the control's value, that of the known one, and their difference in words."""

    part: Part
    setting: str
    measure: str
    value: str
    known: str
    difference: str


@dataclass(frozen=True)
class Card:
    """What a control does better and worse than another; ``alike`` counts what does not differ beyond chance."""

    control: str
    known: str
    better: tuple[Finding, ...]
    worse: tuple[Finding, ...]
    other: tuple[Finding, ...]
    alike: int


def cards(outcome: Outcome) -> list[Card]:
    """Return the cards of a suite of controls, without that of the control that the others are held against."""
    if len(outcome.controls) < 2:
        return []
    known = KNOWN if KNOWN in outcome.controls else outcome.controls[0]
    return [_card(outcome, control, known) for control in outcome.controls if control != known]


def _card(outcome: Outcome, control: str, known: str) -> Card:
    sides: dict[str, list[Finding]] = {"better": [], "worse": [], "other": []}
    alike = 0
    for part in outcome.parts:
        result = part.shown
        means = {(row.point, row.metric, row.aqm): row.estimate.value for row in result.shown_rows}
        for column in part.entry.matters:
            if OVER in column:
                continue
            metric = metrics.find(column)
            for one in [one for one in result.rankings if one.metric == column]:
                pair = (control, known) if (control, known) in one.pairs else (known, control)
                difference = one.pairs.get(pair)
                if difference is None:
                    continue
                if not difference.is_distinguishable:
                    alike += 1
                    continue
                own, others = (means[one.point, column, name] for name in (control, known))
                text = _text(metric, own, others)
                if text(own) == text(others):
                    alike += 1
                    continue
                higher = own > others
                side = "other" if not metric.better else "better" if higher == (metric.better == "higher") else "worse"
                setting = ", ".join(f"{key} {value}" for key, value in result.points[one.point].items())
                sides[side].append(
                    Finding(part, setting, metric.phrase, text(own), text(others), _words(metric, difference))
                )
    return Card(control, known, tuple(sides["better"]), tuple(sides["worse"]), tuple(sides["other"]), alike)


def _text(metric: Metric, *values: float) -> Callable[[float], str]:
    """What writes values themselves: shares in per cent, their differences in points."""
    return (lambda value: f"{100 * value:.2f} %") if metric.is_share else in_unit(metric, *values)


def _words(metric: Metric, difference: Difference) -> str:
    """The difference with its interval, without a sign: which is higher, the values say."""
    estimate = difference.estimate
    text = in_unit(metric, estimate.value, estimate.low, estimate.high)
    ends = sorted(abs(end) for end in (estimate.low, estimate.high) if end is not None)
    return f"{text(abs(estimate.value))} [{', '.join(text(end, bare=True) for end in ends)}]"


__all__ = ["Card", "Finding", "cards"]
