#!/usr/bin/env python3
"""How often the 95 % intervals of aqmlab hold the truth, in simulated experiments (`make coverage`).

An experiment is a number of runs, of which each gives one value, or a histogram of delays. Runs differ as seeds do. The
truth is known, since the distributions are chosen. Of a bootstrap, which aqmlab does not use, it shows why not.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from splice_tables import write_or_print

from aqmlab._native import bucket_width_ns
from aqmlab.stats import statistics
from aqmlab.stats.statistics import Estimate, Reals

EXPERIMENTS = 2000
BEGIN, END = "<!-- intervals, by scripts/coverage.py -->", "<!-- end of intervals -->"
# Packets in a histogram, and the deviation of the logarithms of their delays within a run.
PACKETS = 1000
WITHIN = 0.5
MS = 1e6
RESAMPLES = 500


@dataclass(frozen=True)
class Case:
    """An interval and the experiments that it is tried in."""

    interval: str
    runs: str
    about: str
    truth: float
    estimate: Callable[[np.random.Generator], Estimate]


@dataclass(frozen=True)
class Coverage:
    """Shares of the experiments: the interval holds the truth, lacks an end, and holds it where it has both."""

    case: Case
    held: float
    one_sided: float
    both_held: float
    width: float


def cases() -> Iterator[Case]:
    """Return every case of the table."""
    for runs in (3, 5, 10, 30):
        yield Case("mean, Student-t", str(runs), "normal", 100.0, lambda r, n=runs: statistics.mean(_normal(r, n)))
    for runs in (5, 10, 30):
        yield Case(
            "mean, Student-t", str(runs), "lognormal, cv .3", 100.0, lambda r, n=runs: statistics.mean(_log(r, n))
        )
    for runs in (3, 5, 10, 30):
        yield Case("difference, paired", str(runs), "common seeds", 5.0, lambda r, n=runs: _pair(r, n))
    for spread in (0.05, 0.15, 0.3):
        for runs in (3, 5, 10, 20):
            for quantile in (0.5, 0.95, 0.99):
                yield _percentile("percentile, Woodruff", woodruff, spread, runs, quantile)
    for runs in (5, 10, 20):
        yield _percentile("percentile, bootstrap (not used)", bootstrap, 0.15, runs, 0.99)
    for cv in (0.05, 0.15, 0.3):
        for name, draw in (("normal", _normal), ("lognormal", _log)):
            yield Case(
                "mean, until within 5 %",
                "10 and more",
                f"{name}, cv {cv:g}",
                100.0,
                lambda r, draw=draw, cv=cv: _until(r, draw, cv),
            )


def cover(case: Case, experiments: int) -> Coverage:
    """Simulate a case; the same experiments every time."""
    random = np.random.default_rng(7928)
    found = [case.estimate(random) for _ in range(experiments)]
    held = [
        (one.low is None or one.low <= case.truth) and (one.high is None or case.truth <= one.high) for one in found
    ]
    widths = [one.half_width for one in found if one.half_width is not None]
    width = float(np.median(widths)) / case.truth if widths else math.nan
    both = [holds for holds, one in zip(held, found, strict=True) if one.half_width is not None]
    both_held = sum(both) / len(both) if both else math.nan
    return Coverage(case, sum(held) / len(held), 1.0 - len(widths) / len(found), both_held, width)


def _normal(random: np.random.Generator, runs: int, cv: float = 0.3) -> list[float]:
    values: list[float] = random.normal(100.0, 100.0 * cv, runs).tolist()
    return values


def _log(random: np.random.Generator, runs: int, cv: float = 0.3) -> list[float]:
    sigma = math.sqrt(math.log(1.0 + cv * cv))
    values: list[float] = (100.0 * np.exp(random.normal(-sigma * sigma / 2, sigma, runs))).tolist()
    return values


def _pair(random: np.random.Generator, runs: int) -> Estimate:
    """Two AQMs: what the seeds have in common is ten times what they have not."""
    common, noise = random.normal(100.0, 30.0, runs), random.normal(0.0, 3.0, (2, runs))
    return statistics.paired((common + noise[0] + 5.0).tolist(), (common + noise[1]).tolist()).estimate


def _until(random: np.random.Generator, draw: Callable[..., list[float]], cv: float) -> Estimate:
    pilot = draw(random, 10, cv)
    needed = statistics.runs_needed(pilot, 0.05)
    assert needed is not None
    return statistics.two_stage(pilot + draw(random, needed - len(pilot), cv), len(pilot))


def _percentile(
    name: str, interval: Callable[[Reals, Reals, float], Estimate], spread: float, runs: int, quantile: float
) -> Case:
    """Delays of about 20 ms; the logarithm of a run's median has deviation ``spread``."""
    truth = 20.0 * math.exp(NormalDist().inv_cdf(quantile) * math.hypot(spread, WITHIN))
    about = f"{quantile:.0%} of delays, runs differ by {spread:.0%}"

    def estimate(random: np.random.Generator) -> Estimate:
        medians = random.normal(0.0, spread, (runs, 1))
        delays = 20.0 * np.exp(medians + WITHIN * random.standard_normal((runs, PACKETS)))
        places = np.searchsorted(EDGES, delays)
        counts = np.array([np.bincount(run, minlength=len(MIDDLES)) for run in places], dtype=float)
        return interval(counts, MIDDLES, quantile)

    return Case(name, str(runs), about, truth, estimate)


def _buckets() -> tuple[Reals, Reals]:
    """Return the upper ends (ms) and the middles of the histograms' buckets from 0 to 2 s."""
    ends, at = [], 0
    while at < 2_000_000_000:
        at += bucket_width_ns(at)
        ends.append(at / MS)
    upper = np.array(ends)
    return upper[:-1], np.concatenate([[upper[0] / 2], (upper[1:] + upper[:-1]) / 2])


EDGES, MIDDLES = _buckets()


def half_bucket(value_ms: float) -> float:
    """Return half the width of the bucket with this middle."""
    return bucket_width_ns(round(value_ms * MS)) / 2 / MS


def woodruff(counts: Reals, values: Reals, quantile: float) -> Estimate:
    """Return what aqmlab reports."""
    return statistics.percentile(counts, values, quantile, half_bucket)


def bootstrap(counts: Reals, values: Reals, quantile: float) -> Estimate:
    """Return the percentile bootstrap over runs (Efron and Tibshirani 1993, chapter 13)."""
    runs = len(counts)
    drawn = np.random.default_rng(7928).multinomial(runs, [1.0 / runs] * runs, size=RESAMPLES)
    merged = np.cumsum(drawn @ counts, axis=1)
    found = values[np.argmax(merged >= np.ceil(quantile * merged[:, -1:]), axis=1)]
    low, high = np.quantile(found, [0.025, 0.975])
    return Estimate(woodruff(counts, values, quantile).value, low - half_bucket(low), high + half_bucket(high), runs)


def line(case: Case, experiments: int = EXPERIMENTS) -> str:
    """Return a line of the table."""
    found = cover(case, experiments)
    shares = f"{found.held:.1%} | {found.width:.1%} | {found.one_sided:.1%} | {found.both_held:.1%}"
    return f"| {case.interval} | {case.runs} | {case.about} | {shares} |"


def lines() -> Iterator[str]:
    """Yield the table."""
    yield "| Interval | Runs | Values | Holds the truth | Half width | Without an end | Holds it with both ends |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for case in cases():
        yield line(case)


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="docs/reference/error-rates.md")
    write_or_print(parser.parse_args().write, {(BEGIN, END): lines()})


if __name__ == "__main__":
    main()
