"""More seeds until an interval is short enough: Stein's two-stage rule (1945).

The seeds asked for are a pilot. Its deviation says how many seeds the metric needs, for every AQM and scenario; these
are then made at once. Looking at the interval after every seed, and stopping when it happens to be short, would make it
too short: this rule decides once, and its interval takes the deviation from the pilot alone. The same question has the
same answer: an interrupted experiment goes on, and a finished one has nothing left to do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary import metrics
from aqmlab.vocabulary.errors import InputError, about, unknown
from aqmlab.vocabulary.units import parse_fraction, parse_whole

if TYPE_CHECKING:
    from aqmlab.results import Result

# Of the measured port where packets wait longest: another is of no interest, and its mean may be zero.
METRIC = "qdelay_mean_ms"
MOST = 200
SMALLEST_PILOT = 3


@dataclass(frozen=True)
class Precision:
    """Half the interval of a metric is to be at most a share of its mean, with at most so many seeds.

    Without a metric it is that of queue delay at the measured port where packets wait longest in the pilot.
    """

    share: float
    metric: str | None = None
    most: int = MOST

    @classmethod
    def parse(cls, text: str) -> Precision:
        """Read a precision.

        Raises:
            InputError: naming the key, its value and what is allowed.

        >>> Precision.parse("5%:metric=goodput_mbit:most=50")
        Precision(share=0.05, metric='goodput_mbit', most=50)

        """
        share, *keys = text.split(":")
        given: dict[str, str] = {}
        for key in keys:
            name, _, value = key.partition("=")
            if name not in ("metric", "most"):
                raise InputError(f"'{text}': {unknown('key', name, ('metric', 'most'))}")
            given[name] = value
        try:
            wanted = parse_fraction(share)
        except ValueError as error:
            raise InputError(f"'{text}': {error}") from None
        if not 0.0 < wanted < 1.0:
            raise InputError(f"'{text}': '{share}' is out of range: allowed is above 0% to below 100%")
        metric = given.get("metric")
        if metric is not None and (not metrics.is_metric(metric) or metrics.find(metric).is_percentile):
            means = [one.name for one in metrics.METRICS if not one.is_percentile]
            raise InputError(f"'{text}': {unknown('mean', metric, means)}")
        return cls(wanted, metric, parse_whole(given.get("most", str(MOST)), SMALLEST_PILOT))

    def check(self, seeds: int) -> None:
        """Refuse a pilot of too few seeds, or of more than the maximum.

        Raises:
            InputError: saying what is allowed.

        """
        if not SMALLEST_PILOT <= seeds <= self.most:
            raise about("seeds", f"'{seeds}' is no pilot: allowed is {SMALLEST_PILOT} to {self.most}")

    def stop(self, pilot: Result, seeds: int) -> dict[str, Any]:
        """Return where to stop, for the manifest, given a result whose first ``seeds`` seeds are the pilot.

        Raises:
            InputError: if a run of the pilot has no value of this metric.

        """
        metric = self.metric or _where_packets_wait(pilot)
        if metric not in pilot.runs.columns:
            raise about("until_ci", f"metric: no run has '{metric}'")
        without = pilot.runs.filter(pl.col("seed").is_in(pilot.seeds[:seeds]) & pl.col(metric).is_null())
        for aqm, seed in without.select("aqm", "seed").iter_rows():
            raise about(
                "until_ci",
                f"metric: the run of '{aqm}' with seed {seed} has no '{metric}', and the rule needs one "
                f"of every run of the pilot: name another metric, or make the runs longer",
            )
        found = _values(pilot, metric)
        needed = [statistics.runs_needed(list(values.values())[:seeds], self.share) for values in found.values()]
        # A mean of zero has no relative precision.
        most = max(math.inf if one is None else one for one in needed)
        return {
            "metric": metric,
            "share": self.share,
            "most": self.most,
            "pilot": seeds,
            "needed": None if math.isinf(most) else int(most),
            "seeds": max(seeds, int(min(most, self.most))),
        }


@dataclass(frozen=True)
class Reached:
    """The mean of an AQM's metric in a scenario with Stein's interval, where the rule stopped."""

    point: int
    aqm: str
    estimate: Estimate


def reached(result: Result) -> list[Reached]:
    """Return what a result has reached by its rule; nothing if it has none."""
    stop = result.stop
    if stop is None:
        return []
    return [
        Reached(point, aqm, statistics.two_stage(list(values.values())[: stop["seeds"]], stop["pilot"]))
        for (point, aqm), values in _values(result, stop["metric"]).items()
        if len(values) >= stop["pilot"]
    ]


def words(result: Result) -> str:
    """Return in words why no more seeds were added; empty if there is no such rule."""
    stop, found = result.stop, reached(result)
    if stop is None or not found:
        return ""
    phrase, share = metrics.find(stop["metric"]).phrase, f"{stop['share'] * 100:g} %"
    worst = max(found, key=_relative)
    rule = f"Stein's two-stage rule, a pilot of {stop['pilot']} seeds"
    if stop["needed"] is not None and stop["needed"] <= stop["seeds"]:
        return f"{stop['seeds']} seeds: {phrase} is within {share} of its mean for every AQM ({rule})"
    needed = "no number of seeds would do" if stop["needed"] is None else f"{stop['needed']} seeds were needed"
    return (
        f"stopped at the maximum of {stop['most']} seeds: {phrase} is within {_relative(worst):.1%} instead of {share} "
        f"for {worst.aqm}; {needed} ({rule})"
    )


def _where_packets_wait(pilot: Result) -> str:
    from aqmlab.results import full_ports

    (metric,) = full_ports.over_settings(pilot, [METRIC])
    return metric


def _relative(one: Reached) -> float:
    half = one.estimate.half_width or 0.0
    return half / abs(one.estimate.value) if one.estimate.value else math.inf


def _values(result: Result, metric: str) -> Mapping[tuple[int, str], dict[int, float]]:
    """Return the values of a metric by scenario and AQM, each by seed."""
    if metric not in result.runs.columns:
        return {}
    rows = result.runs.select("point", "aqm", "seed", pl.col(metric)).drop_nulls().sort("seed")
    found: dict[tuple[int, str], dict[int, float]] = {}
    for point, aqm, seed, value in rows.iter_rows():
        found.setdefault((point, aqm), {})[seed] = value
    return found


__all__ = ["Precision", "Reached", "reached", "words"]
