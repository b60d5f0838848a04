"""The names that a paper's table shows, in words: what a measure measures, and what a factor decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aqmlab.papers.paper import Paper
from aqmlab.papers.summary import Line
from aqmlab.results.measures import Measure
from aqmlab.vocabulary import metrics

# What a series is reduced by, in front of its name.
_HOW = {
    "mean": "mean of", "min": "least of", "max": "largest", "last": "last of", "deviation": "standard deviation of",
    "variation": "coefficient of variation of", "sum": "sum of",
}  # fmt: skip
# People whose names begin labels.
_NAMES = ("Jain", "Poisson")


def of_table(paper: Paper, lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Return each name that a table shows, with its meaning: measures first, then factors.

    A name with several meanings has the claims behind it: ``early (spie-10)``.
    """
    meanings: dict[str, dict[str, list[str]]] = {}
    shown = {line.id: line for line in lines}
    for claim in paper.claims:
        if claim.id not in shown:
            continue
        for name, measure in claim.measures.items():
            if name and _has(shown[claim.id].texts, name):
                meanings.setdefault(name, {}).setdefault(in_words(measure), []).append(claim.id)
    measures = [
        (name if len(found) == 1 else f"{name} ({', '.join(claims)})", words)
        for name, found in meanings.items()
        for words, claims in found.items()
    ]
    sensitive = [text for line in lines for text in (line.settings, line.factors)]
    factors = [(one.name, _lower(one.says)) for one in paper.factors if one.says and _has(sensitive, one.name)]
    return measures + factors


def in_words(measure: Measure) -> str:
    """Return what a measure measures, in words.

    >>> in_words(Measure("queue_packets", "s1", until_s=2.0, how="max"))
    'largest queue, until 2 s, scenario s1'
    >>> in_words(Measure("qdelay_mean_ms", "", point=(("rtt", "20ms"),)))
    'mean queue delay, rtt 20ms'

    """
    if measure.is_series:
        words = f"{_HOW[measure.how]} {_lower(metrics.series_title(measure.of).partition(' (')[0])}"
        if measure.over:
            words += f" over {_lower(metrics.series_title(measure.over).partition(' (')[0])}"
    else:
        words = _lower(metrics.find(measure.of).label)
    parts = [words, _times(measure), f"scenario {measure.scenario}" if measure.scenario else ""]
    return ", ".join(filter(None, [*parts, *(f"{name} {value}" for name, value in measure.point)]))


def _times(measure: Measure) -> str:
    since, until = measure.since_s, measure.until_s
    if until is not None:
        return f"from {since:g} s to {until:g} s" if since else f"until {until:g} s"
    return f"from {since:g} s on" if since else ""


def _has(texts: Iterable[str], name: str) -> bool:
    """Whether a name stands in some texts, and not as a part of another."""
    whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return any(whole.search(text) for text in texts)


def _lower(label: str) -> str:
    """Write a label or a sentence within another; one that begins with a name keeps its capital."""
    is_name = label[1:2].isupper() or label.startswith(_NAMES)
    return label if is_name else label[:1].lower() + label[1:]


__all__ = ["in_words", "of_table"]
