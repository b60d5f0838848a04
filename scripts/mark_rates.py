#!/usr/bin/env python3
"""How often a difference is marked that is none, and how often all intervals shown hold the truth (`make coverage`).

An experiment compares three AQMs in five metrics, all pairs: a family of 15 tests, with the same seeds for all. A run's
value is the AQM's mean, times what its seed has in common for all AQMs, times what it has of its own; both vary by a
fifth. Where "some differ", the second AQM has half the mean in the first metric and nine tenths in the second; the
third is the first. Writes the table of docs/reference/error-rates.md, or prints it.
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
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="docs/reference/error-rates.md")
    write_or_print(parser.parse_args().write, {(BEGIN, END): lines()})


if __name__ == "__main__":
    main()
