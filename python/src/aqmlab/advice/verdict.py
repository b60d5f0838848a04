"""Which way is best: a way is worse where a household would notice, and chance does not explain it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from aqmlab.results import Result
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary.errors import InputError

# dslreports.com/faq/17930: increase of the round-trip time when the line is fully used, in ms.
GRADES = ((5.0, "A+"), (30.0, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D"))
WORST_GRADE = "F"
# Grades at which a line is no good: such a way is taken only if all are.
POOR = ("D", WORST_GRADE)


# G.711 without loss or delay: R is 93.2 (ITU-T G.107).
BEST_MOS = 4.4


@dataclass(frozen=True)
class Figure:
    """Something that a household notices.

    ``least`` is the smallest difference that matters, in its unit and as a share of the best value: both must be
    exceeded. ``of`` computes it from a run's metrics and the length of the run in minutes.
    """

    name: str
    title: str
    unit: str
    digits: int
    is_more_better: bool
    least: float
    least_share: float
    of: Callable[[Mapping[str, Any], float], float | None]


def _least_mos(run: Mapping[str, Any], minutes: float) -> float:
    del minutes
    return min(float(run["mos_mean"]), float(run["mos_back_mean"]))


def _stalls(run: Mapping[str, Any], minutes: float) -> float | None:
    return None if run.get("video_bitrate_mbit") is None else float(run["video_stall_s"]) / minutes


def _both(run: Mapping[str, Any], group: str, metric: str) -> float:
    """Both directions' delays together: a round trip. Two 99th percentiles bound 98 of 100 round trips at least."""
    return float(run[f"class.{group}_down.{metric}"] + run[f"class.{group}_up.{metric}"])


FIGURES = (
    Figure("call_mos", "Call", f"MOS, 1 to {BEST_MOS}", 2, True, 0.1, 0.0, _least_mos),
    Figure("page_load_s", "Page load", "mean, s", 2, False, 0.1, 0.1, lambda run, _: run["page_load_mean_s"]),
    Figure(
        "game_rtt_ms",
        "Game round trip",
        "98 %, ms",
        0,
        False,
        10.0,
        0.1,
        lambda run, _: _both(run, "game", "owd_p99_ms"),
    ),
    Figure("video_stall_s", "Video stalls", "s a minute", 1, False, 0.5, 0.1, _stalls),
    Figure("video_mbit", "Video", "Mbit/s", 2, True, 0.2, 0.1, lambda run, _: run["video_bitrate_mbit"]),
    Figure("download_mbit", "Download", "Mbit/s", 2, True, 0.0, 0.1, lambda run, _: run["class.download.goodput_mbit"]),
    Figure("backup_mbit", "Backup", "Mbit/s", 2, True, 0.0, 0.1, lambda run, _: run["class.backup.goodput_mbit"]),
)
# What the grade is made of: shown, not judged, since the game's delay is.
PING = "ping_increase_ms"
TOTAL = "goodput_mbit"


@dataclass(frozen=True)
class Judged:
    """A way: its figures, its grade, and in which figures it is noticeably worse than the best (by what).

    ``unseen`` is the share of runs that have no value of a figure, since no page finished or the video never began.
    """

    name: str
    values: dict[str, Estimate]
    grade: str
    worse: dict[str, float]
    unseen: dict[str, float]

    def shown(self, figure: Figure) -> str:
        """Return a figure as a table has it; a page load with ">" if no page finished in some run."""
        more = ">" if figure.name == "page_load_s" and self.unseen.get(figure.name) else ""
        return f"{more}{self.values[figure.name].value:.{figure.digits}f}"


@dataclass(frozen=True)
class Choice:
    """Every way in order, and the chosen one.

    Those ``alike`` differ from it by less than is noticed in every figure, with 95 % confidence. Those ``tied`` are
    worse in as many figures and have the same grade, but are not shown to be alike.
    """

    judged: tuple[Judged, ...]
    chosen: str
    alike: tuple[str, ...]
    tied: tuple[str, ...]

    def of(self, name: str) -> Judged:
        """Return a way by its name."""
        return next(one for one in self.judged if one.name == name)


def grade(increase_ms: float) -> str:
    """Return the grade of an increase of the round-trip time.

    >>> grade(4.0), grade(150.0), grade(2000.0)
    ('A+', 'C', 'F')

    """
    return next((name for below, name in GRADES if increase_ms < below), WORST_GRADE)


def judge(result: Result, minutes: float) -> Choice:
    """Judge the ways, which are the points of a result in order of preference.

    A way is worse in a figure if its mean paired difference from the best way is large enough to be noticed and
    significant at 5 % after Holm's correction over the ways. The chosen way has no poor grade if any has none, or the
    least poor; of those it is worse in the fewest figures, then it has the best grade, then it is the first.

    Raises:
        InputError: if a way has fewer than two finished runs.

    """
    names = [point["way"] for point in result.points]
    runs = {
        name: result.runs.filter(pl.col("point") == number).sort("seed").to_dicts() for number, name in enumerate(names)
    }
    if any(len(one) < 2 for one in runs.values()):
        raise InputError("seeds: at least 2 finished runs of every way are needed for an interval")
    seen = {
        name: {figure.name: [_value(figure, run, minutes) for run in some] for figure in FIGURES}
        for name, some in runs.items()
    }
    values = {
        name: {
            figure.name: [_unseen(figure, minutes) if value is None else value for value in some[figure.name]]
            for figure in FIGURES
        }
        for name, some in seen.items()
    }
    rtt_ms = min(run["rtt_base_ms"] for some in runs.values() for run in some)
    pings = {name: [_both(run, "ping", "owd_mean_ms") - rtt_ms for run in some] for name, some in runs.items()}
    totals = {name: [run[TOTAL] for run in some] for name, some in runs.items()}
    worse = _worse(names, values)
    judged = tuple(
        Judged(
            name,
            {figure: statistics.mean(some) for figure, some in values[name].items()}
            | {PING: statistics.mean(pings[name]), TOTAL: statistics.mean(totals[name])},
            grade(sum(pings[name]) / len(pings[name])),
            worse[name],
            {figure: some.count(None) / len(some) for figure, some in seen[name].items() if None in some},
        )
        for name in names
    )
    chosen = min(judged, key=_merit)
    others = [one for one in judged if one is not chosen]
    alike = tuple(
        one.name for one in others if one.grade == chosen.grade and _are_alike(values[one.name], values[chosen.name])
    )
    tied = tuple(one.name for one in others if one.name not in alike and _merit(one) == _merit(chosen))
    return Choice(judged, chosen.name, alike, tied)


def _merit(one: Judged) -> tuple[int, int, int]:
    """The less, the better."""
    place = [*(name for _, name in GRADES), WORST_GRADE].index(one.grade)
    return (place if one.grade in POOR else 0), len(one.worse), place


def _are_alike(some: Mapping[str, list[float]], chosen: Mapping[str, list[float]]) -> bool:
    """Whether the interval of every paired difference lies within what is not noticed.

    It is Schuirmann's pair of one-sided tests ("A comparison of the two one-sided tests procedure", 1987) at 2.5 %.
    """
    for figure in FIGURES:
        difference = statistics.paired(some[figure.name], chosen[figure.name]).estimate
        if difference.low is None or difference.high is None:
            return False
        unnoticed = max(figure.least, figure.least_share * abs(statistics.mean(chosen[figure.name]).value))
        if max(-difference.low, difference.high) > unnoticed:
            return False
    return True


def _value(figure: Figure, run: Mapping[str, Any], minutes: float) -> float | None:
    """A run without a finished page, or a video that never began, has no value."""
    try:
        value = figure.of(run, minutes)
    except (KeyError, TypeError):
        value = None
    return value if value is not None and math.isfinite(value) else None


def _unseen(figure: Figure, minutes: float) -> float:
    """What stands for a missing value: nothing, a page as long as the run, a video that stands still all the time."""
    if figure.is_more_better:
        return 0.0
    return 60.0 if figure.name == "video_stall_s" else 60.0 * minutes


def _worse(names: Sequence[str], values: Mapping[str, Mapping[str, list[float]]]) -> dict[str, dict[str, float]]:
    """In which figures each way is noticeably worse than the best, and by how much."""
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for figure in FIGURES:
        means = {name: statistics.mean(values[name][figure.name]).value for name in names}
        best = max(names, key=lambda name: means[name] if figure.is_more_better else -means[name])
        others = [name for name in names if name != best]
        differences = [statistics.paired(values[name][figure.name], values[best][figure.name]) for name in others]
        for name, difference in zip(others, statistics.holm(differences), strict=True):
            size = abs(difference.estimate.value)
            is_large = size > figure.least and size > figure.least_share * abs(means[best])
            if difference.is_distinguishable and is_large:
                found[name][figure.name] = difference.estimate.value
    return found
