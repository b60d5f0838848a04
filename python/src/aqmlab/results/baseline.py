"""What changed since an earlier result of the same scenario: old and new means, paired by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from aqmlab.results import groups
from aqmlab.results.differences import in_unit
from aqmlab.results.marks import mark_of
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Difference
from aqmlab.vocabulary import metrics

if TYPE_CHECKING:
    from aqmlab.results.result import Result

# The file of a result folder that has them.
FILE = "baseline.json"
# What may differ: the disciplines, how many seeds there are, and what follows from how the options were written.
FREE = ("aqm", "seeds", "first_seed", "rules", "defaults")


@dataclass(frozen=True)
class Change:
    """A metric of a discipline in a scenario: its old and its new mean over the seeds of both, and their difference."""

    point: int
    aqm: str
    metric: str
    old: float
    new: float
    difference: Difference

    @property
    def words(self) -> str:
        """The change in words."""
        metric, estimate = metrics.find(self.metric), self.difference.estimate
        text = in_unit(metric, self.old, self.new)
        scale = " %" if metric.is_share else ""
        old, new = (text(value, bare=True) for value in (self.old, self.new))
        unit = scale or (f" {metric.unit}" if metric.unit else "")
        return f"{metric.phrase} {old} → {new}{unit} ({text(estimate.value, '+')}){mark_of(self.difference)}"


def first_difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Return the first key in which two resolved scenarios differ in more than their disciplines, with both values.

    Keys that one of them lacks are those of another version, and do not count.

    >>> first_difference({"rate": "10mbit", "aqm": ["pie"]}, {"rate": "10mbit", "aqm": ["codel"], "loss": "0%"})
    ''
    >>> ours = {"name": "cubic", "kind": "cubic", "count": 2, "keys": {"iw": "10", "sack": "on"}}
    >>> first_difference({"groups": [ours]}, {"groups": [{**ours, "keys": {"iw": "4"}}]})
    "flows: '2*cubic:iw=4' there and '2*cubic:iw=10' here"

    """
    own, others = (one.get(groups.KEY, ()) for one in (ours, theirs))
    is_paired = len(own) == len(others) > 0
    for name, value in ours.items():
        is_said = name == groups.KEY or (name == "flows" and is_paired)
        if is_said or name in FREE or name not in theirs or theirs[name] == value:
            continue
        return f"{name}: {_shown(theirs[name])} there and {_shown(value)} here"
    for one, other in zip(own, others, strict=True) if is_paired else ():
        if found := _of_group(one, other):
            return f"flows: '{found[1]}' there and '{found[0]}' here"
    return ""


def _of_group(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return how two groups of flows differ in the first key that both have; nothing if they do not."""
    head, other_head = (f"{one['count']}*{one['kind']}" for one in (ours, theirs))
    if head != other_head:
        return head, other_head
    for key, value in ours["keys"].items():
        if (other := theirs["keys"].get(key, value)) != value:
            return f"{head}:{key}={value}", f"{head}:{key}={other}"
    return None


def _shown(value: Any) -> str:
    return f"'{', '.join(map(str, value))}'" if isinstance(value, list) else f"'{value}'"


def changes(result: Result, baseline: Result) -> list[Change]:
    """Return what changed, of the disciplines, scenarios and seeds that both results have: one family of tests."""
    found = []
    names = [name for name in result.compared if name in result.runs.columns and name in baseline.runs.columns]
    for point in range(min(len(result.points), len(baseline.points))):
        for aqm in result.aqms:
            new, old = (_values(one, point, aqm, names) for one in (result, baseline))
            for name in names:
                if not result.shows(point, name):
                    continue
                seeds = [seed for seed in new if seed in old and None not in (new[seed][name], old[seed][name])]
                if seeds:
                    pair = [[side[seed][name] for seed in seeds] for side in (new, old)]
                    means = [sum(values) / len(values) for values in pair]
                    found.append(Change(point, aqm, name, means[1], means[0], statistics.paired(*pair)))
    family = statistics.family([one.difference for one in found])
    return [replace(one, difference=difference) for one, difference in zip(found, family, strict=True)]


def _values(result: Result, point: int, aqm: str, names: Sequence[str]) -> dict[int, dict[str, Any]]:
    runs = result.runs.filter((pl.col("point") == point) & (pl.col("aqm") == aqm)).select("seed", *names)
    return {row.pop("seed"): row for row in runs.sort("seed").iter_rows(named=True)}


def changes_json(found: Sequence[Change], result: Result, baseline: Result) -> dict[str, Any]:
    """Return changes as plain data."""
    return {
        "baseline": {"folder": str(baseline.folder), **{key: baseline.manifest[key] for key in ("aqmlab", "created")}},
        "changes": [
            {
                **({"point": result.points[one.point]} if result.points[one.point] else {}),
                "aqm": one.aqm,
                "metric": one.metric,
                "old": one.old,
                "new": one.new,
                "difference": one.difference.estimate.value,
                "ci95_low": one.difference.estimate.low,
                "ci95_high": one.difference.estimate.high,
                "n": one.difference.estimate.n,
                "p_holm": one.difference.p_holm,
                "distinguishable": one.difference.is_distinguishable,
                "equivalent": one.difference.is_equivalent,
                "equal": one.old == one.new and one.difference.is_zero,
                "words": one.words,
            }
            for one in found
        ],
    }


def by_discipline(result: Result) -> list[tuple[str, list[str], bool]]:
    """Return for each discipline and scenario its name, what changed in words, and whether anything did."""
    found = result.since["changes"] if result.since else []
    lines = []
    for point in result.points:
        place = " ".join(f"{key} {value}" for key, value in point.items())
        for aqm in result.aqms:
            own = [one for one in found if one["aqm"] == aqm and one.get("point", {}) == point]
            changed = [one["words"] for one in own if not one["equal"]]
            still = "the same in every run" if own else "not in the baseline, or no seed in common"
            lines.append((f"{aqm} {place}".strip(), changed or [still], bool(changed)))
    return lines


__all__ = ["FILE", "Change", "by_discipline", "changes", "changes_json", "first_difference"]
