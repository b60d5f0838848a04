#!/usr/bin/env python3
"""How often a difference is marked that is none, and how often all intervals shown hold the truth (`make coverage`).

An experiment compares three AQMs in five metrics, all pairs: a family of 15 tests, with the same seeds for all. A run's
value is the AQM's mean, times what its seed has in common for all AQMs, times what it has of its own; both vary by a
fifth. Where "some differ", the second AQM has half the mean in the first metric and nine tenths in the second; the
third is the first. For the mark of equivalence (≈) the second AQM has a twentieth less in two metrics, which is the
margin itself, and a tenth less in two more; runs vary by less there, or nothing would be marked. Writes the tables of
docs/reference/error-rates.md, or prints them.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from splice_tables import write_or_print

from aqmlab.stats import statistics
from aqmlab.stats.statistics import Reals

EXPERIMENTS = 2000
SEED = 7928
RUNS = (3, 5, 10, 30)
AQMS, METRICS = 3, 5
SPREAD = 0.2
BEGIN, END = "<!-- mark rates, by scripts/mark_rates.py -->", "<!-- end of mark rates -->"
BEGIN_SAME, END_SAME = "<!-- equivalence rates, by scripts/mark_rates.py -->", "<!-- end of equivalence rates -->"
# How much runs vary there, as a share of what they do for the other table.
FRACTIONS = {"normal, by 1 %": ("normal", 0.05), "normal, by 4 %": ("normal", 0.2), "skewed, by 5 %": ("skewed", 0.05)}
HEADS_SAME = ("Values", "Runs", "Wrong at 5 %", "Wrong at 10 %", "Equal is found")
HEADS = ("Values", "In truth", "Runs", "Any wrong mark", "All intervals hold", "Half is found", "A tenth is found")
# Means of the AQMs (rows) in the metrics.
TRUTHS = {
    "no difference": np.ones((AQMS, METRICS)),
    "some differ": np.array([[1.0] * METRICS, [0.5, 0.9, 1.0, 1.0, 1.0], [1.0] * METRICS]),
}


def _normal(random: np.random.Generator, *shape: int) -> Reals:
    return 1.0 + SPREAD * random.standard_normal(shape)


def _skewed(random: np.random.Generator, *shape: int) -> Reals:
    """Lognormal values with the deviation of their mean, as completion times of few flows have it."""
    sigma = math.sqrt(math.log(2.0))
    found: Reals = np.exp(random.normal(-sigma * sigma / 2, sigma, shape))
    return found


def _heavy(random: np.random.Generator, *shape: int) -> Reals:
    """Student's t with three degrees of freedom, of the same deviation as the normal values."""
    return 1.0 + SPREAD / math.sqrt(3.0) * random.standard_t(3, shape)


DRAWS: dict[str, Callable[..., Reals]] = {"normal": _normal, "skewed": _skewed, "heavy tails": _heavy}


@dataclass(frozen=True)
class Rates:
    """Shares of experiments: some mark is wrong, all intervals hold, and the differences of half and a tenth found."""

    wrong: float
    held: float
    half: float
    tenth: float


def rates(draw: Callable[..., Reals], means: Reals, runs: int, experiments: int = EXPERIMENTS) -> Rates:
    """Simulate a case; the same experiments every time."""
    random = np.random.default_rng(SEED)
    wrong = held = half = tenth = 0
    for _ in range(experiments):
        common, own = draw(random, 1, METRICS, runs), draw(random, AQMS, METRICS, runs)
        values = means[:, :, None] * common * own
        pairs = list(itertools.product(itertools.combinations(range(AQMS), 2), range(METRICS)))
        family = statistics.family(
            [statistics.paired(values[b, metric].tolist(), values[a, metric].tolist()) for (a, b), metric in pairs]
        )
        is_wrong, is_held = False, True
        for ((a, b), metric), one in zip(pairs, family, strict=True):
            truth, estimate = means[b, metric] - means[a, metric], one.estimate
            assert estimate.low is not None
            assert estimate.high is not None
            is_held = is_held and estimate.low <= truth <= estimate.high
            is_wrong = is_wrong or (one.is_distinguishable and estimate.value * truth <= 0.0)
            # What is shown never contradicts itself.
            assert one.is_distinguishable == (estimate.low >= 0.0 or estimate.high <= 0.0)
            half += (a, b, metric) == (0, 1, 0) and one.is_distinguishable
            tenth += (a, b, metric) == (0, 1, 1) and one.is_distinguishable
        wrong, held = wrong + is_wrong, held + is_held
    return Rates(*(count / experiments for count in (wrong, held, half, tenth)))


@dataclass(frozen=True)
class SameRates:
    """Shares of experiments: some pair a twentieth, or a tenth, apart is marked as the same; and one of equals is."""

    at_margin: float
    beyond: float
    found: float


def same_rates(values: str, runs: int, experiments: int = EXPERIMENTS) -> SameRates:
    """Simulate the marks of equivalence in a case; the same experiments every time."""
    random = np.random.default_rng(SEED)
    draw, fraction = DRAWS[FRACTIONS[values][0]], FRACTIONS[values][1]
    apart = (1.0 - statistics.MARGIN, 1.0 - statistics.MARGIN, 0.9, 0.9, 1.0)
    means = np.array([[1.0] * METRICS, apart, [1.0] * METRICS])
    at_margin = beyond = found = 0
    for _ in range(experiments):
        common, own = (1.0 + fraction * (draw(random, each, METRICS, runs) - 1.0) for each in (1, AQMS))
        drawn = means[:, :, None] * common * own
        pairs = list(itertools.product(itertools.combinations(range(AQMS), 2), range(METRICS)))
        family = statistics.family(
            [statistics.paired(drawn[b, metric].tolist(), drawn[a, metric].tolist()) for (a, b), metric in pairs]
        )
        same = {pair for pair, one in zip(pairs, family, strict=True) if one.is_equivalent}
        # The third AQM is the first.
        wrong = {metric for (a, b), metric in same if 1 in (a, b)}
        at_margin += not wrong.isdisjoint((0, 1))
        beyond += not wrong.isdisjoint((2, 3))
        found += ((0, 2), 0) in same
    return SameRates(*(count / experiments for count in (at_margin, beyond, found)))


def same_line(values: str, runs: int) -> str:
    """Return a line of the table of equivalence."""
    found = same_rates(values, runs)
    return f"| {values} | {runs} | {found.at_margin:.1%} | {found.beyond:.1%} | {found.found:.1%} |"


def same_lines() -> Iterator[str]:
    """Yield the table of equivalence."""
    yield f"| {' | '.join(HEADS_SAME)} |"
    yield f"| {' | '.join(['---'] * len(HEADS_SAME))} |"
    for values, runs in itertools.product(FRACTIONS, RUNS):
        yield same_line(values, runs)


def line(values: str, truth: str, runs: int) -> str:
    """Return a line of the table."""
    found = rates(DRAWS[values], TRUTHS[truth], runs)
    differs = truth != "no difference"
    power = [f"{share:.1%}" if differs else "" for share in (found.half, found.tenth)]
    return f"| {' | '.join([values, truth, str(runs), f'{found.wrong:.1%}', f'{found.held:.1%}', *power])} |"


def lines() -> Iterator[str]:
    """Yield the table."""
    yield f"| {' | '.join(HEADS)} |"
    yield f"| {' | '.join(['---'] * len(HEADS))} |"
    for values, truth, runs in itertools.product(DRAWS, TRUTHS, RUNS):
        yield line(values, truth, runs)


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="docs/reference/error-rates.md")
    write_or_print(parser.parse_args().write, {(BEGIN, END): lines(), (BEGIN_SAME, END_SAME): same_lines()})


if __name__ == "__main__":
    main()
